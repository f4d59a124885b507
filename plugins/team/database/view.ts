/** The `Database` of `sessarc` over PostgreSQL: each query in a transaction as one role, so that no setting outlives it. */
import { BoundedMap, createQueue, type Database, SessarcError, type SqlValue, type Statement } from "sessarc";
import { oneLine } from "sessarc/terminal";
import { type Translated, toParams, toTypes, translate } from "./dialect.ts";
import type { Cell, Connection, Engine } from "./engine.ts";
import { failed } from "./failures.ts";
import { codeOf } from "./install.ts";
import { HIDDEN, type Schema } from "./schema.ts";
import { SEEN_PATH } from "./seen.ts";

/** As whom a view asks. */
interface Viewer {
  /** Undefined: as the owner of the tables. */
  role?: "sessarc_member" | "sessarc_writer" | undefined;
  tenant?: number | undefined;
  spaces?: readonly number[] | undefined;
}

export interface Source {
  engine: Engine;
  schema(): Schema;
}

interface ViewOptions {
  viewer: Viewer;
  /** The connection that all of it runs on; default: one of the pool for each transaction. */
  connection?: Connection | undefined;
  /** Runs before the end of each transaction that wrote. */
  beforeCommit?: ((connection: Connection) => Promise<void>) | undefined;
  generation?: (() => number) | undefined;
}

export interface View extends Database {
  /** `close` was called. */
  readonly closed: boolean;
}

/** Translations kept; plugins together have some hundred statements. */
const KEEP = 2_000;

export function createView({ engine, schema }: Source, options: ViewOptions): View {
  const { viewer, beforeCommit } = options;
  const known = new BoundedMap<string, Translated>(KEEP);
  let knownFor: Schema | undefined;
  let closed = false;
  let batches = 0;
  /** Writes run sequentially, in the order of their calls. */
  const writes = createQueue();
  const open = new Set<Promise<unknown>>();
  const begins = (mode: string) =>
    [
      `begin ${mode}`,
      `set local search_path = ${viewer.role === "sessarc_member" ? SEEN_PATH : "sessarc, pg_catalog"}`,
      ...identity(viewer),
    ].join("; ");
  const reading = begins("read only");
  const writing = begins("");

  function translated(sql: string, params: readonly SqlValue[]): Translated {
    const current = schema();
    if (knownFor !== current) known.clear();
    knownFor = current;
    const key = `${toTypes(params)} ${sql}`;
    let found = known.get(key);
    if (!found) {
      found = translate(sql, params, current);
      known.set(key, found);
    }
    return found;
  }

  /** On one connection a transaction begins when the one before has ended: a read's commit would end a batch that is half done. */
  const alone = createQueue();
  function transact<T>(begin: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    if (!options.connection) return transactNow(begin, work);
    return alone(() => transactNow(begin, work));
  }

  async function transactNow<T>(begin: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = options.connection ?? (await engine.connect());
    const release = (broken: boolean) => {
      if (!options.connection) connection.release(broken);
    };
    try {
      await connection.execute(begin);
      const answer = await work(connection);
      await connection.execute("commit");
      release(false);
      return answer;
    } catch (error) {
      // A connection that cannot even undo is not used again.
      const undone = await connection.execute("rollback").then(
        () => true,
        () => false,
      );
      release(!undone);
      throw error;
    }
  }

  /** Refuses after `close`, and lets it wait for what runs. */
  async function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw new Error("the database is closed");
    const running = work();
    open.add(running);
    try {
      return await running;
    } finally {
      open.delete(running);
    }
  }

  async function read<T>(sql: string, params: readonly SqlValue[]): Promise<T[]> {
    checkParams(sql, params);
    const found = translated(sql, params);
    const { sql: text, verb } = found;
    if (CHANGING.has(verb)) throw new TypeError(`a write goes through run or batch (in: ${shorten(sql)})`);
    const values = toParams(found, params);
    return whileOpen(async () => {
      const { columns, rows } = await transact(reading, (connection) => connection.query(text, values)).catch(
        failed(sql, text),
      );
      return toObjects<T>(columns, rows, viewer.role !== undefined);
    });
  }

  function write(statements: readonly Statement[]): Promise<number> {
    const prepared = statements.map(([sql, params = []]) => {
      checkParams(sql, params);
      // Copied now: the caller may change its bytes after the call.
      return { sql, params: params.map((value) => (value instanceof Uint8Array ? value.slice() : value)) };
    });
    const run = async () => {
      const changes = await transact(writing, async (connection) => {
        let sum = 0;
        for (const { sql, params } of joined(prepared)) {
          const found = translated(sql, params);
          const { sql: text, verb } = found;
          if (READING.has(verb))
            throw new TypeError(`a read cannot be part of a write; use all or get (in: ${shorten(sql)})`);
          const values = toParams(found, params);
          sum += (await connection.query(text, values).catch(failed(sql, text))).changes;
        }
        await beforeCommit?.(connection);
        return sum;
      }).catch((error) => {
        throw codeOf(error) === undefined ? error : failed("a batch", "")(error);
      });
      batches++;
      return changes;
    };
    return writes(run);
  }

  return {
    ready: Promise.resolve(),
    all: (sql, params = []) => read(sql, params),
    async get<T>(sql: string, params: readonly SqlValue[] = []) {
      return (await read<T>(sql, params))[0];
    },
    run: async (sql, params) => ({ changes: await whileOpen(() => write([[sql, params]])) }),
    async batch(statements) {
      if (statements.length > 0) await whileOpen(() => write(statements));
    },
    get generation() {
      return options.generation?.() ?? batches;
    },
    get closed() {
      return closed;
    },
    stats: { fileBytes: 0, logBytes: 0 },
    hold: async () => () => {},
    async compact() {
      throw new SessarcError("TEAM_NOT_HERE", {
        what: "compacting the catalogue",
        instead: "PostgreSQL's autovacuum does it",
      });
    },
    check: async (signal) => {
      signal?.throwIfAborted();
      await read("select 1 as one", []);
      return undefined;
    },
    async close() {
      closed = true;
      while (open.size > 0) await Promise.allSettled(open);
    },
  };
}

