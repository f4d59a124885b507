import {
  BoundedMap,
  createQueue,
  type Kernel,
  mustYield,
  SessarcError,
  type SessionSummary,
  unknownAssistant,
  yieldNow,
} from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { isDue } from "../catalogue/left-out.ts";
import type { Readers } from "../catalogue/readers.ts";
import type { Away } from "../places/away.ts";
import type { ProjectResolver } from "../places/projects.ts";
import { rescan } from "../places/rescan.ts";
import { type FoundLog, type Scan, scanLogs, toVersion } from "../places/scan.ts";
import { hasChanged, parseStamps, type Stamps, takeStamps, toPlaces } from "../places/stamps.ts";
import { type Automatic, automatic } from "./automatic.ts";
import { Bulletin } from "./bulletin.ts";
import { compareAll, compareSome, markGone } from "./compare.ts";
import { indexBehind, tidyIndexed } from "./indexed.ts";
import { OpenList, OpenLogs } from "./open-logs.ts";
import { sweepOrphans } from "./orphans.ts";
import type { ImportFrame, ImportReport } from "./report.ts";
import { runImport } from "./run.ts";
import type { OnCommit } from "./types.ts";

interface Selection {
  sessions?: readonly string[] | undefined;
  tools?: readonly string[] | undefined;
  /** Keys of the scan's projects. */
  projects?: readonly string[] | undefined;
  all?: boolean | undefined;
}

export interface Freshness {
  asOf: string | null;
  behind: number | null;
}

interface RunChoices {
  /** Cancels this run. */
  signal?: AbortSignal;
  /** For a run that may be cancelled before its end. Default: the largest first, which ends soonest. */
  newestFirst?: boolean;
  /** Lists the places that the last scan named, if adapters were asked for them within a minute. */
  sameRoots?: boolean;
}

const SAME_ROOTS_MS = 60_000;

interface Peeked {
  title: string | null;
  cwd: string | undefined;
  virtualProject: SessionSummary["virtualProject"];
}

/** Heads of logs kept in memory; the oldest go first. */
const PEEK_LIMIT = 20_000;
/** Stamps are stored this long after the last ones at the earliest: a service is in sync several times a minute. */
const STAMPS_MS = 600_000;
/** Derived data of the import. */
const DERIVED = "import";
const STAMPS = "stamps";
const ALL = "all";
const WANTED = "wanted";
/** A run without a listener, which keeps the archive up to date. */
const SILENT = () => {};

export class Importer {
  readonly #kernel: Kernel;
  readonly #resolver: ProjectResolver;
  readonly #readers: Readers;
  readonly #onCommit: OnCommit;
  readonly #away: Away;
  #scan: Scan | undefined;
  /** When that scan began, ms. */
  #scannedAt = 0;
  /** When adapters were asked for their roots: ms of the clock that is never set. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Folders that were away then. */
  #askedAway = "";
  /** What the run under way goes by: no other run, and no other listing, enters anything into it meanwhile. */
  #looked: Scan | undefined;
  #scanning: Promise<Scan> | undefined;
  #nextScan: Promise<Scan> | undefined;
  readonly #queue = createQueue();
  /** Those of the run under way and of those that wait. */
  readonly #cancels = new Set<AbortController>();
  #swept = false;
  #tidied = false;
  readonly #peeked = new BoundedMap<string, { path: string; version: string; peeked: Peeked }>(PEEK_LIMIT);
  readonly #opened = new OpenList();
  readonly #openLogs = new OpenLogs();
  /** What the run under way tells, also for those who come later. */
  readonly bulletin = new Bulletin();
  #lastSyncAt: string | null = null;
  #stampedAt = Number.NEGATIVE_INFINITY;
  /** As `wantAll` recorded it; undefined: not read yet. */
  #all: boolean | undefined;

