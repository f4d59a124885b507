import { type ComputedRef, computed, effectScope } from "vue";
import { usePoll } from "./poll.ts";

interface Watcher {
  sessionId: string;
  clients: number;
}
function create(): ComputedRef<Watcher[]> {
  const poll = usePoll(async (signal) => {
    const response = await fetch("/api/live/status", { signal });
    return response.ok ? ((await response.json()) as { watchers: Watcher[] }).watchers : [];
  }, 20_000);
  return computed(() => poll.data.value ?? []);
}
let shared: ComputedRef<Watcher[]> | undefined;
/** Sessions that a client is following as they are written. */
export function useLiveCount(): ComputedRef<Watcher[]> {
  shared ??= effectScope(true).run(create);
  if (!shared) throw new Error("The scope of the live count is closed");
  return shared;
}
