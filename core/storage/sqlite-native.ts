/** Large foreign databases through `node:sqlite`, where the runtime has it, in the three ways that create no file beside them. */
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { SessarcError } from "../errors/error.ts";
import { openRegular } from "../utils/regular.ts";
import type { SqliteEngine, SqlValue } from "./types.ts";

/** The part of `node:sqlite` used here; the types of the oldest supported runtime do not know the module. */
interface NativeModule {
  DatabaseSync: new (location: string, options: { readOnly: boolean; timeout?: number }) => NativeDatabase;
}
interface NativeDatabase {
  prepare(sql: string): NativeStatement;
  close(): void;
}
interface NativeStatement {
  setReadBigInts(enabled: boolean): void;
  iterate(...params: SqlValue[]): IterableIterator<Record<string, SqlValue | bigint>>;
}

/** Undefined when the runtime cannot, or could only by writing beside the source; the caller then takes a copy. */
export async function openNative(path: string): Promise<SqliteEngine | undefined> {
  const native = loadNative();
  const mode = native && (await openMode(path));
  if (!native || !mode) return undefined;
  let db: NativeDatabase | undefined;
  try {
    db = new native.DatabaseSync(`${pathToFileURL(path).href}?${mode}`, { readOnly: true, timeout: 1_000 });
    // Opening is lazy: only a query shows whether the file can be read this way.
    Array.from(db.prepare("select count(*) as n from sqlite_master").iterate());
  } catch {
    // Older releases take no file: URLs, and a log without its index cannot be read in place. The copy can.
    db?.close();
    return undefined;
  }
  return createNative(path, db, mode === IMMUTABLE);
}

const IMMUTABLE = "immutable=1";

/**
 * How to open without leaving a trace: a rollback-mode file plainly; one with a log and its index through that index, read only;
 * one in log mode but at rest as immutable. A log without its index would need one to be created: not here.
 */
async function openMode(path: string): Promise<string | undefined> {
  const size = (file: string) =>
    stat(file).then(
      (s) => s.size,
      () => undefined,
    );
  const handle = await openRegular(path);
  const { buffer } = await handle.read(new Uint8Array(20), 0, 20, 0).finally(() => handle.close());
  if (buffer[18] !== 2) return "mode=ro";
  if (!(await size(`${path}-wal`))) return IMMUTABLE;
  return (await size(`${path}-shm`)) ? "mode=ro&readonly_shm=1" : undefined;
}

function createNative(path: string, db: NativeDatabase, immutable: boolean): SqliteEngine {
  const stamp = () => {
    const { size, mtimeNs } = statSync(path, { bigint: true });
    return `${size}.${mtimeNs}`;
  };
  const opened = immutable ? stamp() : "";
  return {
    *iterate(sql, params) {
      const statement = db.prepare(sql);
      statement.setReadBigInts(true);
      for (const row of statement.iterate(...params)) yield toNumbers(row);
      // Immutable turns off SQLite's own change detection.
      if (immutable && stamp() !== opened) throw new SessarcError("SOURCE_BUSY", { id: path });
    },
    close: () => db.close(),
  };
}

/** Integers as numbers, as sql.js gives them. */
function toNumbers(row: Record<string, SqlValue | bigint>): Record<string, SqlValue> {
  const out: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(row)) out[name] = typeof value === "bigint" ? Number(value) : value;
  return out;
}

function loadNative(): NativeModule | undefined {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
  if (!getBuiltinModule) return undefined;
  // Node warns that the module is experimental; users of this program cannot act on that.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return getBuiltinModule("node:sqlite") as NativeModule | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
