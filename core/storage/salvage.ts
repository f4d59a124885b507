/** A damaged catalogue made anew from what of it can still be read. The damaged files are kept beside it. */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFileAtomic } from "../utils/atomic.ts";
import { isGone } from "../utils/gone.ts";
import { marks } from "../utils/marks.ts";
import { isNoFile, readRegularBytes } from "../utils/regular.ts";
import { createImage, emptyDatabase, type Image } from "./image.ts";
import { findGroups } from "./journal-format.ts";
import { acquireLock } from "./lock.ts";
import { PagedFile } from "./paged-file.ts";
import { JOURNAL_FILE, SNAPSHOT_FILE } from "./present.ts";
import { writeSnapshot } from "./snapshot.ts";
import { loadSqlJs, type SqlJsStatic } from "./sqljs.ts";
import type { SqlValue } from "./types.ts";

export interface Salvaged {
  /** The damaged files, under the names they have now. */
  kept: string[];
  /** Tables that could not be read to their end. */
  incomplete: string[];
  /** Rows in the new catalogue. */
  rows: number;
}

/** Where damaged files are put: `catalog.db.damaged-<time>`. */
export const DAMAGED = ".damaged-";

/**
 * Takes the lock, reads what snapshot and journal still hold, puts both aside and writes a new snapshot. Rows are taken table by table as
 * far as they can be read, then the journal's whole records that continue them. Throws ARCHIVE_LOCKED.
 */
export async function salvageCatalogue(dir: string, now = new Date()): Promise<Salvaged> {
  const lock = await acquireLock(dir);
  try {
    const [snapshot, journal] = await Promise.all([SNAPSHOT_FILE, JOURNAL_FILE].map((name) => read(join(dir, name))));
    const sql = await loadSqlJs();
    const { image, batch, incomplete, rows } = readSnapshot(sql, snapshot);
    let last = batch;
    for (const { first, batches } of journal ? findGroups(journal) : []) {
      if (first > last + 1) break;
      try {
        image.replay(batches.slice(last + 1 - first));
      } catch {
        break; // a table it needs is not there
      }
      last = Math.max(last, first + batches.length - 1);
    }
    const kept: string[] = [];
    const stamp = now.toISOString().replace(/[:.]/g, "-");
    for (const [name, found] of [
      [SNAPSHOT_FILE, snapshot],
      [JOURNAL_FILE, journal],
    ] as const) {
      if (!found) continue;
      const aside = join(dir, `${name}${DAMAGED}${stamp}`);
      await rename(join(dir, name), aside);
      kept.push(aside);
    }
    // Made of rows that may not be the same any more, nor stand in the same places.
    await rm(join(dir, "index"), { recursive: true, force: true });
    await syncFolder(dir);
    await writeFileAtomic(join(dir, SNAPSHOT_FILE), async (file) => {
      await writeSnapshot(file, image.freeze(), last);
    });
    image.close();
    return { kept, incomplete, rows };
  } finally {
    await lock.release();
  }
}

interface Contents {
  image: Image;
  /** Number of the last batch in it. */
  batch: number;
  incomplete: string[];
  rows: number;
}

function readSnapshot(sql: SqlJsStatic, bytes: Buffer | undefined): Contents {
  const image = createImage(sql, new PagedFile(emptyDatabase()));
  const incomplete: string[] = [];
  let rows = 0;
  const batch = bytes && bytes.length >= 64 ? bytes.readUInt32BE(60) : 0;
  if (!bytes) return { image, batch: 0, incomplete, rows };
  let damaged: InstanceType<SqlJsStatic["Database"]> | undefined;
  try {
    damaged = new sql.Database(bytes);
    const schema =
      damaged.exec("select type, name, sql from sqlite_master where sql is not null order by type = 'table' desc")[0]
        ?.values ?? [];
    for (const [type, name, text] of schema) {
      if (String(name).startsWith("sqlite_")) continue;
      image.replay([[[String(text)]]]);
      if (type !== "table") continue;
      const copied = copyTable(damaged, image, String(name));
      rows += copied.rows;
      if (!copied.whole) incomplete.push(String(name));
    }
  } catch {
    incomplete.push("schema");
  }
  damaged?.close();
  return { image, batch, incomplete, rows };
}

function copyTable(
  from: InstanceType<SqlJsStatic["Database"]>,
  to: Image,
  name: string,
): { rows: number; whole: boolean } {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  let rows = 0;
  try {
    const all = from.prepare(`select * from ${quoted} not indexed`);
    try {
      while (all.step()) {
        const values = all.get() as SqlValue[];
        try {
          to.replay([[[`insert into ${quoted} values (${marks(values)})`, values]]]);
          rows++;
        } catch {
          // A row that breaks a rule of its table is part of the damage.
        }
      }
    } finally {
      all.free();
    }
    return { rows, whole: true };
  } catch {
    return { rows, whole: false };
  }
}

const read = (path: string): Promise<Buffer | undefined> =>
  readRegularBytes(path).catch((error: unknown) => {
    if (isGone(error)) return undefined;
    // A folder or a pipe in its place is put aside like a file that tells nothing.
    if (isNoFile(error)) return Buffer.alloc(0);
    throw error;
  });
