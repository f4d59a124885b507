/** Logs that their tools deleted: the archive says so, and that nothing is live in them. */
import { type Database, Slices, type Statement } from "sessarc";
import type { Scan } from "../places/scan.ts";

/** Rows looked at between two looks at the clock. */
const PAGE = 500;

/**
 * Sets `missing` for sessions whose log a full scan did not find, and takes it back where one is there again. Tools whose folders could
 * not all be listed, or that no plugin reads now, are left as they are. Answers whether anything changed.
 */
export async function markMissing(db: Database, { tools, found }: Scan): Promise<boolean> {
  const listed = new Set(tools.filter((tool) => !tool.unlisted).map((tool) => tool.tool));
  const slices = new Slices();
  let any = false;
  for (let after = 0; ; ) {
    const rows = await db.all<{ rowid: number; id: string; tool: string; missing: number }>(
      `select rowid, id, tool, missing from session where rowid > ? order by rowid limit ${PAGE}`,
      [after],
    );
    const last = rows.at(-1);
    if (!last) return any;
    const changed = rows.flatMap(({ id, tool, missing }): Statement[] => {
      const now = found.has(id) ? 0 : 1;
      if (now === missing || (now === 1 && !listed.has(tool))) return [];
      return [["update session set missing = ? where id = ?", [now, id]]];
    });
    if (changed.length > 0) await db.batch(changed);
    any ||= changed.length > 0;
    after = last.rowid;
    if (slices.due) await slices.turn();
  }
}

/** The same for single logs that were seen to go. */
export async function markGone(db: Database, ids: readonly string[]): Promise<boolean> {
  if (ids.length > 0) await db.batch(ids.map((id): Statement => ["update session set missing = 1 where id = ?", [id]]));
  return ids.length > 0;
}
