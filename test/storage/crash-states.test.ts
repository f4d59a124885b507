/**
 * The power goes at every file call: from what was written, synced and renamed so far, disks that a cut could leave are made, with calls that arrived
 * whole, in part, or not, down to the sectors of one call. Stock SQLite and sessarc open each of them: it is whole, what was acknowledged is there, both say the same, and writing
 * goes on. An eighth of the cuts by default, all with `test:long`.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import * as disk from "node:fs/promises";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { DiskCalls } from "../../core/utils/atomic.ts";
import { LONG, rounds } from "../rounds.ts";
import { askStock, HAS_STOCK } from "../stock-sqlite.ts";

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
            const [data, from, length, at] = args as [Uint8Array, number, number, number];
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
/** What a file has for sure, and the calls since its last fsync. */
interface Content {
  synced: Buffer;
  since: ({ at: number; data: Buffer } | { bytes: number })[];
}

const SECTOR = 512;

function put(bytes: Buffer, at: number, data: Buffer): Buffer {
  const out = Buffer.alloc(Math.max(bytes.length, at + data.length));
  bytes.copy(out);
  data.copy(out, at);
  return out;
}

/** The file with those sectors of its unsynced calls that `arrived` takes; where it grew, others are zero. */
function toContent(
  { synced, since }: Content,
  arrived: (call: number, sector: number, sectors: number) => boolean,
): Buffer {
  let bytes = synced;
  for (const [i, one] of since.entries()) {
    if ("bytes" in one) {
      if (arrived(i, 0, 1)) bytes = bytes.subarray(0, one.bytes);
      continue;
    }
    const sectors = Math.ceil(one.data.length / SECTOR);
    for (let n = 0; n < sectors; n++) {
      const part = one.data.subarray(n * SECTOR, (n + 1) * SECTOR);
      if (arrived(i, n, sectors)) bytes = put(bytes, one.at + n * SECTOR, part);
    }
  }
  return bytes;
}

/** Disks after a power cut at the end of `calls`. */
function disksAfter(
  calls: readonly Call[],
  random: () => number,
): { disks: Map<string, Buffer>[]; told: number; asked: number } {
  let [now, kept]: [Names, Names] = [new Map(), new Map()];
  const files = new Map<number, Content>();
  let [told, asked] = [0, 0];
  const of = (file: number) => files.get(file) ?? { synced: Buffer.alloc(0), since: [] };
  for (const one of calls) {
    if (one.call === "make") {
      now.set(one.name, one.file);
      files.set(one.file, { synced: Buffer.alloc(0), since: [] });
    } else if (one.call === "write") of(one.file).since.push({ at: one.at, data: one.data });
    else if (one.call === "cut") of(one.file).since.push({ bytes: one.bytes });
    else if (one.call === "sync") files.set(one.file, { synced: toContent(of(one.file), () => true), since: [] });
    else if (one.call === "rename") {
      const file = now.get(one.from);
      now.delete(one.from);
      if (file !== undefined) now.set(one.to, file);
    } else if (one.call === "remove") now.delete(one.name);
    else if (one.call === "syncFolder") kept = new Map(now);
    else if (one.call === "asked") asked = one.n;
    else told = one.n;
  }
  const cut = random();
  const ways: ((call: number, sector: number, sectors: number) => boolean)[] = [
    () => true,
    () => false,
    // The last call in part: its beginning, its end, all but its last byte's sector, some sectors.
    (_, n, sectors) => n < cut * sectors,
    (_, n, sectors) => n >= cut * sectors,
    (_, n, sectors) => n < sectors - 1,
    () => random() < 0.5,
    () => random() < 0.9,
  ];
  const disks: Map<string, Buffer>[] = [];
  for (const names of [now, kept])
    for (const way of ways) disks.push(new Map([...names].map(([name, file]) => [name, toContent(of(file), way)])));
  return { disks, told, asked };
}

