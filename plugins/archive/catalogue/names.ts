/** What people call a session or a project. */
import { type Database, SessarcError } from "sessarc";
import { TOP_LEVEL } from "./filter.ts";
import type { SessionRow } from "./types.ts";

/** Ids named when a text fits several. */
const SHOWN = 10;

/**
 * The one session that `wanted` names: `last` (the newest that is not a sub-agent), its id or key, the beginning of one of these, or a part
 * of it. Sessions go before their sub-agents, whose ids hold theirs. Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS.
 */
export async function sessionNamed(db: Database, wanted: string): Promise<string> {
  const exact =
    wanted === "last"
      ? await db.get<Named>(`select id, parent_id from session where ${TOP_LEVEL} order by sort_at desc limit 1`)
      : await db.get<Named>("select id, parent_id from session where id = ?", [wanted]);
  if (exact) return exact.id;
  const { equal, begin, hold } = wanted === "" || wanted === "last" ? noMatches : await namedLike(db, wanted);
  for (const rows of [equal, begin, hold]) {
    const own = rows.filter((row) => row.parent_id === null);
    const ids = (own.length > 0 ? own : rows).map((row) => row.id);
    if (ids.length > 1)
      throw new SessarcError("SESSION_AMBIGUOUS", { wanted, ids: ids.slice(0, SHOWN), count: ids.length });
    if (ids[0] !== undefined) return ids[0];
  }
  throw new SessarcError("SESSION_NOT_FOUND", { id: wanted });
}

type Named = Pick<SessionRow, "id" | "parent_id">;
interface Matches {
  equal: Named[];
  begin: Named[];
  hold: Named[];
}
const noMatches: Matches = { equal: [], begin: [], hold: [] };

/** Those whose key is a text, those whose id or key begins with it, and all that hold it. */
async function namedLike(db: Database, wanted: string): Promise<Matches> {
  // The inner select reads the index of ids alone; rows are large.
  const hold = await db.all<Named & { tool: string }>(
    `select id, tool, parent_id from session where rowid in (select rowid from session where instr(id, ?) > 0) order by id`,
    [wanted],
  );
  // An id is the tool, a colon and the key.
  const begin = hold.filter(({ id, tool }) => id.startsWith(wanted) || id.startsWith(wanted, tool.length + 1));
  // A key that a person chose may begin another one.
  const equal = begin.filter(({ id, tool }) => id.slice(tool.length + 1) === wanted);
  return { equal, begin, hold };
}

/** Projects with this id or path; else, whatever the case, with this name. Empty when there are none. */
export async function projectsNamed(db: Database, wanted: string): Promise<string[]> {
  const rows = await db.all<{ id: string; exact: number }>(
    `select id, exact from (
       select id, coalesce(name, derived_name) as called,
         (id = ?1 or path = ?1 or exists (select 1 from project_alias a where a.project_id = project.id and a.path = ?1)) as exact
       from project) as known
     where exact or lower(called) = lower(?1)`,
    [wanted.replace(/(.)[/\\]$/, "$1")],
  );
  const exact = rows.filter((row) => row.exact === 1);
  return (exact.length > 0 ? exact : rows).map((row) => row.id);
}
