/** The catalogue in its own thread (`thread-entry.ts`): long SQL and writing hold up no request. */
import { Worker } from "node:worker_threads";
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import { fromCarried, toCarried } from "../workers/carry.ts";
import { checkCatalogue } from "./check.ts";
import type { DatabaseOptions } from "./database-options.ts";
import type { Lock } from "./lock.ts";
import { addObjects } from "./rows.ts";
import { prepareEngine } from "./sqljs.ts";
import type { Call, FromCatalogue, State, ToCatalogue } from "./thread-calls.ts";
import type { Compacted, Database, SqlValue } from "./types.ts";

type Passed = Pick<DatabaseOptions, "dir" | "readOnly" | "onNotice" | "onClosed">;

export interface InThreadOptions extends Passed {
  /** The lock that this process holds on `dir`: proved before and after each write. */
  lock?: Pick<Lock, "info" | "prove"> | undefined;
  /** The first thread, which `startThread` has started. Default: another. */
  thread?: Worker | undefined;
  /** The module of a thread, which Node can run. Default: that of the built package. */
  entry?: URL | undefined;
}

/** Small: the thread's JavaScript only passes rows on. */
const YOUNG_MB = 8;
/** What Node sets `threadId` to when a thread has ended. */
const ENDED = -1;

/** A thread for a catalogue, which reads SQLite while the service loads its plugins. It does not keep the process running. */
export function startThread(entry?: URL): Worker {
  const built = () => new URL("./dist/catalogue-thread.mjs", import.meta.resolve("sessarc/package.json"));
  const worker = new Worker(entry ?? built(), { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
  worker.unref();
  // `openInThread` starts another, and reports what is wrong with that one.
  worker.on("error", () => {});
  return worker;
}

interface Waiting {
  rows: object[];
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * `openDatabase` in a thread, which ends with `close`. It does not keep the process running between calls. If it ends
 * before that, the calls it had reject with WORKER_ENDED and the next call starts another, which opens what is on disk.
 */
export function openInThread(options: InThreadOptions): Database {
  const { dir, readOnly = false, lock, entry } = options;
  const notice = options.onNotice ?? ((message: string) => process.stderr.write(`sessarc: ${message}\n`));
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let state: State = { generation: 0, stats: { fileBytes: 0, logBytes: 0 } };
  let first = options.thread;
  let worker: Worker | undefined;
  let closing: Promise<void> | undefined;
  const ending = new AbortController();

  function start(): Worker {
    prepareEngine();
    const started = first && first.threadId !== ENDED ? first : startThread(entry);
    first = undefined;
    // Each thread counts from the start.
    const { generation } = state;
    let failure: unknown;
    const post = (message: ToCatalogue) => started.postMessage(message);
    post({ call: "open", dir, readOnly, token: lock?.info.token });

    async function answerProof(id: number): Promise<void> {
      try {
        await lock?.prove();
        post({ call: "proved", id });
      } catch (error) {
        post({ call: "proved", id, failed: toCarried(error) });
      }
    }

    function settle(id: number, { stats, ...counts }: State, how: (call: Waiting) => void): void {
      state = { generation: generation + counts.generation, stats };
      const call = waiting.get(id);
      waiting.delete(id);
      if (waiting.size === 0) started.unref();
      if (call) how(call);
    }

    started.on("message", (message: FromCatalogue) => {
      switch (message.say) {
        case "rows":
          return addObjects(waiting.get(message.id)?.rows ?? [], message.columns, message.rows);
        case "done":
          return settle(message.id, message.state, ({ resolve, rows }) => resolve(message.result ?? rows));
        case "failed":
          return settle(message.id, message.state, ({ reject }) => reject(fromCarried(message.error)));
        case "prove":
          return void answerProof(message.id);
        case "notice":
          return notice(message.message);
      }
    });
    started.on("error", (error) => {
      failure = error;
    });
    started.on("exit", (code) => {
      worker = undefined;
      state = { ...state, generation: state.generation + 1 };
      const reason = failure === undefined ? `it exited with ${code}` : toMessage(failure);
      const error = new SessarcError("WORKER_ENDED", { reason }, { cause: failure });
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    });
    return started;
  }

  async function send<T>(call: Call): Promise<T> {
    worker ??= start();
    const to = worker;
    return new Promise((resolve, reject) => {
      const id = calls++;
      to.postMessage({ ...call, id } satisfies ToCatalogue);
      waiting.set(id, { rows: [], resolve: (result) => resolve(result as T), reject });
      to.ref();
    });
  }

  const ask = <T>(call: Call): Promise<T> =>
    closing ? Promise.reject(new Error("The catalogue is closed")) : send<T>(call);
  const all = <T>(sql: string, params: readonly SqlValue[] = []) =>
    ask<T[]>({ call: "read", sql, params: ownBytes(params) });

  async function hold(): Promise<() => void> {
    const held = await ask<number>({ call: "hold" });
    const on = worker;
    // Another thread holds nothing; nor does one that was closed.
    return () => void (worker === on && !closing && ask({ call: "release", hold: held }).catch(() => {}));
  }

  async function close(withinMs: number | undefined): Promise<void> {
    // A reader has nothing to write, and its thread may be in a long query.
    if (worker && !(readOnly && withinMs === 0)) await send({ call: "close", withinMs });
    await worker?.terminate();
  }

  const ready = ask<unknown>({ call: "ready" }).then(() => {});
  // Calls reject with the error. Without a call the rejection would be unhandled, and Node would end the process.
  ready.catch(() => {});

  return {
    ready,
    all,
    get: async <T>(sql: string, params?: readonly SqlValue[]) => (await all<T>(sql, params))[0],
    run: (sql, params = []) => ask({ call: "run", sql, params: ownBytes(params) }),
    async batch(statements) {
      await ask({ call: "batch", statements: statements.map(([sql, params = []]) => [sql, ownBytes(params)]) });
    },
    hold,
    compact: () => ask<Compacted>({ call: "compact" }),
    async check(signal) {
      if (closing) throw new Error("The catalogue is closed");
      const release = await hold();
      const copy = openInThread({ dir, readOnly: true, entry, onNotice() {} });
      return checkCatalogue(copy, ending.signal, signal).finally(release);
    },
    close(withinMs) {
      ending.abort(new SessarcError("SHUTTING_DOWN", {}));
      closing ??= close(withinMs).finally(options.onClosed);
      return closing;
    },
    get generation() {
      return state.generation;
    },
    get stats() {
      return state.stats;
    },
  };
}

/** Sending a part of a larger buffer would copy all of that buffer. */
const ownBytes = (params: readonly SqlValue[]): readonly SqlValue[] =>
  params.map((value) =>
    value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? new Uint8Array(value) : value,
  );
