/** Collects what was read into groups that are committed together, and removes what each replaces. */
import type { Kernel, SessionRef, Statement } from "sessarc";
import type { Readers } from "../catalogue/readers.ts";
import { type SessionFacts, type SessionRow, toParts } from "../catalogue/types.ts";
import { addFacts, keepTime } from "../counting/merge.ts";
import { readFacts } from "../figures/read.ts";
import type { ProjectResolver } from "../places/projects.ts";
import type { FoundLog } from "../places/scan.ts";
import { commitIndexed } from "./indexed.ts";
import { isRecount, type KnownSession, type Past } from "./known.ts";
import { reportRefused } from "./logged.ts";
import type { OpenList } from "./open-logs.ts";
import { compareForks } from "./origin.ts";
import { replaceEarlier, toRow, upsert } from "./rows.ts";
import type { Arrival, Follows, Settler } from "./settle.ts";
import type { ImportedSession, Indexed, OnCommit } from "./types.ts";
import { toFigures, writtenWith } from "./write.ts";

/** Sessions committed together: one fsync, and a batch small enough that no request waits. */
const GROUP = 48;

export interface StageOptions {
  kernel: Kernel;
  resolver: ProjectResolver;
  onCommit: OnCommit;
  readers: Readers;
  /** Who owns which reply. */
  settler: Settler;
  /** Sessions whose logs are open. */
  opened: OpenList;
}

export class Stage {
  readonly #options: StageOptions;
  readonly #known: ReadonlyMap<string, KnownSession>;
  readonly #deleted: ReadonlyMap<string, number>;
  #statements: Statement[] = [];
  /** Sessions that lose replies to what is staged. */
  #losers: string[] = [];
  /** What indexers made of what is staged. */
  #indexed: { id: string; indexed: readonly Indexed[] }[] = [];
  #staged: { id: string; old: number[]; opened: { generation: number; isSame: boolean } | undefined }[] = [];
  /** Sessions stored so far, by the id of their project. */
  readonly touched = new Map<string, number>();

  constructor(options: StageOptions, past: Past) {
    this.#options = options;
    this.#known = past.known;
    this.#deleted = past.deleted;
  }

