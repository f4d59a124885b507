/** Asking for a list page by page: one question at a time, the newest wins; what failed is asked again. */
import { type Ref, watch } from "vue";
import { useAgain } from "./again.ts";
import { useLatest } from "./latest.ts";

/**
 * `load` asks for the page behind `cursor` (null: the first) and answers what takes it in, which is done unless something else was
 * asked for meanwhile. Starts at once, and restarts with each change of `query`.
 */
export function useListPages(
  query: Readonly<Ref<unknown>>,
  load: (cursor: string | null, signal: AbortSignal) => Promise<() => void>,
) {
  let asked: string | null = null;
  const { error, pending, run } = useLatest(async (signal) => {
    const take = await load(asked, signal);
    if (!signal.aborted) take();
  });
  function ask(cursor: string | null): Promise<void> {
    asked = cursor;
    return run();
  }
  watch(error, useAgain(run));
  watch(query, () => ask(null), { immediate: true });
  return { error, loading: pending, ask, retry: run };
}
