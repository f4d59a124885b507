/** OpenCode: sessions from its SQLite database and from the JSON store that came before. */

import { lstat } from "node:fs/promises";
import { sep } from "node:path";
import {
  type AdapterEnv,
  defineAdapter,
  type OpenLog,
  openSqliteFile,
  type SessionRef,
  sqliteVersion,
} from "sessarc/adapter";
import { isGone } from "#internal/adapter";
import { guard, skills, tools } from "./capabilities.ts";
import { listSessions, readSession, sessionVersion } from "./database.ts";
import { type OpenCodeOptions, placesOf } from "./places.ts";
import { mcp } from "./servers.ts";
import { createJsonStore } from "./storage.ts";

export type { OpenCodeOptions } from "./places.ts";

/** Sessions listed per adapter; a larger database is listed anew each time. */
const KEEP = 100_000;

export default defineAdapter((options: OpenCodeOptions | undefined) => {
  const store = createJsonStore();
  const listed = new Map<string, { token: string; refs: SessionRef[] }>();

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

    // Messages of the JSON store are files of their own: what its sessions are made of is more than their path.
    async token(ref, env) {
      const root = storageOf(ref, options, env);
      return root === undefined ? sqliteVersion(ref.path) : ((await store.version(root, ref)) ?? "");
    },

    async open(path, env) {
      const root = storageOf({ path }, options, env);
      if (root === undefined) return openDatabase(path);
      return { version: (ref) => store.version(root, ref), read: (ref, onBytes) => store.read(root, ref, onBytes) };
    },
  };
});

async function openDatabase(path: string): Promise<OpenLog> {
  const db = await openSqliteFile(path);
  return {
    version: ({ key }) => sessionVersion(db, key),
    read: ({ key }, onBytes) => readSession(db, key, onBytes),
    close: () => db.close(),
  };
}

/** The folder of the JSON store a ref came from; undefined: it came from a database. */
function storageOf(
  ref: Pick<SessionRef, "path">,
  options: OpenCodeOptions | undefined,
  env: AdapterEnv,
): string | undefined {
  if (!ref.path.endsWith(".json")) return undefined;
  const { storage } = placesOf(options, env);
  const marker = `${sep}session${sep}`;
  const fallback = ref.path.slice(0, Math.max(0, ref.path.lastIndexOf(marker)));
  return storage.find((root) => ref.path.startsWith(root + marker)) ?? fallback;
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
