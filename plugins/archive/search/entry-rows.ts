/** What a search needs of the catalogue to know its sessions, in pages. */
import type { Database } from "sessarc";
import type { EarlierRow } from "../catalogue/types.ts";

export interface Row {
  id: string;
  project_id: string;
  tool: string;
  sort_at: number;
  started_at: string | null;
  ended_at: string | null;
  error_count: number;
  parts: string;
}

/** Errors that a fork copied count elsewhere, and stand in its text all the same. */
const COLUMNS = "id, project_id, tool, sort_at, started_at, ended_at, error_count + (copied > 0) as error_count, parts";
/** Rows read between two looks at the clock. */
const PAGE = 500;

/** Sessions, and the earlier texts of them, the newest first. */
export interface Page {
  rows: Row[];
  texts: EarlierRow[];
}

/** Of every session. */
export async function* allRows(db: Database): AsyncGenerator<Page> {
  for (let after = 0; ; ) {
    const rows = await db.all<Row & { rowid: number }>(
      `select rowid, ${COLUMNS} from session where rowid > ? order by rowid limit ${PAGE}`,
      [after],
    );
    const last = rows.at(-1);
    if (!last) return;
    const texts = await db.all<EarlierRow>(
      "select e.* from earlier e join session s on s.id = e.session_id where s.rowid > ? and s.rowid <= ? order by e.version desc",
      [after, last.rowid],
    );
    yield { rows, texts };
    after = last.rowid;
  }
}

/** Of these sessions, as far as they are there. */
export async function* rowsOf(db: Database, ids: readonly string[]): AsyncGenerator<Page> {
  for (let i = 0; i < ids.length; i += PAGE) {
    const page = ids.slice(i, i + PAGE);
    const marks = page.map(() => "?").join(", ");
    const rows = await db.all<Row>(`select ${COLUMNS} from session where id in (${marks})`, page);
    const texts = await db.all<EarlierRow>(
      `select * from earlier where session_id in (${marks}) order by version desc`,
      page,
    );
    yield { rows, texts };
  }
}
