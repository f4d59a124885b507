/** Reads from the catalogue what it has of the logs of a run, and of no others. */

import { type Database, marks, pages, type SessionRef } from "sessarc";
import { type EarlierRow, type SessionRow, toParts } from "../catalogue/types.ts";
import { COUNTED } from "./rows.ts";
import type { StoredText } from "./types.ts";

/** What a run knows of each stored session. */
export interface KnownSession {
  id: string;
  source_path: string;
  source_version: string;
  source_bytes: number;
  generation: number;
  parts: string;
  missing: number;
  /** 0 also where the time of replies has come that did not count until now. */
  format: number;
  /** Newest first. */
  earlier: EarlierRow[];
  /** All of it, where a run is over a few sessions. */
  row: SessionRow | undefined;
}

/** Sessions as they are stored, and of those that were deleted the generation they had. */
export interface Past {
  known: ReadonlyMap<string, KnownSession>;
  deleted: ReadonlyMap<string, number>;
}

/** Rows read by one statement, each of a page of its own. */
const TOGETHER = 100;
/** Sessions of which a run reads whole rows: logs that stay open are gone on with. */
const FEW = 20;
const COLUMNS = "id, source_path, source_version, source_bytes, generation, parts, missing";

/** Looks `ids` up by their keys, in slices: a run over one log costs the same in an archive of any size. */
export async function loadPast(db: Database, ids: readonly string[]): Promise<Past> {
  const known = new Map<string, KnownSession>();
  const deleted = new Map<string, number>();
  for (const page of pages(ids, TOGETHER)) {
    const all = marks(page);
    const isFew = ids.length <= FEW;
    const rows = await db.all<SessionRow & { due: number; changed: number }>(
      `select ${isFew ? "*" : `${COLUMNS}, format`}, left_out <= ? as due,
       exists (select 1 from earlier e where e.session_id = session.id) as changed from session where id in (${all})`,
      [Date.now(), ...page],
    );
    for (const row of rows) {
      const { id, source_path, source_version, source_bytes, generation, parts, missing } = row;
      const one = { id, source_path, source_version, source_bytes, generation, parts, missing };
      known.set(id, { ...one, format: row.due ? 0 : row.format, earlier: [], row: isFew ? row : undefined });
    }
    const texts = rows.some(({ changed }) => changed !== 0)
      ? await db.all<EarlierRow>(`select * from earlier where session_id in (${all}) order by version desc`, page)
      : [];
    for (const text of texts) known.get(text.session_id)?.earlier.push(text);
    // One that is stored is not deleted.
    if (rows.length === page.length) continue;
    const gone = await db.all<{ session_id: string; generation: number }>(
      `select session_id, generation from tombstone where session_id in (${all})`,
      page,
    );
    for (const row of gone) deleted.set(row.session_id, row.generation);
  }
  return { known, deleted };
}

/** It is recounted from the same log as before: nothing of that is an earlier text. */
export const isRecount = (known: KnownSession, ref: SessionRef): boolean =>
  known.format < COUNTED && known.source_path === ref.path && (ref.size ?? known.source_bytes) >= known.source_bytes;

/** Texts that are compared with what a log says now. */
export function storedTexts(known: KnownSession, ref: SessionRef): StoredText[] {
  const earlier = known.earlier.map((text) => ({ version: text.version, parts: toParts(text) }));
  return isRecount(known, ref) ? earlier : [{ version: known.generation, parts: toParts(known) }, ...earlier];
}
