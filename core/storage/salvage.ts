/** Rebuilds a damaged catalogue from its readable rows. The damaged files are retained beside it. */
import * as disk from "node:fs/promises";
import { join } from "node:path";
import { type DiskCalls, syncFolder, writeFileAtomic } from "../utils/atomic.ts";
import { ifThere, isGone } from "../utils/gone.ts";
import { marks } from "../utils/marks.ts";
import { isNoFile, readRegularBytes } from "../utils/regular.ts";
import { CatalogFile, emptyDatabase, PAGE } from "./catalog-file.ts";
import { DERIVED } from "./derived.ts";
import { createImage, type Image } from "./image.ts";
import { acquireLock } from "./lock.ts";
import { DAMAGED, LOG_FILE, MAIN_FILE } from "./present.ts";
import { loadSqlJs, type SqlJsStatic } from "./sqljs.ts";
import { toStorageError } from "./storage-error.ts";
import type { SqlValue } from "./types.ts";
import { markWithoutWal, overlayWal, parseWal, WalEncoder } from "./wal.ts";

interface Salvaged {
  /** The damaged files, under the names they have now. */
  kept: string[];
  /** Tables that could not be read to their end. */
  incomplete: string[];
  /** Rows in the new catalogue. */
  rows: number;
}

/** The file system calls used; tests hand in ones that fail. */
export type SalvageCalls = DiskCalls & Pick<typeof disk, "link" | "copyFile">;

/**
 * Takes the lock, reads what `catalog.db` under its log still holds, table by table as far as rows can be read, and puts a new log in place that has
 * all pages of the rebuilt database: one rename. Copies of the damaged files are made first: whatever ends this, on a full disk or killed, it can
 * be repeated and loses nothing. Throws ARCHIVE_LOCKED, STORAGE_FULL, STORAGE_READ_ONLY.
 */
export async function salvageCatalogue(dir: string, now = new Date(), calls: SalvageCalls = disk): Promise<Salvaged> {
  const lock = await acquireLock(dir);
  const [path, logPath] = [join(dir, MAIN_FILE), join(dir, LOG_FILE)];
  try {
    const [main = new Uint8Array(), log] = await Promise.all([read(path), read(logPath)]);
    const sql = await loadSqlJs();
    const file = new CatalogFile({ path, main: undefined, log: undefined, writes: 0, find: () => undefined }, 1);
    const image = createImage(sql, file);
    const { incomplete, rows } = copyAll(sql, overlay(main, log), image);
    image.close();
    const { pages, pageCount } = file.take();
    const kept = await keepAside(dir, now, calls);
    if (!(await isUsable(path))) await writeFileAtomic(path, emptyDatabase(2), { calls });
    // Derived from rows that may have changed or moved.
    await calls.rm(join(dir, DERIVED), { recursive: true, force: true });
    const write = async (to: disk.FileHandle) => {
      const encoder = new WalEncoder(PAGE);
      await to.writeFile(encoder.header);
      const all = pages.size > 0 ? [...pages] : [[1, emptyDatabase(2)] as const];
      for (let done = 0; done < all.length; done += AT_ONCE) {
        const commit = done + AT_ONCE < all.length ? 0 : pageCount;
        await to.writeFile(encoder.frames(all.slice(done, done + AT_ONCE), commit));
      }
    };
    await writeFileAtomic(logPath, write, { calls });
    return { kept, incomplete, rows };
  } catch (error) {
    throw toStorageError(error, path);
  } finally {
    await lock.release();
  }
}

/** Pages written at once. */
const AT_ONCE = 256;

/** SQLite uses a log only beside a file that is not empty. */
const isUsable = (path: string) =>
  disk.lstat(path).then(
    (found) => found.isFile() && found.size > 0,
    () => false,
  );

function overlay(main: Uint8Array, log: Uint8Array | undefined): Uint8Array {
  const wal = log && parseWal(log);
  const bytes = wal ? overlayWal(main, log, wal) : main;
  markWithoutWal(bytes);
  return bytes;
}

/** Gives the damaged files a second name. `catalog.db` is written in place later, so of that a copy. What is no file can only be moved. */
async function keepAside(dir: string, now: Date, calls: SalvageCalls): Promise<string[]> {
  const stamp = now.toISOString().replace(/[:.]/g, "-");
  const kept: string[] = [];
  for (const name of [MAIN_FILE, LOG_FILE]) {
    const path = join(dir, name);
    const aside = `${path}${DAMAGED}${stamp}`;
    const found = await ifThere(disk.lstat(path));
    if (!found) continue;
    const copy = () => calls.copyFile(path, aside, disk.constants.COPYFILE_EXCL | disk.constants.COPYFILE_FICLONE);
    if (!found.isFile()) await calls.rename(path, aside);
    else if (name === MAIN_FILE) await copy();
    // Not every file system has a second name for a file.
    else await calls.link(path, aside).catch(copy);
    kept.push(aside);
  }
  await syncFolder(dir, calls);
  return kept;
}

/** Copies what can be read of the damaged database into `image`. */
function copyAll(sql: SqlJsStatic, bytes: Uint8Array, image: Image): { incomplete: string[]; rows: number } {
  const incomplete: string[] = [];
  let rows = 0;
  if (bytes.length === 0) return { incomplete, rows };
  let damaged: InstanceType<SqlJsStatic["Database"]> | undefined;
  try {
    damaged = new sql.Database(bytes);
    const schema =
      damaged.exec("select type, name, sql from sqlite_master where sql is not null order by type = 'table' desc")[0]
        ?.values ?? [];
    for (const [type, name, text] of schema) {
      if (String(name).startsWith("sqlite_")) continue;
      image.apply([[String(text)]]);
      if (type !== "table") continue;
      const copied = copyTable(damaged, image, String(name));
      rows += copied.rows;
      if (!copied.whole) incomplete.push(String(name));
    }
  } catch {
    incomplete.push("schema");
  }
  damaged?.close();
  return { incomplete, rows };
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
          to.apply([[`insert into ${quoted} values (${marks(values)})`, values]]);
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
