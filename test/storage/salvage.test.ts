/** A damaged catalogue: refused by name, rebuilt as far as it can be read, its files kept. */
import { execSync } from "node:child_process";
import * as disk from "node:fs/promises";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { type SalvageCalls, salvageCatalogue } from "../../core/storage/salvage.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-salvage-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = () => openDatabase({ dir, onNotice: () => {} });
const ROWS = 400;

/** 400 rows in two tables in the file, and two batches in the log. */
async function fill(): Promise<void> {
  const db = open();
  await db.run(
    "create table a (n integer primary key, text text); create table b (n integer); create index a_text on a (text)",
  );
  for (let n = 0; n < ROWS; n += 100)
    await db.batch(
      Array.from(
        { length: 100 },
        (_, i) => ["insert into a values (?, ?)", [n + i, `${n + i} ${"text ".repeat(200)}`]] as const,
      ),
    );
  await db.run("insert into b values (1)");
  await db.compact();
  await db.run("insert into b values (2)");
  await db.run("insert into b values (3)");
  await db.close(0);
}
const read = (name: string) => readFile(join(dir, name));

async function harm(name: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  await writeFile(join(dir, name), change(await read(name)));
}

async function check(least: { a: number; b: number[] }): Promise<void> {
  const db = open();
  const refused = await db.ready.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refused === undefined) expect(await db.check()).toEqual(expect.any(String));
  else
    expect(refused).toMatchObject({
      code: "CATALOG_DAMAGED",
      message: expect.stringContaining(join(dir, "catalog.")),
      fix: expect.stringContaining("sessarc doctor --fix"),
    });
  await db.close();
  const { kept } = await salvageCatalogue(dir);
  expect(kept.length).toBeGreaterThan(0);
  expect((await readdir(dir)).filter((file) => file.includes(".damaged-")).map((file) => join(dir, file))).toEqual(
    kept.sort(),
  );
  const repaired = open();
  const count = await repaired.get<{ n: number }>("select count(*) as n from a").catch(() => ({ n: 0 }));
  const b = await repaired.all<{ n: number }>("select n from b order by n").catch(() => []);
  expect(count?.n).toBeGreaterThanOrEqual(least.a);
  expect(b.map((row) => row.n)).toEqual(least.b);
  await repaired.run("create table later (n)");
  await repaired.close();
  const again = open();
  expect(await again.all("select * from later")).toEqual([]);
  await again.close();
}

it("one flipped bit in a text, which its index shows: all rows are there, the log's too", async () => {
  await fill();
  await harm("catalog.db", (bytes) => {
    const at = bytes.lastIndexOf("text text text");
    bytes[at + 1] = 0x58;
    return bytes;
  });
  await check({ a: ROWS, b: [1, 2, 3] });
});

it("pages that are gone: the rest is there", async () => {
  await fill();
  await harm("catalog.db", (bytes) => bytes.fill(0, bytes.length - 12 * 4_096, bytes.length - 4_096));
  await check({ a: 1, b: [1, 2, 3] });
});

it("nothing of the file: an empty catalogue that works", async () => {
  await fill();
  await harm("catalog.db", (bytes) => bytes.fill(0x41));
  await check({ a: 0, b: [1, 2, 3] });
});

it.skipIf(process.platform === "win32").each([
  ["catalog.db", "a folder", "mkdir", { a: 0, b: [1, 2, 3] }],
  ["catalog.db", "a pipe", "mkfifo", { a: 0, b: [1, 2, 3] }],
  ["catalog.db-wal", "a pipe", "mkfifo", { a: ROWS, b: [1] }],
  ["catalog.db-wal", "a link to itself", "ln -s catalog.db-wal", { a: ROWS, b: [1] }],
])("%s became %s: it is named, nothing waits for it, and it is moved away", async (name, _, make, least) => {
  await fill();
  await rm(join(dir, name));
  execSync(`${make} ${name}`, { cwd: dir });
  await check(least);
});

it.each([
  ["ends there", "EKILLED"],
  ["the disk is full", "ENOSPC"],
])("whichever call is the last because %s, nothing is lost and repeating ends well", async (_, code) => {
  for (let last = 0; ; last++) {
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir);
    await fill();
    await harm("catalog.db", (bytes) => {
      bytes[bytes.lastIndexOf("text text text") + 1] = 0x58;
      return bytes;
    });
    let count = 0;
    const failing = <T extends (...args: never[]) => Promise<unknown>>(call: T): T =>
      ((...args: never[]) => {
        // A full disk refuses one write; a process that is gone makes no call any more.
        const fails = code === "ENOSPC" ? count === last : count >= last;
        count++;
        return fails ? Promise.reject(Object.assign(new Error(code), { code })) : call(...args);
      }) as T;
    const { open: openFile, rename, rm: remove, link, copyFile } = disk;
    const names = { open: openFile, rename, rm: remove, link, copyFile };
    const calls = Object.fromEntries(Object.entries(names).map(([name, call]) => [name, failing(call as never)]));
    const ended = await salvageCatalogue(dir, new Date(0), calls as unknown as SalvageCalls).then(
      () => true,
      () => false,
    );
    if (!ended) {
      const db = open();
      const fault = await db.check();
      await db.close();
      if (fault !== undefined) await salvageCatalogue(dir, new Date(1));
    }
    const db = open();
    expect(await db.check()).toBeUndefined();
    expect(await db.get("select count(*) as n from a"), `call ${last}`).toEqual({ n: ROWS });
    expect(await db.all("select n from b order by n"), `call ${last}`).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await db.close();
    if (ended) {
      expect(count).toBeGreaterThan(6);
      return;
    }
  }
});
