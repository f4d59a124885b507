/** Collects what was read into groups that are committed together, and removes what each replaces. */
import type { Kernel, Statement } from "sessarc";
import { partsOf, type SessionRow } from "../catalogue/types.ts";
import type { ProjectResolver } from "../places/projects.ts";
import type { Found } from "../places/scan.ts";
import { disownAgain, upsert } from "./rows.ts";
import { Settler } from "./settle.ts";
import type { ImportedSession } from "./types.ts";

/** Sessions committed together: one fsync, and a batch small enough that no request waits. */
const GROUP = 48;

export interface StageOptions {
  kernel: Kernel;
  resolver: ProjectResolver;
  /** Told after each committed group. */
  onCommit(ids: readonly string[]): void;
}

/** What a run knows of each stored session. */
export interface Known {
  id: string;
  source_path: string;
  source_version: string;
  generation: number;
  parts: string;
  missing: number;
  has_cursor: number;
}

export class Stage {
  readonly #options: StageOptions;
  readonly #known: ReadonlyMap<string, Known>;
  #settler: Settler | undefined;
  #statements: Statement[] = [];
  #staged: { id: string; old: number[]; oldCursor: number }[] = [];
  /** Sessions stored so far, by the id of their project. */
  readonly touched = new Map<string, number>();

  constructor(options: StageOptions, known: ReadonlyMap<string, Known>) {
    this.#options = options;
    this.#known = known;
  }

  get full(): boolean {
    return this.#staged.length >= GROUP;
  }

  /** Adds a session. `past`: the stored one that it was appended to. Nothing is on disk before `commit`. */
  async add(found: Found, session: ImportedSession, past: SessionRow | null): Promise<void> {
    const { kernel, resolver } = this.#options;
    const { db } = kernel.storage;
    await kernel.hooks.callHook("session:replace", session, found.ref);
    const { adapter, ref } = found;
    const identity = await resolver.identify(adapter, { ...session.summary, cwd: session.summary.cwd ?? ref.cwd });
    const { id: originId, write } = await resolver.resolve(identity);
    const association =
      identity.kind === "virtual"
        ? await db.get<{ project_id: string }>("select project_id from association where virtual_id = ?", [originId])
        : undefined;
    const projectId = association?.project_id ?? originId;
    this.#statements.push(...write);
    if (past) disownAgain(session);
    await this.#settle(found, session, past !== null);
    const known = this.#known.get(session.id);
    const generation = (known?.generation ?? 0) + 1;
    this.#statements.push(upsert(session, { found, originId, generation, past }));
    this.#statements.push(["delete from tombstone where session_id = ?", [session.id]]);
    const parts = known ? partsOf(known).map((part) => part.generation) : [];
    const old = past ? parts.slice(parts.length - session.folded) : parts;
    this.#staged.push({ id: session.id, old, oldCursor: known?.has_cursor ?? 0 });
    this.touched.set(projectId, (this.touched.get(projectId) ?? 0) + 1);
  }

  async #settle({ ref }: Found, session: ImportedSession, appended: boolean): Promise<void> {
    this.#settler ??= await Settler.load(this.#options.kernel.storage.db);
    const { write, after } = await this.#settler.settle(session, ref, appended);
    this.#statements.push(...write);
    if (!after) return;
    await this.commit(); // the session that loses may be among what is staged
    this.#statements.push(...(await after()));
  }

  /** Stores what was added, then removes the files it replaces: a crash between leaves files that the next import sweeps. */
  async commit(): Promise<void> {
    const statements = this.#statements;
    const staged = this.#staged;
    this.#statements = [];
    this.#staged = [];
    if (statements.length === 0) return;
    const { kernel, onCommit } = this.#options;
    const { db, transcripts } = kernel.storage;
    await db.batch(statements);
    for (const { id, old, oldCursor } of staged) {
      if (old.length > 0) await transcripts.remove(id, old);
      if (oldCursor > 0) await transcripts.removeKey(transcripts.cursorKeyOf(id, oldCursor));
    }
    const ids = staged.map((one) => one.id);
    onCommit(ids);
    for (const id of ids) await kernel.notify("session:replaced", { id });
  }
}