const CHANGING = new Set(["insert", "update", "delete", "create", "drop", "alter", "replace"]);
const READING = new Set(["select", "values", "explain", "show"]);

/** Who the transaction is. Numbers alone are written into it. */
function identity({ role, tenant, spaces }: Viewer): string[] {
  if (role === undefined) return [];
  const whole = (value: number) => {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not the id of a tenant or space`);
    return value;
  };
  const settings = [
    `set local sessarc.tenant = '${whole(tenant ?? 0)}'`,
    `set local sessarc.spaces = '{${(spaces ?? []).map(whole).join()}}'`,
  ];
  return [...settings, `set local role ${role}`];
}

interface Prepared {
  sql: string;
  params: readonly SqlValue[];
}

/** A row of values alone: two such statements change the same rows as one with both rows. */
const ROW = /^(insert into \w+(?: \([\w, ]+\))? values )(\(\?(?:, \?)*\))( on conflict do nothing)?$/;
/** Rows of one statement. Few different numbers, so that few statements are translated. */
const ROWS = [128, 8];

/** Equal inserts that follow each other, many rows together: a session may have ten thousands of them. */
function* joined(statements: readonly Prepared[]): Generator<Prepared> {
  for (let at = 0; at < statements.length; ) {
    const first = statements[at] as Prepared;
    const [, head, row, tail = ""] = ROW.exec(first.sql) ?? [];
    const types = toTypes(first.params);
    let end = at + 1;
    while (head !== undefined && statements[end]?.sql === first.sql && toTypes(statements[end]?.params ?? []) === types)
      end++;
    for (const most of ROWS)
      for (; end - at >= most; at += most)
        yield {
          sql: `${head}${Array.from({ length: most }, () => row).join(", ")}${tail}`,
          params: statements.slice(at, at + most).flatMap(({ params }) => params),
        };
    for (; at < end; at++) yield statements[at] as Prepared;
  }
}

function toObjects<T>(columns: readonly string[], rows: readonly (readonly Cell[])[], hides: boolean): T[] {
  const shown = columns.flatMap((name, i) =>
    hides && HIDDEN.has(name) && name !== "rowid" ? [] : [[name, i] as const],
  );
  return rows.map((row) => Object.fromEntries(shown.map(([name, i]) => [name, row[i] ?? null])) as T);
}

function checkParams(sql: string, params: readonly unknown[]): void {
  for (const [i, value] of params.entries()) {
    if (value === null || typeof value === "string" || typeof value === "number" || value instanceof Uint8Array)
      continue;
    throw new TypeError(
      `Parameter ${i + 1} is ${value === undefined ? "undefined" : `a ${typeof value}`} (in: ${shorten(sql)})`,
    );
  }
}

const shorten = (text: string): string => {
  const line = oneLine(text);
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
};
