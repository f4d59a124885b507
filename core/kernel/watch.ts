/** Watching a folder: settled changes, with polling where the system cannot tell. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileChange } from "../contract/kernel.ts";
import { SessarcError } from "../errors/error.ts";
import { type MaybePromise, messageOf } from "../utils/async.ts";
import { watchFolders } from "./watch-folders.ts";

export interface WatchOptions {
  /** Quiet time after which changes are handed over. Default 100 ms. */
  settleMs?: number | undefined;
  /** The longest changes are held back while more keep coming. Default 1 s. */
  maxWaitMs?: number | undefined;
  /** How often to look where there are no events. Default 2 s. */
  pollMs?: number | undefined;
  /** Never use events. */
  poll?: boolean | undefined;
  /** Gets what `onChange` throws and what the watcher reports; the watch goes on. */
  onError(error: unknown): MaybePromise<void>;
}

type OnChange = (changes: FileChange[]) => MaybePromise<void>;

/**
 * Calls `onChange` with what changed below `root`, one call at a time, each path once per call. Answers a function that stops
 * it and waits for a running call. `root` must be an existing folder (WATCH_FAILED otherwise).
 */
export async function watchRoot(root: string, onChange: OnChange, options: WatchOptions): Promise<() => Promise<void>> {
  const found = await stat(root).catch((cause) => {
    throw new SessarcError("WATCH_FAILED", { root, reason: messageOf(cause) }, { cause });
  });
  if (!found.isDirectory()) throw new SessarcError("WATCH_FAILED", { root, reason: "it is not a folder" });
  const batch = createBatch(onChange, options);
  const stopSource = options.poll
    ? await startPolling(root, batch.add, options)
    : await startEvents(root, batch.add, options);
  return async () => {
    await stopSource();
    await batch.stop();
  };
}

type Add = (change: FileChange) => void;
type Stop = () => Promise<void>;

/** The system's own events; a folder that cannot have them (network shares, no more handles) is polled. */
async function startEvents(root: string, add: Add, options: WatchOptions): Promise<Stop> {
  const instead = async (error: unknown): Promise<Stop> => {
    await report(options, new SessarcError("WATCH_FAILED", { root, reason: messageOf(error) }, { cause: error }));
    return startPolling(root, add, options);
  };
  try {
    if (process.platform !== "linux") return await subscribeTree(root, add, options);
    let later: Promise<Stop> | undefined;
    const stop = await watchFolders(root, add, (error) => {
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

async function subscribeTree(root: string, add: Add, options: WatchOptions): Promise<Stop> {
  const { subscribe } = await import("@parcel/watcher");
  const subscription = await subscribe(root, (error, events) => {
    if (error) void report(options, error);
    for (const { type, path } of events ?? []) add({ type, path });
  });
  return () => subscription.unsubscribe();
}

/** Compares what is there with what was there. Cost: one stat per file and round. */
async function startPolling(root: string, add: Add, options: WatchOptions): Promise<Stop> {
  let before = await snapshot(root);
  let running: Promise<void> = Promise.resolve();
  async function look(): Promise<void> {
    const now = await snapshot(root);
    for (const [path, version] of now) {
      const old = before.get(path);
      if (old !== version) add({ type: old === undefined ? "create" : "update", path });
    }
    for (const path of before.keys()) if (!now.has(path)) add({ type: "delete", path });
    before = now;
  }
  let timer: NodeJS.Timeout;
  let stopped = false;
  const plan = () => {
    timer = setTimeout(() => {
      running = look()
        .catch((error) => report(options, error))
        .then(() => {
          if (!stopped) plan();
        });
    }, options.pollMs ?? 2_000);
    timer.unref();
  };
  plan();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

async function snapshot(root: string): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  // What vanishes between listing and stat is simply not there.
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (found) versions.set(path, `${found.size} ${found.mtimeMs} ${found.ino}`);
  }
  return versions;
}

async function report(options: WatchOptions, error: unknown): Promise<void> {
  await options.onError(error);
}

/** Collects changes until they settle; a file that never rests is handed over at `maxWaitMs`. */
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
