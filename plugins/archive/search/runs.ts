/** Neighbours in the list that stand in one file of columns: what that file rules out as a whole is passed over in one step. */
import { Slices } from "sessarc";
import type { ColumnFile } from "./columns.ts";
import { type Entry, isPlaced } from "./entry.ts";

/** [from, to) in the list. */
export interface Run {
  from: number;
  to: number;
  /** Undefined: these stand in none. */
  file: ColumnFile | undefined;
  /** In the file, of these sessions. */
  chunks: number;
}

/** Appends sessions to a list of runs. Files are made of neighbours, so there are few runs: one a file, and those of what changed since. */
export class Runs {
  readonly list: Run[] = [];

  add(entry: Entry): void {
    this.extend(isPlaced(entry) ? entry.columns?.file : undefined, 1, entry.columns?.count ?? 0);
  }

  /** `count` neighbours of one file. */
  extend(file: ColumnFile | undefined, count: number, chunks: number): void {
    const last = this.list.at(-1);
    const from = last?.to ?? 0;
    const own = file ? chunks : 0;
    if (!last || last.file !== file) this.list.push({ from, to: from + count, file, chunks: own });
    else {
      last.to += count;
      last.chunks += own;
    }
  }
}

/** Sessions between two looks at the clock. */
const LOOKED = 1_024;

export async function runsOf(list: readonly Entry[]): Promise<Run[]> {
  const runs = new Runs();
  const slices = new Slices();
  for (const [i, entry] of list.entries()) {
    runs.add(entry);
    if (i % LOOKED === 0 && slices.due) await slices.turn();
  }
  return runs.list;
}
