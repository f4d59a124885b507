/** Figures that are kept from start to start: right after everything that may have happened meanwhile, and read instead of all rows. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import type { SqlValue, Statement } from "../../core/storage/types.ts";
import { migrations } from "../../plugins/archive/catalogue/schema.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { createKept } from "../../plugins/insights/figures/kept.ts";
import { Rollup } from "../../plugins/insights/figures/rollup.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const keyOf = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const idOf = (n: number) => `claude-code:${keyOf(n)}`;

function write(home: string, n: number, replies: number): void {
  const path = join(home, ".claude/projects/-w-app", `${keyOf(n)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = Array.from({ length: replies }, (_, i) => ({
    type: "assistant",
    uuid: `u${n}-${i}`,
    requestId: `r${n}-${i}`,
    timestamp: new Date(Date.UTC(2026, 9, 1 + (n % 9), 10, i * 20)).toISOString(),
    cwd: `/w/app${n % 3}`,
    message: {
      id: `m${n}-${i}`,
      role: "assistant",
      model: i % 2 === 0 ? "claude-sonnet-4-5" : "claude-haiku-4-5",
      content: [
        { type: "text", text: `answer ${n}` },
        { type: "tool_use", id: `t${n}-${i}`, name: n % 2 === 0 ? "Read" : "Grep", input: { file_path: "/w/a.ts" } },
      ],
      usage: { input_tokens: 1 + n, output_tokens: 10 + i },
    },
  }));
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

const start = (home: string, name: string) =>
  createTestKernel({ home, plugins: defaultPlugins(), config: { dataDir: join(home, name), sync: false } });

async function keep(t: TestKernel): Promise<void> {
  const { cube } = t.kernel.inject("insights");
  await cube.figures();
  await cube.keep();
}

/** Every view that is added up from figures. */
async function views(t: TestKernel): Promise<unknown> {
  const groups = ["day", "month", "session", "model", "project", "tool", "kind"];
  const usage = await Promise.all(
    groups.flatMap((by) => [
      t.json(`/api/usage?by=${by}&tz=Europe/Berlin`),
      t.json(`/api/usage?by=${by}&tz=UTC&from=2026-10-03&to=2026-10-05`),
    ]),
  );
  const insights = await t.json("/api/insights?tz=UTC");
  // What is equal has an order too: it does not tell in which one the sessions came.
  const { projects } = await t.json<{ projects: unknown }>("/api/projects/activity?tz=UTC&days=365");
  const { sessions } = await t.json<{ sessions: { id: string }[] }>("/api/insights/sessions?tz=UTC");
  const ledger = sessions.map(({ id }) => id);
  return { usage, projects, ledger, insights: { ...(insights as object), live: null, security: null } };
}

/** The same of an archive that counts all anew. */
async function viewsAnew(home: string, name: string): Promise<unknown> {
  cpSync(join(home, name), join(home, `${name}-anew`), { recursive: true });
  rmSync(join(home, `${name}-anew`, "index"), { recursive: true, force: true });
  const t = await start(home, `${name}-anew`);
  const found = await views(t);
  await t.close();
  return found;
}

/** An archive of ten sessions whose figures are kept. */
async function keptHome(): Promise<string> {
  const home = await makeTempDir();
  for (let n = 0; n < 10; n++) write(home, n, 1 + (n % 4));
  const t = await start(home, "data");
  await t.send("POST", "/api/import", { all: true });
  await keep(t);
  await t.close();
  return home;
}

it("a start reads the sessions that changed since, and no others; their changes are all seen", async () => {
  const home = await keptHome();
  const rowsOfStart = async (change: (t: TestKernel) => Promise<unknown>) => {
    const before = await start(home, "data");
    await change(before);
    await before.close();
    const t = await start(home, "data");
    const { db } = t.kernel.storage;
    let rows = 0;
    const { all } = db;
    db.all = async <T>(sql: string, params?: readonly SqlValue[]) => {
      const found = await all<T>(sql, params);
      if (/\bfacts\b/.test(sql)) rows += found.length;
      return found;
    };
    const found = await views(t);
    db.all = all;
    await t.close();
    expect(found).toEqual(await viewsAnew(home, "data"));
    rmSync(join(home, "data-anew"), { recursive: true });
    return rows;
  };
  expect(await rowsOfStart(async () => {})).toBe(0);
  expect(await rowsOfStart((t) => t.send("PATCH", `/api/sessions/${idOf(3)}`, { name: "another name" }))).toBe(1);
  expect(await rowsOfStart((t) => t.send("DELETE", `/api/sessions/${idOf(5)}`))).toBeLessThanOrEqual(1);
  for (const n of [1, 11]) write(home, n, 6);
  expect(
    await rowsOfStart(async (t) => {
      await t.json("/api/scan");
      const { body } = await t.send("POST", "/api/import", { sessions: [idOf(1), idOf(11)] });
      expect(body).toMatchObject({ imported: 2, failed: [] });
    }),
  ).toBeLessThanOrEqual(3);
});

