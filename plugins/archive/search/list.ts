/** All sessions in the order of a search, the newest first; what changes is taken out and put in without a look at the others. */
import { type Entry, newestFirst, type Place } from "./entry.ts";
import { type Run, Runs } from "./runs.ts";

export interface List {
  readonly entries: readonly Entry[];
  readonly runs: readonly Run[];
}

/** How many stand before `place`. */
export function placeIn(entries: readonly Entry[], place: Place): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (newestFirst(entries[middle] as Entry, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Another list, without `gone`, which are in it, and with `come`, the newest first. The old one stays as it is: somebody may be reading it.
 * Costs the runs there are, and what a file holds for each change: sessions between two changes are taken over as a stretch.
 */
export function edited({ entries, runs }: List, gone: readonly Entry[], come: readonly Entry[]): List {
  const stretches: (readonly Entry[])[] = [];
  const made = new Runs();
  const holes = gone.map((entry) => placeIn(entries, entry)).sort((a, b) => a - b);
  let [at, run, hole] = [0, 0, 0];
  /** Where what is not taken over yet begins. */
  let from = 0;
  const take = () => {
    if (at > from) stretches.push(entries.slice(from, at));
    from = at;
  };
  const copy = (end: number) => {
    while (at < end) {
      const { from: start, to, file, chunks } = runs[run] as Run;
      const stop = Math.min(end, to, holes[hole] ?? end);
      const isWhole = at === start && stop === to;
      let sum = isWhole ? chunks : 0;
      if (file && !isWhole) for (let i = at; i < stop; i++) sum += entries[i]?.columns?.count ?? 0;
      if (stop > at) made.extend(file, stop - at, sum);
      at = stop;
      if (at === holes[hole]) {
        take();
        from = ++at;
        hole++;
      }
      if (at >= to) run++;
    }
  };
  for (const entry of come) {
    copy(placeIn(entries, entry));
    take();
    stretches.push([entry]);
    made.add(entry);
  }
  copy(entries.length);
  take();
  return { entries: ([] as Entry[]).concat(...stretches), runs: made.list };
}
