/** All sessions, as far as the index `session_narrow` tells: what is read of it is a twentieth of the rows. */

import type { Database } from "sessarc";
import { Slices } from "#internal";
import type { SessionRow } from "./types.ts";

type Column =
  | "tool"
  | "project_id"
  | "parent_id"
  | "sort_at"
  | "started_at"
  | "ended_at"
  | "error_count"
  | "copied"
  | "missing"
  | "format"
  | "source_version"
  | "source_path"
  | "parts"
  | "has_cursor";

export type NarrowRow<C extends Column> = Pick<SessionRow, C | "id">;

/** Rows read between two looks at the clock: some 2 ms. */
const PAGE = 250;

/** Pages in the order of ids, in slices. One that is replaced meanwhile is neither missed nor told twice: it keeps its id. */
export async function* narrowRows<C extends Column>(
  db: Database,
  columns: readonly C[],
): AsyncGenerator<NarrowRow<C>[]> {
  const slices = new Slices();
  for (let after = ""; ; ) {
    const rows = await db.all<NarrowRow<C>>(
      `select id, ${columns.join(", ")} from session indexed by session_narrow where id > ? order by id limit ${PAGE}`,
      [after],
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
    if (slices.due) await slices.turn();
  }
}
