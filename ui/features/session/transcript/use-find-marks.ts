/** Keeps the marks of a search up to date while rows come and go. What does it is loaded with the first search. */
import { useMutationObserver } from "@vueuse/core";
import { computed, onScopeDispose, type Ref, shallowRef, watch } from "vue";
import { useThrottle } from "../../../state/throttle.ts";
import type { SessionContext } from "./context.ts";

const EVERY = 120;

export function useFindMarks(session: SessionContext, list: Ref<HTMLElement | undefined>): void {
  const parts = shallowRef<typeof import("./find-marks.ts")>();
  /** The match stepped to, until it is in view. */
  let due: number | null = null;
  const draw = useThrottle(EVERY, () => {
    const wanted = session.words.value;
    const element = list.value;
    if (!parts.value || !element || wanted.length === 0) return;
    const first = parts.value.mark(element, wanted, element.querySelector("article[aria-current=true]"));
    if (due === null || due !== session.selected.value || !first) return;
    due = null;
    parts.value.reveal(first, element);
  });
  const isLooking = computed(() => session.words.value.length > 0);
  watch(
    isLooking,
    async (looking) => {
      if (looking) parts.value ??= await import("./find-marks.ts");
      else parts.value?.unmark();
    },
    { immediate: true },
  );
  watch([session.words, list, parts], draw);
  useMutationObserver(
    computed(() => (isLooking.value ? list.value : undefined)),
    draw,
    { childList: true, characterData: true, subtree: true },
  );
  watch(session.hit, (hit) => {
    due = hit?.seq ?? null;
    draw();
  });
  watch(session.selected, draw, { flush: "post" });
  onScopeDispose(() => parts.value?.unmark());
}