it("once they are kept, no change is missed: not of the session that changed last, nor of those that come then", async () => {
  const home = await makeTempDir();
  for (let n = 0; n < 6; n++) write(home, n, 2);
  const t = await start(home, "data");
  await t.send("POST", "/api/import", { all: true });
  const { db } = t.kernel.storage;
  const last = await db.get<{ id: string }>("select session_id as id from session_change order by n desc limit 1");
  await keep(t);
  for (let n = 0; n < 8; n++) write(home, n, 4);
  await t.json("/api/scan");
  await t.send("POST", "/api/import", { sessions: [last?.id] });
  await t.send("POST", "/api/import", { all: true });
  const found = await views(t);
  await t.close();
  expect(found).toEqual(await viewsAnew(home, "data"));
});

it("what is kept may be missing, cut short, changed anywhere, or of another catalogue", async () => {
  const home = await keptHome();
  const right = await viewsAnew(home, "data");
  const spoiled = async (name: string, spoil: (index: string, path: string) => void) => {
    cpSync(join(home, "data"), join(home, name), { recursive: true });
    const index = join(home, name, "index", "figures");
    const files = readdirSync(index).filter((one) => one.endsWith(".figures"));
    expect(files).toHaveLength(1);
    spoil(index, join(index, files[0] ?? ""));
    const t = await start(home, name);
    const found = await views(t);
    await keep(t);
    // It is made again, and is the only one.
    expect(readdirSync(index).filter((one) => one.endsWith(".figures"))).toHaveLength(1);
    await t.close();
    return found;
  };
  expect(await spoiled("missing", (_, path) => rmSync(path))).toEqual(right);
  for (const at of [0, 0.01, 0.05, 0.3, 0.6, 0.9, 0.999]) {
    const flip = (_: string, path: string) => {
      const bytes = readFileSync(path);
      const i = Math.floor(bytes.length * at);
      bytes[i] = (bytes[i] ?? 0) ^ 64;
      writeFileSync(path, bytes);
    };
    expect(await spoiled(`at-${at}`, flip)).toEqual(right);
  }
  for (const share of [0, 0.01, 0.5, 0.99])
    expect(
      await spoiled(`cut-${share}`, (_, path) => truncateSync(path, Math.floor(readFileSync(path).length * share))),
    ).toEqual(right);
  // A later catalogue's files beside the one of before.
  cpSync(join(home, "data"), join(home, "later"), { recursive: true });
  for (let n = 20; n < 30; n++) write(home, n, 3);
  const t = await start(home, "later");
  expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ failed: [] });
  await views(t);
  rmSync(join(home, "later/index"), { recursive: true });
  await t.close();
  const again = await start(home, "later");
  await keep(again);
  await again.close();
  const mixed = (index: string) => {
    rmSync(index, { recursive: true });
    cpSync(join(home, "later/index"), index, { recursive: true });
  };
  expect(await spoiled("mixed", mixed)).toEqual(right);
});

it("what could not be kept is tried again", async () => {
  const home = await keptHome();
  const t = await start(home, "data");
  const index = join(home, "data/index/figures");
  rmSync(index, { recursive: true });
  await t.kernel.storage.db.run("delete from derived");
  await t.kernel.inject("insights").cube.figures();
  writeFileSync(index, "in the way");
  await expect(keep(t)).rejects.toThrow();
  rmSync(index);
  await keep(t);
  expect(readdirSync(index).filter((one) => one.endsWith(".figures"))).toHaveLength(1);
  await t.close();
});

it("a statement takes out a bounded number of known changes, however many there are, and none that came later", async () => {
  const dir = await makeTempDir();
  const db = openDatabase({ dir });
  for (const sql of migrations) await db.run(sql);
  const upto = 9_001;
  await db.run(
    "insert into session_change (session_id) with recursive c(n) as (select 1 union all select n + 1 from c where n < ?) select 's' || n from c",
    [upto + 2],
  );
  const { run, batch } = db;
  const taken: number[] = [];
  const left = async () => (await db.get<{ left: number }>("select count(*) as left from session_change"))?.left ?? 0;
  const counted = async <T>(write: () => Promise<T>) => {
    const before = await left();
    const answer = await write();
    taken.push(before - (await left()));
    return answer;
  };
  Object.assign(db, {
    run: (sql: string, params?: SqlValue[]) => counted(() => run(sql, params)),
    batch: (statements: Statement[]) => counted(() => batch(statements)),
  });
  expect(
    await createKept(db, { folder: join(dir, "index", "figures"), readOnly: false }).store([], new Rollup(), upto),
  ).toBe(true);
  expect(Math.max(...taken)).toBeLessThanOrEqual(1_000);
  expect(await db.all("select n from session_change order by n")).toEqual([{ n: upto + 1 }, { n: upto + 2 }]);
  await db.close();
});
