/** The catalogue in memory: sql.js with its statements prepared once, reads kept from writing, writes all or nothing. */
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import { oneLine } from "../utils/text.ts";
import type { CatalogFile } from "./catalog-file.ts";
import type { TakeRows } from "./rows.ts";
import { checkSql } from "./sql-check.ts";
import type { SqlJsStatic, SqlStatement } from "./sqljs.ts";
import type { SqlValue, Statement } from "./types.ts";

export interface Image {
  /** Runs a query and passes its rows to `take` as they are read, at most `most` at a time. */
  read(sql: string, params: readonly SqlValue[], most: number, take: TakeRows): void;
  /** Runs the statements (parameters checked) in one transaction and returns how many rows changed. Throws the statement's error, everything undone. */
  apply(statements: readonly Statement[]): number;
  /** Gives the room of deleted rows back. Whatever comes of it, another image has to take this one's place. */
  vacuum(): void;
  close(): void;
}

interface Prepared {
  run: SqlStatement;
  writes: boolean;
  counts: boolean;
}

/** Prepared statements kept; plugins together have a few hundred. */
const KEEP = 400;

/**
 * Only this connection uses the file: no journal file, no syncing, no check for other writers. A batch reaches the file only when all of
 * it succeeded, so a batch that fails leaves no free space at the end of the file.
 */
const SETTINGS =
  "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA cache_spill=OFF;";

/** What is written can be dropped from `file`, so SQLite keeps no copy of it in its memory, which never shrinks. */
const VACUUM = "PRAGMA journal_mode=OFF; PRAGMA cache_spill=ON; PRAGMA temp_store=FILE; VACUUM";

/** What SQLite says about pages that do not fit. */
const DAMAGED = /disk image is malformed|file is not a database|disk I\/O error/;

/** Works on `file`. Throws CATALOG_DAMAGED when that is not a database. */
export function createImage(sql: SqlJsStatic, file: CatalogFile): Image {
  const prepared = new Map<string, Prepared>();
  file.reopen();
  const db = new sql.Database(file);
  // The first of them reads the first page.
  whole(() => db.exec(SETTINGS));
  // SQLite's own LIKE folds ASCII only.
  db.create_function("holds", holds);

  function prepare(text: string): Prepared {
    const known = prepared.get(text);
    if (known) {
      // Last used, last dropped.
      prepared.delete(text);
      prepared.set(text, known);
      return known;
    }
    const verdict = checkSql(text);
    if (verdict.kind === "refused") throw new TypeError(`SQL refused: ${verdict.reason} (in: ${shorten(text)})`);
    if (verdict.many) throw new TypeError(`one statement at a time (in: ${shorten(text)})`);
    const entry = {
      run: db.prepare(text),
      writes: verdict.kind === "write",
      counts: verdict.kind === "write" && verdict.counts,
    };
    prepared.set(text, entry);
    for (const [oldest, { run }] of prepared) {
      if (prepared.size <= KEEP) break;
      prepared.delete(oldest);
      run.free();
    }
    return entry;
  }

  function runOne({ run, counts }: Prepared, params: readonly SqlValue[]): number {
    try {
      if (params.length > 0) run.bind([...params]);
      while (run.step());
      return counts ? db.getRowsModified() : 0;
    } finally {
      run.reset();
    }
  }

  function runText(text: string, params: readonly SqlValue[] = []): number {
    return explain(text, () => {
      const verdict = checkSqlOnce(text);
      if (verdict.kind === "read") throw new TypeError("a read cannot be part of a write; use all or get");
      if (verdict.kind === "refused" || !verdict.many) return runOne(prepare(text), params);
      if (params.length > 0) throw new TypeError("several statements in one text take no parameters");
      return runMany(text);
    });
  }

  /** Migrations bring several statements, and triggers with semicolons inside: SQLite itself finds where each one ends. */
  function runMany(text: string): number {
    let changes = 0;
    for (const statement of db.iterateStatements(text)) {
      const verdict = checkSql(statement.getSQL());
      if (verdict.kind !== "write") throw new TypeError(verdict.kind === "read" ? "it reads" : verdict.reason);
      while (statement.step());
      if (verdict.counts) changes += db.getRowsModified();
    }
    return changes;
  }

  function checkSqlOnce(text: string) {
    const known = prepared.get(text);
    return known?.writes ? { kind: "write" as const, many: false, counts: known.counts } : checkSql(text);
  }

  function transact<T>(work: () => T): T {
    db.exec("BEGIN");
    try {
      const result = work();
      if (file.damage) throw file.damage;
      db.exec("COMMIT");
      if (file.damage) throw file.damage;
      return result;
    } catch (error) {
      try {
        db.exec("ROLLBACK");
      } catch {
        // A statement with ON CONFLICT ROLLBACK has ended the transaction itself.
      }
      throw error;
    }
  }

  /** No answer is made of a damaged page, and nothing is built on it. */
  function whole<T>(work: () => T): T {
    if (file.damage) throw file.damage;
    try {
      const result = work();
      if (file.damage) throw file.damage;
      return result;
    } catch (error) {
      throw file.damage ?? toDamaged(error);
    }
  }

  function toDamaged(error: unknown): unknown {
    const reason = toMessage(error instanceof Error && error.cause ? error.cause : error);
    if (!DAMAGED.test(reason)) return error;
    return new SessarcError("CATALOG_DAMAGED", { reason: `${file.path}: ${reason}` }, { cause: error });
  }

  function read(text: string, params: readonly SqlValue[], most: number, take: TakeRows): void {
    const { run, writes } = prepare(text);
    if (writes) throw new TypeError("a write goes through run or batch");
    try {
      if (params.length > 0) run.bind([...params]);
      readRows(run, most, take);
    } finally {
      run.reset();
    }
  }

  return {
    read(text, params, most, take) {
      checkParams(text, params);
      whole(() => explain(text, () => read(text, params, most, take)));
    },
    apply: (statements) =>
      whole(() => transact(() => statements.reduce((sum, [text, params]) => sum + runText(text, params), 0))),
    vacuum: () =>
      whole(() => {
        db.exec(VACUUM);
        file.resize(Number(db.exec("PRAGMA page_count")[0]?.values[0]?.[0]));
      }),
    close: () => db.close(),
  };
}

