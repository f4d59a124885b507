/** Sorting what may be any number of things without holding others up. */
import { mustYield, yieldNow } from "./yield.ts";

/** Sorted in one go: under a millisecond. */
const RUN = 1024;

/** A sorted copy: runs are sorted and merged in slices. Stable. */
export async function sortInSlices<T>(list: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  if (list.length <= RUN) return [...list].sort(compare);
  let from: T[] = [];
  for (let i = 0; i < list.length; i += RUN) {
    for (const one of list.slice(i, i + RUN).sort(compare)) from.push(one);
    if (mustYield()) await yieldNow();
  }
  for (let width = RUN; width < from.length; width *= 2) {
    const to: T[] = [];
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(start + 2 * width, from.length);
      let [left, right] = [start, middle];
      while (left < middle || right < end) {
        const takeLeft = right >= end || (left < middle && compare(from[left] as T, from[right] as T) <= 0);
        to.push(from[takeLeft ? left++ : right++] as T);
        if (to.length % RUN === 0 && mustYield()) await yieldNow();
      }
    }
    from = to;
  }
  return from;
}
