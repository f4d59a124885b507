/**
 * Gives the room of old logs back to the disk: a log whose bytes the archive holds is removed at its assistant, and comes back byte for byte
 * when its session is resumed, or all of them by an undo.
 */
import { lstat, readFile, rm } from "node:fs/promises";
import { type Kernel, SessarcError, type SqlValue, toMessage } from "sessarc";
import type { KeptFile } from "../keep/files.ts";
import type { Keeper } from "../keep/keeper.ts";
import { checkPlace } from "../restore/place.ts";
import type { Restorer } from "../restore/rescue.ts";

/** Days that a log rests at least. */
export const LEAST_DAYS = 7;
export const DEFAULT_DAYS = 30;
const DAY = 86_400_000;
/** Sessions read at once. */
const PAGE = 100;

/**
 * Why a log of that age stays: `behind`: it is not stored as it is now; `pinned`: the user pinned its session in the assistant, or which
 * sessions are pinned cannot be read; `unknown`: sessarc does not know how its assistant finds its sessions.
 */
export const STAYS = ["behind", "pinned", "unknown"] as const;

export interface Reclaimable {
  tool: string | null;
  days: number;
  /** Sessions whose logs can be removed, and the bytes of these, with those of their sub-agents. */
  sessions: number;
  bytes: number;
  tools: { tool: string; label: string; sessions: number; bytes: number }[];
  /** Sessions of that age whose logs stay. */
  stays: { reason: (typeof STAYS)[number]; sessions: number }[];
  /** What was removed before and not put back. */
  reclaimed: { sessions: number; bytes: number };
}

export interface Reclaimed {
  /** Sessions whose logs were removed. */
  sessions: number;
  bytes: number;
  /** Those that stay, with the reason. */
  left: { session: string; reason: string }[];
}

export interface Reclaim {
  /** What could be removed; nothing is. */
  plan(tool: string | undefined, days: number): Promise<Reclaimable>;
  /** Removes it. A log goes only if what is stored gives the same bytes. */
  run(tool: string | undefined, days: number): Promise<Reclaimed>;
  /** Puts all back. */
  undo(): Promise<Reclaimed>;
  /** Throws LOGS_RECLAIMED while a stored log is the only copy because it was reclaimed. */
  checkNone(): Promise<void>;
}

interface Row {
  id: string;
  tool: string;
  /** Bytes of what is stored of it and of its sub-agents. */
  bytes: number;
  /** Of the session in its assistant. */
  key: string;
  /** Of the session and its sub-agents, how many are not stored as they are. */
  behind: number;
}

/** A session that a person started and nothing of which was written since, with its sub-agents. */
const OLD = `session s where coalesce(s.parent_id, '') = '' and s.missing = 0 and s.exclusive = 1 and s.source_mtime < ?
  and not exists (select 1 from session c where c.parent_id = s.id and (c.source_mtime >= ? or c.exclusive = 0))`;
const TREE =
  "session t left join rescue_log r on r.session = t.id where (t.id = s.id or t.parent_id = s.id) and t.missing = 0";
const BEHIND = `select count(*) from ${TREE} and (r.files is null or r.version <> 'keep ' || t.source_version)`;
const BYTES = `select coalesce(sum(r.bytes), 0) from ${TREE}`;

