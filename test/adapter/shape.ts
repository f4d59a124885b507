/** Checks of the contract's plain part: what is found, what it looks like, and that looking changes nothing. */
import { cp, link, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { EventKind, SessionUsage } from "sessarc";
import { withFolders } from "sessarc/adapter";
import { expect, type TestContext } from "vitest";
import { type Bench, drain, drainTail, essence, hashTree, plain, scanAll } from "./bench.ts";

const KINDS: readonly EventKind[] = ["user", "assistant", "thinking", "tool_use", "tool_result", "note"];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

export interface Expectation {
  /** How many sessions the fixtures hold. */
  sessions?: number;
  /** Kinds that occur at least once. */
  kinds?: readonly EventKind[];
  /** Sum of the own usage of all sessions. */
  usage?: SessionUsage;
}

export async function findsAll(bench: Bench, expected: Expectation): Promise<void> {
  const refs = await bench.scan();
  expect(refs.length).toBeGreaterThan(0);
  if (expected.sessions !== undefined) expect(refs).toHaveLength(expected.sessions);
  for (const ref of refs) {
    expect(ref.tool).toBe(bench.adapter.name);
    expect(ref.key).toMatch(/^\S+$/);
    for (const companion of ref.companions ?? []) expect(await realpath(companion)).toContain(bench.dir);
  }
}

export async function keysAreStable(bench: Bench): Promise<void> {
  const once = await bench.scan();
  const twice = await bench.scan();
  expect(new Set(once.map((ref) => ref.key)).size).toBe(once.length);
  expect(twice).toEqual(once);
}

export async function missingRoots(bench: Bench): Promise<void> {
  const file = join(bench.dir, "not-a-folder");
  await writeFile(file, "");
  for (const root of [join(bench.dir, "nowhere", "at-all"), file]) {
    for await (const ref of bench.adapter.scan(root, bench.env)) expect.unreachable(`found ${ref.path}`);
  }
}

export async function rootsAreInside(bench: Bench): Promise<void> {
  const roots = bench.adapter.roots(bench.env);
  expect(roots.length).toBeGreaterThan(0);
  for (const root of roots) expect(root === bench.dir || root.startsWith(bench.dir + sep)).toBe(true);
}

export async function eventsAreWellFormed(bench: Bench, expected: Expectation): Promise<void> {
  const kinds = new Set<EventKind>();
  for (const ref of await bench.scan()) {
    const { events } = await bench.read(ref);
    events.forEach((event, index) => {
      expect(event.seq).toBe(index);
      expect(KINDS).toContain(event.kind);
      expect(typeof event.text).toBe("string");
      if (event.at !== undefined) expect(event.at).toMatch(ISO);
      if (event.tool_use_id !== undefined) expect(typeof event.tool_use_id).toBe("string");
      expect(plain(event)).toEqual(event);
      kinds.add(event.kind);
    });
  }
  for (const kind of expected.kinds ?? []) expect(kinds).toContain(kind);
}

export async function summariesAreWellFormed(bench: Bench, expected: Expectation): Promise<void> {
  const total: SessionUsage = {};
  for (const ref of await bench.scan()) {
    const { summary } = await bench.read(ref);
    const { startedAt, endedAt, usage, slots, replies } = summary;
    for (const time of [startedAt, endedAt]) if (time !== undefined) expect(time).toMatch(ISO);
    if (startedAt && endedAt) expect(Date.parse(startedAt)).toBeLessThanOrEqual(Date.parse(endedAt));
    expect(summary.refused).toBeUndefined();
    for (const part of [usage, summary.inheritedUsage ?? {}, ...Object.values(slots ?? {})]) checkCounts(part);
    for (const slot of Object.keys(slots ?? {})) expect(slot).toMatch(/^\d{4}-\d\d-\d\dT\d\d:(00|15|30|45)$/);
    if (replies) {
      const own: SessionUsage = {};
      for (const reply of replies) if (!reply.inherited) add(own, { [reply.model]: reply.usage });
      expect(own).toEqual(usage);
    }
    add(total, usage);
  }
  if (expected.usage) expect(total).toEqual(expected.usage);
}

export async function readsTheSameTwice(bench: Bench): Promise<void> {
  for (const ref of await bench.scan()) expect(plain(await bench.read(ref))).toEqual(plain(await bench.read(ref)));
}

export async function manyEqualsRead(bench: Bench): Promise<void> {
  const refs = await bench.scan();
  let seen = 0;
  for (const path of new Set(refs.map((ref) => ref.path))) {
    const group = refs.filter((ref) => ref.path === path);
    for await (const [ref, reader] of bench.adapter.readMany(group, bench.env)) {
      seen++;
      expect(essence(await drain(reader))).toEqual(essence(await bench.read(ref)));
    }
  }
  expect(seen).toBe(refs.length);
}

export async function sourceIsUntouched(bench: Bench): Promise<void> {
  const before = await hashTree(bench.dir);
  for (const ref of await bench.scan()) {
    await bench.adapter.peek?.(ref, bench.env);
    await bench.read(ref);
    const { cursor } = await drainTail(bench.adapter.tail(ref, undefined, bench.env));
    await drainTail(bench.adapter.tail(ref, cursor, bench.env));
  }
  await bench.adapter.retention?.(bench.env);
  expect(await hashTree(bench.dir)).toEqual(before);
}

export async function peekAgrees(bench: Bench, context: TestContext): Promise<void> {
  const { peek } = bench.adapter;
  if (!peek) return context.skip("no peek");
  for (const ref of await bench.scan()) {
    const seen = await peek(ref, bench.env);
    const { summary } = await bench.read(ref);
    if (seen.startedAt && summary.startedAt) expect(Date.parse(seen.startedAt)).toBe(Date.parse(summary.startedAt));
    if (seen.title !== undefined) expect(seen.title).toMatch(/\S/);
    // Where it is listed is where it will be.
    if (!seen.cwd && !summary.cwd) expect(seen.virtualProject).toEqual(summary.virtualProject);
  }
}

/** A folder the user adds: the same logs elsewhere are found and read, beside those of the tool's own place. */
export async function readsAddedFolders(bench: Bench): Promise<void> {
  const other = join(dirname(bench.dir), "elsewhere");
  await cp(bench.dir, other, { recursive: true, preserveTimestamps: true });
  const own = await bench.scan();
  const keys = own.map((ref) => ref.key).sort();
  const moved = withFolders(bench.adapter, { own: false, dirs: [other] });
  const both = withFolders(bench.adapter, { own: true, dirs: [other] });
  for (const root of moved.roots(bench.env)) expect(root === other || root.startsWith(other + sep)).toBe(true);
  const found = await scanAll(moved, bench.env);
  expect(found.map((ref) => ref.key).sort()).toEqual(keys);
  expect((await scanAll(both, bench.env)).map((ref) => ref.key).sort()).toEqual([...keys, ...keys].sort());
  for (const ref of found) {
    expect((await realpath(ref.path)).startsWith(other + sep), ref.path).toBe(true);
    const here = own.find((one) => one.key === ref.key);
    if (!here) continue;
    const away = await drain(both.read(ref, bench.env));
    expect(away.events).toEqual((await bench.read(here)).events);
  }
}

/** Links beside the logs that lead out of the root, to the root itself, and nowhere. */
export async function linksStayInside(bench: Bench, context: TestContext): Promise<void> {
  const before = await bench.scan();
  const outside = join(dirname(bench.dir), "outside");
  await mkdir(outside);
  const folders = new Set(before.map((ref) => dirname(ref.path)));
  let number = 0;
  try {
    for (const ref of before) {
      const extension = /(\.[A-Za-z]+)+$/.exec(ref.path)?.[0] ?? "";
      const name = `00000000-0000-4000-8000-${String(++number).padStart(12, "0")}${extension}`;
      await link(ref.path, join(outside, name)); // the same bytes under a name that is outside
      await symlink(join(outside, name), join(dirname(ref.path), name));
    }
    for (const folder of folders) {
      await symlink(outside, join(folder, "way-out"));
      await symlink(bench.dir, join(folder, "way-round"));
      await symlink(join(outside, "nothing"), join(folder, "nowhere.jsonl"));
    }
  } catch (error) {
    return context.skip(`no links on this file system: ${error}`);
  }
  const after = await bench.scan();
  for (const ref of after) expect((await realpath(ref.path)).startsWith(bench.dir + sep), ref.path).toBe(true);
  expect(after.map((ref) => ref.key).sort()).toEqual(before.map((ref) => ref.key).sort());
}

function checkCounts(usage: SessionUsage): void {
  for (const tokens of Object.values(usage)) {
    for (const count of Object.values(tokens)) {
      expect(Number.isInteger(count)).toBe(true);
      expect(count).toBeGreaterThanOrEqual(0);
    }
  }
}

function add(into: SessionUsage, from: SessionUsage): void {
  for (const [model, tokens] of Object.entries(from)) {
    const sum = into[model];
    if (!sum) into[model] = { ...tokens };
    else {
      sum.input += tokens.input;
      sum.output += tokens.output;
      sum.cacheWrite5m += tokens.cacheWrite5m;
      sum.cacheWrite1h += tokens.cacheWrite1h;
      sum.cacheRead += tokens.cacheRead;
    }
  }
}