  constructor(kernel: Kernel, away: Away, resolver: ProjectResolver, readers: Readers, onCommit: OnCommit) {
    this.#kernel = kernel;
    this.#away = away;
    this.#readers = readers;
    this.#resolver = resolver;
    this.#onCommit = (stored, others = []) => {
      this.#opened.changed(others);
      onCommit(stored, others);
    };
  }

  /** When the archive was last in sync with the logs. */
  get lastSyncAt(): string | null {
    return this.#lastSyncAt;
  }

  /** Picks of found logs those that are imported without being asked for. */
  automatic(choices: Automatic): (found: readonly FoundLog[]) => Promise<FoundLog[]> {
    return async (found) => {
      const autoImport = choices.autoImport || (await this.#wantsAll());
      return automatic(this.#kernel.storage.db, found, { ...choices, autoImport });
    };
  }

  /**
   * Records that the user wants all logs, until an import of all has ended or was cancelled (`false`). A kill or a Ctrl-C in between leaves logs that
   * look as if they had been left out: they are imported without being asked for.
   */
  async wantAll(wanted: boolean): Promise<void> {
    const { storage } = this.#kernel;
    if (storage.readOnly || (await this.#wantsAll()) === wanted) return;
    this.#all = wanted;
    await storage.derived(DERIVED).set(ALL, wanted ? WANTED : "");
  }

  async #wantsAll(): Promise<boolean> {
    this.#all ??= (await this.#kernel.storage.derived(DERIVED).get(ALL))?.toString() === WANTED;
    return this.#all;
  }

  /** Records that it is in sync now; for the next start, too, when that was not done for a while. */
  async inSync(): Promise<void> {
    this.#lastSyncAt = new Date().toISOString();
    if (performance.now() - this.#stampedAt > STAMPS_MS) await this.storeSync();
  }

  /** Stores when the archive was in sync last, and what the logs were like then, so that the next start need not list them to find out. */
  async storeSync(): Promise<void> {
    const { env, config, storage } = this.#kernel;
    if (!this.#scan || this.#lastSyncAt === null || storage.readOnly) return;
    this.#stampedAt = performance.now();
    const taken = await takeStamps(this.#scan, this.#scannedAt, toPlaces(env, config, this.#away.folders()));
    const stamps: Stamps = { at: this.#lastSyncAt, ...taken };
    await storage.derived(DERIVED).set(STAMPS, JSON.stringify(stamps));
  }

  /**
   * When the archive was last in sync (`asOf`, ISO; null: not known), and how many logs are newer as far as sizes and times show it: 0, or
   * null when some are, which are not counted. Costs about 5 µs a log; no adapter is asked.
   */
  async freshness(): Promise<Freshness> {
    const { env, config, storage, registry } = this.#kernel;
    const bytes = await storage.derived(DERIVED).get(STAMPS);
    const stamps = bytes && parseStamps(bytes);
    if (!stamps) return { asOf: null, behind: null };
    await this.#away.refresh();
    const places = toPlaces(env, config, this.#away.folders());
    const isKnown = [...registry.adapters.keys()].every((name) => stamps.adapters.includes(name));
    const isSame = isKnown && stamps.places === places && !(await isDue(storage.db));
    const current = isSame && !(await this.#wantsAll()) && !(await hasChanged(stamps));
    return { asOf: stamps.at, behind: current ? 0 : null };
  }

  /**
   * Imports what changed since the last run, newest first, for `withinMs` at most; what is imported by then stays. `behind`: logs that
   * are left. `autoImport`: logs that were left out at the first import, too.
   */
  async catchUp(withinMs: number, autoImport: boolean): Promise<Freshness & { imported: number }> {
    const { asOf } = await this.freshness();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), withinMs);
    const choose = async (scan: Scan) => {
      const pick = this.automatic({ sync: true, autoImport });
      return pick(scan.found.open());
    };
    try {
      const report = await this.run(choose, new Set(), SILENT, { signal: limit.signal, newestFirst: true });
      if (report.cancelled > 0) return { asOf, behind: report.cancelled, imported: report.imported };
      await this.wantAll(false);
      this.#lastSyncAt = new Date().toISOString();
      await this.storeSync();
      return { asOf: this.#lastSyncAt, behind: 0, imported: report.imported };
    } finally {
      clearTimeout(timer);
    }
  }

  get env(): AdapterEnv {
    return this.#kernel.env;
  }
  get progress() {
    return this.bulletin.progress;
  }
  get lastScan(): Scan | undefined {
    return this.#scan;
  }
  /** When the last listing began, ms. */
  get listedAt(): number {
    return this.#scannedAt;
  }

  /**
   * Lists all logs again: the result has what exists at the call. So a call during a listing waits for the next one,
   * which all of those share. `sameRoots`: as for a run.
   */
  scan(sameRoots = false): Promise<Scan> {
    if (!sameRoots) this.#askedAt = Number.NEGATIVE_INFINITY;
    if (!this.#scanning) return this.#list();
    const goOn = () => {
      this.#nextScan = undefined;
      return this.#scanning ?? this.#list();
    };
    this.#nextScan ??= this.#scanning.then(goOn, goOn);
    return this.#nextScan;
  }

  #list(): Promise<Scan> {
    const since = Date.now();
    const now = performance.now();
    const list = async () => {
      await this.#away.refresh();
      const away = this.#away.folders().join("\n");
      const isKnown = now - this.#askedAt < SAME_ROOTS_MS && away === this.#askedAway;
      const roots = isKnown ? this.#scan?.roots : undefined;
      if (!roots) {
        this.#askedAt = now;
        this.#askedAway = away;
      }
      const isAway = (tool: string) => this.#away.folders(tool).length > 0;
      return scanLogs(this.#kernel.registry, this.env, this.#kernel.storage.db, roots, isAway);
    };
    this.#scanning = list()
      .then((scan) => {
        this.#scan = scan;
        this.#scannedAt = since;
        this.#resolver.reset();
        return scan;
      })
      .finally(() => {
        this.#scanning = undefined;
      });
    return this.#scanning;
  }

  /** Added folders in distributions of WSL that do not run: call `refresh` before the adapters' places are read. */
  get away(): Pick<Away, "refresh" | "isDistribution"> {
    return this.#away;
  }

  /** Title and folder of a log that is not imported yet; cached by path and version. */
  async peek(found: FoundLog): Promise<Peeked> {
    const { id, ref } = found;
    const version = toVersion(ref);
    const known = this.#peeked.get(id);
    if (known && known.path === ref.path && known.version === version) return known.peeked;
    const head = await found.adapter.peek?.(ref, this.env).catch(() => undefined);
    const peeked: Peeked = {
      title: head?.title ?? ref.title ?? null,
      cwd: head?.cwd ?? ref.cwd,
      virtualProject: head?.virtualProject,
    };
    this.#peeked.set(id, { path: ref.path, version, peeked });
    return peeked;
  }

  /** Imports what `choose` picks of a fresh scan. Runs wait for each other. Without `onFrame` the run is automatic. */
  run(
    choose: (scan: Scan) => Promise<readonly FoundLog[]> | readonly FoundLog[],
    named: ReadonlySet<string>,
    onFrame: (frame: ImportFrame) => void = SILENT,
    options: RunChoices = {},
  ): Promise<ImportReport> {
    const look = async () => {
      const scan = await this.#compared(options.sameRoots);
      return choose(scan);
    };
    return this.#enqueue(look, named, onFrame, options);
  }

  /** Imports what `choose` picks of the logs at changed `paths`; only those are read. Waits for other runs. */
  runPaths(
    paths: readonly string[],
    choose: (found: readonly FoundLog[]) => Promise<readonly FoundLog[]> | readonly FoundLog[],
    named: ReadonlySet<string> = new Set(),
  ): Promise<ImportReport> {
    const look = async () => {
      // What is entered into a listing that another one is about to replace would be lost with it.
      const last = await (this.#scanning ?? this.#scan);
      if (!last) return choose((await this.#compared()).found.all());
      const { db } = this.#kernel.storage;
      const adapters = [...this.#kernel.registry.adapters.values()];
      if (paths.some(this.#away.isDistribution)) await this.#away.refresh();
      const there = paths.filter((path) => !this.#away.has(path));
      const { touched, gone } = await rescan(last, there, adapters, this.env, db);
      if (await markGone(db, gone)) this.#onCommit([]);
      this.#resolver.reset();
      await compareSome(db, touched);
      for (const { id, stored } of touched) last.found.setStored(id, stored);
      this.#looked = last;
      return choose(touched);
    };
    return this.#enqueue(look, named, SILENT);
  }

  /**
   * Imports logs that the caller found, of places that no adapter lists. Waits for other runs. Nothing else is listed or removed: files without
   * a row may belong to another process that imports into the same folder.
   */
  runFound(found: readonly FoundLog[], named: ReadonlySet<string> = new Set()): Promise<ImportReport> {
    const look = async () => {
      this.#resolver.reset();
      await compareSome(this.#kernel.storage.db, found);
      return found;
    };
    this.#swept = true;
    return this.#enqueue(look, named, SILENT);
  }

  /** All logs, and what the archive has of them. */
  async #compared(sameRoots = false): Promise<Scan> {
    const scan = await this.scan(sameRoots);
    if (await compareAll(this.#kernel.storage.db, scan)) this.#onCommit([]);
    this.#looked = scan;
    return scan;
  }

  #enqueue(
    look: () => Promise<readonly FoundLog[]>,
    named: ReadonlySet<string>,
    onFrame: (frame: ImportFrame) => void,
    { signal, newestFirst = false }: RunChoices = {},
  ): Promise<ImportReport> {
    const asked = onFrame !== SILENT;
    const cancel = new AbortController();
    this.#cancels.add(cancel);
    return this.#queue(async () => {
      // Leftovers of a crash do no harm before: commands that only read do without.
      if (!this.#swept) await sweepOrphans(this.#kernel);
      this.#swept = true;
      let report: ImportReport | undefined;
      const imported: string[] = [];
      try {
        if (asked) this.bulletin.begin();
        const found = await look();
        report = await runImport({
          kernel: this.#kernel,
          resolver: this.#resolver,
          found,
          named,
          onCommit: this.#onCommit,
          readers: this.#readers,
          opened: this.#opened,
          openLogs: this.#openLogs,
          newestFirst,
          signal: signal ? AbortSignal.any([cancel.signal, signal]) : cancel.signal,
          onFrame: (frame) => {
            if (frame.type === "session" && frame.outcome === "imported") {
              this.#looked?.found.setStored(frame.id, "same");
              imported.push(frame.id);
            }
            this.bulletin.take(frame);
            onFrame(frame);
          },
        });
        return report;
      } finally {
        if (!report) {
          // What it read last may not be stored.
          for (const id of imported) this.#looked?.found.setStored(id, "other");
        }
        this.#cancels.delete(cancel);
        this.bulletin.end(report, asked);
      }
    });
  }

  /**
   * Cancels the run under way and those that wait. What was finished stays; each run answers with `cancelled` for the rest. Resolves
   * when they have ended and the workers are free: within what one batch of messages takes. False: nothing ran.
   */
  async cancel(): Promise<boolean> {
    if (this.#cancels.size === 0) return false;
    for (const cancel of this.#cancels) cancel.abort();
    await this.#queue.idle();
    await this.wantAll(false);
    return true;
  }

  /** A selection against the last scan: ids it did not list are refused by name. */
  async select(selection: Selection): Promise<{ choose: (scan: Scan) => Promise<FoundLog[]>; named: Set<string> }> {
    const last = this.#scan ?? (await this.scan());
    const unknown = selection.sessions?.filter((id) => !last.found.has(id)) ?? [];
    if (unknown.length > 0) throw new SessarcError("SESSION_NOT_FOUND", { id: unknown.join(", ") });
    const tools = new Set(selection.tools);
    const { adapters } = this.#kernel.registry;
    for (const tool of tools) if (!adapters.has(tool)) throw unknownAssistant(tool, adapters.keys());
    const ids = new Set(selection.sessions);
    // What went with a session comes back with it.
    const gone = await this.#kernel.storage.db.all<{ session_id: string; with_id: string }>(
      "select session_id, with_id from tombstone where with_id is not null",
    );
    for (const { session_id, with_id } of gone) if (ids.has(with_id)) ids.add(session_id);
    const projects = new Set(selection.projects);
    const choose = async (scan: Scan) => {
      const chosen: FoundLog[] = [];
      for (const found of scan.found.values()) {
        if (mustYield()) await yieldNow();
        const direct = selection.all || ids.has(found.id) || tools.has(found.ref.tool);
        if (direct || (projects.size > 0 && projects.has(await this.projectOf(found)))) chosen.push(found);
      }
      return chosen;
    };
    return { choose, named: ids };
  }

  /** Id of the project a log belongs to or would belong to. */
  async projectOf(found: FoundLog): Promise<string> {
    const row = await this.#kernel.storage.db.get<{ project_id: string }>(
      "select project_id from session where id = ?",
      [found.id],
    );
    if (row) return row.project_id;
    return this.#resolver.idOf(await this.#resolver.identify(found.adapter, await this.peek(found)));
  }

  /** Does `work` between two runs: none is under way meanwhile. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue(work);
  }

  /** Has the indexers read the sessions that they have not read yet. */
  async prepare(): Promise<void> {
    if (this.#kernel.storage.readOnly) return;
    // Plugins come and go between two starts.
    if (!this.#tidied) await this.alone(() => tidyIndexed(this.#kernel));
    this.#tidied = true;
    await indexBehind(this.#kernel, (work) => this.alone(work));
  }

  /** No run comes after it. */
  async close(): Promise<void> {
    await this.#queue.idle();
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }
}
