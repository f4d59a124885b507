/** Where sessions came from whose logs do not say it. */

import { type Kernel, marks, pages, type SqlValue } from "sessarc";
import type { SessionRow } from "../catalogue/types.ts";
import { COMPARE, LINK, LINKED } from "./origin.ts";
import type { Settler } from "./settle.ts";
import type { OnCommit } from "./types.ts";

type Open = Pick<SessionRow, "id" | "parent_id" | "forked_from" | "lineage" | "copied">;
type Candidate = Pick<SessionRow, "id" | "parent_id" | "forked_from" | "lineage">;

const UNSETTLED = `from session indexed by session_unsettled where lineage >= ${COMPARE} and lineage >= ${LINK}`;
/** SQL: whether the origin of a session is to be found. */
export const HAS_LINKS = `exists (select 1 ${UNSETTLED})`;

/**
 * Finds the origin of sessions and sub-agents whose logs do not name it, once all that a run brought is stored. A reply was first said in the oldest
 * log that has it; a session came from the youngest of the logs in which those it repeats were first said.
 */
export async function settleLinks(kernel: Kernel, settler: Settler, onChange: OnCommit): Promise<void> {
  const { db } = kernel.storage;
  const rows = await db.all<Open>(`select id, parent_id, forked_from, lineage, copied ${UNSETTLED}`);
  for (const row of rows) {
    if (kernel.closing.aborted) return;
    const lineage = row.lineage & ~LINK;
    const named = row.forked_from !== null && !(lineage & LINKED);
    const origin = named ? row.forked_from : await findOrigin(kernel, settler, row);
    const same = origin === row.forked_from;
    const values: SqlValue[] = same
      ? [origin, lineage, row.copied]
      : [
          origin,
          (origin === null ? lineage & ~LINKED : lineage | LINKED) | (row.copied > 0 ? COMPARE : 0),
          row.copied > 0 ? row.copied : origin === null ? 0 : -1,
        ];
    await db.run("update session set forked_from = ?, lineage = ?, copied = ? where id = ?", [...values, row.id]);
    if (!same) onChange([], [row.id]);
  }
}

async function findOrigin({ storage: { db } }: Kernel, settler: Settler, row: Open): Promise<string | null> {
  const ids = await settler.originsOf(row.id);
  const stored = new Map<string, Candidate>();
  for (const page of pages(ids)) {
    const sql = `select id, parent_id, forked_from, lineage from session where id in (${marks(page)})`;
    for (const one of await db.all<Candidate>(sql, page)) stored.set(one.id, one);
  }
  // One that was deleted since it was compared: what counted there does not count here.
  if (row.forked_from !== null && row.copied > 0 && ids.includes(row.forked_from) && !stored.has(row.forked_from))
    return row.forked_from;
  const rank = (id: string) => {
    const one = stored.get(id);
    if (!one) return 2;
    // A sub-agent may go on with its parent's talk, or be copied along with it.
    return one.parent_id === null || row.parent_id !== null ? 0 : 1;
  };
  // They share replies because this one started the other: no fork.
  const startedHere = (id: string) => {
    const one = stored.get(id);
    return one !== undefined && (one.parent_id === row.id || (one.forked_from === row.id && !(one.lineage & LINKED)));
  };
  // Sorting is stable: of equal rank the youngest stays first.
  return ids.filter((id) => !startedHere(id)).sort((a, b) => rank(a) - rank(b))[0] ?? null;
}
