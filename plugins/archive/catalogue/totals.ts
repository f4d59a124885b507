/** How much the archive holds in all. */

import type { Database, SqlValue } from "sessarc";
import { Slices } from "#internal";

export interface Totals {
  sessions: number;
  messages: number;
  /** Of all parts, those of earlier texts too. */
  bytes: number;
}

/** Sessions summed up at once: some 8 ms. */
const PAGE = 5_000;

const BYTES = "coalesce(sum((select sum(json_extract(value, '$[1]')) from json_each(parts))), 0) as bytes";
/** The order of the index `session_parts`, which alone is read: the rows themselves are large. */
const PLACE = "(parts, message_count, rowid)";

/** About 2 µs a session, in slices. */
export async function countTotals(db: Database): Promise<Totals> {
  const totals: Totals = { sessions: 0, messages: 0, bytes: 0 };
  const slices = new Slices();
  let after: SqlValue[] | undefined = ["", -1, 0];
  while (after) {
    const end: { parts: string; message_count: number; rowid: number } | undefined = await db.get(
      `select parts, message_count, rowid from session where ${PLACE} > (?, ?, ?)
       order by parts, message_count, rowid limit 1 offset ${PAGE - 1}`,
      after,
    );
    const next: SqlValue[] | undefined = end && [end.parts, end.message_count, end.rowid];
    const sum = await db.get<Totals>(
      `select count(*) as sessions, coalesce(sum(message_count), 0) as messages, ${BYTES} from session
       where ${PLACE} > (?, ?, ?) ${next ? `and ${PLACE} <= (?, ?, ?)` : ""}`,
      [...after, ...(next ?? [])],
    );
    totals.sessions += sum?.sessions ?? 0;
    totals.messages += sum?.messages ?? 0;
    totals.bytes += sum?.bytes ?? 0;
    after = next;
    if (slices.due) await slices.turn();
  }
  totals.bytes += (await db.get<{ bytes: number }>(`select ${BYTES} from earlier`))?.bytes ?? 0;
  return totals;
}
