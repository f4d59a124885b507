/** One watched session: reads its log when it changes, and gives everybody who follows it what is new. */
import { setTimeout as delay } from "node:timers/promises";
import type { Kernel } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { isGone } from "sessarc/files";
import { Audience, type AudienceOptions, type StopReason } from "./audience.ts";
import type { Client } from "./client.ts";
import { History } from "./history.ts";
import type { Position } from "./position.ts";
import type { SessionRow, Target } from "./target.ts";
import { type Wake, watchLog } from "./wake.ts";

/** Of a burst the first message goes at once, the rest in one frame per this time. */
const BURST_MS = 25;
/** A log that takes long to read is read at most this share of the time. */
const REST = 4;
const REST_MAX_MS = 5_000;
/** A log that is replaced is away for a moment. */
const GONE_MS = 1_000;
const RETRY_MS = 100;
const FAILURES = 20;
/** Messages kept although the archive has them, for those who reconnect. */
const KEEP = 64;

export interface FeedOptions extends AudienceOptions {
  /** Poll instead of using the system's events: for file systems that have none and do not report it. */
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
  readonly #audience: Audience;
  readonly #onStop: (feed: Feed) => void;
  readonly #always: boolean;
  readonly #poll: boolean;
  #wake: Wake;
  #ready: Promise<void>;
  #isReady = false;
  #reading = false;
  #again = false;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #goneSince: number | undefined;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(kernel: Kernel, adapter: Adapter, target: Target, options: FeedOptions, onStop: (feed: Feed) => void) {
    this.id = target.row.id;
    this.#kernel = kernel;
    this.#onStop = onStop;
    this.#always = !adapter.appends(target.ref);
    this.#poll = options.poll ?? false;
    this.#history = new History(kernel, adapter, target);
    // Before the first read, so that nothing written beside it is missed.
    this.#wake = this.#watch();
    this.#ready = this.#start();
    this.#audience = new Audience(kernel, this.id, this.#history, this.#ready, options, () => this.stop("idle"));
  }

  get status(): FeedStatus {
    const { id, startedAt } = this;
    return {
      sessionId: id,
      path: this.#history.ref.path,
      clients: this.#audience.size,
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
    return this.#audience.join(wanted);
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
    this.#audience.end(reason);
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
        if (this.reads++ > 0) await this.#history.refresh();
        await this.#history.open();
        this.#isReady = true;
      } catch (error) {
        await this.#failed(error);
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
      if (revised !== undefined) this.#audience.revise(revised);
      if (revised !== undefined || this.#history.backlog.next !== before) {
        this.#audience.deliver();
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
      this.#goneSince ??= performance.now();
      // An archive that cannot be asked, either, knows of no other place.
      if (await this.#moved().catch(() => false)) return;
      if (performance.now() - this.#goneSince >= GONE_MS) return this.stop("deleted");
    } else if (++this.#failures >= FAILURES) {
      this.stop("unreadable");
      await this.#kernel.notify("listener:failed", error, { hook: `live ${this.id}` });
      return;
    }
    this.#notBefore = performance.now() + RETRY_MS;
    setTimeout(() => this.#changed(), RETRY_MS).unref();
  }

  /** Some tools move a log when its session ends; the archive knows where it is after a sync. */
  async #moved(): Promise<boolean> {
    const archive = this.#kernel.inject("archive");
    const row = await archive.find(this.id);
    if (!row || row.source.path === this.#history.ref.path) return false;
    this.#history.ref = archive.ref(row);
    this.#wake.stop();
    this.#wake = this.#watch();
    this.#changed();
    return true;
  }
}
