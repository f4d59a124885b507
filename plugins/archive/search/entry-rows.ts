/** What a search needs of the catalogue to know its sessions, in pages. */

import type { Database } from "sessarc";
import { Slices } from "#internal";
import { marks, pages } from "#internal/adapter";
import { type NarrowRow, narrowRows } from "../catalogue/narrow.ts";
import type { EarlierRow } from "../catalogue/types.ts";

const COLUMNS = [
  "tool",
  "project_id",
  "sort_at",
  "started_at",
  "ended_at",
  "error_count",
  "copied",
  "source_version",
  "parts",
] as const;
export type Row = NarrowRow<(typeof COLUMNS)[number]>;

/** Sessions, and the earlier texts of them, the newest first. */
export interface Page {
  rows: Row[];
  texts: EarlierRow[];
}

/** Of every session, in slices. */
export async function* allRows(db: Database): AsyncGenerator<Page> {
  // Few archives have any.
  const isRevised = (await db.get("select 1 from earlier limit 1")) !== undefined;
  for await (const rows of narrowRows(db, COLUMNS))
    yield {
      rows,
      texts: isRevised
        ? await textsOf(
            db,
            rows.map(({ id }) => id),
          )
        : [],
    };
}

/** Of these sessions, as far as they are there; in slices. */
export async function* rowsOf(db: Database, ids: readonly string[]): AsyncGenerator<Page> {
  const slices = new Slices();
  for (const page of pages(ids)) {
    const rows = await db.all<Row>(`select id, ${COLUMNS.join(", ")} from session where id in (${marks(page)})`, page);
    yield { rows, texts: await textsOf(db, page) };
    if (slices.due) await slices.turn();
  }
}

const textsOf = (db: Database, ids: readonly string[]) =>
  db.all<EarlierRow>(`select * from earlier where session_id in (${marks(ids)}) order by version desc`, ids);
