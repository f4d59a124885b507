/**
 * Notifications of turns: the system reports when a session waits for the user or ends, whichever screen is open and while the page is in
 * the background. Which sessions stays in this browser; of several tabs one listens (a lock), so no notification appears twice.
 */

import { ref, watch } from "vue";
import type { Router } from "vue-router";
import type { Turn, TurnFrame } from "../../../plugins/live/index.ts";
import { readStored, writeStored } from "../../state/settings.ts";
import { turnsText } from "./words/index.ts";

interface Followed {
  id: string;
  title: string;
  /** The last notified turn. Undefined until the first answer: the initial state is not news. */
  turn?: Turn;
  seq?: number | null;
}

const KEY = "sessarc:followed";
/** Wait after an answer that is not a stream. The browser itself reopens a lost connection. */
const AGAIN_MS = 15_000;

const stored = () => readStored<Followed[]>(KEY, []);
export const followed = ref(stored());
export const isFollowed = (id: string) => followed.value.some((one) => one.id === id);

function keep(list: Followed[]): void {
  followed.value = list;
  writeStored(KEY, list.length > 0 ? list : undefined);
}

/** Whether the system may show them. "unknown" where the browser has none. */
export const permission = (): NotificationPermission | "unknown" =>
  "Notification" in window ? Notification.permission : "unknown";

/** From a click: asks the browser's permission where it was never asked. False: it was refused, and nothing is followed. */
export async function follow(id: string, title: string): Promise<boolean> {
  if (permission() === "default") await Notification.requestPermission();
  if (permission() !== "granted") return false;
  if (!isFollowed(id)) keep([...followed.value, { id, title }]);
  return true;
}

export const unfollow = (id?: string): void =>
  keep(id === undefined ? [] : followed.value.filter((one) => one.id !== id));

let started = false;
/** Listens for as long as the page stands. Calling it again does nothing. */
export function startTurns(router: Router): void {
  if (started) return;
  started = true;
  // What another tab changed.
  addEventListener("storage", ({ key }) => {
    if (key === KEY || key === null) followed.value = stored();
  });
  void navigator.locks.request(KEY, () => {
    // Another tab has listened until now.
    followed.value = stored();
    watch(
      () => followed.value.map(({ id }) => id).join(" "),
      () => listen(router),
      { immediate: true },
    );
    return new Promise(() => {});
  });
}

let source: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
function listen(router: Router): void {
  clearTimeout(timer);
  source?.close();
  source = undefined;
  if (followed.value.length === 0) return;
  const query = new URLSearchParams(followed.value.map(({ id }) => ["session", id]));
  source = new EventSource(`/api/live/turns?${query}`);
  source.onmessage = (event: MessageEvent<string>) => take(JSON.parse(event.data) as TurnFrame, router);
  source.onerror = () => {
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(() => listen(router), AGAIN_MS);
  };
}

function take({ sessionId, turn, seq }: TurnFrame, router: Router): void {
  const before = followed.value.find((one) => one.id === sessionId);
  if (!before) return;
  const isNews = before.turn !== undefined && (before.turn !== turn || before.seq !== seq);
  // A session that waited and is then closed was already notified.
  const isTold = isNews && (turn === "waiting" || (turn === "ended" && before.turn === "working"));
  keep(
    turn === "ended"
      ? followed.value.filter((one) => one !== before)
      : followed.value.map((one) => (one === before ? { ...one, turn, seq } : one)),
  );
  if (isTold && permission() === "granted") show(before, turnsText(turn === "waiting" ? "waits" : "ended"), router);
}

function show({ id, title }: Followed, words: string, router: Router): void {
  const notice = new Notification(words, { body: title, tag: `${KEY}:${id}`, icon: "/icon-192.png" });
  notice.onclick = () => {
    notice.close();
    window.focus();
    void router.push({ name: "session", params: { id } });
  };
}
