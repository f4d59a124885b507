/** Keeps the marks of a search up to date while rows come and go. What does it is loaded with the first search. */
import { onScopeDispose, type Ref, watch } from "vue";
import { useThrottle } from "../state/throttle.ts";
import type { SessionContext } from "./context.ts";

const EVERY = 120;

export function useFindMarks(session: SessionContext, list: Ref<HTMLElement | undefined>): void {
  let parts: typeof import("./find-marks.ts") | undefined;
  /** The match stepped to, until it is in view. */
  let due: number | null = null;
  const draw = useThrottle(EVERY, () => {
    const wanted = session.find.value.trim();
    const element = list.value;
    if (!parts || !element || wanted === "") return;
    const first = parts.mark(element, wanted, element.querySelector("article[aria-current=true]"));
    if (due === null || due !== session.selected.value || !first) return;
    due = null;
    parts.reveal(first, element);
  });
  const observer = new MutationObserver(draw);
  watch(
    [session.find, list],
    async ([text, element]) => {
      observer.disconnect();
      if (text.trim() === "" || !element) {
        parts?.unmark();
        return;
      }
      parts ??= await import("./find-marks.ts");
      observer.observe(element, { childList: true, characterData: true, subtree: true });
      draw();
    },
    { immediate: true },
  );
  watch(session.hit, (hit) => {
    due = hit?.seq ?? null;
    draw();
  });
  watch(session.selected, draw, { flush: "post" });
  onScopeDispose(() => {
    observer.disconnect();
    parts?.unmark();
  });
}
