/** Which logs are imported without being asked for. */
import type { Database } from "sessarc";
import type { FoundLog } from "../places/scan.ts";

/** Linux stamps files with a clock that ticks every 4 to 10 ms: a file may look that much older than it is. */
const TICK_MS = 20;

export interface Automatic {
  /** Sessions that the archive has, whose logs changed. */
  sync: boolean;
  /** Logs that were left out at the first import, too. */
  autoImport: boolean;
  /** How far the clock was set back since the start, which makes new logs look older. Default 0. */
  setBackMs?: number;
}

/**
 * Sessions that the archive has, and those written to since the first import. Older logs that were left out then stay out, unless `autoImport`
 * is set; before the first import none is taken without it.
 */
export async function automatic(
  db: Database,
  found: readonly FoundLog[],
  { sync, autoImport, setBackMs = 0 }: Automatic,
): Promise<FoundLog[]> {
  // Projects keep the time they came; a session's own is that of its last import.
  const oldest = await db.get<{ at: string | null }>(
    "select min(at) as at from (select created_at as at from project union all select first_at as at from import_state) as known",
  );
  const first = oldest?.at ? Date.parse(oldest.at) : Number.POSITIVE_INFINITY;
  return found.filter(({ stored, ref }) =>
    stored === "not" ? autoImport || (ref.mtime ?? 0) + setBackMs + TICK_MS > first : sync,
  );
}
