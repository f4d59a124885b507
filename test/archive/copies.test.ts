/** A backup, and a `cp -r`, at any moment of an import open whole, with stock SQLite and with sessarc. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { askStock, HAS_STOCK } from "../stock-sqlite.ts";

const run = promisify(execFile);
const QUERIES = [
  "pragma integrity_check",
  "select count(*) from session",
  "select coalesce(sum(message_count), 0) from session",
];

function write(home: string, n: number): void {
  const key = `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const path = join(home, ".claude/projects", `-w-app${n % 7}`, `${key}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const row = (i: number) =>
    JSON.stringify({
      type: "user",
      uuid: `u${n}-${i}`,
      timestamp: new Date(Date.UTC(2026, 0, 1) + n * 60_000 + i * 1000).toISOString(),
      message: { role: "user", content: `text ${i} of ${n} ${String(n * i).repeat(300)}` },
    });
  writeFileSync(path, `${Array.from({ length: 20 }, (_, i) => row(i)).join("\n")}\n`);
}

/** Sessions that come while one copy is taken: without a bound, a slow copy would be outgrown. */
const WHILE_COPYING = 60;

/** Takes copies while sessions are imported, and answers their folders. */
async function copies(t: TestKernel, count: number, take: (folder: string) => Promise<void>): Promise<string[]> {
  let ended = false;
  const folders: string[] = [];
  const importing = (async () => {
    for (let n = 0; !ended; ) {
      if (n >= WHILE_COPYING * (folders.length + 1)) {
        await nextTurn();
        continue;
      }
      for (let i = 0; i < 20; i++) write(t.home, n++);
      const { status } = await t.send("POST", "/api/import", { all: true });
      expect(status).toBe(200);
    }
  })();
  // Awaited below: a copy that fails is the first to report.
  importing.catch(() => {});
  try {
    for (let taken = 0; taken < count; taken++) {
      const folder = join(await makeTempDir(), "data");
      await take(folder);
      folders.push(folder);
    }
  } finally {
    ended = true;
  }
  await importing;
  return folders;
}

async function checkAll(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await cp(folder, `${folder}-stock`, { recursive: true });
  const stock = HAS_STOCK
    ? await askStock(
        folders.map((one) => join(`${one}-stock`, "catalog.db")),
        ...QUERIES,
      )
    : [];
  const counts: number[] = [];
  for (const [i, dir] of folders.entries()) {
    const db = openDatabase({ dir, onNotice: () => {} });
    const said: string[] = [];
    for (const query of QUERIES)
      said.push(...Object.values((await db.get<Record<string, unknown>>(query)) ?? {}).map(String));
    expect(said[0]).toBe("ok");
    expect(Number(said[2])).toBe(Number(said[1]) * 20);
    if (HAS_STOCK) expect(said).toEqual(stock[i]);
    await db.run("create table later (n)");
    await db.close();
    counts.push(Number(said[1]));
  }
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
}

const COUNT = rounds(50, 4);
const start = () => createTestKernel({ plugins: [archive(), claude(), insights()] });

it.skipIf(process.platform === "win32")(`cp -r at ${COUNT} moments of an import`, async () => {
  const t = await start();
  await t.send("POST", "/api/import", { all: true });
  const folders = await copies(t, COUNT, async (folder) => {
    await run("cp", ["-r", t.kernel.storage.dataDir, folder]).catch(() => {
      // A file that was replaced while it was copied.
    });
  });
  await checkAll(folders);
});

it(`a backup at ${COUNT} moments of an import`, async () => {
  const t = await start();
  await t.send("POST", "/api/import", { all: true });
  const folders = await copies(t, COUNT, async (folder) => {
    const tar = `${folder}.tar`;
    writeFileSync(tar, Buffer.from(await (await t.fetch("/api/backup")).arrayBuffer()));
    mkdirSync(folder);
    await run("tar", ["xf", tar, "-C", folder]);
  });
  await checkAll(folders);
  const last = await createTestKernel({ plugins: [archive(), claude()], config: { dataDir: folders.at(-1) ?? "" } });
  const { checks } = await last.json<{ checks: { name: string; status: string }[] }>("/api/doctor");
  expect(checks.filter(({ name }) => ["catalogue", "transcripts"].includes(name)).map(({ status }) => status)).toEqual([
    "ok",
    "ok",
  ]);
});
