/** Watching a folder or a file: settled changes, with polling where the system reports none. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { FileChange, Polling } from "../contract/kernel.ts";
import { SessarcError } from "../errors/error.ts";
import { type MaybePromise, toMessage } from "../utils/async.ts";
import { FolderPoll } from "./poll-folders.ts";
import { FilePoll, watchFile } from "./watch-file.ts";
import { watchTree } from "./watch-tree.ts";

export interface WatchOptions {
  /** Quiet time after which changes are delivered. Default 100 ms. */
  settleMs?: number | undefined;
  /** The longest changes are held back while more keep coming. Default 1 s. */
  maxWaitMs?: number | undefined;
  /** Time between two rounds of polling; longer where a round is expensive. Default 2 s. */
  pollMs?: number | undefined;
  /** Polling uses at most this share of a processor, unless recent changes would then wait a minute. Default 0.05. */
  pollShare?: number | undefined;
  /** Never use events. */
  poll?: boolean | undefined;
  /** Called when polling starts and after each round. */
  onPolling?: ((polling: Polling) => void) | undefined;
  /** Aborts the first listing, which may take long, when the watch is stopped. */
  signal?: AbortSignal | undefined;
  /** Gets errors of `onChange` and of the watcher; the watch continues. */
  onError(error: unknown): MaybePromise<void>;
}

type OnChange = (changes: FileChange[]) => MaybePromise<void>;

/**
 * Calls `onChange` with what changed below `root`, one call at a time, each path once per call; of a file, and of those that a database has
 * beside it, with `update`. Answers a function that stops it and waits for a running call. `root` must exist (WATCH_FAILED otherwise).
 */
export async function watchRoot(path: string, onChange: OnChange, options: WatchOptions): Promise<() => Promise<void>> {
  const root = resolve(path); // without a trailing slash, which would not match its files' paths
  const found = await stat(root).catch((cause) => {
    throw new SessarcError("WATCH_FAILED", { root, reason: toMessage(cause) }, { cause });
  });
  const source = found.isDirectory() ? FOLDER : found.isFile() ? FILE : undefined;
  if (!source) throw new SessarcError("WATCH_FAILED", { root, reason: "it is neither a folder nor a file" });
  const batch = createBatch(onChange, options);
  const stopSource = options.poll
    ? await startPolling(source.poll(root, batch.add), options, null)
    : await startEvents(source, root, batch.add, options);
  return async () => {
    await stopSource();
    await batch.stop();
  };
}

type Add = (change: FileChange) => void;
type Stop = () => Promise<void>;

/** Rounds of comparisons. */
interface Poll {
  begin(): Promise<void>;
  round(): Promise<void>;
  /** Number of rounds after which everything was checked. */
  readonly rounds: number;
  stop(): void;
}

interface Source {
  events(root: string, report: Add, onLost: (error: unknown) => void): Promise<Stop>;
  poll(root: string, report: Add): Poll;
}

const FOLDER: Source = { events: watchTree, poll: (root, report) => new FolderPoll(root, report) };
const FILE: Source = { events: watchFile, poll: (root, report) => new FilePoll(root, report) };

/** The system's own events; a place that cannot have them (network shares, no more handles) is polled. */
async function startEvents(source: Source, root: string, add: Add, options: WatchOptions): Promise<Stop> {
  const instead = async (error: unknown): Promise<Stop> => {
    await report(options, new SessarcError("WATCH_FAILED", { root, reason: toMessage(error) }, { cause: error }));
    return startPolling(source.poll(root, add), options, toMessage(error));
  };
  try {
    let later: Promise<Stop> | undefined;
    const stop = await source.events(root, add, (error) => {
      later = instead(error);
    });
    return async () => {
      await stop();
      await (await later)?.();
    };
  } catch (error) {
    return instead(error);
  }
}

/** The longest time between two rounds. */
const PAUSE_MAX_MS = 60_000;

async function startPolling(poll: Poll, options: WatchOptions, reason: string | null): Promise<Stop> {
  const { pollMs = 2_000, pollShare = 0.05, onPolling, signal } = options;
  const giveUp = () => poll.stop();
  if (signal?.aborted) giveUp();
  signal?.addEventListener("abort", giveUp, { once: true });
  await poll.begin();
  let pause = pollMs;
  let took = 0;
  const say = () => {
    const recentMs = Math.ceil(pause + took);
    onPolling?.({ reason, recentMs, allMs: recentMs * poll.rounds });
  };
  say();
  let running: Promise<void> = Promise.resolve();
  async function round(): Promise<void> {
    const [began, before] = [performance.now(), process.cpuUsage()];
    await poll.round().catch((error) => report(options, error));
    took = performance.now() - began;
    // Of the processor, not of the clock: a share that answers slowly costs little.
    const { user, system } = process.cpuUsage(before);
    const cost = (user + system) / 1_000;
    pause = Math.min(Math.max(pollMs, cost / pollShare - cost), PAUSE_MAX_MS);
  }
  let timer: NodeJS.Timeout;
  let stopped = false;
  const plan = () => {
    timer = setTimeout(() => {
      running = round().then(() => {
        if (stopped) return;
        say();
        plan();
      });
    }, pause);
    timer.unref();
  };
  plan();
  return async () => {
    stopped = true;
    poll.stop();
    signal?.removeEventListener("abort", giveUp);
    clearTimeout(timer);
    await running;
  };
}

async function report(options: WatchOptions, error: unknown): Promise<void> {
  await options.onError(error);
}

/** Collects changes until they settle; a file that keeps changing is delivered after `maxWaitMs`. */
function createBatch(onChange: OnChange, options: WatchOptions): { add: Add; stop: Stop } {
  const { settleMs = 100, maxWaitMs = 1_000 } = options;
  let pending = new Map<string, FileChange["type"]>();
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  async function deliver(): Promise<void> {
    timer = undefined;
    if (stopped || pending.size === 0) return;
    const changes = [...pending].map(([path, type]) => ({ type, path }));
    pending = new Map();
    try {
      await onChange(changes);
    } catch (error) {
      await report(options, error);
    }
  }

  return {
    add({ type, path }) {
      if (stopped) return;
      const now = performance.now();
      if (pending.size === 0) since = now;
      pending.set(path, merge(pending.get(path), type));
      clearTimeout(timer);
      const wait = Math.max(0, Math.min(settleMs, since + maxWaitMs - now));
      timer = setTimeout(() => {
        running = running.then(deliver);
      }, wait);
      timer.unref();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** What two changes of one path are together. */
function merge(before: FileChange["type"] | undefined, now: FileChange["type"]): FileChange["type"] {
  if (before === "create" && now === "update") return "create";
  if (before === "delete" && now === "create") return "update";
  return now;
}
