/** Messages as they are written: EventSource of one session. A lost connection comes back by itself and misses nothing. */
import { onScopeDispose, ref } from "vue";
import { pathOf } from "./client-path.ts";
import type { Message } from "./wire.ts";

export type LiveState = "off" | "connecting" | "live" | "stopped" | "reconnecting";

export function useLive(id: string, onMessages: (messages: Message[]) => void) {
  const state = ref<LiveState>("off");
  const reason = ref("");
  let source: EventSource | undefined;
  let waiting: Message[] = [];
  let frame = 0;

  /** One change of the page for all that came within a frame. */
  function flush(): void {
    frame = 0;
    const batch = waiting;
    waiting = [];
    onMessages(batch);
  }
  function open(after: number): void {
    if (source) return;
    state.value = "connecting";
    source = new EventSource(pathOf("/sessions/:id/live", { id }, { after: after >= 0 ? after : undefined }));
    source.onmessage = (event: MessageEvent<string>) => {
      const data = JSON.parse(event.data) as
        | { type: "status"; status: "live" | "stopped"; reason?: string }
        | { type: "messages"; events: Message[] };
      if (data.type === "status") {
        state.value = data.status;
        reason.value = data.reason ?? "";
        if (data.status === "stopped") close("stopped");
      } else {
        waiting.push(...data.events);
        // A hidden page draws no frames: then it is done at once.
        if (document.hidden) flush();
        else frame ||= requestAnimationFrame(flush);
      }
    };
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) close("stopped");
      else state.value = "reconnecting";
    };
  }
  function close(next: LiveState = "off"): void {
    source?.close();
    source = undefined;
    state.value = next;
  }
  onScopeDispose(() => {
    cancelAnimationFrame(frame);
    close();
  });
  return { state, reason, open, close };
}