/** SQL `holds(text, part)`: whether `part` is in `text`, ignoring case in every script. */
function holds(text: SqlValue, part: SqlValue): number {
  if (typeof text !== "string" || typeof part !== "string") return 0;
  if (part !== foldedPart.of) foldedPart = { of: part, folded: fold(part) };
  return fold(text).includes(foldedPart.folded) ? 1 : 0;
}
let foldedPart = { of: "", folded: "" };
/** Upper case: `ς` and `σ` are one letter, and `ß` is what it is spelled as. */
const fold = (text: string) => text.normalize("NFC").toUpperCase();

function readRows(run: SqlStatement, most: number, take: TakeRows): void {
  let columns: string[] | undefined;
  let rows: SqlValue[][] = [];
  while (run.step()) {
    columns ??= run.getColumnNames();
    rows.push(run.get());
    if (rows.length < most) continue;
    take(columns, rows);
    rows = [];
  }
  if (columns && rows.length > 0) take(columns, rows);
}

/** Throws a TypeError that names the first parameter SQLite has no type for. */
export function checkParams(text: string, params: readonly unknown[] = []): void {
  for (const [i, value] of params.entries()) {
    if (value === null || typeof value === "string" || typeof value === "number" || value instanceof Uint8Array)
      continue;
    throw new TypeError(
      `Parameter ${i + 1} is ${value === undefined ? "undefined" : `a ${typeof value}`} (in: ${shorten(text)})`,
    );
  }
}

/** sql.js throws errors, and in places plain text, that do not say which statement it was. */
function explain<T>(text: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const message = toMessage(cause);
    if (message.includes("(in: ")) throw cause;
    const Kind = cause instanceof TypeError ? TypeError : Error;
    throw new Kind(`${message} (in: ${shorten(text)})`, { cause });
  }
}

const shorten = (text: string) => {
  const line = oneLine(text);
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
};
