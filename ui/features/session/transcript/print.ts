/** Printing a session: all of its messages are fetched and laid out first, and let go afterwards. */
import { until, useEventListener } from "@vueuse/core";
import { nextTick, onScopeDispose, ref } from "vue";
import type { Pages } from "./pages.ts";

/** Messages printed at most: about 300 pages. */
export const PRINT_MOST = 2_000;

/**
 * `printing` is true while everything is laid out. What the browser's own menu prints cannot wait: there, what is loaded stands. `total`: undefined until
 * the session is there; `failed`: it does not come.
 */
export function usePrint(pages: Pages, total: () => number | undefined, failed: () => boolean) {
  const printing = ref(false);
  let left = false;
  onScopeDispose(() => {
    left = true;
  });
  const load = async () => {
    const all = total() ?? 0;
    if (all > 0) await pages.ensure(0, Math.min(all, PRINT_MOST) - 1);
  };
  useEventListener("beforeprint", () => {
    printing.value = true;
    // Too late for this print; there for the next.
    void load();
  });
  useEventListener("afterprint", () => {
    printing.value = false;
  });
  async function print(): Promise<void> {
    // Asked for before the session is there, too.
    await until(() => total() !== undefined || failed()).toBe(true);
    await load();
    // Another screen would be printed.
    if (left) return;
    printing.value = true;
    await nextTick();
    window.print();
  }
  return { printing, print };
}
