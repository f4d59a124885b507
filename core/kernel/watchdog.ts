/**
 * A thread that notices when a plugin blocks this one. Nothing of this thread can: its timers wait for the same plugin. It is started only
 * where plugins are loaded that are not built in. This thread beats once a second; which plugin runs is text in memory that both share, written
 * when a plugin's code is entered (some hundred ns) and read when the beats stop.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { isRecord } from "../utils/json.ts";

/** Whose code runs. */
export interface Section {
  plugin: string;
  /** Where it was loaded from. */
  file: string | undefined;
  /** `scan`, `setup`, `hook kernel:ready`. */
  member: string;
}

/** What the thread found, as it is stored. */
export interface Blocked extends Section {
  at: string;
  ms: number;
}

export interface Watchdog {
  stop(): Promise<void>;
}

const BEAT_MS = 1_000;
/** How long a plugin may block the thread before it is reported, and before the process is ended. */
export interface Patience {
  reportMs: number;
  endMs: number;
}
const PATIENCE: Patience = { reportMs: 10_000, endMs: 30_000 };

/** In the data directory: plugins that the next start leaves out. */
const FILE = "blocked-plugins.json";
const MOST_TEXT = 2_000;
const HEAD = 8;

let shared: { beat: Int32Array; length: Int32Array; text: Uint8Array } | undefined;
let current: Section | undefined;
/** Plugins' code that waits for something; it continues some time. The newest last. */
const waiting: Section[] = [];

/** Runs a plugin's code. What it returns is waited for, too: code after an `await` belongs to it. Costs nothing while no thread watches. */
export function inSection<T>(section: Section, run: () => T): T {
  if (!shared) return run();
  const before = current;
  show(section);
  try {
    const result = run();
    if (result instanceof Promise) {
      waiting.push(section);
      const done = () => {
        waiting.splice(waiting.indexOf(section), 1);
        if (!current) show(undefined);
      };
      result.then(done, done);
    }
    return result;
  } finally {
    show(before);
  }
}

function show(section: Section | undefined): void {
  current = section;
  const named = section ?? waiting.at(-1);
  if (!shared) return;
  const text = named ? JSON.stringify([named.plugin, named.file ?? "", named.member]).slice(0, MOST_TEXT) : "";
  const { written } = new TextEncoder().encodeInto(text, shared.text);
  Atomics.store(shared.length, 0, written);
}

/**
 * Starts the thread. `onBlocked` hears of a plugin that blocked this thread and went on; one that does not is ended with the process.
 */
export function startWatchdog(
  dataDir: string,
  onBlocked: (blocked: Blocked) => void,
  { reportMs, endMs }: Patience = PATIENCE,
): Watchdog {
  const buffer = new SharedArrayBuffer(HEAD + MOST_TEXT * 4);
  shared = {
    beat: new Int32Array(buffer, 0, 1),
    length: new Int32Array(buffer, 4, 1),
    text: new Uint8Array(buffer, HEAD),
  };
  const { beat } = shared;
  const mine = shared;
  const workerData = { buffer, reportMs, endMs, file: join(dataDir, FILE), head: HEAD };
  // Bundlers may wrap functions in `__name`.
  const worker = new Worker(`const __name = (fn) => fn; (${watch.toString()})(require)`, { eval: true, workerData });
  worker.unref();
  worker.on("message", onBlocked);
  // Without it a plugin that blocks is not reported: everything else works.
  worker.on("error", () => {});
  const timer = setInterval(
    () => {
      Atomics.add(beat, 0, 1);
      Atomics.notify(beat, 0);
    },
    Math.min(BEAT_MS, reportMs / 4),
  );
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      if (shared === mine) shared = undefined;
      await worker.terminate();
    },
  };
}

/** What the thread does. It is made of its own text: it must not use anything of this module. */
function watch(load: (name: string) => unknown): void {
  const { workerData, parentPort } = load("node:worker_threads") as typeof import("node:worker_threads");
  const fs = load("node:fs") as typeof import("node:fs");
  const path = load("node:path") as typeof import("node:path");
  const { buffer, reportMs, endMs, file, head } = workerData as Record<"reportMs" | "endMs" | "head", number> & {
    buffer: SharedArrayBuffer;
    file: string;
  };
  const beat = new Int32Array(buffer, 0, 1);
  const length = new Int32Array(buffer, 4, 1);
  const waitsFor = (ms: number): boolean => Atomics.wait(beat, 0, Atomics.load(beat, 0), ms) === "timed-out";
  for (;;) {
    if (!waitsFor(reportMs)) continue;
    const text = Buffer.from(Buffer.from(buffer, head, Atomics.load(length, 0))).toString("utf8");
    // A process that was stopped and continues has a second to beat again.
    if (text === "" || !waitsFor(Math.min(1_000, reportMs / 4))) continue;
    const [plugin, from, member] = JSON.parse(text) as [string, string, string];
    const blocked = {
      plugin,
      file: from === "" ? undefined : from,
      member,
      ms: reportMs,
      at: new Date().toISOString(),
    };
    const place = from === "" ? "" : ` (${from})`;
    const say = (line: string) => fs.writeSync(2, `sessarc: ${line}\n`);
    const what = `Plugin ${JSON.stringify(plugin)}${place}: \`${member}\` blocks the process`;
    try {
      let known: Record<string, unknown> = {};
      try {
        known = JSON.parse(fs.readFileSync(file, "utf8"));
      } catch {
        // There is none yet.
      }
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      fs.writeFileSync(file, JSON.stringify({ ...known, [from || plugin]: blocked }), { mode: 0o600 });
      say(`${what} for ${Math.round(reportMs / 1000)} s. The next start leaves it out.`);
    } catch (error) {
      say(`${what} for ${Math.round(reportMs / 1000)} s. It cannot be recorded: ${String(error)}`);
    }
    if (waitsFor(endMs - reportMs)) {
      say(`${what} still: the process ends. The archive is complete.`);
      process.kill(process.pid, "SIGKILL");
    }
    parentPort?.postMessage(blocked);
  }
}

/** Whether the plugin of this specifier blocked an earlier process and has not been changed since; a changed one may try again. */
export function blockedBefore(dataDir: string, specifier: string): Blocked | undefined {
  const found = readBlocked(dataDir)[makePlace(specifier)];
  if (!isRecord(found) || typeof found.at !== "string" || typeof found.member !== "string") return undefined;
  const file = makePlace(specifier);
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (changed !== undefined && changed > Date.parse(found.at)) return undefined;
  const { plugin, member, at, ms } = found;
  return { plugin: String(plugin), file, member, at, ms: typeof ms === "number" ? ms : 0 };
}

/** Path of the record, for the remedy. */
export const blockedFile = (dataDir: string): string => join(dataDir, FILE);

export const makePlace = (specifier: string): string =>
  specifier.startsWith("file:") ? fileURLToPath(specifier) : specifier;

function readBlocked(dataDir: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(blockedFile(dataDir), "utf8"));
    return isRecord(value) ? value : {};
  } catch {
    // None is recorded.
    return {};
  }
}
