import { readFile, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRef } from "sessarc";
import { type Cursor, openSqliteFile } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { listSession, listSessions } from "../../plugins/opencode/database.ts";
import {
  type Extra,
  makeDatabase,
  PLAIN,
  reply,
  type Session,
  T0,
  user,
  writeDatabase,
  writeStorage,
  writeWithWal,
} from "../fixtures/opencode/build.ts";
import { drain, drainTail, env, readAll, scan } from "./_home.ts";
import { create, data, db, twice, USAGE, useOpenCode } from "./_opencode.ts";

useOpenCode();

describe("OpenCode: change", () => {
  it("reads what stands only in the write-ahead log", async () => {
    const before = await makeDatabase([]);
    await writeWithWal(db(), before, await makeDatabase([PLAIN]));
    const [one] = await readAll(create());
    expect(one?.summary.usage).toEqual({ m1: twice(USAGE) });
  });

  it("gives a session another version when a row of it was added, edited or deleted, and only then", async () => {
    const other = { ...PLAIN, id: "ses_other", messages: [user("msg_o", T0, "x")] };
    const versions = async (extra: Extra) => {
      await rm(data, { recursive: true, force: true });
      await writeDatabase(db(), [PLAIN, other], extra);
      const refs = await scan(create());
      return Object.fromEntries(refs.map((ref) => [ref.key, ref.version]));
    };
    const base = await versions([]);
    for (const change of [
      "delete from part where id = 'msg_2-01'",
      "delete from message where id = 'msg_3'",
      "update part set time_updated = time_updated + 1 where id = 'msg_2-02'",
      "update part set time_updated = time_updated - 5 where id = 'msg_2-02'",
      "update message set time_updated = time_updated + 1 where id = 'msg_1'",
      "update session set time_updated = time_updated + 1 where id = 'ses_plain'",
      "insert into part values ('new', 'msg_3', 'ses_plain', 1, 1, '{}')",
    ]) {
      const now = await versions([[change]]);
      expect(now.ses_plain, change).not.toBe(base.ses_plain);
      expect(now.ses_other, change).toBe(base.ses_other);
    }
    expect(await versions([])).toEqual(base);
  });

  it("lists a large database in slices: the same versions as of each session alone, with turns for others between", async () => {
    const path = join(data, "opencode.db");
    const rows = `with recursive g(n) as (select 1 union all select n + 1 from g where n < 40000)
      insert into part select 'x' || n, 'm', case n % 3 when 0 then 'ses_plain' else 'ses_' || (n % 3) end, ${T0} + n, ${T0} + n, '{}' from g`;
    const others = [1, 2].map((n) => ({ ...PLAIN, id: `ses_${n}`, messages: [user(`m${n}`, T0, "hello")] }));
    await writeDatabase(path, [PLAIN, ...others], [[rows], ["delete from part where rowid % 7 = 0"]]);
    let turns = 0;
    let counting = true;
    const count = () => {
      turns++;
      if (counting) setImmediate(count);
    };
    const db = await openSqliteFile(path);
    count();
    const refs = await listSessions(db);
    counting = false;
    expect(refs.map(({ key }) => key).sort()).toEqual(["ses_1", "ses_2", "ses_plain"]);
    for (const ref of refs) expect([ref]).toEqual(listSession(db, ref.key));
    expect(turns).toBeGreaterThan(3);
    db.close();
  });

  it("gives a JSON session another version when one of its files changed", async () => {
    const storage = join(data, "storage");
    await writeStorage(storage, [PLAIN]);
    const adapter = create();
    const version = async () => (await scan(adapter))[0]?.version;
    const first = await version();
    expect(await version()).toBe(first);
    await unlink(join(storage, "part", "msg_2", "msg_2-01.json"));
    const second = await version();
    expect(second).not.toBe(first);
    await writeFile(join(storage, "message", "ses_plain", "msg_9.json"), "{}");
    const third = await version();
    expect(third).not.toBe(second);
    await unlink(join(storage, "message", "ses_plain", "msg_9.json"));
    expect(await version()).not.toBe(third);
    await utimes(join(storage, "part", "msg_3", "msg_3-00.json"), new Date(), new Date(T0));
    expect(await version()).not.toBe(second);
  });

  it("P7: does not open a database that did not change", async () => {
    await writeDatabase(db(), [PLAIN]);
    const when = new Date(T0);
    await utimes(db(), when, when);
    const adapter = create();
    const refs = await scan(adapter);
    // The same size, times and counters, but no longer a database: only an open would notice.
    const bytes = await readFile(db());
    await writeFile(db(), bytes.fill(0, 0, 16));
    await utimes(db(), when, when);
    expect(await scan(adapter)).toEqual(refs);
    await expect(scan(create())).rejects.toMatchObject({ code: "SOURCE_DAMAGED" });
  });

  it("reads many sessions of one database in one go, each alone when it fails", async () => {
    const all = [PLAIN, { ...PLAIN, id: "ses_2", messages: [reply("msg_x", T0, [{ type: "text", text: "two" }])] }];
    await writeDatabase(db(), all);
    const adapter = create();
    const refs = await scan(adapter);
    const gone = { ...(refs[0] as SessionRef), key: "ses_gone" };
    const seen: unknown[] = [];
    for await (const [ref, reader] of adapter.readMany?.([...refs, gone], env) ?? []) {
      const result = await drain(reader).catch((error: { code?: string }) => error.code);
      seen.push([ref.key, typeof result === "string" ? result : result?.events.length]);
    }
    expect(seen).toEqual([
      ["ses_2", 1],
      ["ses_plain", 10],
      ["ses_gone", "SOURCE_MISSING"],
    ]);
  });
});

