/** Work of which only the newest run counts. What is asked by a key, shared and kept is `useQuery` of `@pinia/colada`. */
import { computed, onScopeDispose, ref, shallowRef } from "vue";
import { ApiError } from "../client.ts";

/**
 * `run` does the task and ends the run before it; leaving the component ends the last. A run that was ended has its signal aborted, and what
 * it answers or throws is dropped.
 */
export function useLatest<Args extends unknown[], Result>(
  task: (signal: AbortSignal, ...args: Args) => Promise<Result>,
) {
  const data = shallowRef<Result>();
  const error = shallowRef<unknown>();
  const pending = ref(false);
  let running = new AbortController();
  let over = false;
  function stop(): void {
    running.abort();
    pending.value = false;
  }
  async function run(...args: Args): Promise<void> {
    stop();
    if (over) return;
    running = new AbortController();
    const { signal } = running;
    pending.value = true;
    try {
      const answer = await task(signal, ...args);
      if (signal.aborted) return;
      data.value = answer;
      error.value = undefined;
    } catch (failure) {
      if (signal.aborted) return;
      error.value = failure;
      // Not the service's answer: a fault of the page.
      if (!(failure instanceof ApiError)) console.error(failure);
    }
    pending.value = false;
  }
  onScopeDispose(() => {
    over = true;
    stop();
  });
  return {
    /** The last answer: stays while the next is on its way, and when that fails. */
    data,
    /** The answer to the newest run; undefined until it is there. */
    fresh: computed(() => (pending.value || error.value !== undefined ? undefined : data.value)),
    /** Why the newest run that ended failed. */
    error,
    pending,
    run,
    stop,
  };
}
