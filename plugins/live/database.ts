/** Watching a database: its folder may hold much that is not ours, so only its own files are heeded. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, type Polling } from "#internal";

/** ms between two looks where the system has no events: three files cost nothing. */
const POLL_MS = 2_000;
/** What is written goes to one of these. */
const BESIDE = ["", "-wal", "-journal"];

interface DatabaseWatch {
  /** Files of it that may have changed. */
  onPaths(paths: string[]): void;
  /** The system cannot watch the folder: it is polled instead. */
  onPolling(polling: Polling): void;
  /** The watch ended without `close`. */
  onLost(): void;
}

/** Answers what stops it. */
export async function watchDatabase(path: string, told: DatabaseWatch): Promise<() => void> {
  const name = basename(path);
  let watcher: FSWatcher;
  try {
    watcher = watch(dirname(path), { persistent: false }, (_, file) => {
      if (file === null || file === name || file.startsWith(`${name}-`))
        told.onPaths([join(dirname(path), file ?? name)]);
    });
  } catch (error) {
    return pollDatabase(path, messageOf(error), told);
  }
  watcher.on("error", () => told.onLost());
  return () => watcher.close();
}

async function pollDatabase(path: string, reason: string, { onPaths, onPolling }: DatabaseWatch): Promise<() => void> {
  const versions = () => Promise.all(BESIDE.map((end) => versionOf(path + end)));
  let before = await versions();
  onPolling({ reason, recentMs: POLL_MS, allMs: POLL_MS });
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void versions().then((now) => {
      isLooking = false;
      if (now.some((version, n) => version !== before[n])) onPaths([path]);
      before = now;
    });
  }, POLL_MS).unref();
  return () => clearInterval(timer);
}

/** Empty when it cannot be read: the next successful read decides. */
const versionOf = (path: string): Promise<string> =>
  stat(path).then(
    ({ size, mtimeMs, ino }) => `${size} ${mtimeMs} ${ino}`,
    () => "",
  );
