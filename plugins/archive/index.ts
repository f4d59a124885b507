/** The archive: import, projects, sessions and search. */
import { definePlugin, type RoutesOf, type SessionRef, type Statement } from "sessarc";
import "./errors.ts";
import { type Archive, createArchive, type Imports, type OpenArchive } from "./archive.ts";
import { checkTranscripts } from "./catalogue/check.ts";
import { checkLeftOut } from "./catalogue/left-out.ts";
import { migrations as tables } from "./catalogue/schema.ts";
import { createVersions } from "./catalogue/versions.ts";
import { commands } from "./commands/index.ts";
import { migrations as figures } from "./figures/schema.ts";
import { checkIndexers } from "./import/indexed.ts";
import type { SessionMask } from "./import/masked.ts";
import type { Rewrite } from "./import/rewrite.ts";
import type { Audiences } from "./import/settle.ts";
import type { ImportedSession } from "./import/types.ts";
import { checkClosed } from "./places/closed.ts";
import { checkRetention, createRetentionGuard, type RetentionGuard } from "./places/retention.ts";
import { backupRoute } from "./routes/backup.ts";
import { importRoutes } from "./routes/import.ts";
import { projectRoutes } from "./routes/projects.ts";
import { scan } from "./routes/scan.ts";
import { searchRoutes } from "./routes/search.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { sourceRoutes } from "./routes/sources.ts";
import { vacuumRoutes } from "./routes/vacuum.ts";

export type { Archive, Imports } from "./archive.ts";
export type { StorageReport, ToolRoom } from "./catalogue/room.ts";
export type {
  Cost,
  EarlierText,
  Project,
  Session,
  SessionFacts,
  SessionRow,
  SlotFacts,
} from "./catalogue/types.ts";
export type { FollowFrame, SessionOutcome } from "./import/bulletin.ts";
export type { Mask, SessionMask } from "./import/masked.ts";
export type { Rewrite, RewriteFound } from "./import/rewrite.ts";

/** What was removed from sessions, and is removed again whenever their logs are read. */
export interface Masks {
  /** Of these sessions, those with a mask. */
  of(ids: readonly string[]): Promise<ReadonlyMap<string, SessionMask>>;
  /** What was removed from a session; undefined: nothing. */
  removed(id: string): Promise<Removed | undefined>;
}

export interface Removed {
  /** Places. */
  count: number;
  /** ISO 8601. */
  at: string;
  /** From its log at the assistant, too. */
  original: boolean;
}

/** Ids of all sessions that may contain all these texts, whatever the case; undefined where the index cannot say. */
export type Candidates = (texts: readonly string[]) => Promise<ReadonlySet<string> | undefined>;

/** Repositories of projects whose sessions ran on other machines. */
export interface Repositories {
  /** Folder of the repository that a project of this key is; null without one. */
  of(project: { key: string; name: string }): Promise<string | null>;
  /** Of each session of the project, as its log writes them: the folder of the repository, and the working directory. */
  places(project: string): Promise<ReadonlyMap<string, { root: string; cwd: string | null }>>;
}

import type { Owners } from "./catalogue/store.ts";
import type { ImportReport } from "./import/report.ts";
import type { Traces } from "./search/traces.ts";

export type { ImportFrame, ImportReport, Progress } from "./import/report.ts";
export type { RetentionReport } from "./places/retention.ts";
export type { Message } from "./routes/messages.ts";
export type { ScanFrame } from "./routes/scan.ts";
export type { ScannedProject, ScannedSession } from "./routes/scanned.ts";
export type { SearchResult } from "./routes/search.ts";
export type { SearchTotalFrame } from "./routes/search-total.ts";
export type { Match } from "./search/match.ts";
export type { Promising, Wish, WishStats } from "./search/promising.ts";

/** A service of a large archive prepares for the first search after its start and after each import; a command ends before that. */
const PREPARE_AFTER_MS = 2_000;

export const routes = [
  scan,
  ...importRoutes,
  ...sourceRoutes,
  ...projectRoutes,
  ...sessionRoutes,
  ...searchRoutes,
  backupRoute,
  ...vacuumRoutes,
] as const;

