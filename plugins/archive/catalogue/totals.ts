/** How much the archive holds in all. */
import { type Database, Slices } from "sessarc";
import { partsOf } from "./types.ts";

export interface Totals {
  sessions: number;
  messages: number;
  /** Of all parts, those of earlier texts too. */
  bytes: number;
}

/** Rows read between two looks at the clock. */
const PAGE = 500;

/** About 4 µs a session, in slices. Reads the index `session_parts` alone: the rows themselves are large. */
export async function countTotals(db: Database): Promise<Totals> {
  const totals: Totals = { sessions: 0, messages: 0, bytes: 0 };
  const slices = new Slices();
  let after = { parts: "", message_count: -1, rowid: 0 };
  for (;;) {
    const rows = await db.all<typeof after>(
      `select parts, message_count, rowid from session where (parts, message_count, rowid) > (?, ?, ?)
       order by parts, message_count, rowid limit ${PAGE}`,
      [after.parts, after.message_count, after.rowid],
    );
    for (const row of rows) {
      totals.sessions++;
      totals.messages += row.message_count;
      totals.bytes += bytesOf(row);
      after = row;
    }
    if (rows.length < PAGE) break;
    if (slices.due) await slices.turn();
  }
  for (const row of await db.all<{ parts: string }>("select parts from earlier")) totals.bytes += bytesOf(row);
  return totals;
}

const bytesOf = (row: { parts: string }) => partsOf(row).reduce((sum, { bytes }) => sum + bytes, 0);
