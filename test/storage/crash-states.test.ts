/**
 * The power goes at every file call: from what was written, synced and renamed so far, each disk a cut could leave is made and opened. What
 * was acknowledged is there, nothing comes after a hole, and writing goes on. An eighth of the cuts by default, all with `test:long`.
 */
import * as disk from "node:fs/promises";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { DiskCalls } from "../../core/utils/atomic.ts";
import { rounds } from "../rounds.ts";

/** One call that changes the disk, or what the caller was answered. */
type Call =
  | { call: "make"; file: number; name: string }
  | { call: "write"; file: number; at: number; data: Buffer }
  | { call: "cut"; file: number; bytes: number }
  | { call: "sync"; file: number }
  | { call: "rename"; from: string; to: string }
  | { call: "remove"; name: string }
  | { call: "syncFolder" }
  | { call: "asked" | "told"; n: number };

/** The real file system, with every changing call noted. */
function recorder(dir: string) {
  const calls: Call[] = [];
  const names = new Map<string, number>();
  let files = 0;
  const note = (one: Call) => void calls.push(one);
  const open: DiskCalls["open"] = async (path, flags, mode) => {
    const handle = await disk.open(path, flags, mode);
    const name = basename(String(path));
    if (String(path) === dir) return wrap(handle, undefined);
    let file = names.get(name);
    if (file === undefined) {
      file = ++files;
      names.set(name, file);
      note({ call: "make", file, name });
    }
    return wrap(handle, file);
  };
  const wrap = (handle: disk.FileHandle, file: number | undefined): disk.FileHandle =>
    new Proxy(handle, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const result: unknown = await value.apply(target, args);
          if (name === "sync" || name === "datasync")
            note(file === undefined ? { call: "syncFolder" } : { call: "sync", file });
          if (file === undefined) return result;
          if (name === "writeFile") note({ call: "write", file, at: 0, data: Buffer.from(args[0] as Uint8Array) });
          if (name === "truncate") note({ call: "cut", file, bytes: (args[0] as number | undefined) ?? 0 });
          if (name === "write") {
            const [data, from, length, at] = args as [Buffer, number, number, number];
            note({ call: "write", file, at, data: Buffer.from(data.subarray(from, from + length)) });
          }
          return result;
        };
      },
    });
  const diskCalls: DiskCalls = {
    open,
    async rename(from, to) {
      await disk.rename(from, to);
      const [a, b] = [basename(String(from)), basename(String(to))];
      const file = names.get(a);
      names.delete(a);
      if (file !== undefined) names.set(b, file);
      note({ call: "rename", from: a, to: b });
    },
    async rm(path, options) {
      await disk.rm(path, options);
      if (names.delete(basename(String(path)))) note({ call: "remove", name: basename(String(path)) });
    },
  };
  return { calls, note, disk: diskCalls };
}

type Names = Map<string, number>;
type Bytes = Map<number, Buffer>;

function put(bytes: Buffer, at: number, data: Buffer): Buffer {
  const out = Buffer.alloc(Math.max(bytes.length, at + data.length));
  bytes.copy(out);
  data.copy(out, at);
  return out;
}

