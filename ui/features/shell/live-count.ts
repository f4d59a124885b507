import { type ComputedRef, computed, effectScope } from "vue";
import { type Answer, api } from "../../client.ts";
import { usePoll } from "../../state/poll.ts";

type Watcher = Answer<"GET /live/status">["watchers"][number];

function create(): ComputedRef<Watcher[]> {
  const poll = usePoll((signal) => api("GET /live/status", { signal }), 20_000);
  return computed(() => poll.data.value?.watchers ?? []);
}
let shared: ComputedRef<Watcher[]> | undefined;
/** Sessions that a client is following as they are written. */
export function useLiveCount(): ComputedRef<Watcher[]> {
  shared ??= effectScope(true).run(create);
  if (!shared) throw new Error("The scope of the live count is closed");
  return shared;
}
