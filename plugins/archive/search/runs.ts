/** Neighbours in the list that stand in one file of columns: what that file rules out as a whole is passed over in one step. */
import type { ColumnFile } from "./columns.ts";
import type { Entry } from "./entry.ts";

/** [from, to) in the list. */
export interface Run {
  from: number;
  to: number;
  /** Undefined: these stand in none. */
  file: ColumnFile | undefined;
  /** In the file, of these sessions. */
  chunks: number;
}

/** About 5 ns a session. Files are made of neighbours, so there are few runs: one a file, and those of what changed since. */
export function runsOf(list: readonly Entry[]): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  for (const [i, { columns }] of list.entries()) {
    const file = columns?.file.closed ? undefined : columns?.file;
    if (!run || run.file !== file) {
      run = { from: i, to: i, file, chunks: 0 };
      runs.push(run);
    }
    run.to = i + 1;
    run.chunks += file ? (columns?.count ?? 0) : 0;
  }
  return runs;
}