async function scenario(logLimit: number): Promise<Call[]> {
  const dir = await mkdtemp(join(tmpdir(), "sessarc-cuts-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const { calls, note, disk } = recorder(dir);
  let n = 0;
  for (let life = 0; life < 3; life++) {
    const db = openDatabase({ dir, calls: disk, logLimit, onNotice: () => {} });
    if (life === 0)
      await db.run(
        "create table t (n integer primary key, text text); create table counter (n integer); insert into counter values (0)",
      );
    for (let i = 0; i < 12; i++) {
      const next = ++n;
      note({ call: "asked", n: next });
      await db.batch([
        ["insert into t values (?, ?)", [next, "x".repeat(next % 3 === 0 ? 9_000 : 40)]],
        ["update counter set n = ?", [next]],
      ]);
      note({ call: "told", n: next });
      if (i === 6) await db.run(`create index by_text_${life} on t (text)`);
      if (i === 9 && life > 0) await db.run("update t set text = 'short'").then(() => db.compact());
    }
    // The one in the middle is killed.
    await db.close(life === 1 ? 0 : undefined);
  }
  return calls;
}

const QUERIES = [
  "pragma integrity_check",
  "select count(*), min(n), max(n), sum(n) from t",
  "select n from counter",
  "select coalesce(sum(length(text)), 0) from t",
];
const CREATED = "select count(*) from sqlite_master where name = 'counter'";

it.each([
  ["a log that is never long", 1 << 30],
  ["catalog.db updated after every few batches", 20_000],
])("what was acknowledged is there after a power cut at any call: %s", async (_, logLimit) => {
  const calls = await scenario(logLimit);
  const home = await mkdtemp(join(tmpdir(), "sessarc-cut-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const step = Math.max(1, Math.round(calls.length / rounds(calls.length)));
  let seed = logLimit;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const seen = new Set<string>();
  const states: { dir: string; where: string; told: number; asked: number }[] = [];
  for (let end = 1; end <= calls.length; end += step) {
    const { disks, told, asked } = disksAfter(calls.slice(0, end), random);
    for (const files of disks) {
      const hash = createHash("sha256").update(JSON.stringify([told, asked]));
      for (const [name, data] of files) hash.update(`${name} ${data.length}`).update(data);
      const sign = hash.digest("hex");
      if (seen.has(sign)) continue;
      seen.add(sign);
      const dir = join(home, String(states.length));
      await disk.mkdir(dir);
      for (const [name, data] of files) await writeFile(join(dir, name), data);
      states.push({ dir, where: `cut after call ${end} of ${calls.length}, state ${states.length}`, told, asked });
    }
  }
  // Stock SQLite has its copies: it writes what it finds in a log into the file, and removes the log.
  const isMade = (dir: string) => existsSync(join(dir, "catalog.db"));
  const made = states.filter(({ dir }) => isMade(dir));
  for (const { dir } of made) await cp(dir, `${dir}-stock`, { recursive: true });
  const stock = (dir: string) => join(`${dir}-stock`, "catalog.db");
  const tables = HAS_STOCK
    ? await askStock(
        made.map(({ dir }) => stock(dir)),
        CREATED,
      )
    : [];
  const filled = made.filter((_, i) => tables[i]?.[0] === "1");
  const answers = HAS_STOCK
    ? await askStock(
        filled.map(({ dir }) => stock(dir)),
        ...QUERIES,
      )
    : [];
  const said = new Map(filled.map(({ dir }, i) => [dir, answers[i]]));
  for (const { dir, where, told, asked } of states) {
    const db = openDatabase({ dir, onNotice: () => {} });
    const there = (await db.get<Record<string, number>>(CREATED))?.["count(*)"] === 1;
    const lines: string[] = [];
    if (there)
      for (const query of QUERIES)
        for (const row of await db.all<Record<string, unknown>>(query)) lines.push(Object.values(row).join("|"));
    if (HAS_STOCK) expect([where, lines]).toEqual([where, said.get(dir) ?? []]);
    if (there) {
      const n = Number((await db.get<{ n: number }>("select n from counter"))?.n ?? 0);
      const sum = n === 0 ? "0||||" : `${n}|1|${n}|${(n * (n + 1)) / 2}`;
      expect([where, lines[0], `${lines[1]}${n === 0 ? "|" : ""}`]).toEqual([where, "ok", sum]);
      expect([where, n >= told, n <= asked]).toEqual([where, true, true]);
    } else expect([where, told]).toEqual([where, 0]);
    await db.run(there ? "insert into t values (1000, '')" : "create table t (n integer primary key, text text)");
    await db.close();
    await rm(dir, { recursive: true });
  }
  expect(states.length).toBeGreaterThan(LONG ? 300 : 40);
});
