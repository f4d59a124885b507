import { onScopeDispose, type Ref } from "vue";
import { useLatest } from "./latest.ts";

/** Repeats the query every `ms` while the page is visible. A failed query keeps the last answer. */
export function usePoll<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  ms: number,
): { data: Readonly<Ref<T | undefined>>; error: Readonly<Ref<unknown>>; now(): Promise<void> } {
  const { data, error, run } = useLatest(ask);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  async function now(): Promise<void> {
    clearTimeout(timer);
    if (over) return;
    await run();
    clearTimeout(timer);
    if (!over) timer = setTimeout(tick, ms);
  }
  function tick(): void {
    if (document.hidden) timer = setTimeout(tick, ms);
    else void now();
  }
  const onShow = () => void (!document.hidden && now());
  document.addEventListener("visibilitychange", onShow);
  onScopeDispose(() => {
    over = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onShow);
  });
  void now();
  return { data, error, now };
}
