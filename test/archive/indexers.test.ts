/** Indexers of plugins: each event once, rows with the session, alone where they fail, again where their version changes. */
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineIndexer, definePlugin, type Plugin } from "sessarc";
import { beforeEach, expect, it } from "vitest";
import reread from "../../playground/plugins/reread/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

let home: string;
let modules: string;
beforeEach(async () => {
  [home, modules] = [await makeTempDir(), await makeTempDir()];
});

const uuid = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const id = (n: number) => `claude-code:${uuid(n)}`;
const log = (n: number) => join(home, ".claude/projects/-w", `${uuid(n)}.jsonl`);
let rows = 0;
const read = (path: string, at = new Date(Date.now() - 60_000).toISOString()) => {
  rows++;
  const content = [{ type: "tool_use", id: `t${rows}`, name: "Read", input: { file_path: path } }];
  const message = { id: `m${rows}`, role: "assistant", model: "claude-haiku-4-5", content };
  return `${JSON.stringify({ type: "assistant", uuid: `u${rows}`, requestId: `r${rows}`, timestamp: at, cwd: "/w", message })}\n`;
};
async function write(n: number, ...paths: string[]) {
  await mkdir(dirname(log(n)), { recursive: true });
  await writeFile(log(n), paths.map((path) => read(path)).join(""));
}

/** A plugin whose indexer counts events, with a table. `body`: what else its module does with an event. */
async function counting(name: string, { version = 1, body = "", value = "seqs.length" } = {}): Promise<Plugin> {
  const path = join(modules, `${name}-${version}.mjs`);
  await writeFile(
    path,
    `export default { create() {
       const seqs = [];
       return {
         event(event) { ${body} seqs.push(event.seq); },
         finish: () => ({ ${name}_row: [{ events: ${value}, seqs: seqs.join(), version: ${version} }] }),
       };
     } };`,
  );
  const indexer = { name, version, module: pathToFileURL(path).href, tables: [`${name}_row`] };
  const table = `create table ${name}_row (session text not null, events integer not null, seqs text, version integer)`;
  return definePlugin({ name, dependsOn: ["archive"], migrations: [table], indexers: [defineIndexer(indexer)] })();
}

const start = (...plugins: Plugin[]) =>
  createTestKernel({ home, plugins: [...defaultPlugins(), ...plugins], config: { sync: false } });
const importAll = async (t: TestKernel) =>
  expect(await t.send("POST", "/api/import", { all: true })).toMatchObject({ body: { failed: [] } });
const readRows = (t: TestKernel, name: string) =>
  t.kernel.storage.db.all<{ session: string; events: number; seqs: string; version: number }>(
    `select * from ${name}_row order by session`,
  );
const problems = async (t: TestKernel) => (await t.json<{ problems: object[] }>("/api/plugins")).problems;

it("sees each event once, also those of a log that grew", async () => {
  const t = await start(await counting("count"));
  await write(1, "/w/a", "/w/b");
  await write(2, "/w/a");
  await importAll(t);
  expect(await readRows(t, "count")).toMatchObject([
    { session: id(1), events: 2, seqs: "0,1" },
    { session: id(2), events: 1, seqs: "0" },
  ]);
  for (const more of ["/w/c", "/w/d"]) {
    await appendFile(log(1), read(more));
    await importAll(t);
  }
  expect((await readRows(t, "count"))[0]).toMatchObject({ events: 4, seqs: "0,1,2,3" });
  await write(1, "/w/e");
  await importAll(t);
  expect((await readRows(t, "count"))[0]).toMatchObject({ events: 1, seqs: "0" });
});

it("its rows go with the session", async () => {
  const t = await start(await counting("count"));
  await write(1, "/w/a");
  await write(2, "/w/a");
  await importAll(t);
  await t.send("DELETE", `/api/sessions/${encodeURIComponent(id(1))}`);
  expect((await readRows(t, "count")).map(({ session }) => session)).toEqual([id(2)]);
  expect(await t.kernel.storage.db.all("select session from indexed where indexer = 'count'")).toEqual([
    { session: id(2) },
  ]);
});

