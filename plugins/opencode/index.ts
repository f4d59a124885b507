/** OpenCode and its family (Kilo Code, MiMo Code): sessions of their databases, and of the JSON store that preceded those. */
import { sep } from "node:path";
import { type AdapterEnv, defineAdapter, type SessionRef, sqliteSessions, sqliteVersion } from "sessarc/adapter";
import { guard, skills, tools } from "./capabilities.ts";
import { FAMILY } from "./family.ts";
import { type OpenCodeOptions, placesOf } from "./places.ts";
import { rescue } from "./rescue.ts";
import { mcp } from "./servers.ts";
import type { JsonStore } from "./storage.ts";

export type { OpenCodeOptions } from "./places.ts";

export default defineAdapter((options: OpenCodeOptions | undefined) => {
  const member = FAMILY[options?.variant ?? "opencode"];
  const places = (env: AdapterEnv) => placesOf(member, options?.dir, env);
  const { list, open } = sqliteSessions({
    async list(db, _, key) {
      const { listSession, listSessions } = await import("./database.ts");
      return key === undefined ? listSessions(db) : listSession(db, key);
    },
    async *read(db, { key }, onBytes) {
      return yield* (await import("./database.ts")).readSession(db, key, onBytes, member);
    },
  });
  // One for the adapter's life: it remembers the files it parsed.
  let files: Promise<JsonStore> | undefined;
  const store = () => (files ??= import("./storage.ts").then(({ createJsonStore }) => createJsonStore()));

  /** Ids held by the databases before `root`: those win. One that cannot be opened reports that as its own root. */
  async function heldBefore(root: string, databases: readonly string[]): Promise<Set<string>> {
    const before = databases.includes(root) ? databases.slice(0, databases.indexOf(root)) : databases;
    const lists = await Promise.allSettled(before.map(list));
    return new Set(lists.flatMap((one) => (one.status === "fulfilled" ? one.value.map((ref) => ref.key) : [])));
  }

  return {
    name: member.name,
    label: member.label,
    tools,
    resume: ({ key }) => (member.resume.length > 0 ? [...member.resume, key] : undefined),
    skills: skills(member),
    mcp: mcp(member),
    guard: guard(member),
    rescue: rescue(member, (env) => places(env).databases),

    roots: (env) => {
      const { databases, storage } = places(env);
      return [...databases, ...storage];
    },

    async *scan(root, env) {
      const { databases } = places(env);
      const held = await heldBefore(root, databases);
      const refs = databases.includes(root) ? await list(root) : (await store()).scan(root);
      for await (const ref of refs) {
        if (held.has(ref.key)) continue;
        held.add(ref.key);
        yield ref;
      }
    },

    // Messages of the JSON store are files of their own: what its sessions are made of is more than their path.
    async token(ref, env) {
      const root = storageOf(ref, places(env).storage);
      return root === undefined ? sqliteVersion(ref.path) : ((await (await store()).version(root, ref)) ?? "");
    },

    async open(path, env) {
      const root = storageOf({ path }, places(env).storage);
      if (root === undefined) return open(path);
      const { version, read } = await store();
      return { version: (ref) => version(root, ref), read: (ref, onBytes) => read(root, ref, onBytes) };
    },
  };
});

/** The folder of the JSON store a ref came from; undefined: it came from a database. */
function storageOf({ path }: Pick<SessionRef, "path">, storage: readonly string[]): string | undefined {
  if (!path.endsWith(".json")) return undefined;
  const marker = `${sep}session${sep}`;
  const fallback = path.slice(0, Math.max(0, path.lastIndexOf(marker)));
  return storage.find((root) => path.startsWith(root + marker)) ?? fallback;
}
