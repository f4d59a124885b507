/** A first start: the tables of all plugins that come with sessarc in one batch, and what comes of it when one cannot be made. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import type { PluginEntry } from "sessarc/serve";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { migrate, migrateFirst } from "../../core/storage/migrate.ts";
import { createTestKernel } from "../kernel.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-first-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const ONE = { name: "one", migrations: ["create table a (id integer)", "alter table a add column name text"] };
const TWO = { name: "two", migrations: ["create view b as select name from a"] };
const SCHEMA = "select type, name, tbl_name, sql from sqlite_master order by rowid";
const STEPS = "select plugin, number, digest from migration order by plugin, number";

const builtIn = (name: string, migrations: string[]): PluginEntry => ({
  specifier: `sessarc/plugins/${name}`,
  load: async () => ({ default: definePlugin({ name, migrations }) }),
});

describe("a first start", () => {
  it("makes in one batch what the plugins' steps make sequentially", async () => {
    const apart = openDatabase({ dir: join(dir, "apart") });
    for (const { name, migrations } of [ONE, TWO]) await migrate(apart, name, migrations);
    const db = openDatabase({ dir: join(dir, "once") });
    await migrateFirst(db, [ONE, { name: "none" }, TWO]);
    expect(db.generation).toBe(apart.generation - 1);
    expect(await db.all(SCHEMA)).toEqual(await apart.all(SCHEMA));
    expect(await db.all(STEPS)).toEqual(await apart.all(STEPS));

    const before = db.generation;
    for (const { name, migrations } of [ONE, TWO]) await migrate(db, name, migrations);
    expect(db.generation).toBe(before);
    await apart.close();
    await db.close();
  });

  it("leaves an archive that has steps of anybody to each plugin, and nothing of steps that fail", async () => {
    const db = openDatabase({ dir });
    await expect(migrateFirst(db, [ONE, { name: "two", migrations: ["create table a (again)"] }])).rejects.toThrow(
      /already exists/,
    );
    expect(await db.all(SCHEMA)).toEqual([]);
    await migrate(db, ONE.name, ONE.migrations);
    await migrateFirst(db, [ONE, TWO]);
    expect(await db.get("select 1 from sqlite_master where name = 'b'")).toBeUndefined();
    await db.close();
  });

  it("writes the steps of all plugins that come with sessarc as one commit", async () => {
    const t = await createTestKernel({ home: dir, plugins: defaultPlugins() });
    const log = await readFile(join(dir, "data", "catalog.db-wal"));
    // What the log has after its first commit, alone.
    let first = 32;
    while (log.readUInt32BE(first + 4) === 0) first += 4_120;
    const begun = join(dir, "begun");
    await mkdir(begun);
    await copyFile(join(dir, "data", "catalog.db"), join(begun, "catalog.db"));
    await writeFile(join(begun, "catalog.db-wal"), log.subarray(0, first + 4_120));
    const db = openDatabase({ dir: begun, readOnly: true });
    expect(await db.all(STEPS)).toEqual(await t.kernel.storage.db.all(STEPS));
    await db.close();
    await t.close();
  });

  it("makes a third party's tables after them, each alone: what it brings cannot keep them from being made", async () => {
    const other = definePlugin({ name: "other", migrations: ["create table a (mine)"] })();
    const plugins = [other, builtIn("one", ONE.migrations)];
    await expect(createTestKernel({ home: dir, plugins })).rejects.toMatchObject({
      code: "PLUGIN_FAILED",
      message: expect.stringMatching(/"other".*already exists/),
    });
    const t = await createTestKernel({ home: dir, plugins: plugins.slice(1) });
    expect(await t.kernel.storage.db.all("select name from a")).toEqual([]);
    await t.close();
  });

  it("names the plugin whose step cannot be made", async () => {
    const plugins = [builtIn("one", ONE.migrations), builtIn("two", ["create table a (again)"])];
    await expect(createTestKernel({ home: dir, plugins })).rejects.toMatchObject({
      code: "PLUGIN_FAILED",
      message: expect.stringMatching(/"two".*already exists/),
    });
  });
});
