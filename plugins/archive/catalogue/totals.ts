/** How much the archive holds in all. */

import type { Database } from "sessarc";

export interface Totals {
  sessions: number;
  messages: number;
  /** Of all parts, those of earlier texts too. */
  bytes: number;
}

/** Of rows with `parts`. */
export const BYTES =
  "coalesce(sum((select sum(cast(json_extract(value, '$[1]') as integer)) from json_each(parts))), 0) as bytes";

/** About 2 µs a session, from the index `session_parts` alone. */
export async function countTotals(db: Database): Promise<Totals> {
  const own = await db.get<Totals>(
    `select count(*) as sessions, coalesce(sum(message_count), 0) as messages, ${BYTES} from session`,
  );
  const earlier = await db.get<{ bytes: number }>(`select ${BYTES} from earlier`);
  return {
    sessions: own?.sessions ?? 0,
    messages: own?.messages ?? 0,
    bytes: (own?.bytes ?? 0) + (earlier?.bytes ?? 0),
  };
}
