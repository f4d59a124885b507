/** Stored logs share their chunks: what forks repeat is stored once, and goes with the last session that names it. */
import { createHash, randomBytes } from "node:crypto";
import { appendFile, cp, mkdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Reclaimed } from "../../plugins/rescue/index.ts";
import { Cutter } from "../../plugins/rescue/keep/cut.ts";
import { makeTempDir } from "../_setup.ts";
import type { TestKernel } from "../kernel.ts";
import { LONG, rounds } from "../rounds.ts";
import { childScript, runKilled } from "../scripts.ts";
import { fillDisk, mountSmall } from "../small-disk.ts";
import { codexPath, importAll, packsIn, startIn } from "./_logs.ts";

function cut(bytes: Buffer, block = bytes.length): { hash: string; from: number; to: number }[] {
  const cutter = new Cutter(0);
  for (let at = 0; at < bytes.length; at += block) cutter.add(Buffer.from(bytes.subarray(at, at + block)));
  return cutter.finish();
}
/** Rows of so many bytes, the same for the same seed. */
function makeRows(count: number, seed: string, length = 1_500): Buffer {
  const rows = Array.from({ length: count }, (_, n) => {
    let text = "";
    for (let i = 0; text.length < length; i++)
      text += createHash("sha256").update(`${seed} ${n} ${i}`).digest("base64");
    return `${JSON.stringify({ timestamp: new Date(n * 1000).toISOString(), type: "event_msg", payload: { type: "other", text } })}\n`;
  });
  return Buffer.from(rows.join(""));
}
const picture = (seed: string) => createHash("shake256", { outputLength: 450_000 }).update(seed).digest("base64");
const pictureRow = (seed: string, head: string) =>
  Buffer.from(`${JSON.stringify({ head, image_url: `data:image/png;base64,${picture(seed)}` })}\n`);

describe("a log is cut into chunks", () => {
  it("which give its bytes, whatever is in it and in whatever blocks it is read", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string({ maxLength: 400 }),
            fc.record({ of: fc.constantFrom('"', "x", "\n", '\\"', "a\n"), times: fc.nat(400_000) }),
          ),
          { maxLength: 12 },
        ),
        fc.integer({ min: 1_000, max: 3_000_000 }),
        (parts, block) => {
          const bytes = Buffer.from(
            parts.map((one) => (typeof one === "string" ? one : one.of.repeat(one.times))).join(""),
          );
          const pieces = cut(bytes, block);
          let end = 0;
          for (const { hash, from, to } of pieces) {
            expect(from).toBe(end);
            expect(to).toBeGreaterThan(from);
            expect(hash).toBe(createHash("sha256").update(bytes.subarray(from, to)).digest("base64url"));
            expect(to - from).toBeLessThanOrEqual(2 ** 20);
            end = to;
          }
          expect(end).toBe(bytes.length);
          expect(pieces).toEqual(cut(bytes));
        },
      ),
      { numRuns: rounds(60) },
    );
  });

  it("of which a row that is put in changes few, and a picture is one wherever it stands", () => {
    const rows = makeRows(2_000, "a");
    const before = new Set(cut(rows).map(({ hash }) => hash));
    const middle = rows.indexOf("\n", rows.length / 2) + 1;
    const after = cut(Buffer.concat([rows.subarray(0, middle), Buffer.from('{"new":1}\n'), rows.subarray(middle)]));
    expect(before.size).toBeGreaterThan(30);
    expect(after.filter(({ hash }) => !before.has(hash)).length).toBeLessThanOrEqual(2);
    const one = cut(Buffer.concat([makeRows(3, "b"), pictureRow("p", "first"), makeRows(3, "c")]));
    const two = cut(Buffer.concat([makeRows(40, "d"), pictureRow("p", "another head"), makeRows(9, "e")]));
    const shared = one.filter(({ hash }) => two.some((other) => other.hash === hash));
    expect(shared.reduce((sum, { from, to }) => sum + to - from, 0)).toBeGreaterThanOrEqual(600_000);
  });
});

const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const toId = (n: number) => `codex:${toKey(n)}`;
const head = (n: number, cwd: string) => {
  const payload = {
    id: toKey(n),
    timestamp: "2026-01-01T00:00:00.000Z",
    cwd,
    originator: "codex_cli_rs",
    cli_version: "0.50.0",
  };
  return Buffer.from(`${JSON.stringify({ timestamp: payload.timestamp, type: "session_meta", payload })}\n`);
};
const pathOf = (home: string, n: number) =>
  codexPath(home, { key: toKey(n) }).replace("T00-00-00-", `T00-${String(n).padStart(2, "0")}-00-`);
