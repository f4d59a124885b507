/** Printing a session: all of its messages are fetched and laid out first, and let go afterwards. */
import { useEventListener } from "@vueuse/core";
import { nextTick, ref } from "vue";
import type { Pages } from "./pages.ts";

/** Messages printed at most: about 300 pages. */
export const PRINT_MOST = 2_000;

/** `printing` is true while everything is laid out. What the browser's own menu prints cannot wait: there, what is loaded stands. */
export function usePrint(pages: Pages, total: () => number) {
  const printing = ref(false);
  const load = () => pages.ensure(0, Math.min(total(), PRINT_MOST) - 1);
  useEventListener("beforeprint", () => {
    printing.value = true;
    // Too late for this print; there for the next.
    void load();
  });
  useEventListener("afterprint", () => {
    printing.value = false;
  });
  async function print(): Promise<void> {
    await load();
    printing.value = true;
    await nextTick();
    window.print();
  }
  return { printing, print };
}
