/** Runs the indexers over one session, in the worker that reads it. One that throws fails alone. */
import {
  type IndexedSession,
  type IndexerModule,
  type IndexRows,
  importModule,
  type Json,
  messageOf,
  type SessionEvent,
  type SessionIndexer,
} from "sessarc";
import type { Indexed, JobIndexer, JobSession } from "./types.ts";

/** An indexer and its module, or why that could not be loaded; undefined: no session of the job needs it. */
export interface LoadedIndexer extends JobIndexer {
  loaded: IndexerModule | Error | undefined;
}

const modules = new Map<string, Promise<IndexerModule | Error>>();

/** Loads each module once per worker. `sessions`: what will be read; an indexer that waits for the import's end is loaded for its states alone. */
export const loadIndexers = (
  indexers: readonly JobIndexer[],
  sessions: readonly Pick<JobSession, "states">[],
): Promise<LoadedIndexer[]> =>
  Promise.all(
    indexers.map(async (indexer) => {
      const { name, later } = indexer;
      if (later && !sessions.some(({ states }) => Object.hasOwn(states, name)))
        return { ...indexer, loaded: undefined };
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
  /** It goes on from a state, or has seen all events since the first. */
  isCurrent: boolean;
  /** It reads the session after the import. */
  isPutOff: boolean;
  error: string | null;
}

interface SessionIndexers {
  /** Some must see the stored events first: pass them to `catchUp`. */
  readonly behind: boolean;
  catchUp(event: SessionEvent): void;
  add(event: SessionEvent): void;
  /** All of them fail: the session cannot be read. */
  fail(error: unknown): void;
  /** `goesOn`: the session may grow, so that states are taken. */
  finish(goesOn: boolean): Indexed[];
}

/** `states`: of a session that is gone on with, the states of its indexers; undefined: it is read from its first event. */
export function startIndexers(
  indexers: readonly LoadedIndexer[],
  session: IndexedSession,
  states: Readonly<Record<string, string>> | undefined,
): SessionIndexers {
  const running = indexers.map((indexer): Running => {
    const state = states && Object.hasOwn(states, indexer.name) ? states[indexer.name] : undefined;
    const one: Running = {
      ...indexer,
      reader: undefined,
      isCurrent: states === undefined || state !== undefined || indexer.later,
      isPutOff: indexer.later && state === undefined,
      error: null,
    };
    attempt(one, () => {
      if (one.isPutOff) return;
      if (indexer.loaded instanceof Error) throw indexer.loaded;
      one.reader = indexer.loaded?.create(session, state === undefined ? undefined : (JSON.parse(state) as Json));
    });
    return one;
  });
  const see = (event: SessionEvent, some: readonly Running[]) => {
    for (const one of some) if (one.error === null) attempt(one, () => one.reader?.event(event));
  };
  const late = running.filter((one) => !one.isCurrent);
  return {
    behind: late.length > 0,
    catchUp: (event) => see(event, late),
    add: (event) => see(event, running),
    fail(error) {
      for (const one of running) one.error ??= messageOf(error);
    },
    finish: (goesOn) => running.map((one) => finishOne(one, goesOn)),
  };
}

function attempt(one: Running, work: () => void): void {
  try {
    work();
  } catch (error) {
    one.error = messageOf(error);
  }
}

/** The version of what an indexer has not read: none has it, so that the session counts as behind. */
const PUT_OFF = -1;

function finishOne(one: Running, goesOn: boolean): Indexed {
  const { name, tables, reader } = one;
  const version = one.isPutOff ? PUT_OFF : one.version;
  let rows: IndexRows = {};
  let state: string | null = null;
  if (one.error === null)
    attempt(one, () => {
      rows = checked(reader?.finish() ?? {}, tables);
      const snapshot = goesOn ? reader?.snapshot?.() : undefined;
      state = snapshot === undefined ? null : JSON.stringify(snapshot);
    });
  const failed = one.error !== null;
  return { indexer: name, version, rows: failed ? {} : rows, state: failed ? null : state, error: one.error };
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