export function createReclaim(kernel: Kernel, keeper: Keeper, restorer: Restorer): Reclaim {
  const { db } = kernel.storage;

  /** Whose logs are files that can be put back. */
  const known = (tool: string) => kernel.registry.adapters.get(tool)?.rescue;

  /** Whether a session's log stays because of a pin; asks each assistant once. */
  function createPins(): (row: Row) => Promise<boolean> {
    const byTool = new Map<string, Promise<ReadonlySet<string> | undefined>>();
    return async ({ tool, key }) => {
      const asked = byTool.get(tool) ?? known(tool)?.pinned?.(kernel.env) ?? Promise.resolve(new Set<string>());
      // What cannot be read may pin every session.
      const pinned = asked.catch(() => undefined);
      byTool.set(tool, pinned);
      return (await pinned)?.has(key) ?? true;
    };
  }

  async function* old(tool: string | undefined, days: number): AsyncGenerator<Row> {
    const until = Date.now() - Math.max(days, LEAST_DAYS) * DAY;
    for (let after = ""; ; ) {
      const params: SqlValue[] = [until, until, after];
      const rows = await db.all<Row>(
        `select s.id, s.tool, s.key, (${BYTES}) as bytes, (${BEHIND}) as behind from ${OLD} and s.id > ?
         ${tool === undefined ? "" : "and s.tool = ?"} order by s.id limit ${PAGE}`,
        tool === undefined ? params : [...params, tool],
      );
      yield* rows;
      const last = rows.at(-1);
      if (!last) return;
      after = last.id;
    }
  }

  async function reclaimed(): Promise<Reclaimable["reclaimed"]> {
    const row = await db.get<Reclaimable["reclaimed"]>(
      `select count(*) as sessions, coalesce(sum(r.bytes), 0) as bytes from rescue_reclaimed r
         join session s on s.id = r.session where s.missing = 1`,
    );
    return row ?? { sessions: 0, bytes: 0 };
  }

  /** Removes the files of a session and its sub-agents once each of them is proved to be stored; answers their bytes. */
  async function reclaimOne({ id, tool }: Row): Promise<number> {
    const folders = known(tool)?.folders(kernel.env) ?? [];
    const tree = await db.all<{ id: string }>(
      "select id from session where id = ? or parent_id = ? order by id = ? desc",
      [id, id, id],
    );
    const files: KeptFile[] = [];
    for (const one of tree) files.push(...((await keeper.files(one.id)) ?? []));
    if (files.some(({ path }) => path === "")) throw new Stays("its rows are in a database");
    for (const file of files) await prove(file, folders);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    // First the intention: a kill in between leaves a session that an undo puts back.
    await db.run(
      `insert into rescue_reclaimed (session, bytes, at) values (?, ?, ?)
       on conflict (session) do update set bytes = excluded.bytes, at = excluded.at`,
      [id, bytes, new Date().toISOString()],
    );
    for (const { path } of files) await rm(path);
    return bytes;
  }

  /** What is stored gives the bytes that are there. */
  async function prove(file: KeptFile, folders: readonly string[]): Promise<void> {
    await checkPlace(file.path, folders);
    const before = await lstat(file.path);
    if (!before.isFile() || before.nlink > 1) throw new Stays("it is no plain file");
    const [there, stored] = [await readFile(file.path), await keeper.read(file)];
    const after = await lstat(file.path);
    const isSame = before.mtimeMs === after.mtimeMs && before.size === after.size && before.ino === after.ino;
    if (!isSame || before.mtimeMs !== file.mtime || !stored?.equals(there))
      throw new Stays("what is stored is not what is there");
  }

  /** The archive notes which logs are gone and which are back. */
  const look = () => kernel.inject("importer").run(() => [], new Set());

  return {
    async plan(tool, days) {
      const tools = new Map<string, Reclaimable["tools"][number]>();
      const stays = { behind: 0, pinned: 0, unknown: 0 };
      const isPinned = createPins();
      for await (const row of old(tool, days)) {
        const { tool: name, bytes, behind } = row;
        if (!known(name)) stays.unknown++;
        else if (await isPinned(row)) stays.pinned++;
        else if (behind > 0) stays.behind++;
        else {
          const label = kernel.registry.adapters.get(name)?.label ?? name;
          const one = tools.get(name) ?? { tool: name, label, sessions: 0, bytes: 0 };
          tools.set(name, { ...one, sessions: one.sessions + 1, bytes: one.bytes + bytes });
        }
      }
      const list = [...tools.values()].sort((a, b) => b.bytes - a.bytes);
      return {
        tool: tool ?? null,
        days: Math.max(days, LEAST_DAYS),
        sessions: list.reduce((sum, one) => sum + one.sessions, 0),
        bytes: list.reduce((sum, one) => sum + one.bytes, 0),
        tools: list,
        stays: STAYS.filter((reason) => stays[reason] > 0).map((reason) => ({ reason, sessions: stays[reason] })),
        reclaimed: await reclaimed(),
      };
    },
    async run(tool, days) {
      const done: Reclaimed = { sessions: 0, bytes: 0, left: [] };
      const isPinned = createPins();
      for await (const row of old(tool, days)) {
        if (kernel.closing.aborted) break;
        if (!known(row.tool) || row.behind > 0 || (await isPinned(row))) continue;
        try {
          done.bytes += await reclaimOne(row);
          done.sessions++;
        } catch (error) {
          // One that cannot be removed stays, and the others go on.
          done.left.push({ session: row.id, reason: toMessage(error) });
        }
      }
      await look();
      return done;
    },
    async undo() {
      const done: Reclaimed = { sessions: 0, bytes: 0, left: [] };
      for (const { session, bytes } of await db.all<{ session: string; bytes: number }>(
        "select session, bytes from rescue_reclaimed order by session",
      )) {
        try {
          await restorer.restore(session);
          // It is the assistant's own log again: no undo of a rescue may take it away.
          await db.batch([
            ["delete from rescue_written where session = ?", [session]],
            ["delete from rescue_reclaimed where session = ?", [session]],
          ]);
          done.sessions++;
          done.bytes += bytes;
        } catch (error) {
          done.left.push({ session, reason: toMessage(error) });
        }
      }
      return done;
    },
    async checkNone() {
      const { sessions } = await reclaimed();
      if (sessions > 0) throw new SessarcError("LOGS_RECLAIMED", { sessions });
    },
  };
}

/** Why a log stays. */
class Stays extends Error {}
