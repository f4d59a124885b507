/** Whose turn it is in the sessions that run, and which call runs, as the service reports it. */
import { onScopeDispose, shallowRef, watch } from "vue";
import type { TurnFrame } from "../../../plugins/live/index.ts";
import { offers } from "../../state/offers.ts";

export function useTurnsNow(ids: () => readonly string[]) {
  const turns = shallowRef<ReadonlyMap<string, TurnFrame>>(new Map());
  let source: EventSource | undefined;
  function listen(): void {
    source?.close();
    source = undefined;
    const session = ids();
    if (session.length === 0 || document.hidden || !offers("GET /live/turns")) return;
    source = new EventSource(`/api/live/turns?${new URLSearchParams(session.map((id) => ["session", id]))}`);
    source.onmessage = (event: MessageEvent<string>) => {
      const frame = JSON.parse(event.data) as TurnFrame;
      turns.value = new Map(turns.value).set(frame.sessionId, frame);
    };
  }
  watch(() => [...ids()].sort().join(" "), listen, { immediate: true });
  document.addEventListener("visibilitychange", listen);
  onScopeDispose(() => {
    document.removeEventListener("visibilitychange", listen);
    source?.close();
  });
  return turns;
}
