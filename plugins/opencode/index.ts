/** OpenCode and its family (Kilo Code, MiMo Code, ZCode): sessions of their databases, and of the JSON store that preceded those. */
import { sep } from "node:path";
import type { SessionRef } from "sessarc";
import { type AdapterEnv, defineAdapter, sqliteSessions, sqliteVersion } from "sessarc/adapter";
import { skills, tools } from "./capabilities.ts";
import { FAMILY } from "./family.ts";
import { guard } from "./guard.ts";
import type { Held } from "./open.ts";
import { type OpenCodeOptions, toPlaces } from "./places.ts";
import { rescue } from "./rescue.ts";
import { mcp } from "./servers.ts";
import type { JsonStore } from "./storage.ts";

export type { OpenCodeOptions } from "./places.ts";

export default defineAdapter((options: OpenCodeOptions | undefined) => {
  const member = FAMILY[options?.variant ?? "opencode"];
  const places = (env: AdapterEnv) => toPlaces(member, options?.dir, env);
  const { list } = sqliteSessions({
    list: async (db) => (await import("./database.ts")).listSessions(db),
    async *read(db, { key, path }, onBytes) {
      const [{ readSession }, { createOutputs }] = await Promise.all([import("./read.ts"), import("./outputs.ts")]);
      return yield* readSession([db], key, onBytes, member, createOutputs([path]));
    },
  });
  // One for the adapter's life: it remembers the files it parsed.
  let files: Promise<JsonStore> | undefined;
  const store = () => (files ??= import("./storage.ts").then(({ createJsonStore }) => createJsonStore()));

  /** The sessions of every database; one that cannot be opened reports that as its own root, and is in no other's way. */
  async function listAll(databases: readonly string[]): Promise<Held[]> {
    const lists = await Promise.allSettled(databases.map(list));
    return databases.map((path, at) => {
      const one = lists[at];
      return { path, refs: new Map(one?.status === "fulfilled" ? one.value.map((ref) => [ref.key, ref]) : []) };
    });
  }

  return {
    name: member.name,
    label: member.label,
    ...(member.tried && { tried: member.tried }),
    tools: { ...tools, ...member.tools },
    resume: ({ key }) => (member.resume.length > 0 ? [...member.resume, key] : undefined),
    ...(member.unproved
      ? { unproved: true }
      : {
          skills: skills(member),
          mcp: mcp(member),
          ...(member.isGuarded && { guard: guard(member) }),
          rescue: rescue(member, (env) => places(env).databases),
        }),

    roots: (env) => {
      const { databases, storage } = places(env);
      return [...databases, ...storage];
    },

    async *scan(root, env) {
      const { databases } = places(env);
      const held = await listAll(databases);
      if (databases.includes(root)) {
        // A channel's copy of the database goes on apart: the session is in the first that has it, and changes when any of them does.
        const { withCopy } = await import("./database.ts");
        for (const { key } of await list(root)) {
          const [first, ...others] = held.flatMap(({ refs }) => refs.get(key) ?? []);
          if (first) yield others.reduce(withCopy, first);
        }
        return;
      }
      const seen = new Set(held.flatMap(({ refs }) => [...refs.keys()]));
      for await (const ref of (await store()).scan(root)) {
        if (seen.has(ref.key)) continue;
        seen.add(ref.key);
        yield ref;
      }
    },

    // Messages of the JSON store are files of their own: what its sessions are made of is more than their path.
    async token(ref, env) {
      const { databases, storage } = places(env);
      const root = findStorage(ref, storage);
      if (root !== undefined) return (await (await store()).version(root, ref)) ?? "";
      const all = await Promise.all(unique([ref.path, ...databases]).map(sqliteVersion));
      return all.join("+");
    },

    async open(path, env) {
      const { databases, storage } = places(env);
      const root = findStorage({ path }, storage);
      if (root !== undefined) {
        const { version, read } = await store();
        return { version: (ref) => version(root, ref), read: (ref, onBytes) => read(root, ref, onBytes) };
      }
      const held = databases.includes(path) ? await listAll(databases) : [];
      const { openCopies } = await import("./open.ts");
      return openCopies(path, held, member);
    },
  };
});

const unique = (paths: readonly string[]) => [...new Set(paths)];

/** The folder of the JSON store a ref came from; undefined: it came from a database. */
function findStorage({ path }: Pick<SessionRef, "path">, storage: readonly string[]): string | undefined {
  if (!path.endsWith(".json")) return undefined;
  const marker = `${sep}session${sep}`;
  const fallback = path.slice(0, Math.max(0, path.lastIndexOf(marker)));
  return storage.find((root) => path.startsWith(root + marker)) ?? fallback;
}
