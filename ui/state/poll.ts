import { onScopeDispose, type Ref, ref, shallowRef } from "vue";

/** Repeats the query every `ms` while the page is visible. A failed query keeps the last answer. */
export function usePoll<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  ms: number,
): { data: Ref<T | undefined>; failed: Ref<boolean>; now(): Promise<void> } {
  const data = shallowRef<T>();
  const failed = ref(false);
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let told = 0;
  async function now(): Promise<void> {
    clearTimeout(timer);
    if (stop.signal.aborted) return;
    const mine = ++asked;
    try {
      const answer = await ask(stop.signal);
      // A later query was answered first: this answer is outdated.
      if (mine < told) return;
      data.value = answer;
      failed.value = false;
    } catch {
      if (mine < told) return;
      failed.value = true;
    }
    told = mine;
    clearTimeout(timer);
    if (!stop.signal.aborted) timer = setTimeout(tick, ms);
  }
  function tick(): void {
    if (document.hidden) timer = setTimeout(tick, ms);
    else void now();
  }
  const onShow = () => void (!document.hidden && now());
  document.addEventListener("visibilitychange", onShow);
  onScopeDispose(() => {
    stop.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onShow);
  });
  void now();
  return { data, failed, now };
}
