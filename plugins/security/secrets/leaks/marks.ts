/** What the user says of secrets. A mark is kept by fingerprint, whatever happens to the sessions. */
import { type Database, marks, pages, SessarcError, type Statement } from "sessarc";
import { secrets } from "./select.ts";
import type { LeakFilter, LeakMarking, LeakMarks, LeakState } from "./types.ts";

/** Of one marking. */
const MOST = 20_000;

const toStatement = (id: string, state: LeakState): Statement =>
  state === "open"
    ? ["delete from security_mark where fingerprint = ?", [id]]
    : [
        "insert into security_mark (fingerprint, state, at) values (?, ?, ?) on conflict (fingerprint) do update set state = excluded.state, at = excluded.at",
        [id, state, new Date().toISOString()],
      ];

/** Marks several secrets at once. Throws LEAK_NOT_FOUND before anything is written if one of `ids` is unknown. */
export async function markAll(db: Database, { state, possible, ...chosen }: LeakMarking): Promise<LeakMarks> {
  const before = new Map<string, LeakState>();
  const add = async (filter: LeakFilter) => {
    const { sql, values } = secrets({ possible, ...filter }, MOST, 0);
    for (const row of await db.all<{ fingerprint: string; state: LeakState }>(sql, values))
      before.set(row.fingerprint, row.state);
  };
  for (const [fingerprint, from] of await statesOf(db, chosen.ids)) before.set(fingerprint, from);
  for (const kind of chosen.kinds) await add({ kind });
  for (const project of chosen.projects) await add({ project });
  const marked = [...before].filter(([, from]) => from !== state).map(([id, from]) => ({ id, from }));
  await db.batch(marked.map(({ id }) => toStatement(id, state)));
  return { marked };
}

async function statesOf(db: Database, ids: readonly string[]): Promise<Map<string, LeakState>> {
  const found = new Map<string, LeakState>();
  for (const page of pages(ids)) {
    const rows = await db.all<{ fingerprint: string; state: LeakState }>(
      `select l.fingerprint, coalesce(max(m.state), 'open') as state
       from security_leak l left join security_mark m on m.fingerprint = l.fingerprint
       where l.fingerprint in (${marks(page)}) group by l.fingerprint`,
      page,
    );
    for (const row of rows) found.set(row.fingerprint, row.state);
  }
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw new SessarcError("LEAK_NOT_FOUND", { id: missing });
  return found;
}
