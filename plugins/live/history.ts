/** The messages a feed knows, as far as it must to number them, to place clients, and to fetch what it did not keep. */
import { stat } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Kernel, SessionEvent, SessionRef } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { Backlog } from "./backlog.ts";
import { createReader, type LogReader } from "./log.ts";
import { addUp, NO_MARK, toChain, toMark } from "./position.ts";
import type { SessionRow, Target } from "./target.ts";

/** Messages compared from the end to find how far archive and log agree: text still growing at import is at the end. */
const LOOK_BACK = 64;
/** Messages handled before others get their turn. */
const BREATH = 500;

export class History {
  readonly backlog = new Backlog();
  /** Archived messages that the log still has, as far as is known. */
  agreed = 0;
  /** Earlier messages may be edited, so each is remembered by its sum; else the log only grows. */
  readonly #sums: number[] | undefined;
  readonly #kernel: Kernel;
  readonly #adapter: Adapter;
  #reader: LogReader;
  /** Messages before this seq are counted and not kept. */
  #keepFrom = 0;
  /** The log was not read yet, and had as many messages as this. */
  #unread: number | undefined;
  row: SessionRow;
  ref: SessionRef;

  constructor(kernel: Kernel, adapter: Adapter, { row, ref }: Target) {
    this.#kernel = kernel;
    this.#adapter = adapter;
    this.row = row;
    this.ref = ref;
    this.#sums = adapter.appends(ref) ? undefined : [];
    this.#reader = createReader(adapter, kernel.env);
  }

  /** The archive may have replaced the session's files since its row was read. */
  async refresh(): Promise<void> {
    const row = await this.#kernel.inject("archive").find(this.row.id);
    if (row) this.row = row;
  }

  /** First read: all of the log. One that is as the archive has it is read when it changes. May be tried again after a failure. */
  async open(): Promise<void> {
    const { row } = this;
    this.#begin(row.length);
    if (!this.#sums && (await this.#isArchived())) {
      this.#unread = this.agreed = row.length;
      this.backlog.reset(row.length);
      return;
    }
    await this.#readOn();
    // A log that only grows and holds less than the archive is another log.
    if (this.#sums || this.backlog.next >= row.length) await this.compare();
  }

  #begin(keepFrom: number): void {
    this.#reader = createReader(this.#adapter, this.#kernel.env);
    this.#keepFrom = keepFrom;
    this.#unread = undefined;
    this.backlog.reset(0);
    if (this.#sums) this.#sums.length = 0;
    this.agreed = 0;
  }

  async #isArchived(): Promise<boolean> {
    const { source, length } = this.row;
    if (length === 0 || source.path !== this.ref.path) return false;
    const { size, mtimeMs } = await stat(source.path);
    return size === source.bytes && Math.round(mtimeMs) === source.mtime;
  }

  /** Reads what is new. Answers the first seq that is not what it was, undefined when nothing was edited. */
  async read(): Promise<number | undefined> {
    const from = this.#unread;
    if (from === undefined) return this.#readOn();
    this.#reader = createReader(this.#adapter, this.#kernel.env);
    this.#keepFrom = from;
    await this.#readOn();
    if (this.backlog.next >= from) await this.compare();
    this.#unread = undefined;
    if (this.backlog.next >= from && this.agreed >= from) return undefined;
    // Since then it is another log.
    this.#begin(0);
    await this.#readOn();
    return 0;
  }

  async #readOn(): Promise<number | undefined> {
    let revised: number | undefined;
    let restarted = false;
    const revise = (from: number) => {
      if (from >= this.backlog.next) return;
      revised = Math.min(revised ?? from, from);
      this.agreed = Math.min(this.agreed, from);
      this.#keepFrom = Math.min(this.#keepFrom, from);
      this.backlog.cut(from);
      if (this.#sums) this.#sums.length = from;
    };
    await this.#reader.read(this.ref, {
      restart: () => {
        restarted = true;
        if (!this.#sums) revise(0);
      },
      events: async (batch) => {
        let from = 0;
        if (this.#sums && restarted) {
          from = await this.#sameUntil(batch);
          revise(from);
          restarted = false;
        }
        for (let i = from; i < batch.length; i++) {
          this.#take(batch[i] as SessionEvent);
          if (i % BREATH === BREATH - 1) await nextTurn();
        }
      },
    });
    if (this.#sums && restarted) revise(0);
    return revised;
  }

