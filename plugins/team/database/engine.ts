/** PostgreSQL by `pg`, and PGlite in a folder, as connections that answer rows. Both are optional peers: this file describes the little it uses. */
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { SessarcError } from "sessarc";
import "../errors.ts";

/** A value on its way to the database. Numbers are written as text; the statement says their type. */
export type Param = string | Uint8Array | null;
export type Cell = string | number | Uint8Array | null;

interface Answer {
  columns: string[];
  rows: Cell[][];
  /** Rows that an insert, update or delete changed. */
  changes: number;
}

export interface Connection {
  /** Runs one statement with parameters. */
  query(sql: string, params: readonly Param[]): Promise<Answer>;
  /** Runs statements without parameters, separated by semicolons. */
  execute(sql: string): Promise<void>;
  /** Gives the connection back; `broken` ends it. */
  release(broken?: boolean): void;
}

export interface Engine {
  /** There is one connection, which a transaction has for itself. */
  readonly single: boolean;
  connect(): Promise<Connection>;
  close(): Promise<void>;
}

/** Where `database` of the options leads: a server, or a folder of PGlite. */
const isServer = (database: string): boolean => /^postgres(?:ql)?:\/\//.test(database);

export const openEngine = (database: string): Promise<Engine> =>
  isServer(database) ? openServer(database) : openFolder(resolve(database));

/** PostgreSQL's type ids. */
const INT8 = 20;
const INT2 = 21;
const INT4 = 23;
const OID = 26;
const BOOL = 16;
const BYTEA = 17;
const FLOAT4 = 700;
const FLOAT8 = 701;
const NUMERIC = 1700;

/** Integers beyond 2^53 would silently become others. */
function toExact(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && !Number.isSafeInteger(number))
    throw new RangeError(`${text} is beyond the integers that are exact in JavaScript (2^53)`);
  return number;
}

const toBool = (text: string): number => (text === "t" || text === "true" ? 1 : 0);
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.slice(2), "hex"));

/** From PostgreSQL's text of a value; all other types stay text. */
const PARSERS: Readonly<Record<number, (text: string) => Cell>> = {
  [INT8]: toExact,
  [INT2]: Number,
  [INT4]: Number,
  [OID]: Number,
  [FLOAT4]: Number,
  [FLOAT8]: Number,
  [NUMERIC]: toExact,
  [BOOL]: toBool,
  [BYTEA]: toBytes,
};
const asText = (text: string): Cell => text;
const parserOf = (type: number) => PARSERS[type] ?? asText;

interface PgResult {
  rows: Cell[][];
  fields: { name: string }[];
  rowCount: number | null;
}
interface PgClient {
  query(query: object): Promise<PgResult>;
  on(event: "error", listener: (error: Error) => void): void;
  off(event: "error", listener: (error: Error) => void): void;
  release(broken?: boolean): void;
}
interface PgPool {
  connect(): Promise<PgClient>;
  on(event: "error", listener: (error: Error) => void): void;
  end(): Promise<void>;
}
interface PgModule {
  Pool: new (options: object) => PgPool;
}

/** To PostgreSQL, of one node. */
const CONNECTIONS = 10;

async function openServer(address: string): Promise<Engine> {
  const { Pool } = (await load<{ default: PgModule }>("pg")).default;
  const pool = new Pool({
    connectionString: address,
    max: CONNECTIONS,
    application_name: "sessarc",
    connectionTimeoutMillis: 15_000,
    keepAlive: true,
  });
  // An unused connection ended; the pool has removed it already.
  pool.on("error", () => {});
  const types = { getTypeParser: parserOf };
  return {
    single: false,
    async connect() {
      const client = await pool.connect().catch(refused);
      let failed = false;
      // The query that runs rejects, too.
      const onError = () => {
        failed = true;
      };
      client.on("error", onError);
      return {
        async query(text, values) {
          const params = values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
          const { rows, fields, rowCount } = await client.query({ text, values: params, rowMode: "array", types });
          return { columns: fields.map(({ name }) => name), rows, changes: rowCount ?? 0 };
        },
        async execute(text) {
          await client.query({ text });
        },
        release(broken) {
          client.off("error", onError);
          client.release(broken === true || failed);
        },
      };
    },
    close: () => pool.end(),
  };
}

interface PgliteAnswer {
  rows: Cell[][];
  fields: { name: string }[];
  affectedRows?: number;
}
interface PgliteDatabase {
  waitReady: Promise<void>;
  query(sql: string, params: unknown[], options: object): Promise<PgliteAnswer>;
  exec(sql: string): Promise<unknown>;
  close(): Promise<void>;
}
interface PgliteModule {
  PGlite: new (folder: string, options: object) => PgliteDatabase;
}

async function openFolder(folder: string): Promise<Engine> {
  const { PGlite } = await load<PgliteModule>("@electric-sql/pglite");
  const { pg_trgm } = await load<{ pg_trgm: object }>("@electric-sql/pglite/contrib/pg_trgm");
  await mkdir(dirname(folder), { recursive: true });
  const db = new PGlite(folder, { extensions: { pg_trgm } });
  await db.waitReady;
  const text = (value: unknown) => value;
  const serializers = Object.fromEntries([INT8, FLOAT8, NUMERIC, INT4].map((type) => [type, text]));
  const options = { rowMode: "array", parsers: PARSERS, serializers };
  let last: Promise<void> = Promise.resolve();
  let closed = false;
  return {
    single: true,
    async connect() {
      const before = last;
      let done = () => {};
      last = new Promise((free) => {
        done = free;
      });
      await before;
      if (closed) {
        done();
        throw new SessarcError("SHUTTING_DOWN", {});
      }
      return {
        async query(sql, params) {
          const { rows, fields, affectedRows } = await db.query(sql, [...params], options);
          return { columns: fields.map(({ name }) => name), rows, changes: affectedRows ?? 0 };
        },
        async execute(sql) {
          await db.exec(sql);
        },
        release: () => done(),
      };
    },
    async close() {
      const before = last;
      closed = true;
      await before;
      await db.close();
    },
  };
}

/** An optional peer. The name is not a literal, so no bundler looks for it. */
async function load<T>(name: string): Promise<T> {
  try {
    return await import(name);
  } catch (cause) {
    throw new SessarcError("TEAM_DRIVER_MISSING", { driver: name.replace(/\/contrib\/.*/, "") }, { cause });
  }
}

function refused(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
  throw new SessarcError("TEAM_DATABASE_UNREACHABLE", { reason }, { cause });
}