it.each([
  ["throws", { body: 'if (event.seq === 1) throw new Error("no second one");' }, "no second one"],
  ["answers what is not a value", { value: "{}" }, "count_row.events is neither"],
  ["answers what its table refuses", { value: "null" }, "NOT NULL"],
])("one that %s fails alone", async (_, broken, reason) => {
  const t = await start(await counting("count", broken), await counting("other"));
  await write(1, "/w/a", "/w/b");
  await importAll(t);
  expect(await readRows(t, "count")).toEqual([]);
  expect(await readRows(t, "other")).toMatchObject([{ events: 2 }]);
  expect(await t.json(`/api/sessions/${encodeURIComponent(id(1))}`)).toMatchObject({ session: { messageCount: 2 } });
  expect(await problems(t)).toEqual([
    expect.objectContaining({ plugin: "count", code: "INDEXER_FAILED", message: expect.stringContaining(reason) }),
  ]);
  const { checks } = await t.json<{ checks: { name: string }[] }>("/api/doctor");
  expect(checks.find(({ name }) => name === "indexers")).toMatchObject({
    status: "warn",
    detail: expect.stringContaining(reason),
  });
});

it("one whose module cannot be loaded fails on each session, and no session fails", async () => {
  const plugin = await counting("count");
  await rm(join(modules, "count-1.mjs"));
  const t = await start(plugin);
  await write(1, "/w/a");
  await importAll(t);
  expect(await problems(t)).toMatchObject([{ plugin: "count", code: "INDEXER_FAILED" }]);
});

it("another version, or a plugin that comes later, indexes what is stored, also without its log", async () => {
  let t = await start(await counting("count"));
  await write(1, "/w/a", "/w/b");
  await importAll(t);
  await rm(log(1));
  await t.close();
  t = await start(await counting("count", { version: 2 }), await counting("late"));
  expect(await readRows(t, "count")).toMatchObject([{ version: 1 }]);
  await t.kernel.inject("archive/open").importer.prepare();
  expect(await readRows(t, "count")).toMatchObject([{ version: 2, events: 2, seqs: "0,1" }]);
  expect(await readRows(t, "late")).toMatchObject([{ events: 2 }]);
  await write(1, "/w/a");
  await importAll(t);
  expect(await readRows(t, "count")).toMatchObject([{ version: 2, events: 1, seqs: "0" }]);
});

it("one that comes later reads a session together with another's next version", async () => {
  let t = await start(await counting("count"));
  await write(1, "/w/a");
  await importAll(t);
  await t.close();
  t = await start(await counting("count", { version: 2 }), await counting("late"));
  await t.kernel.inject("archive/open").importer.prepare();
  expect(await readRows(t, "count")).toMatchObject([{ version: 2 }]);
  expect(await readRows(t, "late")).toMatchObject([{ seqs: "0" }]);
  for (const more of ["/w/b", "/w/c"]) {
    await appendFile(log(1), read(more));
    await importAll(t);
  }
  expect(await readRows(t, "late")).toMatchObject([{ seqs: "0,1,2" }]);
});

it("rows of a session that is deleted while the plugin is not there go when it is back", async () => {
  let t = await start(await counting("count"));
  for (const n of [1, 2]) await write(n, "/w/a");
  await importAll(t);
  await t.close();
  t = await start();
  await t.send("DELETE", `/api/sessions/${encodeURIComponent(id(1))}`);
  await t.close();
  t = await start(await counting("count"));
  expect(await readRows(t, "count")).toMatchObject([{ session: id(1) }, { session: id(2) }]);
  await t.kernel.inject("archive/open").importer.prepare();
  expect(await readRows(t, "count")).toMatchObject([{ session: id(2) }]);
  expect(await t.kernel.storage.db.all("select session from indexed where indexer = 'count'")).toEqual([
    { session: id(2) },
  ]);
});

it("which files are read again and again (playground/plugins/reread)", async () => {
  const t = await start(reread());
  await write(1, "/w/a", "/w/a", "/w/b");
  await write(2, "/w/a");
  await importAll(t);
  await appendFile(log(1), read("/w/b"));
  await importAll(t);
  expect(await t.json("/api/reread")).toEqual({
    files: [
      { path: "/w/a", reads: 3, sessions: 2 },
      { path: "/w/b", reads: 2, sessions: 1 },
    ],
  });
});
