import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin } from "sessarc";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { migrate } from "../../core/storage/migrate.ts";
import { openInThread } from "../../core/storage/thread.ts";
import { createTestKernel } from "../kernel.ts";
import { threadEntry } from "./catalogue.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-migrate-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const FIRST = "create table a (id integer); create index a_id on a (id)";
const SECOND = "alter table a add column name text; update a set name = 'old'";

describe("migrate", () => {
  it("runs each step once, in order, also over restarts", async () => {
    let db = openDatabase({ dir });
    await migrate(db, "one", [FIRST]);
    await db.run("insert into a (id) values (1)");
    await db.close();
    db = openDatabase({ dir });
    await migrate(db, "one", [FIRST, SECOND]);
    const before = db.generation;
    await migrate(db, "one", [FIRST, SECOND]);
    expect(db.generation).toBe(before);
    expect(await db.all("select * from a")).toEqual([{ id: 1, name: "old" }]);
    await db.close();
  });

  it("counts each plugin's steps separately", async () => {
    const db = openDatabase({ dir });
    await migrate(db, "one", [FIRST]);
    await migrate(db, "two", ["create table b (id)"]);
    expect(await db.all("select plugin, number from migration order by plugin")).toEqual([
      { plugin: "one", number: 1 },
      { plugin: "two", number: 1 },
    ]);
    await db.close();
  });

  it("leaves nothing of a step that fails", async () => {
    const db = openDatabase({ dir });
    await migrate(db, "one", [FIRST]);
    await expect(migrate(db, "one", [FIRST, "create table c (x); create table a (again)"])).rejects.toThrow(
      /already exists/,
    );
    expect(await db.all("select number from migration")).toEqual([{ number: 1 }]);
    expect(await db.get("select 1 from sqlite_master where name = 'c'")).toBeUndefined();
    await migrate(db, "one", [FIRST, "create table c (x)"]);
    await db.close();
  });

  it("waits for the disk once where nothing was applied yet, and leaves nothing when a step fails", async () => {
    const db = openDatabase({ dir });
    await expect(migrate(db, "one", [FIRST, "create table a (again)"])).rejects.toThrow(/already exists/);
    expect(await db.all("select name from sqlite_master")).toEqual([]);
    const before = db.generation;
    await migrate(db, "one", [FIRST, SECOND]);
    expect(db.generation).toBe(before + 1);
    expect(await db.all("select number from migration")).toEqual([{ number: 1 }, { number: 2 }]);
    await db.close();
  });

  it("refuses a released step that was edited, and an archive from a newer version", async () => {
    const db = openDatabase({ dir });
    await migrate(db, "one", [FIRST, SECOND]);
    await migrate(db, "one", [`  ${FIRST.replace("; ", ";\n  ")}`, SECOND]);
    await expect(migrate(db, "one", [FIRST.replace("integer", "text"), SECOND])).rejects.toThrow(
      /Migration 1 of "one"/,
    );
    await expect(migrate(db, "one", [FIRST])).rejects.toMatchObject({ code: "ARCHIVE_NEWER" });
    await db.close();
  });

  it("says the same about an older archive that its own thread reads", async () => {
    const owner = openDatabase({ dir });
    await migrate(owner, "one", [FIRST]);
    const reader = openInThread({ dir, entry: await threadEntry(), readOnly: true });
    await expect(migrate(reader, "one", [FIRST, SECOND])).rejects.toMatchObject({ code: "ARCHIVE_OLDER" });
    await reader.close();
    await owner.close();
  });

  it("says what to do about an archive of a newer version, and one of an older version that may not be written", async () => {
    const plugin = (...migrations: string[]) => [definePlugin({ name: "one", migrations })()];
    await (await createTestKernel({ home: dir, plugins: plugin(FIRST, SECOND) })).close();
    await expect(createTestKernel({ home: dir, plugins: plugin(FIRST) })).rejects.toMatchObject({
      code: "PLUGIN_FAILED",
      message: expect.stringContaining("newer version"),
      fix: expect.stringContaining("sessarc@latest"),
    });
    const db = openDatabase({ dir: join(dir, "data"), readOnly: true });
    await migrate(db, "one", [FIRST, SECOND]);
    await expect(migrate(db, "one", [FIRST, SECOND, "create table c (x)"])).rejects.toMatchObject({
      code: "ARCHIVE_OLDER",
      fix: expect.stringContaining("--data-dir"),
    });
    await db.close();
  });
});
