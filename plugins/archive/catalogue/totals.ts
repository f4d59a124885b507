/** How much the archive holds in all. */

import type { Database } from "sessarc";

export interface Totals {
  sessions: number;
  messages: number;
  /** Of all parts, those of earlier texts too. */
  bytes: number;
}

/** From the index `session_totals` alone: some milliseconds for 20,000 sessions. */
export async function countTotals(db: Database): Promise<Totals> {
  const own = await db.get<Totals>(
    `select count(*) as sessions, coalesce(sum(message_count), 0) as messages, coalesce(sum(transcript_bytes), 0) as bytes
     from session`,
  );
  const earlier = await db.get<{ bytes: number }>("select coalesce(sum(transcript_bytes), 0) as bytes from earlier");
  return {
    sessions: own?.sessions ?? 0,
    messages: own?.messages ?? 0,
    bytes: (own?.bytes ?? 0) + (earlier?.bytes ?? 0),
  };
}
