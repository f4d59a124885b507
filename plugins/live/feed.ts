/** One watched session: reads its log when it changes, and gives everybody who follows it what is new. */
import { setTimeout as delay } from "node:timers/promises";
import { type Adapter, isSessarcError, type Kernel, type SessionEvent } from "sessarc";
import { inFrames } from "./backlog.ts";
import { Client } from "./client.ts";
import { HEARTBEAT, messagesFrame, statusFrame, toWire } from "./frames.ts";
import { History } from "./history.ts";
import { formatId, NO_MARK, type Position } from "./position.ts";
import type { SessionRow, Target } from "./target.ts";
import { type Wake, watchLog } from "./wake.ts";

/** Of a burst the first message goes at once, the rest in one frame per this time. */
const BURST_MS = 25;
/** A log that takes long to read is read at most this share of the time. */
const REST = 4;
const REST_MAX_MS = 5_000;
const HEARTBEAT_MS = 15_000;
/** A client that took nothing for this many heartbeats is gone, whatever its connection says; a living one comes again. */
const STALLED = 8;
/** A log that is replaced is away for a moment. */
const GONE_MS = 1_000;
const RETRY_MS = 100;
const FAILURES = 20;
/** Messages kept although the archive has them, for those who reconnect. */
const KEEP = 64;

export type StopReason = "deleted" | "unreadable" | "removed" | "closing" | "idle";

export interface FeedOptions {
  /** A comment is sent this often. Default 15,000. */
  heartbeatMs?: number | undefined;
  /** Look now and then, without the system's events: for file systems that have none and do not say so. */
  poll?: boolean | undefined;
}

export interface FeedStatus {
  sessionId: string;
  path: string;
  clients: number;
  mode: "watch" | "poll";
  startedAt: string;
}

