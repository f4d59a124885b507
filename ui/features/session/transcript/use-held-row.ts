/** Keeps a row where it is on the screen while the list changes its width: its lines wrap differently, and the rows above would move it. */
import { useEventListener, useTimeoutFn } from "@vueuse/core";
import { type Ref, watch } from "vue";

/** How long after the last change of the width heights are still corrected, in ms; the reader's own scrolling ends it at once. */
const HELD = 1_000;

interface Place {
  seq: number;
  /** Of its upper edge, in px from the window's. */
  top: number;
}

/** `chosen`: the message that is held where it is in view; else the first row that begins in view is. */
export function useHeldRow(scroller: Ref<HTMLElement | undefined>, chosen: () => number | null) {
  let last: Place | undefined;
  let held: Place | undefined;
  let width = 0;
  const release = () => {
    held = undefined;
  };
  const { start, stop } = useTimeoutFn(release, HELD, { immediate: false });
  function end(): void {
    stop();
    release();
  }
  useEventListener(scroller, ["wheel", "pointerdown", "touchmove", "keydown"], end, { passive: true });

  function find(): Place | undefined {
    const box = scroller.value?.getBoundingClientRect();
    if (!scroller.value || !box) return undefined;
    let first: Place | undefined;
    for (const row of scroller.value.querySelectorAll<HTMLElement>("article[data-seq]")) {
      const { top, bottom } = row.getBoundingClientRect();
      if (bottom <= box.top || top >= box.bottom) continue;
      const place = { seq: Number(row.dataset.seq), top };
      if (place.seq === chosen()) return place;
      if (top >= box.top - 1 && (first === undefined || top < first.top)) first = place;
    }
    return first;
  }
  /** After each scroll, as long as nothing is held. */
  function note(): void {
    if (!held) last = find();
  }
  // What is chosen may open a pane at once: its place is read before.
  watch(chosen, note, { flush: "sync" });
  /** After each layout: puts the held row back. */
  function hold(): void {
    const box = scroller.value;
    if (!box) return;
    if (box.clientWidth !== width) {
      if (width > 0 && last) {
        held ??= last;
        start();
      }
      width = box.clientWidth;
    }
    const row = held && box.querySelector(`article[data-seq="${held.seq}"]`);
    if (held && row) box.scrollTop += row.getBoundingClientRect().top - held.top;
  }
  return { note, hold, end };
}
