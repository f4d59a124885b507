import {
  type Json,
  type Kernel,
  SessarcError,
  type SessionEvent,
  type SessionRef,
  type SessionUsage,
  unknownAssistant,
} from "sessarc";
import type { Adapter } from "sessarc/adapter";
import type { TranscriptPart } from "sessarc/storage";
import { type ArchivedSession, toArchived } from "./catalogue/archived.ts";
import { Changes } from "./catalogue/changes.ts";
import { usageByPrice } from "./catalogue/cost.ts";
import { isDamage } from "./catalogue/damage.ts";
import type { SessionFilter } from "./catalogue/filter.ts";
import { Readers } from "./catalogue/readers.ts";
import { findResume, type Resume } from "./catalogue/resume.ts";
import { createRoom, type StorageReport } from "./catalogue/room.ts";
import { createStore, type Store } from "./catalogue/store.ts";
import {
  type Cost,
  type Project,
  packParts,
  type Session,
  type SessionFacts,
  type StoredSession,
  toParts,
} from "./catalogue/types.ts";
import { ReplyCount } from "./counting/count.ts";
import { readFacts } from "./figures/read.ts";
import { asLogged, type LoggedSession } from "./import/as-logged.ts";
import { Damage } from "./import/damage.ts";
import { Importer } from "./import/importer.ts";
import { type Rewrite, rewriteTables, rewriteTranscripts } from "./import/rewrite.ts";
import { type Away, createAway } from "./places/away.ts";
import { createResolver, type ProjectResolver } from "./places/projects.ts";
import { createSources, type Sources } from "./places/sources.ts";
import type { Promising, Wish, WishStats } from "./search/promising.ts";
import { SearchIndex } from "./search/search.ts";
import { findCounter } from "./search/total.ts";
import { type FoundWithin, findWithin } from "./search/within.ts";

/** What other plugins may ask of the archive: the service "archive". */
export interface Archive {
  /** Grows with every change of sessions or projects: equal numbers mean equal answers. */
  readonly generation: number;
  /** A session as it is stored; throws SESSION_NOT_FOUND. */
  get(id: string): Promise<ArchivedSession>;
  /** The same, undefined for an unknown id. */
  find(id: string): Promise<ArchivedSession | undefined>;
  /** The session as the API answers it, with its cost; throws SESSION_NOT_FOUND. */
  session(id: string): Promise<Session>;
  /** The session as its log says it, for another archive that counts replies once as this one does; throws SESSION_NOT_FOUND. */
  asLogged(id: string): Promise<LoggedSession>;
  /** Sessions that a filter finds. */
  list(filter: SessionFilter): Promise<Session[]>;
  /** The same by pages: `nextCursor` of a page asks for the next. */
  page: Store["page"];
  /** Sessions that count as live now, last written first, 50 at most; of one project or all. */
  liveIds(project?: string): Promise<string[]>;
  /** Sessions of a project that changed a file whose path ends with `name`, in order of time; 500 at most, the newest. */
  changing(project: string, name: string): Promise<string[]>;
  /**
   * Sessions that read or changed a file whose path, as their calls wrote it, has the text in it, in order of time; with `folder` also all that ran
   * in it, below or above it. 500 at most, the newest; with all paths they named (2,000 a session).
   */
  touching(text: string, folder?: string): Promise<{ id: string; cwd: string | null; paths: string[] }[]>;
  /** A session that was deleted and is not imported again. */
  isDeleted(id: string): Promise<boolean>;
  /** The project with its counts, without git; throws PROJECT_NOT_FOUND. */
  project(id: string): Promise<Project>;
  /** All projects with their counts, newest first, without git. */
  projects(): Promise<readonly Project[]>;
  /** Projects that an id, a name or a path means, one or more; throws PROJECT_NOT_FOUND with the nearest name. */
  projectIds(wanted: string): Promise<[string, ...string[]]>;
  /** Folder of a project, or of its repository on a server; null for a virtual one; throws PROJECT_NOT_FOUND. */
  projectPath(id: string): Promise<string | null>;
  /** Messages of a session from seq `from` on, chunk by chunk. */
  events(session: Pick<ArchivedSession, "id" | "parts">, from?: number): AsyncGenerator<SessionEvent[]>;
  /** Messages of a session that a query of the search finds. Linear in its transcript. Throws SESSION_NOT_FOUND, INVALID_INPUT. */
  findWithin(id: string, q: string, signal: AbortSignal): Promise<FoundWithin>;
  /** Messages that may answer a question in plain words, the most promising first; `onEnd` is called with what was read (`search/promising.ts`). */
  promising(wish: Wish, onEnd?: (stats: WishStats) => void): AsyncGenerator<Promising>;
  /** Throws INVALID_INPUT for a tool that no adapter reads and no session is of. `part`: a part of its name is enough. */
  checkTool(tool: string, part?: boolean): Promise<void>;
  /** The adapter of a session's tool; undefined when its plugin is not loaded. */
  adapter(tool: string): Adapter | undefined;
  /** The command that resumes the session in its assistant, null where there is none; throws SESSION_NOT_FOUND. */
  resume(id: string): Promise<Resume | null>;
  /** Pointer to the log a session came from. */
  ref(session: Pick<ArchivedSession, "id" | "tool" | "key" | "source">): SessionRef;
  /** Live git of projects, by project id. */
  gitOf(projects: readonly Project[]): Promise<Map<string, Project["git"]>>;
  /** At the prices of now. */
  costOf(usage: SessionUsage): Cost | null;
  /** A session's tokens by model, as `cost` of the service "pricing" takes them: with when they were used, where that matters. */
  usageByPrice(id: string): Promise<Record<string, SessionUsage>>;
  /** What a session did: kinds of messages, calls, files, skills, and its work by quarter-hour. Throws SESSION_NOT_FOUND. */
  facts(id: string): Promise<SessionFacts>;
  /** Counts replies of logs once, without the archive, as an import counts them. */
  countReplies(): ReplyCount;
  /**
   * Removes something from all that is stored, between two imports: other plugins' stores by the hook `archive:rewrite`, then transcripts and tables.
   * Reads all of it. Figures stay; a session whose log still has it needs a mask (service `masks`).
   */
  rewrite(rewrite: Rewrite): Promise<void>;
}