describe("OpenCode: tail", () => {
  const growing = (parts: unknown[], completed?: number): Session => ({
    ...PLAIN,
    updated: T0 + parts.length,
    messages: [
      ...PLAIN.messages,
      {
        ...reply("msg_8", T0 + 5000, parts, { time: { created: T0 + 5000, ...(completed ? { completed } : {}) } }),
        at: T0 + 5000 + parts.length + (completed ? 1 : 0),
      },
    ],
  });
  const running = {
    type: "tool",
    tool: "bash",
    callID: "c9",
    state: { status: "running", input: { command: "make" }, time: { start: T0 + 5100 } },
  };

  for (const kind of ["database", "JSON files"] as const) {
    it(`equals a read, then tells only what is new (${kind})`, async () => {
      const put = async (session: Session) => {
        await rm(data, { recursive: true, force: true });
        if (kind === "database") await writeDatabase(db(), [session]);
        else await writeStorage(join(data, "storage"), [session]);
      };
      await put(PLAIN);
      const adapter = create();
      const [ref] = await scan(adapter);
      const tail = async (cursor?: Cursor) => {
        const answer = await drainTail(adapter.tail(ref as SessionRef, cursor, env));
        if (!answer) throw new Error("no tail");
        return { ...answer, cursor: JSON.parse(JSON.stringify(answer.cursor)) as Cursor };
      };
      const first = await tail();
      const read = await drain(adapter.read(ref as SessionRef, env));
      expect(first.events).toEqual(read.events);
      expect(first.summary).toEqual(read.summary);
      const idle = await tail(first.cursor);
      expect(idle).toMatchObject({ events: [], restarted: false, bytesRead: 0 });
      expect(idle.summary).toEqual(read.summary);

      await put(growing([running]));
      const second = await tail(idle.cursor);
      expect(second.restarted).toBe(false);
      expect(second.events.map((event) => [event.seq, event.kind])).toEqual([[10, "tool_use"]]);

      const done = {
        ...running,
        state: { ...running.state, status: "completed", output: "ok", time: { start: T0 + 5100, end: T0 + 5200 } },
      };
      const half = { type: "text", text: "Bui", time: { start: T0 + 5300 } };
      await put(growing([done, half]));
      const third = await tail(second.cursor);
      expect(third.restarted).toBe(false);
      expect(third.events.map((event) => event.kind)).toEqual(["tool_result"]);

      await put(growing([done, { ...half, text: "Built.", time: { start: T0 + 5300, end: T0 + 5400 } }], T0 + 5500));
      const fourth = await tail(third.cursor);
      expect(fourth.restarted).toBe(false);
      expect(fourth.events.map((event) => [event.seq, event.text])).toEqual([[12, "Built."]]);
      expect(fourth.summary.usage.m1?.input).toBe(300);

      // Another adapter (a restart of the program) goes on from the stored cursor.
      const fresh = await drainTail(create().tail(ref as SessionRef, fourth.cursor, env));
      expect(fresh).toMatchObject({ events: [], restarted: false });
      expect(fresh?.summary).toEqual(fourth.summary);

      await put({ ...PLAIN, messages: PLAIN.messages.slice(0, 2) });
      const cut = await tail(fourth.cursor);
      expect(cut.restarted).toBe(true);
      expect(cut.events[0]?.seq).toBe(0);
      await put({
        ...PLAIN,
        updated: T0 + 99,
        messages: [user("msg_1", T0 + 101, "edited"), ...PLAIN.messages.slice(1)],
      });
      const edited = await tail(cut.cursor);
      expect(edited.restarted).toBe(true);
      expect(edited.events[0]?.text).toBe("edited");
    });
  }
});
