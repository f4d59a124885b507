/**
 * The one way into other programs' SQLite files: read only, their write-ahead log included, never a byte written beside them.
 *
 * Up to 64 MB a private copy is taken into sql.js. Above, `node:sqlite` reads in place where the runtime has it and can do so
 * without creating a file; otherwise the copy is taken up to `limitBytes`.
 */
import { lstat, stat } from "node:fs/promises";
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import { ifThere } from "../utils/gone.ts";
import { openRegular } from "../utils/regular.ts";
import { copyDatabase, missing, readAt } from "./sqlite-copy.ts";
import { openNative } from "./sqlite-native.ts";
import { loadSqlJs, type SqlImage } from "./sqljs.ts";
import type { SqliteEngine, SqlValue } from "./types.ts";

/** Values come as string, number (also past 2^53, then rounded), Uint8Array or null. */
export interface SqliteFile {
  /** Every row, as an object by column name. Throws SOURCE_DAMAGED when pages are broken, the engine's own error on bad SQL. */
  all<T>(sql: string, params?: readonly SqlValue[]): T[];
  /** Row by row: memory stays flat. */
  iterate<T>(sql: string, params?: readonly SqlValue[]): IterableIterator<T>;
  /** Names of tables and views. */
  tables(): string[];
  /** Column names; empty for a table that does not exist. */
  columns(table: string): string[];
  close(): void;
}

interface SqliteFileOptions {
  /** Most bytes (file and log) that are copied into memory. Default 512 MB. */
  limitBytes?: number;
}

const LIMIT = 512 * 2 ** 20;
const NATIVE_FROM = 64 * 2 ** 20;

/**
 * Opens a database another program may be writing. The rows are those of the last commit at the time of opening.
 *
 * Errors: SOURCE_MISSING, SOURCE_TOO_LARGE (names limit and remedy), SOURCE_BUSY (changed under us at every attempt),
 * SOURCE_DAMAGED (not a database). Cost: one read of file and log; memory twice their size for a moment, once until `close`.
 */
export async function openSqliteFile(path: string, options: SqliteFileOptions = {}): Promise<SqliteFile> {
  const [main, wal] = await Promise.all([stat(path).catch(missing(path)), stat(`${path}-wal`).catch(() => undefined)]);
  const bytes = main.size + (wal?.size ?? 0);
  if (bytes >= NATIVE_FROM) {
    const native = await openNative(path);
    if (native) return toFile(path, native);
  }
  const limit = options.limitBytes ?? LIMIT;
  if (bytes > limit) throw new SessarcError("SOURCE_TOO_LARGE", { id: path, bytes, limit });
  const [sql, image] = await Promise.all([loadSqlJs(), copyDatabase(path)]);
  return toFile(path, createCopy(new sql.Database(image)));
}

/**
 * A change token: equal means that nothing was written since. Made from sizes, times and inodes of file and log, the file's change
 * counter and the log's salts: five system calls, no page is read. Throws SOURCE_MISSING.
 */
export async function sqliteVersion(path: string): Promise<string> {
  const parts: string[] = [];
  for (const file of [path, `${path}-wal`]) {
    const handle = await openRegular(file).catch((error) => (file === path ? missing(path)(error) : undefined));
    if (!handle) continue;
    try {
      const { size, mtimeNs, ino } = await handle.stat({ bigint: true });
      const head = file === path ? await readAt(handle, 24, 4) : await readAt(handle, 16, 8);
      parts.push([size, mtimeNs, ino].map((n) => n.toString(36)).join("."), Buffer.from(head).toString("hex"));
    } finally {
      await handle.close();
    }
  }
  return parts.join("-");
}

/** When a database was written last, ms. No row of it is later: a later time in one is that of a wrong clock. */
export async function lastWritten(path: string): Promise<number> {
  const files = await Promise.all([path, `${path}-wal`].map((file) => ifThere(lstat(file))));
  return Math.max(...files.map((file) => file?.mtimeMs ?? 0));
}

function toFile(path: string, engine: SqliteEngine): SqliteFile {
  function* iterate<T>(sql: string, params: readonly SqlValue[] = []): IterableIterator<T> {
    try {
      for (const row of engine.iterate(sql, params)) yield row as T;
    } catch (error) {
      throw toDamaged(path, error);
    }
  }
  const names = (sql: string, params?: SqlValue[]) => Array.from(iterate<{ name: string }>(sql, params), (r) => r.name);
  return {
    iterate,
    all: (sql, params) => Array.from(iterate(sql, params)),
    tables: () =>
      names(
        "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'",
      ),
    columns: (table) => names("select name from pragma_table_info(?)", [table]),
    close: () => engine.close(),
  };
}

/** Statements kept prepared: adapters ask the same few questions for every message, and preparing takes longer than most answers. */
const KEEP = 16;

function createCopy(image: SqlImage): SqliteEngine {
  const idle = new Map<string, ReturnType<SqlImage["prepare"]>>();
  return {
    *iterate(sql, params) {
      const statement = idle.get(sql) ?? image.prepare(sql);
      idle.delete(sql); // no other reader may use it meanwhile
      let ended = false;
      try {
        statement.bind([...params]);
        let columns: string[] | undefined;
        while (statement.step()) {
          columns ??= statement.getColumnNames();
          const values = statement.get();
          yield Object.fromEntries(columns.map((name, i) => [name, values[i] ?? null]));
        }
        ended = true;
      } finally {
        if (ended && idle.size < KEEP && !idle.has(sql)) {
          statement.reset();
          idle.set(sql, statement);
        } else statement.free();
      }
    },
    close: () => image.close(),
  };
}

function toDamaged(path: string, error: unknown): unknown {
  const text = toMessage(error);
  if (!/malformed|not a database|disk I\/O error/.test(text)) return error;
  return new SessarcError("SOURCE_DAMAGED", { id: path, reason: text }, { cause: error });
}
