/** Calls back when the archive stored or removed sessions: one stream of the service for the whole page, open while a component listens. */
import { onScopeDispose } from "vue";
import { pathOf } from "../client-path.ts";
import { offers } from "./offers.ts";

/** Wait after an answer that is not a stream. The browser itself reopens a lost connection. */
const AGAIN_MS = 15_000;
const listeners = new Set<() => void>();
let source: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** What changed while the stream was away is in no frame. */
let missed = false;

const tell = () => {
  for (const run of listeners) run();
};

function connect(): void {
  clearTimeout(timer);
  source?.close();
  source = undefined;
  // A hidden page holds no connection: a browser has six for all tabs.
  if (listeners.size === 0 || document.hidden) {
    missed = true;
    return;
  }
  source = new EventSource(pathOf("/live/changes"));
  source.onopen = () => {
    if (missed) tell();
    missed = false;
  };
  source.onmessage = tell;
  source.onerror = () => {
    missed = true;
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(connect, AGAIN_MS);
  };
}

export function useChanges(run: () => void): void {
  if (!offers("GET /live/changes")) return;
  if (listeners.size === 0) document.addEventListener("visibilitychange", connect);
  listeners.add(run);
  if (!source) {
    missed = false;
    connect();
  }
  onScopeDispose(() => {
    listeners.delete(run);
    if (listeners.size > 0) return;
    document.removeEventListener("visibilitychange", connect);
    connect();
  });
}
