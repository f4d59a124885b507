/** What Now shows of sessions: those that run, with who waits for the user, and those to go on with. */
import { useQuery } from "@pinia/colada";
import { computed, shallowRef, watch } from "vue";
import type { RunningCall } from "../../../plugins/live/index.ts";
import { type Answer, api } from "../../client.ts";
import { dayOf, dayStart } from "../../format.ts";
import { useChanges } from "../../state/changes.ts";
import { offers } from "../../state/offers.ts";
import { usePoll } from "../../state/poll.ts";
import { ifServed } from "../../state/served.ts";
import type { Session } from "../../wire.ts";
import { useTurnsNow } from "./turns-now.ts";

type Waiting = Answer<"GET /waiting">[number];
type Unfinished = Answer<"GET /report">["unfinished"][number];
/** `permission` and `answer`: the assistant waits for the user. */
export type RunState = "permission" | "answer" | "working";
export interface Running {
  id: string;
  tool: string;
  state: RunState;
  since: string | null;
  /** Undefined until the archive has it. */
  session: Session | undefined;
  /** What it does now, as far as its log shows. */
  call: RunningCall | undefined;
  /** By the assistant's own report, which the user can dismiss. */
  reported: boolean;
}
export interface ToContinue {
  session: Session;
  ending: Unfinished["ending"] | undefined;
  /** No terminal can be opened where it worked. */
  isFolderGone: boolean;
}

/** Reports of assistants are in the service's memory, and no event of the archive names them. */
const WAITING_MS = 3_000;
/** A session goes quiet by time alone. */
const QUIET_MS = 30_000;
/** Sessions of which the newest are shown. */
const READ = 40;
const NEWEST = 5;
const OLDER = 2;
const DAYS = 14;
const ORDER: readonly RunState[] = ["permission", "answer", "working"];

export function useNow() {
  const recent = usePoll(
    (signal) => api("GET /sessions", { query: { limit: READ, subagents: "0" }, signal }),
    QUIET_MS,
  );
  let isAsking = false;
  let hasChanged = false;
  /** What changes during a question is asked about after its answer: a busy archive would end each question before it is answered. */
  useChanges(async () => {
    hasChanged = true;
    if (isAsking) return;
    isAsking = true;
    while (hasChanged) {
      hasChanged = false;
      await recent.now();
    }
    isAsking = false;
  });
  const waiting = usePoll(
    ifServed<Waiting[]>("GET /waiting", [], (signal) => api("GET /waiting", { signal })),
    WAITING_MS,
  );
  const sessions = computed(() => recent.data.value?.sessions ?? []);
  const live = computed(() => sessions.value.filter((one) => one.live));
  const turns = useTurnsNow(() => live.value.map(({ id }) => id));
  const running = computed((): Running[] => {
    const reported = new Map((waiting.data.value ?? []).map((one) => [one.id, one]));
    const ofArchive = live.value.map((session): Running => {
      const entry = reported.get(session.id);
      const turn = turns.value.get(session.id);
      const state = entry?.kind ?? (turn?.turn === "waiting" ? "answer" : "working");
      const since = entry?.since ?? session.endedAt ?? session.startedAt;
      const call = state === "answer" ? undefined : turn?.call;
      return { id: session.id, tool: session.tool, state, since, session, call, reported: entry !== undefined };
    });
    const known = new Set(live.value.map(({ id }) => id));
    const others = [...reported.values()].filter(({ id }) => !known.has(id));
    const quiet = others.map(
      ({ id, tool, kind, since }): Running => ({
        ...{ id, tool, since, state: kind, call: undefined, reported: true },
        session: sessions.value.find((one) => one.id === id),
      }),
    );
    return [...ofArchive, ...quiet].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  });

  /** Sessions of the last days that stopped in the middle of something. */
  const unfinished = useQuery({
    key: ["report", "unfinished", dayOf(Date.now())],
    query: ({ signal }) => ask(signal),
  });
  const ask = ifServed<Unfinished[]>("GET /report", [], async (signal) => {
    const to = dayOf(Date.now());
    const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const span = { from: dayOf(dayStart(to, 1 - DAYS)), to, tz };
    const answer = await api("GET /report", { query: { ...span, format: "json", prompts: "1", git: "0" }, signal });
    return answer.unfinished;
  });
  /** Of the newest sessions, those whose folder is not there. */
  const folderGone = useQuery({
    key: ["sessions", "folder-gone"],
    enabled: offers("GET /rescue"),
    query: async ({ signal }) => {
      const query = { state: "folder-gone", subagents: "0", limit: READ } as const;
      const { sessions: gone } = await api("GET /sessions", { query, signal });
      return new Set(gone.map(({ id }) => id));
    },
  });
  const toContinue = computed((): ToContinue[] => {
    const shown = new Set(running.value.map(({ id }) => id));
    const endings = new Map((unfinished.data.value ?? []).map((one) => [one.id, one.ending]));
    const rest = sessions.value
      .filter(({ id, live, messageCount }) => !live && !shown.has(id) && messageCount > 0)
      .map((session) => ({
        session,
        ending: endings.get(session.id),
        isFolderGone: folderGone.data.value?.has(session.id) === true,
      }));
    return [
      ...rest.slice(0, NEWEST),
      ...rest
        .slice(NEWEST)
        .filter(({ ending }) => ending !== undefined)
        .slice(0, OLDER),
    ];
  });

  /** Known once, whatever comes later: rows of a page that is being read do not move for a first answer. */
  const known = shallowRef(false);
  watch(
    () => [recent, waiting].every(({ data, error }) => data.value !== undefined || error.value !== undefined),
    (all) => {
      known.value ||= all;
    },
    { immediate: true },
  );
  return { recent, sessions, running, toContinue, known, recheck: waiting.now };
}
