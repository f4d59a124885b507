/** Messages as they are written: EventSource of one session. A lost connection comes back, says when, and misses nothing. */
import { computed, onScopeDispose, ref, watch } from "vue";
import { pathOf } from "../../client-path.ts";
import { useService } from "../../state/service.ts";
import type { Message } from "../../wire.ts";

export type LiveState = "off" | "connecting" | "live" | "stopped" | "reconnecting";

interface LiveTarget {
  onMessages(messages: Message[]): void;
  /** Messages from `from` on are no longer what they were: they come again. */
  onCut(from: number): void;
}
type Frame =
  | { type: "status"; status: "live" | "stopped"; reason?: string; from?: number }
  | { type: "messages"; events: Message[] };

/** Seconds before the next try. */
const PAUSES = [1, 2, 4, 8, 15];
/** Consecutive answers without a stream after which following ends. */
const REFUSALS = 3;

export function useLive(id: string, target: LiveTarget) {
  const service = useService();
  const state = ref<LiveState>("off");
  let source: EventSource | undefined;
  let waiting: Message[] = [];
  let frame = 0;
  let after = -1;
  /** Id of the last frame: with it the service knows whether what we have still holds. */
  let since = "";
  let wasLive = false;
  let refused = 0;

  /** One change of the page for all that came within a frame. */
  function flush(): void {
    cancelAnimationFrame(frame);
    frame = 0;
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) target.onMessages(batch);
  }
  function take(data: Frame): void {
    if (data.type === "messages") {
      waiting.push(...data.events);
      // A hidden page draws no frames: then it is done at once.
      if (document.hidden) flush();
      else frame ||= requestAnimationFrame(flush);
    } else if (data.status === "live") {
      wasLive = true;
      refused = 0;
      tries = 0;
      state.value = "live";
      if (data.from === undefined) return;
      flush();
      target.onCut(data.from);
    } else if (data.reason === "closing") lose();
    else close("stopped");
  }
  function connect(): void {
    clearInterval(clock);
    source?.close();
    const query = since === "" ? { after: after >= 0 ? after : undefined } : { since };
    source = new EventSource(pathOf("/sessions/:id/live", { id }, query));
    source.onmessage = (event: MessageEvent<string>) => {
      since = event.lastEventId;
      take(JSON.parse(event.data) as Frame);
    };
    source.onerror = () => {
      const isRefused = source?.readyState === EventSource.CLOSED;
      if (isRefused && (!wasLive || ++refused >= REFUSALS)) close("stopped");
      else lose();
    };
  }

  const own = ref(0);
  /** Seconds until it is tried again. Without the service that is when it is asked for. */
  const retryIn = computed(() => (service.lost.value ? service.retryIn.value : own.value));
  let tries = 0;
  let clock: ReturnType<typeof setInterval> | undefined;
  function lose(): void {
    source?.close();
    source = undefined;
    state.value = "reconnecting";
    own.value = PAUSES[Math.min(tries++, PAUSES.length - 1)] ?? 1;
    clearInterval(clock);
    clock = setInterval(() => {
      if (!service.lost.value && --own.value <= 0) connect();
    }, 1_000);
    void service.retry();
  }
  function retry(): void {
    if (service.lost.value) void service.retry();
    else connect();
  }
  watch(service.lost, (isLost) => {
    if (!isLost && state.value === "reconnecting") connect();
  });

  /** `last`: seq of the last message there is. */
  function open(last: number): void {
    if (state.value !== "off" && state.value !== "stopped") return;
    state.value = "connecting";
    after = last;
    since = "";
    connect();
  }
  function close(next: "off" | "stopped" = "off"): void {
    clearInterval(clock);
    source?.close();
    source = undefined;
    state.value = next;
  }
  onScopeDispose(() => {
    cancelAnimationFrame(frame);
    close();
  });
  return { state, retryIn, retry, open, close };
}
