/** Marking some bars in a row: by dragging over them, or with Shift and the arrow keys. */
import { computed, ref } from "vue";

interface ZoomOptions {
  /** Number of bars. */
  count(): number;
  /** Both included. */
  done(first: number, last: number): void;
}

export function useZoom({ count, done }: ZoomOptions) {
  const anchor = ref(-1);
  const end = ref(-1);
  const marked = computed<[number, number] | null>(() =>
    anchor.value < 0 || anchor.value === end.value
      ? null
      : [Math.min(anchor.value, end.value), Math.max(anchor.value, end.value)],
  );
  /** The bar under a pointer, the nearest one outside. */
  const indexAt = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * count());
    return Math.min(count() - 1, Math.max(0, at));
  };
  let pointer: number | undefined;
  /** A drag ends with a click on where it ended: that one is not meant. */
  let dragged = false;
  const clear = () => {
    pointer = undefined;
    anchor.value = end.value = -1;
  };
  function finish(): boolean {
    const range = marked.value;
    clear();
    if (range) done(...range);
    return range !== null;
  }
  return {
    marked,
    clear,
    finish,
    wasDragged: () => dragged,
    /** Grows the marked range from bar `from` to bar `to`. */
    extend(from: number, to: number): void {
      if (anchor.value < 0) anchor.value = from;
      end.value = to;
    },
    down(event: PointerEvent): void {
      dragged = false;
      if (event.button !== 0) return;
      pointer = event.pointerId;
      anchor.value = end.value = indexAt(event);
    },
    move(event: PointerEvent): void {
      if (event.pointerId !== pointer) return;
      end.value = indexAt(event);
      if (!marked.value || dragged) return;
      dragged = true;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    },
    up(event: PointerEvent): void {
      if (event.pointerId === pointer) finish();
    },
  };
}
