/** What people call a session or a project. */
import { type Database, SessarcError } from "sessarc";

/** Ids named when a text fits several. */
const SHOWN = 10;

/**
 * The one session that `wanted` names: `last` (the newest that is no sub-agent), its id, the beginning of its id or of its key, or a part
 * of it. Sessions go before their sub-agents, whose ids hold theirs. Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS.
 */
export async function sessionNamed(db: Database, wanted: string): Promise<string> {
  const ways: [sql: string, params: string[]][] =
    wanted === "last"
      ? [["parent_id is null order by sort_at desc limit 1", []]]
      : [
          ["id = ?1", [wanted]],
          ["(substr(id, 1, length(?1)) = ?1 or substr(key, 1, length(?1)) = ?1)", [wanted]],
          ["instr(id, ?1) > 0", [wanted]],
        ];
  for (const [sql, params] of wanted === "" ? [] : ways) {
    const rows = await db.all<{ id: string; parent_id: string | null }>(
      `select id, parent_id from session where ${sql}`,
      params,
    );
    const own = rows.filter((row) => row.parent_id === null);
    const ids = (own.length > 0 ? own : rows).map((row) => row.id);
    if (ids.length > 1)
      throw new SessarcError("SESSION_AMBIGUOUS", { wanted, ids: ids.slice(0, SHOWN), count: ids.length });
    if (ids[0] !== undefined) return ids[0];
  }
  throw new SessarcError("SESSION_NOT_FOUND", { id: wanted });
}

/** Projects with this id or path; else, whatever the case, with this name. Empty when there are none. */
export async function projectsNamed(db: Database, wanted: string): Promise<string[]> {
  const rows = await db.all<{ id: string; exact: number }>(
    `select id, (id = ?1 or path = ?1 or exists (select 1 from project_alias a where a.project_id = project.id and a.path = ?1)) as exact
     from project where exact or lower(coalesce(name, derived_name)) = lower(?1)`,
    [wanted.replace(/(.)[/\\]$/, "$1")],
  );
  const exact = rows.filter((row) => row.exact === 1);
  return (exact.length > 0 ? exact : rows).map((row) => row.id);
}
