/** What the archive has of logs that were found, and of which it has that are gone. */

import { type Database, marks, mustYield, pages, type Statement, yieldNow } from "sessarc";
import type { SessionRow } from "../catalogue/types.ts";
import { type FoundLog, type Scan, toVersion } from "../places/scan.ts";
import { COUNTED } from "./rows.ts";

const COLUMNS = ["tool", "source_path", "source_version", "missing", "format", "left_out"] as const;
/** Rows written together: some 8 ms. */
const TOGETHER = 40;
type Row = Pick<SessionRow, (typeof COLUMNS)[number] | "id">;

const storedAs = ({ ref }: FoundLog, row: Row): FoundLog["stored"] =>
  row.source_version === toVersion(ref) &&
  row.source_path === ref.path &&
  row.format === COUNTED &&
  row.missing === 0 &&
  !(row.left_out !== null && row.left_out <= Date.now())
    ? "same"
    : "other";

/**
 * Says of each log whether it is stored (`stored`). Sets `missing` for sessions whose log a full scan did not find, and takes it back where
 * one is there again. Tools whose folders could not all be listed, or that no plugin reads now, are left as they are. Answers whether that
 * changed anything. One pass over the archive, about 5 µs a session.
 */
export async function compareAll(db: Database, { tools, found }: Scan): Promise<boolean> {
  const listed = new Set(tools.filter((tool) => !tool.unlisted).map((tool) => tool.tool));
  const changed: Statement[] = [];
  for (const row of await db.all<Row>(`select id, ${COLUMNS.join(", ")} from session`)) {
    if (mustYield()) await yieldNow();
    const one = found.get(row.id);
    if (one) found.setStored(row.id, storedAs(one, row));
    const now = one ? 0 : 1;
    if (now === row.missing || (now === 1 && !listed.has(row.tool))) continue;
    changed.push(["update session set missing = ? where id = ?", [now, row.id]]);
  }
  for (const some of pages(changed, TOGETHER)) await db.batch(some);
  return changed.length > 0;
}

/** The same of some logs: looked up by their keys. */
export async function compareSome(db: Database, found: readonly FoundLog[]): Promise<void> {
  for (const page of pages(found)) {
    const rows = await db.all<Row>(
      `select id, ${COLUMNS.join(", ")} from session where id in (${marks(page)})`,
      page.map(({ id }) => id),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const one of page) {
      const row = byId.get(one.id);
      one.stored = row ? storedAs(one, row) : "not";
    }
  }
}

/** Logs that were seen to go. */
export async function markGone(db: Database, ids: readonly string[]): Promise<boolean> {
  for (const some of pages(ids, TOGETHER))
    await db.batch(some.map((id): Statement => ["update session set missing = 1 where id = ?", [id]]));
  return ids.length > 0;
}
