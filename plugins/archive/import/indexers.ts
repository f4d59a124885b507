/** Runs the indexers over one session, in the worker that reads it. One that throws fails alone. */

import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import {
  type IndexedSession,
  type IndexerModule,
  type IndexRows,
  importModule,
  type SessionEvent,
  type SessionIndexer,
  toMessage,
} from "sessarc";
import type { Indexed, JobIndexer } from "./types.ts";

/** An indexer and its module, or why that could not be loaded; undefined: it reads the job's sessions later. */
export interface LoadedIndexer extends JobIndexer {
  loaded: IndexerModule | Error | undefined;
}

const modules = new Map<string, Promise<IndexerModule | Error>>();

/** Loads each module once per worker. */
export const loadIndexers = (indexers: readonly JobIndexer[]): Promise<LoadedIndexer[]> =>
  Promise.all(
    indexers.map(async (indexer) => {
      if (indexer.later) return { ...indexer, loaded: undefined };
      const loading = modules.get(indexer.module) ?? load(indexer.module);
      modules.set(indexer.module, loading);
      return { ...indexer, loaded: await loading };
    }),
  );

async function load(specifier: string): Promise<IndexerModule | Error> {
  try {
    const { default: loaded } = await importModule(specifier);
    if (isModule(loaded)) return loaded;
    return new TypeError(`${specifier} has no default export with a function \`create\``);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const isModule = (value: unknown): value is IndexerModule =>
  typeof value === "object" && value !== null && "create" in value && typeof value.create === "function";

interface Running extends LoadedIndexer {
  reader: SessionIndexer | undefined;
  error: string | null;
  /** Hash of what it made last. */
  made: string;
}

export interface SessionIndexers {
  add(event: SessionEvent): void;
  /** All of them fail: the session cannot be read. */
  fail(error: unknown): void;
  /** The rows of all events so far. */
  finish(): Indexed[];
}

/** For a session that is read from its first event. */
export function startIndexers(indexers: readonly LoadedIndexer[], session: IndexedSession): SessionIndexers {
  const running = indexers.map((indexer): Running => {
    const one: Running = { ...indexer, reader: undefined, error: null, made: "" };
    attempt(one, () => {
      if (indexer.loaded instanceof Error) throw indexer.loaded;
      one.reader = indexer.loaded?.create(session);
    });
    return one;
  });
  return {
    add(event) {
      for (const one of running) if (one.error === null) attempt(one, () => one.reader?.event(event));
    },
    fail(error) {
      for (const one of running) one.error ??= toMessage(error);
    },
    finish: () => running.map(finishOne),
  };
}

function attempt(one: Running, work: () => void): void {
  try {
    work();
  } catch (error) {
    one.error = toMessage(error);
  }
}

/** The version of what an indexer has not read: none has it, so that the session counts as behind. */
const PUT_OFF = -1;

function finishOne(one: Running): Indexed {
  const { name, tables, reader, later } = one;
  const version = later ? PUT_OFF : one.version;
  let rows: IndexRows = {};
  if (one.error === null)
    attempt(one, () => {
      rows = checked(reader?.finish() ?? {}, tables);
    });
  const indexed = { indexer: name, version, rows: one.error === null ? rows : {}, error: one.error };
  const before = one.made;
  one.made = createHash("sha1").update(serialize(indexed)).digest("base64");
  return { ...indexed, isSame: one.made === before };
}

const COLUMN = /^[a-z_][a-z0-9_]*$/;

/** Rows that can be stored. Throws TypeError for others. */
function checked(rows: IndexRows, tables: readonly string[]): IndexRows {
  for (const [table, list] of Object.entries(rows)) {
    if (!tables.includes(table)) throw new TypeError(`it has rows of ${table}, which is not among its tables`);
    for (const row of list)
      for (const [column, value] of Object.entries(row)) {
        if (!COLUMN.test(column) || column === "session")
          throw new TypeError(`${column} cannot be a column of ${table}`);
        const isValue =
          value === null || ["string", "number"].includes(typeof value) || (value as unknown) instanceof Uint8Array;
        if (!isValue) throw new TypeError(`${table}.${column} is neither text, number, bytes nor null`);
      }
  }
  return rows;
}