/** What the disk may hold when the power goes after these calls. */
function disksAfter(calls: readonly Call[]): { disks: Map<string, Buffer>[]; told: number; asked: number } {
  let [now, kept]: [Names, Names] = [new Map(), new Map()];
  const bytes: Bytes = new Map();
  const synced: Bytes = new Map();
  const last = new Map<number, { before: Buffer; at: number; data: Buffer }>();
  let [told, asked] = [0, 0];
  for (const one of calls) {
    if (one.call === "make") {
      now.set(one.name, one.file);
      bytes.set(one.file, Buffer.alloc(0));
    } else if (one.call === "write") {
      const before = bytes.get(one.file) ?? Buffer.alloc(0);
      last.set(one.file, { before, at: one.at, data: one.data });
      bytes.set(one.file, put(before, one.at, one.data));
    } else if (one.call === "cut") bytes.set(one.file, (bytes.get(one.file) ?? Buffer.alloc(0)).subarray(0, one.bytes));
    else if (one.call === "sync") {
      synced.set(one.file, bytes.get(one.file) ?? Buffer.alloc(0));
      last.delete(one.file);
    } else if (one.call === "rename") {
      const file = now.get(one.from);
      now.delete(one.from);
      if (file !== undefined) now.set(one.to, file);
    } else if (one.call === "remove") now.delete(one.name);
    else if (one.call === "syncFolder") kept = new Map(now);
    else if (one.call === "asked") asked = one.n;
    else told = one.n;
  }
  const torn = (cut: (size: number) => [from: number, to: number]): Bytes => {
    const out = new Map(bytes);
    for (const [file, { before, at, data }] of last) {
      const [from, to] = cut(data.length);
      // Pages that did not arrive are zero where the file grew.
      out.set(file, put(put(before, at, Buffer.alloc(to)), at + from, data.subarray(from, to)));
    }
    return out;
  };
  const half = (size: number) => Math.floor(size / 2);
  const contents = [bytes, synced, torn((size) => [0, half(size)]), torn((size) => [half(size), size])];
  const disks: Map<string, Buffer>[] = [];
  for (const names of [now, kept])
    for (const content of contents)
      disks.push(
        new Map([...names].flatMap(([name, file]) => (content.has(file) ? [[name, content.get(file) as Buffer]] : []))),
      );
  return { disks, told, asked };
}

async function scenario(largeFrom: number | undefined): Promise<Call[]> {
  const dir = await mkdtemp(join(tmpdir(), "sessarc-cuts-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const { calls, note, disk } = recorder(dir);
  let n = 0;
  for (let life = 0; life < 3; life++) {
    const db = openDatabase({ dir, calls: disk, journalLimit: 4_000, onNotice: () => {}, largeFrom });
    if (life === 0) await db.run("create table t (n integer primary key, text text)");
    for (let i = 0; i < 8; i++) {
      const next = ++n;
      note({ call: "asked", n: next });
      await db.run("insert into t values (?, ?)", [next, "x".repeat(next % 3 === 0 ? 3_000 : 40)]);
      note({ call: "told", n: next });
      if (i === 5) await db.flush();
      if (i === 6) await db.run(`create index by_text_${life} on t (text)`);
    }
    await db.close();
  }
  return calls;
}

it.each([
  ["a snapshot at each close", undefined],
  ["a close that leaves a short journal", 0],
])("what was acknowledged is there after a power cut at any call: %s", async (_, largeFrom) => {
  const calls = await scenario(largeFrom);
  const home = await mkdtemp(join(tmpdir(), "sessarc-cut-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const step = Math.max(1, Math.round(calls.length / rounds(calls.length)));
  const seen = new Set<string>();
  let states = 0;
  for (let end = 1; end <= calls.length; end += step) {
    const { disks, told, asked } = disksAfter(calls.slice(0, end));
    for (const files of disks) {
      const sign = JSON.stringify([told, asked, [...files].map(([name, data]) => [name, data.toString("base64")])]);
      if (seen.has(sign)) continue;
      seen.add(sign);
      const dir = join(home, String(states++));
      await disk.mkdir(dir);
      for (const [name, data] of files) await writeFile(join(dir, name), data);
      const where = `cut after call ${end} of ${calls.length}, state ${states}`;
      const db = openDatabase({ dir, onNotice: () => {}, largeFrom });
      const there = await db.get("select 1 from sqlite_master where name = 't'");
      const rows = there ? await db.all<{ n: number }>("select n from t order by n") : [];
      expect([where, rows.map((row) => row.n)]).toEqual([where, Array.from({ length: rows.length }, (_, i) => i + 1)]);
      expect([where, rows.length >= told, rows.length <= asked]).toEqual([where, true, true]);
      await db.run(there ? "insert into t values (1000, '')" : "create table t (n integer primary key, text text)");
      await db.close();
      await rm(dir, { recursive: true });
    }
  }
  expect(states).toBeGreaterThan(20);
});
