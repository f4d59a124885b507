/** Rebuilds the catalogue without the space of deleted rows: SQLite copies the rows into a new file, a piece at a time. */
import { SessarcError } from "../errors/error.ts";
import { Slices } from "../utils/slices.ts";
import { CatalogFile } from "./catalog-file.ts";
import { createImage, emptyDatabase, type Image } from "./image.ts";
import { readSnapshot } from "./recover.ts";
import type { Snapshots } from "./snapshots.ts";
import { loadSqlJs, type SqlImage } from "./sqljs.ts";
import type { Compacted } from "./types.ts";

/** Bytes that stay free on the disk. */
const SPARE = 16 << 20;
/** Rows of a piece: at first, and at most. */
const ROWS = 20;
const MOST_ROWS = 2_000;
/** ms that a piece should take. */
const PIECE_MS = 4;

interface Entry {
  type: string;
  name: string;
  sql: string;
}

interface CompactPlace {
  dir: string;
  /** Bytes that are free where a folder lies. */
  room(dir: string): Promise<number>;
  snapshots: Pick<Snapshots, "last" | "write">;
  /** Puts the copy, which holds all up to batch `have`, in the image's place. */
  take(copy: Image, have: number): Promise<void>;
  /** Aborts with what is thrown: the copy is given up, nothing has changed. */
  signal: AbortSignal;
}

/**
 * Rebuilds the catalogue. The copy is made from the snapshot, beside reads and writes; then the writes of that time are replayed on
 * it, and a snapshot of it replaces the old one as any snapshot does: killed at any moment, the disk holds the old one with its journal,
 * or the new one.
 */
export async function compactCatalogue(place: CompactPlace): Promise<Compacted> {
  const { dir, room, snapshots, take, signal } = place;
  await snapshots.write();
  const before = snapshots.last?.bytes ?? 0;
  const needed = before + SPARE - (await room(dir));
  if (needed > 0) throw new SessarcError("STORAGE_FULL", { needed });
  const old = readSnapshot(dir);
  const copy = old && (await compactCopy(old.file, signal));
  if (!copy) return { before, after: before };
  await take(copy, old.snapshot.batch);
  await snapshots.write();
  return { before, after: snapshots.last?.bytes ?? before };
}

/**
 * Returns a new image with everything in `from`, rowids included; undefined where rows cannot be copied one by one (virtual tables).
 * Other calls run between pieces. It takes as much memory as the new file has bytes.
 */
async function compactCopy(from: CatalogFile, signal: AbortSignal): Promise<Image | undefined> {
  const sql = await loadSqlJs();
  const old = new sql.Database(from);
  const file = new CatalogFile(emptyDatabase());
  const db = new sql.Database(file);
  const image = createImage(sql, file, db);
  let whole = false;
  try {
    const entries = rowsOf(old, "select type, name, sql from sqlite_master where sql is not null order by rowid").map(
      ([type, name, text]): Entry => ({ type: String(type), name: String(name), sql: String(text) }),
    );
    if (entries.some(({ sql: text }) => /^create\s+virtual/i.test(text))) return undefined;
    const [path] = rowsOf(old, "select file from pragma_database_list")[0] ?? [];
    db.exec("attach ? as old", [String(path)]);
    const own = entries.filter(({ name }) => !name.startsWith("sqlite_"));
    const of = (...types: string[]) => own.filter(({ type }) => types.includes(type));
    const slices = new Slices();
    // Before the rows: an index over all of them is not made in pieces.
    for (const { sql: text } of of("table", "index")) db.exec(text);
    for (const { name } of of("table")) {
      for (const _ of moveRows(db, name)) {
        if (from.damage) throw from.damage;
        signal.throwIfAborted();
        if (slices.due) await slices.turn();
      }
    }
    // It outlives the last table that counts: then there is none in the new file, and no row in the old one.
    if (hasSequence(db))
      db.exec("delete from main.sqlite_sequence; insert into main.sqlite_sequence select * from old.sqlite_sequence");
    for (const { sql: text } of of("view", "trigger")) db.exec(text);
    db.exec("detach old");
    if (from.damage) throw from.damage;
    whole = true;
    return image;
  } finally {
    old.close();
    from.close();
    if (!whole) image.close();
  }
}

/** Moves the rows of a table, in the order of their rowids; yields after each piece. */
function* moveRows(db: SqlImage, name: string): Generator<void> {
  const table = quote(name);
  const columns = rowsOf(db, "select name from pragma_table_xinfo(?) where hidden = 0", [name]).map(([column]) =>
    String(column),
  );
  const list = columns.map(quote).join(", ");
  const rowid = ["rowid", "_rowid_", "oid"].find((word) => !columns.some((column) => column.toLowerCase() === word));
  if (rowid === undefined || !hasRowid(db, table, rowid)) {
    db.exec(`insert into main.${table} (${list}) select ${list} from old.${table}`);
    return yield;
  }
  const move = db.prepare(
    `insert into main.${table} (${rowid}, ${list}) select ${rowid}, ${list} from old.${table} where ${rowid} > ? order by ${rowid} limit ?`,
  );
  try {
    for (let rows = ROWS, last = Number.MIN_SAFE_INTEGER; ; ) {
      const started = performance.now();
      move.run([last, rows]);
      if (db.getRowsModified() === 0) return;
      last = Number(rowsOf(db, `select max(${rowid}) from main.${table}`)[0]?.[0]);
      if (!Number.isSafeInteger(last)) throw new RangeError(`Rows of ${name} are numbered too high`);
      const took = performance.now() - started;
      rows = Math.max(1, Math.min(MOST_ROWS, took > PIECE_MS ? Math.floor(rows / 2) : rows * 2));
      yield;
    }
  } finally {
    move.free();
  }
}

/** Tables may be made without. */
function hasRowid(db: SqlImage, table: string, rowid: string): boolean {
  try {
    db.prepare(`select ${rowid} from old.${table}`).free();
    return true;
  } catch {
    return false;
  }
}

const hasSequence = (db: SqlImage) =>
  rowsOf(db, "select 1 from sqlite_master where name = 'sqlite_sequence'").length > 0;

const rowsOf = (db: SqlImage, text: string, params: (string | number)[] = []) => db.exec(text, params)[0]?.values ?? [];
const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
