/** Says when a log may have changed: the system's events where it has them, a look now and then everywhere. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

export interface Wake {
  readonly mode: "watch" | "poll";
  stop(): void;
}

interface WakeOptions {
  onChange(): void;
  /** Ask at every poll instead of comparing size and time: a store of many files, or one that keeps its changes beside it. */
  always: boolean;
  /** Never use events. */
  poll?: boolean;
}

/** Intervals of polling where no events arrive: short after a change, then longer. */
const POLL_MS = 250;
const IDLE_MS = 1_000;

/**
 * Watches the folder, not the file: so a file that is replaced or comes back is seen too. Where events fail (network shares, no
 * more handles) looks do the work. Keeps no process alive.
 */
export function watchLog(path: string, { onChange, always, poll }: WakeOptions): Wake {
  const name = basename(path);
  let watcher: FSWatcher | undefined;
  let last = "";
  let wait = POLL_MS;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const give = () => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    if (!poll)
      watcher = watch(dirname(path), { persistent: false }, (_, file) => {
        // `<name>-wal` and its like belong to a database.
        if (file !== null && file !== name && !file.startsWith(`${name}-`)) return;
        wait = POLL_MS;
        onChange();
      });
    watcher?.on("error", give);
  } catch {
    watcher = undefined; // polled
  }

  async function look(): Promise<void> {
    const found = await stat(path).catch(() => undefined);
    if (stopped) return;
    const now = found ? `${found.size} ${found.mtimeMs} ${found.ino}` : "gone";
    const changed = now !== last;
    if (changed && last !== "") wait = POLL_MS;
    else wait = watcher && !always ? IDLE_MS : Math.min(IDLE_MS, wait * 1.5);
    if ((changed && last !== "") || always) onChange();
    last = now;
    plan();
  }
  function plan(): void {
    timer = setTimeout(() => void look(), wait);
    timer.unref();
  }
  void look();

  return {
    get mode() {
      return watcher ? "watch" : "poll";
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      give();
    },
  };
}