  #take(event: SessionEvent): void {
    const { backlog } = this;
    if (event.seq >= this.#keepFrom) {
      backlog.push(event);
      this.#sums?.push(backlog.sumAt(event.seq) as number);
      return;
    }
    const sum = this.#sums || event.seq === this.#keepFrom - 1 ? addUp(event) : undefined;
    if (sum !== undefined) this.#sums?.push(sum);
    backlog.reset(event.seq + 1, sum);
  }

  async #sameUntil(events: readonly SessionEvent[]): Promise<number> {
    const sums = this.#sums ?? [];
    const end = Math.min(sums.length, events.length);
    for (let i = 0; i < end; i++) {
      if (sums[i] !== addUp(events[i] as SessionEvent)) return i;
      if (i % BREATH === BREATH - 1) await nextTurn();
    }
    return end;
  }

  #sumAt(seq: number): number | undefined {
    if (this.#sums) return this.#sums[seq];
    return this.backlog.sumAt(seq);
  }

  /** Finds out how far the archive agrees with the log; what it agrees in need not be kept here. */
  async compare(): Promise<void> {
    const { row } = this;
    const end = Math.min(row.length, this.backlog.next);
    const from = Math.max(0, end - LOOK_BACK);
    const archived: number[] = [];
    for await (const events of this.#kernel.inject("archive").events(row, from)) {
      for (const event of events) if (event.seq < end) archived.push(addUp(event));
    }
    for (let seq = end; seq > from; seq--) {
      const mine = this.#sumAt(seq - 1);
      // Messages that are no longer cached are unchanged: a log that only grows reports anything else as a restart.
      const same = mine === undefined ? seq <= this.agreed : mine === archived[seq - 1 - from];
      if (!same) continue;
      // A log that only grows is behind the archive for a moment: it will have the rest.
      this.agreed = seq === end && !this.#sums ? row.length : seq;
      return;
    }
    this.agreed = 0;
  }

  /** Mark of the messages before `seq`, from what is remembered. */
  markAt(seq: number): string {
    if (seq === 0) return NO_MARK;
    if (this.#sums) return seq <= this.#sums.length ? toChain(this.#sums, seq) : NO_MARK;
    const sum = this.#sumAt(seq - 1);
    return sum === undefined ? NO_MARK : toMark(sum);
  }

  /** Mark of the messages before `seq` when `last` is the one right before it. */
  markAfter(last: SessionEvent): string {
    return this.#sums ? this.markAt(last.seq + 1) : toMark(addUp(last));
  }

  /** Whether a client at `seq` with `mark` has seen what this log holds. */
  async holds(seq: number, mark: string): Promise<boolean> {
    if (seq > Math.max(this.backlog.next, this.agreed)) return false;
    if (mark === NO_MARK || seq === 0) return true;
    const known = this.markAt(seq);
    if (known !== NO_MARK) return known === mark;
    for await (const events of this.between(seq - 1, seq)) {
      const [event] = events;
      if (event) return toMark(addUp(event)) === mark;
    }
    return false;
  }

  /** Messages `from` ≤ seq < `to` that are not kept: of the archive as far as it agrees, of the log behind that. */
  async *between(from: number, to: number): AsyncGenerator<SessionEvent[]> {
    const wanted = (events: readonly SessionEvent[], end: number) =>
      events.filter(({ seq }) => seq >= from && seq < end);
    if (from < this.agreed) {
      const end = Math.min(to, this.agreed);
      for await (const events of this.#kernel.inject("archive").events(this.row, from)) {
        const part = wanted(events, end);
        if (part.length > 0) yield part;
        if ((events.at(-1)?.seq ?? 0) >= end - 1) return;
      }
      return;
    }
    const found: SessionEvent[] = [];
    await createReader(this.#adapter, this.#kernel.env).read(this.ref, {
      restart: () => {},
      events: (batch) => void found.push(...wanted(batch, to)),
    });
    if (found.length > 0) yield found;
  }
}
