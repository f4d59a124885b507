import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRef } from "sessarc";
import { describe, expect, it } from "vitest";
import { type Extra, PLAIN, writeDatabase, writeStorage } from "../fixtures/opencode/build.ts";
import { drain, drainTail, env, readAll, scan } from "./_home.ts";
import { create, data, db, toKinds, twice, USAGE, useOpenCode } from "./_opencode.ts";

useOpenCode();

describe("OpenCode: damage", () => {
  it("counts hostile rows and never throws", async () => {
    const extra: Extra = [
      ["insert into session values (null, 'prj', null, null, null, null, null, null, null, null)"],
      ["insert into session values ('ses_odd', 7, 8, null, 9, x'00', null, '{', 'soon', 1e300)"],
      ["insert into message values (null, 'ses_odd', 1, 1, '{}')"],
      ["insert into message values ('m1', 'ses_odd', null, null, null)"],
      ["insert into message values ('m2', 'ses_odd', 'x', 'y', '{not json')"],
      ["insert into message values ('m3', 'ses_odd', 3, 3, '[1,2]')"],
      [
        "insert into message values ('m4', 'ses_odd', 4, 4, ?)",
        [JSON.stringify({ role: "assistant", time: 5, tokens: "many", path: 1, modelID: {}, error: 0 })],
      ],
      ["insert into message values ('m5', 'ses_odd', 5, 5, ?)", ['{"role":"__proto__","tokens":{"input":1e999}}']],
      ["insert into part values ('p1', 'm4', 'ses_odd', 1, 1, null)"],
      ["insert into part values ('p2', 'm4', 'ses_odd', 1, 1, '\"text\"')"],
      [
        "insert into part values ('p3', 'm4', 'ses_odd', 1, 1, ?)",
        [JSON.stringify({ type: "tool", state: { time: { start: -1, end: 9e99 }, output: { a: 1 } } })],
      ],
      ["insert into part values ('p4', 'm4', 'ses_odd', 1, 1, ?)", [JSON.stringify({ type: "text", text: 12 })]],
      ["insert into part values ('p5', 'm4', 'ses_odd', 1, 1, ?)", [JSON.stringify({ type: ["x"] })]],
      ["insert into part values ('p6', 'm4', 'ses_odd', 1, 1, x'ff')"],
    ];
    await writeDatabase(db(), [PLAIN], extra);
    const all = await readAll(create());
    expect(all.map(({ ref }) => ref.key).sort()).toEqual(["ses_odd", "ses_plain"]);
    const odd = all.find(({ ref }) => ref.key === "ses_odd");
    expect(odd?.summary.skipped?.lines).toBe(7);
    expect(odd?.summary.skipped?.unknown).toEqual({ part: 1, "message:__proto__": 1 });
    expect(toKinds(odd?.events ?? [])).toEqual({ tool_use: 1, tool_result: 1, note: 1 });
    expect(odd?.summary.usage).toEqual({});
  });

  it("reads broken JSON files as far as they go", async () => {
    const storage = join(data, "storage");
    await writeStorage(storage, [PLAIN]);
    await writeFile(join(storage, "part", "msg_2", "msg_2-01.json"), '{"type":"reasoning","te');
    await writeFile(join(storage, "message", "ses_plain", "msg_9.json"), "");
    await writeFile(join(storage, "session", "prj", "ses_empty.json"), "");
    await writeFile(join(storage, "session", "prj", "notes.txt"), "x");
    const all = await readAll(create());
    expect(all.map(({ ref }) => ref.key)).toEqual(["ses_empty", "ses_plain"]);
    expect(all[0]?.events).toEqual([]);
    expect(all[1]?.summary.skipped?.lines).toBe(2);
    expect(toKinds(all[1]?.events ?? [])).toMatchObject({ user: 1, assistant: 2 });
  });

  it("selects by column presence", async () => {
    await writeDatabase(
      db(),
      [PLAIN],
      [
        ["alter table session drop column revert"],
        ["alter table session drop column parent_id"],
        ["alter table part drop column time_updated"],
        ["drop table project"],
      ],
    );
    const [one] = await readAll(create());
    expect(one?.summary).toMatchObject({ title: "Plain", usage: { m1: twice(USAGE) } });
  });

  it("reports a file that is not a database and goes on with the other roots", async () => {
    await mkdir(data, { recursive: true });
    await writeFile(db(), "this is not a database, but it is long enough to be checked".repeat(20));
    await writeStorage(join(data, "storage"), [PLAIN]);
    const adapter = create();
    const [first, second] = adapter.roots(env);
    await expect(
      adapter
        .scan(first ?? "", env)
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toMatchObject({ code: "SOURCE_DAMAGED" });
    const refs = [];
    for await (const ref of adapter.scan(second ?? "", env)) refs.push(ref.key);
    expect(refs).toEqual(["ses_plain"]);
  });

  it("answers SOURCE_MISSING for a session that is gone", async () => {
    await writeDatabase(db(), [PLAIN]);
    const [ref] = await scan(create());
    await writeDatabase(db(), []);
    await expect(drain(create().read(ref as SessionRef, env))).rejects.toMatchObject({ code: "SOURCE_MISSING" });
  });

  it("never lets a secret of another table out", async () => {
    await writeDatabase(db(), [PLAIN]);
    expect((await readFile(db())).includes("TRAP-SECRET")).toBe(true);
    const adapter = create();
    const refs = await scan(adapter);
    const tail = await drainTail(adapter.tail(refs[0] as SessionRef, undefined, env));
    expect(JSON.stringify([refs, await readAll(adapter), tail])).not.toContain("TRAP-SECRET");
  });
});