async function write(home: string, n: number, body: Buffer): Promise<void> {
  const path = pathOf(home, n);
  await rm(path, { force: true });
  await cp(await writeTemp(home, Buffer.concat([head(n, home), body])), path, { recursive: true });
}
async function writeTemp(home: string, bytes: Buffer): Promise<string> {
  const path = join(home, `tmp-${randomBytes(4).toString("hex")}`);
  await writeFile(path, bytes);
  return path;
}
const remove = (t: TestKernel, n: number) => t.send("DELETE", `/api/sessions/${encodeURIComponent(toId(n))}`);
const storedBytes = async (home: string) => {
  const sizes = (await packsIn(home)).map(async (name) => (await stat(join(home, "data/logs", name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};
/** The bytes that a log would be put back with. */
async function storedOf(t: TestKernel, n: number): Promise<Buffer | undefined> {
  const answer = await t.fetch(`/api/sessions/${encodeURIComponent(toId(n))}/log?file=0`);
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined;
}

it("what thirty forks repeat is stored once, and nothing of a deleted session stays", async () => {
  const home = await makeTempDir();
  const root = Buffer.concat([makeRows(300, "root"), pictureRow("one", "x")]);
  await write(home, 0, root);
  for (let n = 1; n <= 30; n++) await write(home, n, Buffer.concat([root, makeRows(4, `fork ${n}`)]));
  const t = await startIn(home);
  await importAll(t);
  const logs = await Promise.all(Array.from({ length: 31 }, (_, n) => readFile(pathOf(home, n))));
  const all = logs.reduce((sum, bytes) => sum + bytes.length, 0);
  const { stored } = await t.json<{ stored: { bytes: number; stored: number } }>("/api/rescue");
  expect(stored.bytes).toBe(all);
  expect(stored.stored).toBe(await storedBytes(home));
  expect(all / stored.stored).toBeGreaterThan(15);
  for (let n = 0; n <= 30; n++) await rm(pathOf(home, n));
  expect((await storedOf(t, 17))?.equals(logs[17] as Buffer)).toBe(true);
  for (let n = 0; n <= 30; n++) if (n !== 17) await remove(t, n);
  expect((await storedOf(t, 17))?.equals(logs[17] as Buffer)).toBe(true);
  const rows = await t.kernel.storage.db.all<{ refs: number; bytes: number }>("select refs, bytes from rescue_chunk");
  expect(rows.every(({ refs }) => refs === 1)).toBe(true);
  expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(logs[17]?.length);
  await remove(t, 17);
  expect(await packsIn(home)).toEqual([]);
  expect(await t.kernel.storage.db.all("select * from rescue_chunk")).toEqual([]);
  expect(await t.kernel.storage.db.all("select * from rescue_pack")).toEqual([]);
});

it("a session that goes on leaves few files", async () => {
  const home = await makeTempDir();
  await write(home, 0, makeRows(20, "start"));
  const t = await startIn(home);
  for (let n = 0; n < 40; n++) {
    await appendFile(pathOf(home, 0), makeRows(4, `turn ${n}`));
    await importAll(t);
  }
  const bytes = await readFile(pathOf(home, 0));
  expect((await packsIn(home)).length).toBeLessThan(18);
  await rm(pathOf(home, 0));
  expect((await storedOf(t, 0))?.equals(bytes)).toBe(true);
});

const SESSIONS = 4;
const at = fc.nat(SESSIONS - 1);
const op = fc.oneof(
  fc.record({ do: fc.constant("append" as const), at, size: fc.nat(60) }),
  fc.record({ do: fc.constant("fork" as const), at, from: at }),
  fc.record({ do: fc.constant("rewrite" as const), at }),
  fc.record({ do: fc.constant("import" as const) }),
  fc.record({ do: fc.constant("import" as const) }),
  fc.record({ do: fc.constant("lose" as const), at }),
  fc.record({ do: fc.constant("delete" as const), at }),
  fc.record({ do: fc.constant("vacuum" as const) }),
  fc.record({ do: fc.constant("budget" as const), at }),
  fc.record({ do: fc.constant("restart" as const) }),
  fc.record({ do: fc.constant("litter" as const) }),
  fc.record({ do: fc.constant("reclaim" as const) }),
  fc.record({ do: fc.constant("undo" as const) }),
  fc.record({
    do: fc.constant("kill" as const),
    work: fc.constantFrom("import" as const, "vacuum" as const, "reclaim" as const, "undo" as const),
    killAt: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({ do: fc.constant("full" as const), left: fc.nat(200_000) }),
);
/** Of the disk that is full at times. */
const DISK = "24m";

let child: readonly string[];
beforeAll(async () => {
  child = await childScript("rescue/kill-child");
});

it("every stored log has its bytes, nothing that no session names stays, whatever is imported, forked, lost, deleted, reclaimed, killed, and on a full disk", async () => {
  let seed = 0;
  const did = { killed: 0, reclaimed: 0, restored: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 4, maxLength: 16 }), async (ops) => {
      const home = await makeTempDir();
      await mkdir(join(home, "data"));
      let unmount = mountSmall(join(home, "data"), DISK);
      // A round that fails leaves no file system behind.
      onTestFinished(() => unmount?.());
      let t = await startIn(home);
      // A tenth of what is free would be little.
      const setLogs = (value: number) => t.send("PATCH", "/api/settings", { "rescue.logs": value });
      await setLogs(1);
      const importNow = async () => {
        await importAll(t);
        for (let n = 0; n < SESSIONS; n++) {
          const bytes = await read(n);
          if (bytes) imported.set(n, bytes);
        }
      };
      /** Logs that were not written for long. */
      const rest = async () => {
        const time = new Date(Date.now() - 40 * 86_400_000);
        for (let n = 0; n < SESSIONS; n++) if (await read(n)) await utimes(pathOf(home, n), time, time);
        await importNow();
      };
      /** What is put back is what was stored. */
      const undo = async () => {
        const missing = [];
        for (let n = 0; n < SESSIONS; n++) if (!(await read(n))) missing.push(n);
        await t.send("POST", "/api/rescue/reclaim/undo", {});
        for (const n of missing) {
          const bytes = await read(n);
          if (bytes) did.restored++;
          if (bytes) expect(imported.get(n)?.equals(bytes), `session ${n} put back`).toBe(true);
        }
      };
      /** What was in each log when it was imported last. */
      const imported = new Map<number, Buffer>();
      const read = (n: number) => readFile(pathOf(home, n)).catch(() => undefined);
      await write(home, 0, makeRows(40, `${++seed}`));
      for (const one of [...ops, { do: "import" as const }, { do: "vacuum" as const }]) {
        if (one.do === "append" && (await read(one.at)))
          await appendFile(pathOf(home, one.at), makeRows(one.size, `${++seed}`));
        if (one.do === "fork") {
          const from = await read(one.from);
          if (from && one.at !== one.from && !(await read(one.at)))
            await write(home, one.at, from.subarray(from.indexOf("\n") + 1));
        }
        if (one.do === "rewrite" && (await read(one.at))) await write(home, one.at, makeRows(30, `${++seed}`));
        if (one.do === "lose") await rm(pathOf(home, one.at), { force: true });
        if (one.do === "import") await importNow();
        if (one.do === "delete") {
          await rm(pathOf(home, one.at), { force: true });
          await remove(t, one.at);
          imported.delete(one.at);
        }
        if (one.do === "vacuum") await t.kernel.hooks.callHook("archive:vacuum");
        if (one.do === "budget") {
          await setLogs(0.0001);
          await setLogs(1);
        }
        if (one.do === "restart") {
          await t.close();
          t = await startIn(home);
        }
        if (one.do === "litter") await litter(home);
        if (one.do === "reclaim") {
          await rest();
          did.reclaimed += (await t.send<Reclaimed>("POST", "/api/rescue/reclaim", { days: 30 })).body.sessions;
        }
        if (one.do === "undo") await undo();
        if (one.do === "kill") {
          if (one.work === "reclaim") await rest();
          await t.close();
          if ((await runKilled(child, { home, ...one })) === undefined) did.killed++;
          t = await startIn(home);
          // Which of the logs the import had reached is not known; what is not there any more it did not touch.
          if (one.work === "import") await importNow();
        }
        if (one.do === "full" && unmount) {
          const filler = join(home, "data/full");
          fillDisk(filler);
          await truncate(filler, Math.max(0, (await stat(filler)).size - one.left));
          await t.send("POST", "/api/import", { all: true }).catch(() => undefined);
          await Promise.allSettled([t.kernel.hooks.callHook("archive:vacuum")]);
          await rm(filler);
          did.refused += t.errors.splice(0).length;
          await t.close();
          t = await startIn(home);
          await importNow();
        }
      }
      for (const [n, bytes] of imported) {
        const isThere = (await read(n)) !== undefined;
        await rm(pathOf(home, n), { force: true });
        const stored = await storedOf(t, n);
        // The budget may have removed what its assistant still had.
        if (stored || !isThere) expect(stored === undefined || stored.equals(bytes), `session ${n}`).toBe(true);
      }
      await checkCounts(t, home);
      await t.close();
      unmount?.();
      unmount = undefined;
    }),
    { numRuns: LONG ? 300 : 10 },
  );
  // In few rounds chance may leave one out.
  if (LONG) for (const times of Object.values(did)) expect(times, JSON.stringify(did)).toBeGreaterThan(0);
});

/** What a kill leaves: a pack that no row names. */
async function litter(home: string): Promise<void> {
  const name = randomBytes(16).toString("hex");
  await cp(await writeTemp(home, randomBytes(100)), join(home, "data/logs", name.slice(0, 2), name), {
    recursive: true,
  });
}

/** The counts are those of the files, each pack that is named is there and no other. */
async function checkCounts(t: TestKernel, home: string): Promise<void> {
  const { db } = t.kernel.storage;
  const logs = await db.all<{ files: string }>("select files from rescue_log where files is not null");
  const counted = new Map<string, number>();
  for (const { files } of logs) {
    const named = new Set((JSON.parse(files) as { chunks: string[] }[]).flatMap(({ chunks }) => chunks));
    for (const hash of named) counted.set(hash, (counted.get(hash) ?? 0) + 1);
  }
  const chunks = await db.all<{ hash: string; refs: number }>("select hash, refs from rescue_chunk");
  expect(new Map(chunks.map(({ hash, refs }) => [hash, refs]))).toEqual(counted);
  const packs = await db.all<{ name: string }>("select name from rescue_pack");
  expect((await packsIn(home)).map((path) => path.slice(3)).sort()).toEqual(packs.map(({ name }) => name).sort());
}
