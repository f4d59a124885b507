/** Rebuilds a damaged catalogue from its readable rows. The damaged files are retained beside it. */
import * as disk from "node:fs/promises";
import { join } from "node:path";
import { type DiskCalls, syncFolder, writeFileAtomic } from "../utils/atomic.ts";
import { ifThere, isGone } from "../utils/gone.ts";
import { marks } from "../utils/marks.ts";
import { isNoFile, readRegularBytes } from "../utils/regular.ts";
import { CatalogFile } from "./catalog-file.ts";
import { DERIVED } from "./derived.ts";
import { createImage, emptyDatabase, type Image } from "./image.ts";
import { findGroups } from "./journal-format.ts";
import { acquireLock } from "./lock.ts";
import { DAMAGED, JOURNAL_FILE, SNAPSHOT_FILE } from "./present.ts";
import { checkSnapshot, writeSnapshot } from "./snapshot.ts";
import { loadSqlJs, type SqlJsStatic } from "./sqljs.ts";
import { toStorageError } from "./storage-error.ts";
import type { SqlValue } from "./types.ts";

interface Salvaged {
  /** The damaged files, under the names they have now. */
  kept: string[];
  /** Tables that could not be read to their end. */
  incomplete: string[];
  /** Rows in the new catalogue. */
  rows: number;
}

/** The new catalogue until it is whole and in its place. */
const REBUILT = "catalog.db.rebuilt";

/** The file system calls used; tests hand in ones that fail. */
export type SalvageCalls = DiskCalls & Pick<typeof disk, "link" | "copyFile">;

/**
 * Takes the lock, reads what snapshot and journal still hold, and puts a new snapshot in their place. Rows are taken table by table as
 * far as they can be read, then the journal's whole records that continue them. The new one is written and checked first, and the damaged
 * files keep their place until it takes it: whatever ends this, on a full disk or killed, it can be repeated and loses nothing. Throws
 * ARCHIVE_LOCKED, STORAGE_FULL, STORAGE_READ_ONLY.
 */
export async function salvageCatalogue(dir: string, now = new Date(), calls: SalvageCalls = disk): Promise<Salvaged> {
  const lock = await acquireLock(dir);
  const target = join(dir, SNAPSHOT_FILE);
  const rebuilt = join(dir, REBUILT);
  try {
    const [snapshot, journal] = await Promise.all([read(target), read(join(dir, JOURNAL_FILE))]);
    // An earlier run ended after it moved the old file away: the new one is whole.
    if (!snapshot && isWhole(rebuilt)) {
      const kept = await keepAside(dir, [JOURNAL_FILE], now, calls);
      await putInPlace(dir, calls);
      return { kept, incomplete: [], rows: 0 };
    }
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
    const write = async (file: disk.FileHandle) => void (await writeSnapshot(file, image.freeze(), last));
    await writeFileAtomic(rebuilt, write, { calls }).finally(() => image.close());
    checkSnapshot(rebuilt);
    const kept = await keepAside(dir, [SNAPSHOT_FILE, JOURNAL_FILE], now, calls);
    await putInPlace(dir, calls);
    return { kept, incomplete, rows };
  } catch (error) {
    throw toStorageError(error, rebuilt);
  } finally {
    await lock.release();
  }
}

/** The same bytes under a second name: a file stays in its place as well. What is no file can only be moved. */
async function keepAside(dir: string, names: readonly string[], now: Date, calls: SalvageCalls): Promise<string[]> {
  const stamp = now.toISOString().replace(/[:.]/g, "-");
  const kept: string[] = [];
  for (const name of names) {
    const path = join(dir, name);
    const aside = `${path}${DAMAGED}${stamp}`;
    const found = await ifThere(disk.lstat(path));
    if (!found) continue;
    if (!found.isFile()) await calls.rename(path, aside);
    // Not every file system has a second name for a file.
    else await calls.link(path, aside).catch(() => calls.copyFile(path, aside, disk.constants.COPYFILE_EXCL));
    kept.push(aside);
  }
  await syncFolder(dir, calls);
  return kept;
}

async function putInPlace(dir: string, calls: SalvageCalls): Promise<void> {
  // Derived from rows that may have changed or moved.
  await calls.rm(join(dir, DERIVED), { recursive: true, force: true });
  await calls.rename(join(dir, REBUILT), join(dir, SNAPSHOT_FILE));
  await calls.rm(join(dir, JOURNAL_FILE), { force: true });
  await syncFolder(dir, calls);
}

function isWhole(path: string): boolean {
  try {
    checkSnapshot(path);
    return true;
  } catch {
    return false;
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
  const image = createImage(sql, new CatalogFile(emptyDatabase()));
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
    // A folder or a pipe in its place is moved away like an unreadable file.
    if (isNoFile(error)) return Buffer.alloc(0);
    throw error;
  });