/** What other plugins may ask of the import: the service "importer". */
export type Imports = Pick<
  Importer,
  | "scan"
  | "prepare"
  | "run"
  | "runPaths"
  | "runFound"
  | "automatic"
  | "wantAll"
  | "inSync"
  | "storeSync"
  | "lastScan"
  | "away"
  | "lastSyncAt"
  | "progress"
  | "idle"
>;

/** The archive with what it is made of, for this plugin's own routes and commands. */
export interface OpenArchive extends Archive {
  /** The row of a session; throws SESSION_NOT_FOUND. */
  row(id: string): Promise<StoredSession>;
  readonly store: Store;
  readonly importer: Importer;
  readonly resolver: ProjectResolver;
  readonly index: SearchIndex;
  readonly sources: Sources;
  readonly away: Away;
  readonly readers: Readers;
  readonly damage: Damage;
  /** What takes how much of the disk. */
  room(): Promise<StorageReport>;
  /** Call after changing sessions or projects. `ids`: all sessions whose rows are others now, none of them gone unnamed. */
  changed(ids?: readonly string[]): void;
  /** Live git of projects, passed on one at a time; all run at once within git's limits. Resolves after the last one. */
  eachGit(
    projects: readonly Project[],
    tell: (id: string, git: Project["git"]) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

export function createArchive(kernel: Kernel): OpenArchive {
  const { db, transcripts } = kernel.storage;
  const computeCost = (usage: SessionUsage) => kernel.find("pricing")?.cost(usage) ?? null;
  const changes = new Changes();
  const away = createAway(kernel);
  const store = createStore(
    db,
    () => kernel.find("pricing"),
    changes,
    () => kernel.find("owners"),
  );
  const resolver = createResolver(db, async (path) => (await kernel.find("git")?.identity(path)) ?? { kind: "folder" });
  const readers = new Readers((error) => kernel.notify("listener:failed", error, { hook: "transcripts" }));
  const damage = new Damage(kernel, () => archive.importer);
  const index = new SearchIndex(db, transcripts, readers, changes, findCounter(kernel), (id) => damage.found(id), {
    folder: kernel.storage.derived("search").folder,
    counts: kernel.storage.derived("totals"),
    readOnly: kernel.storage.readOnly,
    onError: (error) => void kernel.notify("listener:failed", error, { hook: "search" }),
  });
  /** From the row as it was read, or, where that was replaced before the first message, as it is now. */
  async function* reading<T>(
    { id, parts: first }: Pick<ArchivedSession, "id" | "parts">,
    read: (parts: readonly TranscriptPart[]) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const end = readers.begin();
    let parts = first;
    let begun = false;
    try {
      for (;;) {
        try {
          for await (const one of read(parts)) {
            begun = true;
            yield one;
          }
          return;
        } catch (error) {
          if (!isDamage(error)) throw error;
          const now = await store.row(id);
          const isSame = now?.parts === packParts(parts);
          if (isSame) damage.found(id);
          if (begun || !now || isSame) throw error;
          parts = toParts(now);
        }
      }
    } finally {
      end();
    }
  }

  const archive: OpenArchive = {
    store,
    resolver,
    index,
    away,
    importer: new Importer(kernel, away, resolver, readers, (stored, others = []) => {
      damage.repaired(stored);
      changes.mark([...stored, ...others]);
    }),
    readers,
    damage,
    room: createRoom(kernel, () => changes.generation),
    sources: createSources(kernel, away),
    get generation() {
      return changes.generation;
    },
    changed: (ids) => changes.mark(ids),
    costOf: computeCost,
    async usageByPrice(id) {
      const prices = kernel.find("pricing");
      return (prices && (await usageByPrice(db, prices, [id])).get(id)) ?? {};
    },
    async facts(id) {
      const facts = await readFacts(db, id);
      if (!facts) throw new SessarcError("SESSION_NOT_FOUND", { id });
      return facts;
    },
    countReplies: () => new ReplyCount(),
    async row(id) {
      const row = await store.row(id);
      if (!row) throw new SessarcError("SESSION_NOT_FOUND", { id });
      return row;
    },
    asLogged: async (id) => asLogged(db, await archive.row(id)),
    get: async (id) => toArchived(await archive.row(id)),
    async find(id) {
      const row = await store.row(id);
      return row && toArchived(row);
    },
    list: (filter) => store.list(filter),
    page: (filter, cursor) => store.page(filter, cursor),
    liveIds: (project) => store.liveIds(project),
    changing: (project, name) => store.changing(project, name),
    touching: (text, folder) => store.touching(text, folder),
    isDeleted: async (id) => (await store.tombstones()).has(id),
    projects: () => store.projects(),
    async projectIds(wanted) {
      const [first, ...others] = await store.projectIds(wanted);
      if (first !== undefined) return [first, ...others];
      const { nearest } = await import("sessarc/terminal");
      const names = (await store.projects()).map(({ name }) => name);
      throw new SessarcError("PROJECT_NOT_FOUND", { id: wanted, near: nearest(wanted, names) });
    },
    async session(id) {
      const session = await store.session(id);
      if (!session) throw new SessarcError("SESSION_NOT_FOUND", { id });
      return session;
    },
    async project(id) {
      const [project] = await store.countProjects(id);
      if (!project) throw new SessarcError("PROJECT_NOT_FOUND", { id });
      return project;
    },
    async projectPath(id) {
      const row = await store.projectRow(id);
      if (!row) throw new SessarcError("PROJECT_NOT_FOUND", { id });
      if (row.path !== null) return row.path;
      const repositories = kernel.find("repositories");
      return repositories ? repositories.of({ key: row.key, name: row.name ?? row.derived_name }) : null;
    },
    events: (session, from) => reading(session, (parts) => transcripts.events(session.id, parts, from)),
    async findWithin(id, q, signal) {
      return findWithin(archive.events(await archive.get(id)), q, signal);
    },
    async checkTool(tool, part = false) {
      const known = [...kernel.registry.adapters.keys()];
      if (known.some((name) => (part ? name.includes(tool) : name === tool)) || (await store.hasTool(tool, part)))
        return;
      const unknown = unknownAssistant(tool, known);
      // In a query `tool:` may be meant for the tool of a call.
      throw part
        ? new SessarcError("INVALID_INPUT", { reason: `${unknown.message} For calls of a tool: kind:call ${tool}` })
        : unknown;
    },
    async rewrite(rewrite) {
      const changed = await archive.importer.alone(async () => {
        await kernel.hooks.callHook("archive:rewrite", rewrite);
        const ids = await rewriteTranscripts(kernel, rewrite, readers);
        await rewriteTables(kernel, rewrite);
        if (rewrite.write) changes.mark();
        return ids;
      });
      if (!rewrite.write) return;
      await archive.importer.prepare();
      // What a table held is still in the pages that it left.
      await db.compact();
      for (const id of changed) await kernel.notify("session:replaced", { id });
    },
    promising: (wish, onEnd) => index.promising(wish, onEnd),
    adapter: (tool) => kernel.registry.adapters.get(tool),
    async resume(id) {
      const row = await archive.get(id);
      return findResume(row, archive.adapter(row.tool), kernel.env.platform);
    },
    ref: ({ id, tool, key, source }) => {
      const found = archive.importer.lastScan?.found.get(id);
      if (found && found.ref.path === source.path) return found.ref;
      const ref: SessionRef = { tool, key, path: source.path, size: source.bytes, mtime: source.mtime };
      if (source.exclusive) ref.exclusive = true;
      if (source.companions.length > 0) ref.companions = [...source.companions];
      return ref;
    },
    async eachGit(projects, tell, signal) {
      const git = kernel.find("git");
      await Promise.all(
        projects.map(async ({ id, path }) => {
          const state = path === null ? null : await git?.status?.(path, { signal });
          if (!signal.aborted) tell(id, state ?? null);
        }),
      );
    },
    async gitOf(projects) {
      const paths = projects.flatMap((project) => (project.path === null ? [] : [project.path]));
      const states = await kernel.find("git")?.statusMany(paths);
      return new Map(
        projects.map((project) => [project.id, (project.path !== null && states?.get(project.path)) || null]),
      );
    },
  };
  return archive;
}

export type { Json };
