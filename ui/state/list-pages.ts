/** Asking for a list page by page: one question at a time, the newest wins; what failed is asked again. */
import { onScopeDispose, type Ref, ref, shallowRef, watch } from "vue";
import { useAgain } from "./again.ts";

/**
 * `load` asks for the page behind `cursor` (null: the first) and answers what takes it in, which is done unless something else was
 * asked for meanwhile. Starts at once, and restarts with each change of `query`.
 */
export function useListPages(
  query: Readonly<Ref<unknown>>,
  load: (cursor: string | null, signal: AbortSignal) => Promise<() => void>,
) {
  const error = shallowRef<unknown>();
  const loading = ref(false);
  let asking = new AbortController();
  let asked: string | null = null;
  const again = useAgain(() => ask(asked));

  async function ask(cursor: string | null): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    asked = cursor;
    loading.value = true;
    try {
      const take = await load(cursor, signal);
      if (signal.aborted) return;
      take();
      error.value = undefined;
    } catch (failure) {
      if (!signal.aborted) {
        error.value = failure;
        again(failure);
      }
    }
    if (!signal.aborted) loading.value = false;
  }
  watch(query, () => ask(null), { immediate: true });
  onScopeDispose(() => asking.abort());
  return { error, loading, ask, retry: () => ask(asked) };
}
