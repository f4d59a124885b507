/** Work off the main thread: tinypool over worker threads, started when first needed, gone when idle. */
import { availableParallelism } from "node:os";
import type { Tinypool } from "tinypool";
import { SessarcError } from "../errors/error.ts";
import { codeOf } from "../utils/gone.ts";
import { fromCarried } from "./carry.ts";

/** A function of a module, run in a worker. Arguments and result must survive structured clone. */
export interface PoolTask<A extends unknown[], R> {
  /** What `import()` takes inside the worker. */
  specifier: string;
  /** Name of the exported async function. */
  export: string;
  /** The same function, for runs without workers. */
  inline: (...args: A) => Promise<R>;
  /** Ends the thread the task runs in, whatever it does. */
  signal?: AbortSignal | undefined;
  /** Runs in the one thread that such tasks share. What its module keeps is there for the next one, until the thread ends: after ten minutes without work. */
  keeps?: boolean | undefined;
}

/** Threads that run tasks of modules (`Kernel.pool`). */
export interface Pool {
  /** Runs `task` with `args`. Rejects with the task's own error, WORKER_ENDED when its thread ended before it, SHUTTING_DOWN when the pool was closed. */
  run<A extends unknown[], R>(task: PoolTask<A, R>, ...args: A): Promise<R>;
  /** How many tasks run at once; 1 when there are no workers. */
  readonly size: number;
  /** False when tasks run in this process (source checkouts, tests). */
  readonly threaded: boolean;
  close(): Promise<void>;
}

const IDLE_MS = 3_000;
const KEEPS_IDLE_MS = 600_000;
const MOST_THREADS = 4;
/**
 * Heaps of a worker in MB. Small: a worker parses and forgets; V8 grows its heap to what it may have before it looks for garbage. With
 * 9 it looks so often that an import takes a twentieth more of a processor, 30 save nothing more.
 */
const YOUNG_MB = 18;
const OLD_MB = 512;
/**
 * Makes a pool. Costs nothing until the first `run`; then each thread costs about 30 ms and 12 MB, and ends after 3 s without work.
 * A source checkout (TypeScript files, which Node cannot load in a worker) runs tasks in process.
 */
export function createPool(): Pool {
  if (import.meta.url.endsWith(".ts")) {
    return { size: 1, threaded: false, run: (task, ...args) => task.inline(...args), close: async () => {} };
  }
  const threads = Math.min(availableParallelism(), MOST_THREADS);
  const shared = createThreads(threads, IDLE_MS);
  const keeping = createThreads(1, KEEPS_IDLE_MS);
  return {
    size: threads,
    threaded: true,
    run: (task, ...args) => (task.keeps ? keeping : shared).run(task, ...args),
    close: async () => void (await Promise.all([shared.close(), keeping.close()])),
  };
}

function createThreads(threads: number, idleTimeout: number): Pick<Pool, "run" | "close"> {
  let pool: Promise<Tinypool> | undefined;
  /** Why a pool is no more. */
  const broken = new WeakMap<object, unknown>();
  const open = async () => {
    const { default: Tinypool } = await import("tinypool");
    const made = new Tinypool({
      filename: new URL("./dist/worker.mjs", import.meta.resolve("sessarc/package.json")).href,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout,
      // The next task computes while the last one waits for the disk.
      concurrentTasksPerWorker: 2,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB, maxOldGenerationSizeMb: OLD_MB },
    });
    // A thread that does not start (the package is being replaced beneath us) fails the waiting tasks, not the process; the next task tries again.
    made.on("error", (error) => {
      if (made.queueSize === 0) return; // no task waits for it
      broken.set(made, error);
      pool = undefined;
      void made.destroy();
    });
    return made;
  };
  return {
    async run(task, ...args) {
      pool ??= open();
      const made = await pool;
      try {
        const done = made.run(
          { specifier: task.specifier, export: task.export, args },
          task.signal && { signal: task.signal },
        );
        watchThreads(made);
        return await done;
      } catch (error) {
        throw broken.get(made) ?? (isMemory(error) ? ended("no memory left", error) : fromCarried(error));
      }
    },
    async close() {
      const made = await pool;
      if (made) broken.set(made, new SessarcError("SHUTTING_DOWN", {}));
      await made?.destroy();
      pool = undefined;
    },
  };
}

const watched = new WeakSet<object>();

/** tinypool only notices errors: a thread that simply exits would leave its task pending forever. */
function watchThreads(pool: Tinypool): void {
  for (const thread of pool.threads) {
    if (watched.has(thread)) continue;
    watched.add(thread);
    thread.once("exit", (code: unknown) => {
      // One that the pool ended itself, or knows of, is no longer among them.
      if (pool.threads.includes(thread)) thread.emit("error", ended(`it exited with ${String(code)}`));
      if (pool.queueSize === 0) return;
      // What waits for any thread would wait for the next task to have one started.
      pool.run(NOTHING).catch(() => {
        // Waiting tasks get the same error.
      });
      watchThreads(pool);
    });
  }
}

const NOTHING = { specifier: "node:os", export: "availableParallelism", args: [] };
const ended = (reason: string, cause?: unknown) => new SessarcError("WORKER_ENDED", { reason }, { cause });
const isMemory = (error: unknown) => codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
