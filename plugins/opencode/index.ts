/** OpenCode: sessions from its SQLite database and from the JSON store that came before. */

import { lstat } from "node:fs/promises";
import { sep } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AdapterEnv,
  createRereadTail,
  type Draft,
  defineAdapter,
  isGone,
  type OpenSession,
  openSqliteFile,
  type Rereader,
  SessarcError,
  type SessionEvent,
  type SessionRef,
  type SessionSummary,
  type SqliteFile,
  sqliteVersion,
} from "sessarc/adapter";
import { guard, skills, tools } from "./capabilities.ts";
import { listSessions, readSession, sessionVersion } from "./database.ts";
import { type OpenCodeOptions, placesOf } from "./places.ts";
import { mcp } from "./servers.ts";
import { createJsonStore } from "./storage.ts";

export type { OpenCodeOptions } from "./places.ts";

type Reading = AsyncGenerator<SessionEvent, SessionSummary>;

/** Sessions listed per adapter; a larger database is listed anew each time. */
const KEEP = 100_000;

export default defineAdapter((options: OpenCodeOptions | undefined) => {
  const store = createJsonStore();
  const listed = new Map<string, { token: string; refs: SessionRef[] }>();
  const follow = createRereadTail();

  /** Sessions of a database; one that did not change is not opened. Empty when there is none. */
  async function list(path: string): Promise<SessionRef[]> {
    if (!(await isThere(path))) return [];
    const token = await sqliteVersion(path);
    const known = listed.get(path);
    if (known?.token === token) return known.refs;
    listed.delete(path);
    const db = await openSqliteFile(path);
    try {
      const refs = await listSessions(db, path);
      const kept = [...listed.values()].reduce((sum, one) => sum + one.refs.length, 0);
      if (kept + refs.length <= KEEP) listed.set(path, { token, refs });
      return refs;
    } finally {
      db.close();
    }
  }

  /** Ids held by the databases before `root`: those win. One that cannot be opened reports that as its own root. */
  async function heldBefore(root: string, databases: readonly string[]): Promise<Set<string>> {
    const before = databases.includes(root) ? databases.slice(0, databases.indexOf(root)) : databases;
    const lists = await Promise.allSettled(before.map(list));
    return new Set(lists.flatMap((one) => (one.status === "fulfilled" ? one.value.map((ref) => ref.key) : [])));
  }

  async function* readOne(ref: SessionRef, env: AdapterEnv): Reading {
    const root = storageOf(ref, options, env);
    if (root !== undefined) return yield* numbered(orMissing(store.read(root, ref), ref));
    const db = await openSqliteFile(ref.path);
    try {
      return yield* numbered(orMissing(readSession(db, ref.key), ref));
    } finally {
      db.close();
    }
  }

  return {
    name: "opencode",
    label: "OpenCode",
    tools,
    resume: ({ key }) => ["opencode", "--session", key],
    skills,
    mcp,
    guard,

    roots: (env) => {
      const { databases, storage } = placesOf(options, env);
      return [...databases, ...storage];
    },

    async *scan(root, env) {
      const { databases } = placesOf(options, env);
      const held = await heldBefore(root, databases);
      const refs = databases.includes(root) ? await list(root) : store.scan(root);
      for await (const ref of refs) {
        if (held.has(ref.key)) continue;
        held.add(ref.key);
        yield { ...ref };
      }
    },

    read: readOne,

    async *readMany(refs, env) {
      for (const [path, group] of byPath(refs)) {
        if (group.length === 1 || !path.endsWith(".db")) {
          for (const ref of group) yield [ref, readOne(ref, env)];
          continue;
        }
        // Opened with the first session, so that a database that cannot be opened fails its own sessions only.
        const shared = shareOpen(path);
        try {
          for (const ref of group) yield [ref, readShared(shared.open, ref)];
        } finally {
          await shared.close();
        }
      }
    },

    async tail(ref, cursor, env) {
      const root = storageOf(ref, options, env);
      return follow(root === undefined ? ofDatabase(ref) : ofStorage(root, ref), cursor);
    },
  };

  function ofStorage(root: string, ref: SessionRef): Rereader {
    const version = async () => (await store.version(root, ref)) ?? missing(ref);
    return {
      id: `${ref.path}\n${ref.key}`,
      token: version,
      async open() {
        let bytes = 0;
        const read = () =>
          orMissing(
            store.read(root, ref, (count) => (bytes += count)),
            ref,
          );
        return { version: await version(), read, bytes: () => bytes, close: () => {} };
      },
    };
  }
});

function ofDatabase(ref: SessionRef): Rereader {
  return {
    id: `${ref.path}\n${ref.key}`,
    token: () => sqliteVersion(ref.path),
    async open(): Promise<OpenSession> {
      const db = await openSqliteFile(ref.path);
      try {
        const version = sessionVersion(db, ref.key) ?? missing(ref);
        let bytes = 0;
        const read = () =>
          orMissing(
            readSession(db, ref.key, (count) => (bytes += count)),
            ref,
          );
        return { version, read, bytes: () => bytes, close: () => db.close() };
      } catch (error) {
        db.close();
        throw error;
      }
    },
  };
}

async function* readShared(open: () => Promise<SqliteFile>, ref: SessionRef): Reading {
  return yield* numbered(orMissing(readSession(await open(), ref.key), ref));
}

function shareOpen(path: string) {
  let opening: Promise<SqliteFile> | undefined;
  return {
    open: () => {
      opening ??= openSqliteFile(path);
      return opening;
    },
    async close() {
      const [result] = await Promise.allSettled(opening ? [opening] : []);
      if (result?.status === "fulfilled") result.value.close();
    },
  };
}

/** The folder of the JSON store a ref came from; undefined: it came from a database. */
function storageOf(ref: SessionRef, options: OpenCodeOptions | undefined, env: AdapterEnv): string | undefined {
  if (!ref.path.endsWith(".json")) return undefined;
  const { storage } = placesOf(options, env);
  const marker = `${sep}session${sep}`;
  const fallback = ref.path.slice(0, Math.max(0, ref.path.lastIndexOf(marker)));
  return storage.find((root) => ref.path.startsWith(root + marker)) ?? fallback;
}

/** Rows come without waiting: after this many events others get their turn. */
const BREATH = 256;

async function* numbered(drafts: AsyncGenerator<Draft, SessionSummary>): Reading {
  try {
    for (let seq = 0; ; seq++) {
      const step = await drafts.next();
      if (step.done) return step.value;
      if (seq % BREATH === BREATH - 1) await nextTurn();
      const { open: _, ...event } = step.value;
      yield { seq, ...event };
    }
  } finally {
    await drafts.return(undefined as never);
  }
}

function byPath(refs: readonly SessionRef[]): Map<string, SessionRef[]> {
  const groups = new Map<string, SessionRef[]>();
  for (const ref of refs) {
    const group = groups.get(ref.path);
    if (group) group.push(ref);
    else groups.set(ref.path, [ref]);
  }
  return groups;
}

async function* orMissing(
  drafts: Iterable<Draft, SessionSummary | undefined> | AsyncIterable<Draft, SessionSummary | undefined>,
  ref: SessionRef,
): AsyncGenerator<Draft, SessionSummary> {
  return (yield* drafts) ?? missing(ref);
}

function missing(ref: SessionRef): never {
  throw new SessarcError("SOURCE_MISSING", { id: `opencode:${ref.key}` });
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
