/** The kernel that imports, over the connection that holds the tenant's lock. */

import { type Database, type Kernel, marks, type Plugin, pages, toMessage } from "sessarc";
import { createKernel } from "sessarc/serve";
import { createTurns } from "../../database/turns.ts";
import { toTexts } from "../../portable/read.ts";
import type { TeamWriter } from "../../types.ts";
import type { BlobStore } from "../blobs.ts";
import { type Facts, type KernelParts, kernelConfig, NOBODY } from "../kernel-parts.ts";
import type { Replaced } from "../replaced.ts";
import { toStorage } from "../storage.ts";
import { type Pushed, pushedAdapter } from "./adapters.ts";
import { unclaim } from "./sessions.ts";
import { createSwitch } from "./switch.ts";

/** Of copies of a reply those in a space of the lowest rank count. */
const RANKS = { team: 0, project: 1, private: 2 } as const;
/** How long another node may hold the tenant's lock. */
const LOCK_MS = 60_000;

export type ImportParts = KernelParts & { tenant: number; blobs: BlobStore; replaced: Replaced };
export type ImportKernel = ReturnType<typeof createImportKernel>;

export function createImportKernel(parts: ImportParts) {
  const { database, bodies, plugins, config, log, tenant, blobs, replaced } = parts;
  const { owner } = database;
  const connection = createSwitch();
  /** What is being imported, by id on the server. */
  const current = new Map<string, Pushed>();
  /** Assistants that this version does not know, by name. */
  const unknown = new Map<string, Facts>();
  /** Who writes next, on this node. */
  const turns = createTurns();
  let kernel: Kernel | undefined;
  let generation = -1;
  let withdrawing = false;
  const transcripts = replaced.transcripts(() => withdrawing);

  /** `find`: what is being imported, by id on the server. */
  const ingestHooks = (find: (id: string) => Pushed | undefined): Plugin => ({
    name: "team-ingest",
    setup: (opened) => opened.provide("audiences", { of: readAudiences }),
    hooks: {
      "session:write": ({ id, write }) => {
        const pushed = find(id);
        if (!pushed || pushed.text < toTexts(pushed.manifest).length - 1) return;
        const { project } = pushed.manifest;
        // With the session's row: a digest that is stored says that all of it is.
        write.push(
          [
            `update team_session set digest = ?, manifest = ?, root = ?, cwd = ?, project_name = ?, pushed_at = ?, reader = ?, log = ?, tried = '', problem = '', recount = 0
             where tenant = ? and session = ?`,
            [
              ...[pushed.digest, JSON.stringify(pushed.manifest), project.root ?? null, project.cwd ?? null],
              ...[project.name, new Date().toISOString(), pushed.reader, pushed.manifest.log ? 1 : 0, tenant, id],
            ],
          ],
          ["update session set name = ? where id = ?", [pushed.manifest.name, id]],
          ...(pushed.write ?? []),
        );
      },
      "session:erase": ({ ids, write }) => {
        // A session that is gone claims no reply: where another one has a copy, that one counts.
        write.push(...unclaim(ids), [
          `delete from team_session where tenant = ? and session in (${marks(ids)})`,
          [tenant, ...ids],
        ]);
      },
    },
  });

  /** Who has a project space reads the team's, and who has a private one both. */
  async function readAudiences(ids: readonly string[]) {
    const found = new Map<string, { space: number; rank: number }>();
    for (const page of pages(ids, 500)) {
      const rows = await owner.all<{ session: string; space: number; kind: keyof typeof RANKS }>(
        `select t.session, t.space, s.kind from team_session t join team_space s on s.tenant = t.tenant and s.id = t.space
         where t.tenant = ? and t.session in (${marks(page)})`,
        [tenant, ...page],
      );
      for (const { session, space, kind } of rows) found.set(session, { space, rank: RANKS[kind] });
    }
    return found;
  }

  async function openKernel(db: Database, find: (id: string) => Pushed | undefined): Promise<Kernel> {
    const pushed = { find, load: blobs.load };
    return createKernel({
      config: kernelConfig(config, bodies),
      storage: toStorage(db, { ...bodies, transcripts }, false),
      plugins: [
        ...[...plugins.assistants, ...unknown.values()].map((facts) => pushedAdapter(facts, pushed)),
        ...plugins.ingest,
        ingestHooks(find),
      ],
      partial: true,
      env: NOBODY,
      log,
    });
  }

  async function close(old: Kernel | undefined): Promise<void> {
    await old?.close().catch((error: unknown) => log(`The importing kernel did not close: ${toMessage(error)}`));
  }

  async function closeKernel(): Promise<void> {
    const old = kernel;
    kernel = undefined;
    await close(old);
  }

  /** True: some of these assistants were unknown, so a kernel that is open lacks them. */
  function learn(tools: Iterable<Facts>): boolean {
    const known = new Set([...plugins.assistants, ...unknown.values()].map(({ name }) => name));
    let isNew = false;
    for (const facts of tools) {
      if (known.has(facts.name)) continue;
      unknown.set(facts.name, facts);
      isNew = true;
    }
    return isNew;
  }

  /** The importing kernel. It caches who owns which reply: after another one wrote, it is opened again. */
  async function kernelFor(tools: Iterable<Facts>): Promise<Kernel> {
    if (learn(tools)) await closeKernel();
    kernel ??= await openKernel(connection.db, (id) => current.get(id));
    return kernel;
  }

  /** The tenant's lock, in the order of the calls on this node. */
  async function lock(): Promise<TeamWriter> {
    const free = await turns.take(tenant, LOCK_MS);
    try {
      const { db, release } = await database.write(tenant, LOCK_MS);
      return { db, release: () => release().finally(free) };
    } catch (error) {
      free();
      throw error;
    }
  }

  async function locked<T>(work: (writer: TeamWriter) => Promise<T>): Promise<T> {
    const writer = await lock();
    connection.use(writer.db);
    try {
      if (kernel && generation !== (await database.generation(tenant))) await closeKernel();
      const answer = await work(writer);
      generation = await database.generation(tenant);
      return answer;
    } catch (error) {
      // What its caches hold may not be stored.
      generation = -1;
      throw error;
    } finally {
      if (generation === -1) await closeKernel();
      connection.use(undefined);
      await writer.release();
    }
  }

  return {
    /** The connection that holds the tenant's lock. */
    db: connection.db,
    current,
    kernelFor,
    open: openKernel,
    close,
    learn,
    lock,
    locked,

    /** Removes what `work` replaces or erases at once: a withdrawn transcript waits for no reader. */
    async withdraw(work: () => Promise<void>): Promise<void> {
      withdrawing = true;
      await work().finally(() => {
        withdrawing = false;
      });
    },

    end: closeKernel,
  };
}
