/**
 * Removes what killed pushes and imports left on the server: files without a row, and sessions whose import never ended. A file is removed a day after
 * it was first seen without a row, and only if it still has none: what is in flight has its row by then. One node a day does it; an import of another
 * node cannot begin while rows and transcripts are compared, since that happens under the tenant's lock.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pages, type Statement } from "sessarc";
import { isTempName } from "sessarc/files";
import type { TeamDatabase } from "../types.ts";
import type { BlobStore } from "./blobs.ts";
import type { Ingest } from "./ingest/ingest.ts";
import type { Bodies } from "./storage.ts";

const DAY_MS = 86_400_000;
/** Days after which an import that never ended is removed. */
const HALF_DAYS = 7;
/** Rows of one query. */
const TOGETHER = 500;

export type Sweep = ReturnType<typeof createSweep>;

export function createSweep(parts: {
  database: TeamDatabase;
  tenant: number;
  bodies: Bodies;
  blobs: BlobStore;
  ingest: Ingest;
}) {
  const { database, tenant, bodies, blobs, ingest } = parts;
  const { owner } = database;

  /** Whether this node is the one that sweeps now. */
  async function isTurn(now: number): Promise<boolean> {
    const { changes } = await owner.run(
      `insert into team_setting (tenant, name, value) values (?, 'swept', ?)
       on conflict (tenant, name) do update set value = excluded.value where team_setting.value::bigint <= ?`,
      [tenant, String(now), now - DAY_MS],
    );
    return changes > 0;
  }

  /** Notes which of `keys` are without a row now; answers those that were noted a day ago or earlier. */
  async function overdue(kind: string, keys: readonly string[], now: number): Promise<string[]> {
    const rows = await owner.all<{ key: string; at: number }>(
      "select key, at from team_orphan where tenant = ? and kind = ?",
      [tenant, kind],
    );
    const noted = new Map(rows.map(({ key, at }) => [key, at]));
    const still = new Set(keys);
    const write: Statement[] = [];
    for (const key of noted.keys())
      if (!still.has(key))
        write.push(["delete from team_orphan where tenant = ? and kind = ? and key = ?", [tenant, kind, key]]);
    for (const key of still)
      if (!noted.has(key))
        write.push([
          "insert into team_orphan (tenant, kind, key, at) values (?, ?, ?, ?) on conflict do nothing",
          [tenant, kind, key, now],
        ]);
    for (const some of pages(write, TOGETHER)) await owner.batch(some);
    return keys.filter((key) => (noted.get(key) ?? now) <= now - DAY_MS);
  }

  const forget = (kind: string, key: string) =>
    owner.run("delete from team_orphan where tenant = ? and kind = ? and key = ?", [tenant, kind, key]);

  /** Transcript files that no session and no earlier text points at, and that no import has noted as replaced. */
  async function looseTranscripts(): Promise<string[]> {
    const { transcripts } = bodies;
    const loose = new Set(await transcripts.keys());
    const keep = (id: string, parts: string) => {
      for (const [generation] of JSON.parse(parts) as [number][]) loose.delete(transcripts.keyOf(id, generation));
    };
    for (let after = ""; ; ) {
      const rows = await owner.all<{ id: string; parts: string }>(
        "select id, parts from session where tenant = ? and id > ? order by id limit ?",
        [tenant, after, TOGETHER],
      );
      for (const { id, parts } of rows) keep(id, parts);
      const last = rows.at(-1);
      if (!last || rows.length < TOGETHER) break;
      after = last.id;
    }
    const earlier = "select session_id, parts from earlier where tenant = ?";
    for (const { session_id, parts } of await owner.all<{ session_id: string; parts: string }>(earlier, [tenant]))
      keep(session_id, parts);
    for (const { key } of await owner.all<{ key: string }>("select key from team_left where tenant = ?", [tenant]))
      loose.delete(key);
    return [...loose];
  }

  async function sweepTranscripts(now: number): Promise<void> {
    for (const key of await overdue("transcript", await looseTranscripts(), now)) {
      await bodies.transcripts.removeKey(key);
      await forget("transcript", key);
    }
  }

  async function sweepChunks(now: number): Promise<void> {
    const loose: string[] = [];
    for (const some of pages(await blobs.files(), TOGETHER)) loose.push(...(await blobs.unknown(some)));
    const names = await overdue("chunk", loose, now);
    // Asked again: one that is sent at this moment fails its import and is sent again.
    await blobs.sweep(names);
    for (const name of names) await forget("chunk", name);
  }

  /** Files in the making of processes that were killed. */
  async function sweepTemporary(now: number): Promise<void> {
    if (bodies.driver) return;
    for (const name of await readdir(bodies.folder, { recursive: true })) {
      if (!isTempName(basename(name))) continue;
      const path = join(bodies.folder, name);
      const age = await stat(path).then(
        ({ mtimeMs }) => now - mtimeMs,
        () => 0,
      );
      if (age >= DAY_MS) await rm(path, { force: true });
    }
  }

  return {
    /** Once a day over all nodes; the others return at once. */
    async run(now = Date.now()): Promise<void> {
      if (!(await isTurn(now))) return;
      await ingest.removeHalf(now - HALF_DAYS * DAY_MS);
      await ingest.alone(() => sweepTranscripts(now));
      await sweepChunks(now);
      await sweepTemporary(now);
    },
  };
}