export default definePlugin({
  name: "archive",
  routes,
  migrations: [...tables, ...figures],
  commands,
  async setup(kernel) {
    const archive = createArchive(kernel);
    kernel.provide("archive", archive);
    kernel.provide("importer", archive.importer);
    kernel.provide("archive/open", archive);
    // Before anything reads the places of adapters.
    await archive.away.refresh();
    const prepare = async () => {
      // The search first: after an upgrade, the indexers may have every session to read.
      await archive.index.prepare();
      if (!kernel.closing.aborted) await archive.importer.prepare();
    };
    const timer = setTimeout(() => {
      if (!kernel.address) return;
      if (archive.importer.progress.type !== "idle") timer.refresh();
      else
        prepare().catch((error) => {
          if (!kernel.closing.aborted) void kernel.notify("listener:failed", error, { hook: "archive" });
        });
    }, PREPARE_AFTER_MS).unref();
    kernel.hooks.hook("session:replaced", () => void timer.refresh());
    kernel.onClose(async () => {
      clearTimeout(timer);
      await archive.importer.close();
      await archive.index.close();
      await archive.readers.close();
    });
    const versions = createVersions(kernel);
    kernel.hooks.hook("session:replace", ({ summary }, { tool }) => versions.saw(tool, summary.assistantVersion));
    const checkSessions = async () =>
      [await checkLeftOut(kernel.storage.db), await versions.check()].filter((check) => check !== undefined);
    const retention = createRetentionGuard(kernel);
    kernel.provide("retention", retention);
    kernel.hooks.hook("doctor:check", async (report) => {
      report.checks.push(...(await checkRetention(kernel)), await checkTranscripts(kernel, report.fix, report.signal));
      report.checks.push(...(await checkClosed(kernel.env)));
      report.checks.push(...(await checkSessions()));
      const indexers = await checkIndexers(kernel);
      if (indexers) report.checks.push(indexers);
    });
    kernel.hooks.hook("status:collect", async (status) => {
      const totals = await archive.store.totals();
      status.storage.sessions = totals?.sessions ?? 0;
      status.storage.messages = totals?.messages ?? 0;
      status.storage.transcriptBytes = totals?.bytes ?? 0;
      status.storage.damaged = archive.damage.ids.size;
      status.retention = await retention.report();
      const checks = await checkSessions();
      if (checks.length > 0) status.checks = checks.map(({ fix = null, ...check }) => ({ ...check, fix }));
      status.sync = { lastAt: archive.importer.lastSyncAt, import: { ...archive.importer.progress } };
    });
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    archive: Archive;
    importer: Imports;
    /** What assistants are about to delete of their logs. */
    retention: RetentionGuard;
    /** For this plugin's own routes and commands. */
    "archive/open": OpenArchive;
    /** Optional: another plugin's index of all texts. A search then reads these sessions alone. */
    candidates: Candidates;
    /** Optional: sessions of which only the prompts are left. A search shows those beside its sessions. */
    traces: Traces;
    /** Optional: a team server provides it, because its projects have no folder. */
    repositories: Repositories;
    /** Optional: a team server provides it, because not all of its sessions have the same readers. */
    audiences: Audiences;
    /** Optional: a team server provides it, because its sessions are of several people. */
    owners: Owners;
    /** Optional: a plugin that removes parts of texts. An import reads the logs of these sessions without them. */
    masks: Masks;
  }
  interface KernelHooks {
    /** Something is removed from all that is stored, or looked for: each plugin does so with its own files. */
    "archive:rewrite": (rewrite: Rewrite) => void | Promise<void>;
    /** A session was read and is about to be stored: may change its summary and facts; a throw ends the run. */
    "session:replace": (session: ImportedSession, ref: SessionRef) => void | Promise<void>;
    /**
     * A session's row and figures are about to be stored: statements put into `write` are committed with them, after them. A throw
     * ends the run.
     */
    "session:write": (written: { id: string; write: Statement[] }) => void | Promise<void>;
    /** Sessions are about to be deleted: the same. */
    "session:erase": (erased: { ids: readonly string[]; write: Statement[] }) => void | Promise<void>;
    "session:replaced": (info: { id: string }) => void | Promise<void>;
    /** An import that the user asked for ended, with or without sessions. */
    "import:done": (report: ImportReport) => void | Promise<void>;
    /** What nothing leads to any more is about to be forgotten: each plugin does so with its own. */
    "archive:vacuum": () => void | Promise<void>;
    /** Folders of this assistant were added or removed. */
    "sources:changed": (info: { tool: string }) => void | Promise<void>;
    "session:removed": (info: { id: string }) => void | Promise<void>;
    "project:changed": (info: {
      id: string;
      what: "renamed" | "removed" | "associated" | "unlinked";
    }) => void | Promise<void>;
  }
}