  /** Of what is stored next. Never one that was: answers are kept by it, and files named. */
  generationOf(id: string): number {
    return (this.#known.get(id)?.generation ?? this.#deleted.get(id) ?? 0) + 1;
  }

  get full(): boolean {
    return this.#staged.length >= GROUP;
  }

  /** Adds a session. `past`: the stored one that it was appended to. Nothing is on disk before `commit`. */
  async add(found: FoundLog, session: ImportedSession, past: SessionRow | null): Promise<void> {
    const { kernel, resolver } = this.#options;
    const { db } = kernel.storage;
    await kernel.hooks.callHook("session:replace", session, found.ref);
    // What it loses to another one of this group is read from the catalogue.
    if (this.#losers.includes(session.id)) await this.commit();
    const { adapter, ref } = found;
    const known = this.#known.get(session.id);
    const follows = past ? "appended" : toFollows(session, known, ref);
    const stored = follows === "replaced" || follows === "recounted" ? await this.#keep(session) : null;
    const kept = session.earlier.length > 0 ? stored : null;
    const before = kept?.row ?? null;
    const cwd = session.summary.cwd ?? ref.cwd ?? (past ?? before)?.cwd ?? undefined;
    const identity = await resolver.identify(adapter, { ...session.summary, cwd });
    const { id: originId, write } = await resolver.resolve(identity);
    const association =
      identity.kind === "virtual"
        ? await db.get<{ project_id: string }>("select project_id from association where virtual_id = ?", [originId])
        : undefined;
    const projectId = association?.project_id ?? originId;
    this.#statements.push(...write);
    const shares = await this.#settle({ session, ref, follows, before: kept?.facts });
    const generation = this.generationOf(session.id);
    if (session.summary.refused !== undefined) reportRefused(kernel, found, session.summary.refused);
    const row = toRow(session, { found, originId, generation, past, before, shares });
    this.#statements.push(upsert(row), ...(await writtenWith(kernel, toFigures(row, session.facts))));
    if (known || this.#deleted.has(session.id)) this.#statements.push(compareForks(session.id, !known));
    this.#statements.push(["delete from tombstone where session_id = ?", [session.id]]);
    if (!past && (before || known?.earlier.length)) {
      const keptAt = new Map(known?.earlier.map((text) => [text.version, text.kept_at]));
      this.#statements.push(...replaceEarlier(session, keptAt));
    }
    this.#indexed.push({ id: session.id, indexed: session.indexed });
    // Earlier texts are in the figures of a session, and not in those of its log. One that goes on has them already.
    const opened = session.isOpen ? { generation, isSame: past !== null || session.earlier.length === 0 } : undefined;
    this.#staged.push({ id: session.id, old: partsLeft(session, known, past), opened });
    this.touched.set(projectId, (this.touched.get(projectId) ?? 0) + 1);
  }

  /** Counts what earlier texts alone have, and the time they took. Answers the stored session. */
  async #keep(session: ImportedSession): Promise<{ row: SessionRow; facts: SessionFacts | undefined } | null> {
    const { db } = this.#options.kernel.storage;
    const row = await db.get<SessionRow>("select * from session where id = ?", [session.id]);
    for (const text of session.earlier) addFacts(session.facts, text.facts);
    const facts = row && (await readFacts(db, session.id));
    if (facts) session.activeMs += keepTime(session.facts, facts);
    return row ? { row, facts } : null;
  }

  /** Answers whether others have replies of it, too. */
  async #settle(arrival: Arrival): Promise<boolean> {
    const { write, after, losers, shares } = await this.#options.settler.settle(arrival);
    if (after) await this.commit(); // the session that loses may be among what is staged
    // Its book goes with what the others lose: a book that a kill left alone would say that nothing is to be taken from them.
    const lost = (await after?.()) ?? { write: [], changed: [] };
    this.#statements.push(...write, ...lost.write);
    for (const one of lost.changed) this.#statements.push(...(await writtenWith(this.#options.kernel, one)));
    this.#losers.push(...losers);
    return shares;
  }

  /** Stores what was added, then removes the files it replaces: a crash between leaves files that the next import sweeps. */
  async commit(): Promise<void> {
    const statements = this.#statements;
    const staged = this.#staged;
    const losers = this.#losers;
    const indexed = this.#indexed;
    this.#statements = [];
    this.#losers = [];
    this.#indexed = [];
    this.#staged = [];
    if (statements.length === 0) return;
    const { kernel, onCommit, readers, opened } = this.#options;
    const { transcripts } = kernel.storage;
    const isWhole = await commitIndexed(kernel, statements, indexed);
    const ids = staged.map((one) => one.id);
    // A log whose rows were refused is not gone on with, so that they are tried again.
    for (const { id, opened: text } of staged) if (text && isWhole) opened.stored(id, text.generation, text.isSame);
    onCommit(ids, losers); // who begins now reads what is new
    await readers.retire(async () => {
      for (const { id, old } of staged) if (old.length > 0) await transcripts.remove(id, old);
    });
    for (const id of ids) await kernel.notify("session:replaced", { id });
  }
}

/** How a log that was read as a whole stands to what is stored. */
function toFollows({ earlier }: ImportedSession, known: KnownSession | undefined, ref: SessionRef): Follows {
  if (!known) return null;
  if (!isRecount(known, ref)) return "replaced";
  return earlier.length > 0 ? "recounted" : null;
}

/** Generations of parts that nothing points at once the session is stored. */
function partsLeft(session: ImportedSession, known: KnownSession | undefined, past: SessionRow | null): number[] {
  if (!known) return [];
  const parts = toParts(known).map((part) => part.generation);
  if (past) return parts.slice(parts.length - session.folded);
  const kept = new Set(session.earlier.flatMap((text) => text.parts.map((part) => part.generation)));
  const earlier = known.earlier.flatMap((text) => toParts(text).map((part) => part.generation));
  return [...parts, ...earlier].filter((generation) => !kept.has(generation));
}
