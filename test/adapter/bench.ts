/** What every check works on: its own copy of the fixtures, so that no check sees another's damage. */
import { createHash } from "node:crypto";
import { cp, lstat, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import type { Plugin, SessionEvent, SessionRef, SessionSummary } from "sessarc";
import type { Adapter, AdapterEnv, EventBatches, TailEnd } from "sessarc/adapter";

export interface Bench {
  /** The copy: what `plugin` was given. */
  dir: string;
  env: AdapterEnv;
  adapter: Adapter;
  /** All sessions of all roots, as a scan finds them now. */
  scan(): Promise<SessionRef[]>;
  read(ref: SessionRef): Promise<Reading>;
  /** Sessions that are line logs by their name: `.jsonl`. */
  lineLogs(): Promise<SessionRef[]>;
}

export interface Reading {
  events: SessionEvent[];
  summary: SessionSummary;
}

export async function withBench(
  options: { plugin: (dir: string) => Plugin; fixtures: string },
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const outer = await realpath(await mkdtemp(join(tmpdir(), "sessarc-adapter-")));
  try {
    const dir = join(outer, "fixtures");
    await cp(options.fixtures, dir, { recursive: true });
    await work(createBench(options.plugin, dir));
  } finally {
    await rm(outer, { recursive: true, force: true });
  }
}

export function createBench(plugin: (dir: string) => Plugin, dir: string): Bench {
  const made = plugin(dir);
  if (!isAdapterPlugin(made)) throw new Error(`Plugin ${made.name} has no adapter: make it with defineAdapter`);
  const { adapter } = made;
  const env: AdapterEnv = { home: dir, platform: process.platform, env: {} };
  const bench: Bench = {
    dir,
    env,
    adapter,
    scan: () => scanAll(adapter, env),
    async read(ref) {
      return drain(adapter.read(ref, env));
    },
    async lineLogs() {
      return (await bench.scan()).filter((ref) => ref.path.endsWith(".jsonl"));
    },
  };
  return bench;
}

export async function scanAll(adapter: Adapter, env: AdapterEnv): Promise<SessionRef[]> {
  const refs: SessionRef[] = [];
  for (const root of adapter.roots(env)) for await (const ref of adapter.scan(root, env)) refs.push(ref);
  return refs;
}

export async function drain(reader: EventBatches<SessionSummary>): Promise<Reading> {
  const { events, end } = await collect(reader);
  return { events, summary: end };
}

export interface Tail extends TailEnd {
  events: SessionEvent[];
}

/** What was added since `cursor`, all of it. */
export async function drainTail(reader: EventBatches<TailEnd>): Promise<Tail> {
  const { events, end } = await collect(reader);
  return { ...end, events };
}

async function collect<End>(reader: EventBatches<End>): Promise<{ events: SessionEvent[]; end: End }> {
  const events: SessionEvent[] = [];
  for (;;) {
    const step = await reader.next();
    if (step.done) return { events, end: step.value };
    for (const event of step.value) events.push(event);
  }
}

/** Relative path → hash of the bytes, of all files below. */
export async function hashTree(dir: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const name of (await readdir(dir, { recursive: true })).sort()) {
    const path = join(dir, name);
    if (!(await lstat(path)).isFile()) continue;
    hashes[name.split(sep).join("/")] = createHash("sha1")
      .update(await readFile(path))
      .digest("hex");
  }
  return hashes;
}

/** What a reading says, without what depends on byte positions. */
export function essence({ events, summary }: Reading) {
  const { title, cwd, gitBranch, parent, startedAt, endedAt, usage, inheritedUsage, slots } = summary;
  return plain({ events, title, cwd, gitBranch, parent, startedAt, endedAt, usage, inheritedUsage, slots });
}

/** As JSON carries it: no undefined. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

function isAdapterPlugin(plugin: Plugin): plugin is Plugin & { adapter: Adapter } {
  return "adapter" in plugin;
}