export class Feed {
  readonly id: string;
  readonly startedAt = new Date().toISOString();
  /** Reads of the log so far. */
  reads = 0;
  readonly #kernel: Kernel;
  readonly #history: History;
  readonly #clients = new Set<Client>();
  readonly #onStop: (feed: Feed) => void;
  readonly #always: boolean;
  readonly #poll: boolean;
  #wake: Wake;
  #ready: Promise<void>;
  #isReady = false;
  #lineage = newLineage();
  /** Earlier lineages of this feed: the seq up to which they hold. */
  readonly #past = new Map<string, number>();
  #reading = false;
  #again = false;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  #failures = 0;
  #goneSince: number | undefined;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(kernel: Kernel, adapter: Adapter, target: Target, options: FeedOptions, onStop: (feed: Feed) => void) {
    this.id = target.row.id;
    this.#kernel = kernel;
    this.#onStop = onStop;
    this.#always = adapter.tailBatches === undefined;
    this.#poll = options.poll ?? false;
    this.#history = new History(kernel, adapter, target);
    // Before the first read, so that nothing written beside it is missed.
    this.#wake = this.#watch();
    this.#heartbeat = setInterval(() => {
      for (const client of [...this.#clients]) {
        if (client.hasRoom) client.send(HEARTBEAT);
        else if (++client.missed >= STALLED) client.drop();
      }
    }, options.heartbeatMs ?? HEARTBEAT_MS);
    this.#heartbeat.unref();
    this.#ready = this.#start();
  }

  get status(): FeedStatus {
    const { id, startedAt } = this;
    return {
      sessionId: id,
      path: this.#history.ref.path,
      clients: this.#clients.size,
      mode: this.#wake.mode,
      startedAt,
    };
  }
  /** Frames of messages made so far. */
  get framesMade(): number {
    return this.#history.backlog.made;
  }

  /** A new follower; its status frame is in the stream at once. `wanted`: what it has seen already. */
  join(wanted: Position | undefined): Client {
    const seq = wanted?.seq ?? this.#history.row.message_count;
    const id = formatId(wanted?.lineage ? wanted : { seq, mark: NO_MARK, lineage: this.#lineage });
    const first = statusFrame(id, { type: "status", status: "live", sessionId: this.id });
    const client: Client = new Client(
      wanted,
      first,
      () => this.#pump(client),
      () => this.#leave(client),
    );
    client.busy = true; // until it has its place
    this.#clients.add(client);
    void this.#admit(client);
    return client;
  }

  /** The archive took in this session's log: what it holds need not be kept here. */
  async imported(row: SessionRow): Promise<void> {
    await this.#ready;
    if (this.#stopped) return;
    this.#history.row = row;
    await this.#history.compare();
    const { backlog, agreed } = this.#history;
    backlog.trim(Math.min(agreed, backlog.next - KEEP));
    this.#changed();
  }

  stop(reason: StopReason): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#wake.stop();
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
    const frame = { type: "status", status: "stopped", sessionId: this.id, reason } as const;
    for (const client of [...this.#clients]) {
      client.send(statusFrame(this.#idAt(client.position), frame));
      client.end();
    }
    this.#onStop(this);
  }

  /** Resolves when nothing of a stopped feed runs any more. */
  async settled(): Promise<void> {
    await this.#ready;
    await this.#running;
  }

  #watch(): Wake {
    const [always, poll] = [this.#always, this.#poll];
    return watchLog(this.#history.ref.path, { always, poll, onChange: () => this.#changed() });
  }

  async #start(): Promise<void> {
    while (!this.#stopped && !this.#isReady) {
      try {
        this.reads++;
        await this.#history.open();
        this.#isReady = true;
      } catch (error) {
        await this.#failed(error);
        await this.#refresh();
        if (!this.#stopped) await delay(RETRY_MS, undefined, { ref: false });
      }
    }
    if (this.#again) this.#changed();
  }

  /** Reads now, or as soon as the last read is long enough ago. */
  #changed(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (this.#reading || this.#timer || !this.#isReady) return;
    const wait = this.#notBefore - performance.now();
    if (wait <= 0) this.#running = this.#read();
    else {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#running = this.#read();
      }, wait);
      this.#timer.unref();
    }
  }

  async #read(): Promise<void> {
    this.#reading = true;
    this.#again = false;
    const started = performance.now();
    try {
      this.reads++;
      const before = this.#history.backlog.next;
      const revised = await this.#history.read();
      this.#failures = 0;
      this.#goneSince = undefined;
      if (this.#stopped) return;
      if (revised !== undefined) this.#revise(revised);
      if (revised !== undefined || this.#history.backlog.next !== before) {
        for (const client of this.#clients) this.#pump(client);
        this.#history.backlog.trim(0);
      }
    } catch (error) {
      await this.#failed(error);
    } finally {
      this.#reading = false;
    }
    const now = performance.now();
    this.#notBefore = now + Math.max(BURST_MS - (now - started), Math.min((now - started) * REST, REST_MAX_MS), 0);
    if (this.#again) this.#changed();
  }

  /** A log that is away or cannot be read is tried again for a while. */
  async #failed(error: unknown): Promise<void> {
    if (this.#stopped) return;
    const gone = isGone(error);
    if (gone) {
      this.#goneSince ??= Date.now();
      if (await this.#moved()) return;
      if (Date.now() - this.#goneSince >= GONE_MS) return this.stop("deleted");
    } else if (++this.#failures >= FAILURES) {
      this.stop("unreadable");
      await this.#kernel.notify("listener:failed", error, { hook: `live ${this.id}` });
      return;
    }
    this.#notBefore = performance.now() + RETRY_MS;
    setTimeout(() => this.#changed(), RETRY_MS).unref();
  }

  /** The archive may have replaced the session's files since its row was read. */
  async #refresh(): Promise<void> {
    const row = await this.#kernel.inject("archive").store.row(this.id);
    if (row) this.#history.row = row;
  }

  /** Some tools move a log when its session ends; the archive knows where it is after a sync. */
  async #moved(): Promise<boolean> {
    const archive = this.#kernel.inject("archive");
    const row = await archive.store.row(this.id);
    if (!row || row.source_path === this.#history.ref.path) return false;
    this.#history.ref = archive.ref(row);
    this.#wake.stop();
    this.#wake = this.#watch();
    this.#changed();
    return true;
  }

  /** Messages from `from` on are no longer what they were. */
  #revise(from: number): void {
    for (const [lineage, seq] of this.#past) this.#past.set(lineage, Math.min(seq, from));
    this.#past.set(this.#lineage, from);
    this.#lineage = newLineage();
    for (const client of this.#clients) this.#rewind(client, from);
  }

  /** Tells a client to drop what it has from `from` on. */
  #rewind(client: Client, from: number): void {
    if (client.position <= from) return;
    client.position = from;
    const reason = from === 0 ? "restarted" : "revised";
    client.send(statusFrame(this.#idAt(from), { type: "status", status: "live", sessionId: this.id, reason, from }));
  }

  /** Finds the place of a new client: after what it has seen, when that still holds. */
  async #admit(client: Client): Promise<void> {
    await this.#ready;
    if (client.closed || this.#stopped) return;
    try {
      const { wanted } = client;
      const { row, agreed } = this.#history;
      client.position = wanted?.seq ?? row.message_count;
      const past = wanted && this.#past.get(wanted.lineage);
      if (past !== undefined) this.#rewind(client, past);
      else if (!wanted || wanted.mark === NO_MARK) {
        // It has what the archive has.
        const { next } = this.#history.backlog;
        if (agreed < row.message_count && client.position > agreed) this.#rewind(client, agreed);
        else if (client.position > Math.max(next, agreed)) this.#rewind(client, 0);
      } else if (wanted.lineage !== this.#lineage && !(await this.#history.holds(wanted.seq, wanted.mark))) {
        this.#rewind(client, 0);
      }
    } catch (error) {
      await this.#kernel.notify("listener:failed", error, { hook: `live ${this.id}` });
      return client.end();
    }
    client.busy = false;
    this.#pump(client);
  }

  /** Sends what a client lacks and has room for. */
  #pump(client: Client): void {
    if (client.busy || client.closed || this.#stopped) return;
    const { backlog } = this.#history;
    if (client.position < backlog.first) return void this.#catchUp(client);
    while (client.position < backlog.next && client.hasRoom) {
      const { bytes, end } = backlog.frameFrom(client.position, (seq) => this.#idAt(seq));
      client.position = end; // first: sending may ask for more at once
      client.send(bytes);
    }
  }

  /** Older messages than are kept, at the client's pace. One that cannot be served comes again with its last id. */
  async #catchUp(client: Client): Promise<void> {
    client.busy = true;
    const { backlog } = this.#history;
    try {
      for (let tries = 0; client.position < backlog.first && !client.closed && tries < 5; ) {
        const before = client.position;
        try {
          await this.#send(client, this.#history.between(client.position, backlog.first));
        } catch (error) {
          // The archive replaced the session under our hands, or the log moved.
          if (tries === 4) throw error;
          await this.#refresh();
        }
        if (client.position === before) tries++;
      }
    } catch (error) {
      await this.#kernel.notify("listener:failed", error, { hook: `live ${this.id}` });
    }
    if (client.position < backlog.first) return client.end();
    client.busy = false;
    this.#pump(client);
  }

  async #send(client: Client, batches: AsyncIterable<SessionEvent[]>): Promise<void> {
    for await (const events of batches) {
      for (const part of inFrames(events)) {
        const last = part.at(-1);
        if (client.closed || !last || part[0]?.seq !== client.position) return;
        const position = { seq: last.seq + 1, mark: this.#history.markAfter(last), lineage: this.#lineage };
        client.position = position.seq;
        client.send(messagesFrame(formatId(position), part.map(toWire)));
        await client.room();
      }
    }
  }

  #idAt(seq: number): string {
    return formatId({ seq, mark: this.#history.markAt(seq), lineage: this.#lineage });
  }

  #leave(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.stop("idle");
  }
}

const newLineage = () => Math.random().toString(36).slice(2, 12);

function isGone(error: unknown): boolean {
  if (isSessarcError(error)) return error.code === "SOURCE_MISSING";
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR";
}
