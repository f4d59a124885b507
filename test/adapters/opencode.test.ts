import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AdapterEnv,
  type Cursor,
  openSqliteFile,
  type SessionEvent,
  type SessionRef,
  type SessionSummary,
} from "sessarc";
import { testAdapter } from "sessarc/test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { listSessions, sessionVersion } from "../../plugins/opencode/database.ts";
import opencode from "../../plugins/opencode/index.ts";
import { toUsage } from "../../plugins/opencode/parse.ts";
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

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

let home: string;
let data: string;
let env: AdapterEnv;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-opencode-"));
  data = join(home, ".local", "share", "opencode");
  env = { home, platform: "linux", env: {} };
});
afterEach(() => rm(home, { recursive: true, force: true }));

const create = (dir?: string) => opencode(dir === undefined ? undefined : { dir }).adapter;
type Adapter = ReturnType<typeof create>;

async function scan(adapter: Adapter, on: AdapterEnv = env): Promise<SessionRef[]> {
  const refs: SessionRef[] = [];
  for (const root of adapter.roots(on)) for await (const ref of adapter.scan(root, on)) refs.push(ref);
  return refs;
}
async function drain(reader: AsyncGenerator<SessionEvent, SessionSummary>) {
  const events: SessionEvent[] = [];
  for (;;) {
    const step = await reader.next();
    if (step.done) return { events, summary: step.value };
    events.push(step.value);
  }
}
async function readAll(adapter: Adapter, on: AdapterEnv = env) {
  const all = [];
  for (const ref of await scan(adapter, on)) all.push({ ref, ...(await drain(adapter.read(ref, on))) });
  return all;
}
const kindsOf = (events: readonly SessionEvent[]) => {
  const kinds: Record<string, number> = {};
  for (const event of events) kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
  return kinds;
};
const db = () => join(data, "opencode.db");
const USAGE = { input: 100, output: 15, cacheRead: 12, cacheWrite5m: 4, cacheWrite1h: 0 };
const twice = (usage: typeof USAGE) => Object.fromEntries(Object.entries(usage).map(([name, n]) => [name, n * 2]));

const fixtures = await mkdtemp(join(tmpdir(), "sessarc-opencode-fixtures-"));
const fixtureData = join(fixtures, ".local", "share", "opencode");
await writeDatabase(join(fixtureData, "opencode.db"), [PLAIN]);
await writeWithWal(
  join(fixtureData, "opencode-next.db"),
  await makeDatabase([]),
  await makeDatabase([{ ...PLAIN, id: "ses_wal" }]),
);
await writeStorage(join(fixtureData, "storage"), [PLAIN, { ...PLAIN, id: "ses_json" }]);
afterAll(() => rm(fixtures, { recursive: true, force: true }));

describe("adapters: opencode", () =>
  testAdapter({
    plugin: (dir) => opencode({ dir }),
    fixtures,
    expect: {
      sessions: 3,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m1: { input: 600, output: 90, cacheRead: 72, cacheWrite5m: 24, cacheWrite1h: 0 } },
    },
  }));

describe("OpenCode: both stores", () => {
  it("maps every ordinary part, from the database and from the JSON files alike", async () => {
    await writeDatabase(db(), [PLAIN]);
    const [fromDb] = await readAll(create());
    await rm(data, { recursive: true });
    await writeStorage(join(data, "storage"), [PLAIN]);
    const [fromJson] = await readAll(create());

    for (const one of [fromDb, fromJson]) {
      expect(one?.ref).toMatchObject({
        tool: "opencode",
        key: "ses_plain",
        title: "Plain",
        cwd: "/home/dev/app",
        exclusive: false,
      });
      expect(one?.events.map((event) => event.seq)).toEqual(one?.events.map((_, i) => i));
      expect(kindsOf(one?.events ?? [])).toEqual({
        user: 1,
        note: 2,
        thinking: 1,
        assistant: 2,
        tool_use: 2,
        tool_result: 2,
      });
      expect(one?.summary).toMatchObject({ title: "Plain", cwd: "/home/dev/app", usage: { m1: twice(USAGE) } });
      expect(one?.summary.startedAt).toBe(new Date(T0).toISOString());
      expect(one?.summary.endedAt).toBe(new Date(T0 + 2500).toISOString());
      expect(one?.summary.skipped).toEqual({ lines: 0, unknown: {} });
      const uses = one?.events.filter((event) => event.kind === "tool_use");
      expect(uses?.[0]).toMatchObject({
        tool_name: "bash",
        tool_use_id: "call_1",
        tool_input: { command: "ls" },
        model: "m1",
      });
      const results = one?.events.filter((event) => event.kind === "tool_result");
      expect(results?.map((event) => event.is_error)).toEqual([false, true]);
      expect(results?.[0]).toMatchObject({
        text: "a.txt\n",
        tool_use_id: "call_1",
        at: new Date(T0 + 1300).toISOString(),
      });
    }
    expect(fromJson?.events.map(({ at: _, ...event }) => event)).toEqual(
      fromDb?.events.map(({ at: _, ...event }) => event),
    );
  });

  it("finds them through XDG_DATA_HOME, OPENCODE_DB and development names", async () => {
    const other = join(home, "elsewhere");
    const on = { ...env, env: { XDG_DATA_HOME: other, OPENCODE_DB: "mine.db" } };
    await writeDatabase(join(other, "opencode", "mine.db"), [{ ...PLAIN, id: "ses_a" }]);
    await writeDatabase(join(other, "opencode", "opencode-dev.db"), [{ ...PLAIN, id: "ses_b" }]);
    expect((await scan(create(), on)).map((ref) => ref.key).sort()).toEqual(["ses_a", "ses_b"]);
  });

  it("takes a home, a data folder, a storage folder or a database as `dir`", async () => {
    await writeDatabase(db(), [PLAIN]);
    await writeStorage(join(data, "storage"), [{ ...PLAIN, id: "ses_old" }]);
    const keys = async (dir: string) => (await scan(create(dir))).map((ref) => ref.key).sort();
    expect(await keys(home)).toEqual(["ses_old", "ses_plain"]);
    expect(await keys(data)).toEqual(["ses_old", "ses_plain"]);
    expect(await keys(join(data, "storage"))).toEqual(["ses_old"]);
    expect(await keys(db())).toEqual(["ses_plain"]);
    expect(await keys(join(home, "nowhere"))).toEqual([]);
    expect(
      create(home)
        .roots({ ...env, env: { OPENCODE_DB: "/etc/x.db", XDG_DATA_HOME: "/etc" } })
        .every((root) => root.startsWith(home)),
    ).toBe(true);
  });

  it("lets the database win where both stores hold a session", async () => {
    await writeStorage(join(data, "storage"), [
      { ...PLAIN, title: "old copy" },
      { ...PLAIN, id: "ses_old" },
    ]);
    await writeDatabase(db(), [PLAIN]);
    const refs = await scan(create());
    expect(refs.map((ref) => [ref.key, ref.title])).toEqual([
      ["ses_plain", "Plain"],
      ["ses_old", "Plain"],
    ]);
  });

  it("does not follow links out of the store", async () => {
    await writeStorage(join(home, "outside"), [PLAIN]);
    await mkdir(join(data, "storage"), { recursive: true });
    await symlink(join(home, "outside", "session"), join(data, "storage", "session"));
    await symlink(join(home, "outside", "message"), join(data, "storage", "message"));
    const refs = await scan(create());
    for (const ref of refs) await drain(create().read(ref, env));
    await writeStorage(join(data, "other"), [{ ...PLAIN, id: "ses_x" }]);
    await symlink(
      join(home, "outside", "session", "prj", "ses_plain.json"),
      join(data, "other", "session", "prj", "ses_plain.json"),
    );
    expect((await scan(create(join(data, "other")))).map((ref) => ref.key)).toEqual(["ses_x"]);
  });
});

describe("OpenCode: what a row means", () => {
  it("tells by the total whether reasoning is inside the output", () => {
    const cache = { read: 604, write: 0 };
    expect(toUsage({ total: 1114, input: 436, output: 74, reasoning: 24, cache }).output).toBe(74);
    expect(toUsage({ total: 1092, input: 418, output: 50, reasoning: 22, cache: { read: 602, write: 0 } }).output).toBe(
      72,
    );
    expect(toUsage({ input: 418, output: 50, reasoning: 22, cache }).output).toBe(50);
    expect(toUsage({ input: "7", output: -3, reasoning: Number.NaN, cache: null })).toEqual({
      input: 7,
      output: 0,
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
    });
  });

  it("D21: counts the replies a fork copied as inherited and names its origin", async () => {
    const fork: Session = {
      ...PLAIN,
      id: "ses_fork",
      at: T0 + 50_000,
      title: "Plain (fork #1)",
      messages: [
        ...PLAIN.messages.map((m) => ({
          ...m,
          id: `${m.id}f`,
          parts: (m.parts ?? []).map((p) => ({ ...p, id: `${p.id}f` })),
        })),
        user("msg_5", T0 + 50_100, "go on"),
        reply("msg_6", T0 + 50_200, [{ type: "text", text: "Done." }]),
      ],
    };
    await writeDatabase(db(), [PLAIN, fork]);
    const [plain, forked] = await readAll(create());
    expect(plain?.summary.inheritedUsage).toBeUndefined();
    expect(plain?.summary.forkedFrom).toBeUndefined();
    expect(forked?.summary).toMatchObject({
      usage: { m1: USAGE },
      inheritedUsage: { m1: twice(USAGE) },
      forkedFrom: "ses_plain",
    });
    expect(forked?.summary.parent).toBeUndefined();
    expect(forked?.summary.evidence).toMatchObject({ requests: 1, inheritedExcluded: 2 });
    expect(Object.keys(forked?.summary.slots ?? {})).toHaveLength(1);
  });

  it("gives a sub-agent its parent and its own tokens", async () => {
    await writeDatabase(db(), [
      PLAIN,
      { ...PLAIN, id: "ses_child", at: T0 + 10, parent: "ses_plain", messages: [reply("msg_c", T0 + 20, [])] },
    ]);
    const child = (await readAll(create())).find(({ ref }) => ref.key === "ses_child");
    expect(child?.ref.parent).toBe("ses_plain");
    expect(child?.summary).toMatchObject({ parent: "ses_plain", usage: { m1: USAGE } });
  });

  it("marks what was taken back, keeps its tokens, and reads notes, errors and unknown parts", async () => {
    const session: Session = {
      ...PLAIN,
      revert: { messageID: "msg_3" },
      messages: [
        ...PLAIN.messages,
        reply(
          "msg_4",
          T0 + 3000,
          [
            { type: "compaction", auto: true },
            {
              type: "tool",
              tool: "invalid",
              callID: "c",
              state: { status: "completed", input: { tool: "reed" }, output: "unknown tool" },
            },
            { type: "tool", tool: "edit", callID: "d", state: { status: "error", input: {}, error: "no match" } },
            { type: "hologram", text: "?" },
            { type: "retry", attempt: 2, error: { name: "APIError", data: { message: "overloaded" } } },
          ],
          { error: { name: "MessageAbortedError", data: { message: "stopped" } } },
        ),
        reply("msg_5", T0 + 4000, [{ type: "text", text: "what was said so far" }], { summary: true }),
      ],
    };
    await writeDatabase(db(), [session]);
    const [one] = await readAll(create());
    const notes = one?.events.filter((event) => event.kind === "note").map((event) => event.text);
    expect(notes).toEqual([
      "injected",
      "[file] a.txt",
      "Reverted: OpenCode hides what follows",
      "Conversation compacted automatically",
      "Retry 2: APIError: overloaded",
      "MessageAbortedError: stopped",
      "what was said so far",
    ]);
    const failed = one?.events
      .filter((event) => event.kind === "tool_result" && event.is_error)
      .map((event) => event.text);
    expect(failed).toEqual(["", "unknown tool", "no match"]);
    expect(one?.summary.skipped).toEqual({ lines: 0, unknown: { "part:hologram": 1 } });
    expect(one?.summary.usage.m1?.input).toBe(400);
  });
});

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
    expect(kindsOf(odd?.events ?? [])).toEqual({ tool_use: 1, tool_result: 1, note: 1 });
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
    expect(kindsOf(all[1]?.events ?? [])).toMatchObject({ user: 1, assistant: 2 });
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

  it("reports a file that is no database and goes on with the other roots", async () => {
    await mkdir(data, { recursive: true });
    await writeFile(db(), "this is not a database, but it is long enough to be looked at".repeat(20));
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
    const tail = await adapter.tail?.(refs[0] as SessionRef, undefined, env);
    expect(JSON.stringify([refs, await readAll(adapter), tail])).not.toContain("TRAP-SECRET");
  });
});

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
    const refs = await listSessions(db, path);
    counting = false;
    expect(refs.map(({ key }) => key).sort()).toEqual(["ses_1", "ses_2", "ses_plain"]);
    for (const ref of refs) expect(ref.version).toBe(sessionVersion(db, ref.key));
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
        const answer = await adapter.tail?.(ref as SessionRef, cursor, env);
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
      const fresh = await create().tail?.(ref as SessionRef, fourth.cursor, env);
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

describe("OpenCode: capabilities", () => {
  it("reads servers of both versions", () => {
    const { mcp, guard, skills } = create();
    const config = {
      mcp: {
        files: { type: "local", command: ["npx", "-y", "files"], environment: { A: "b", C: 1 }, enabled: false },
        web: { type: "remote", url: "https://example.org/mcp", headers: { X: "y" } },
        odd: 7,
        empty: { type: "local", command: [] },
      },
    };
    expect(mcp?.servers(config)).toEqual([
      {
        name: "files",
        path: ["mcp", "files"],
        transport: "stdio",
        command: "npx",
        args: ["-y", "files"],
        env: { A: "b", C: "1" },
        disabled: true,
      },
      {
        name: "web",
        path: ["mcp", "web"],
        transport: "http",
        url: "https://example.org/mcp",
        headers: { X: "y" },
      },
    ]);
    const second = { mcp: { servers: { web: { type: "remote", url: "https://example.org/mcp", disabled: true } } } };
    expect(mcp?.servers(second)).toEqual([
      {
        name: "web",
        path: ["mcp", "servers", "web"],
        transport: "http",
        url: "https://example.org/mcp",
        disabled: true,
      },
    ]);
    expect(mcp?.servers({})).toEqual([]);
    expect(guard?.settings(env)).toBe(join(home, ".config", "opencode", "plugin", "sessarc.js"));
    expect(skills?.dirs({ ...env, env: { XDG_CONFIG_HOME: "/x" } }).at(-1)).toEqual({
      path: join("/x", "opencode", "skills"),
      scope: "user",
    });
  });
});

describe.skipIf(!existsSync(join(shared, "EXPECTED.json")))(
  "OpenCode: logs written by the tool itself (shared fixtures)",
  async () => {
    interface Row {
      id: string;
      parent: string | null;
      title: string;
      cwd: string;
      parts: Record<string, number>;
      usage: Record<string, Record<string, number>>;
    }
    const text = existsSync(join(shared, "EXPECTED.json"))
      ? await readFile(join(shared, "EXPECTED.json"), "utf8")
      : "{}";
    const rows = Object.entries(JSON.parse(text) as Record<string, Row[]>).filter(([path]) =>
      path.startsWith("opencode/"),
    );
    it.each(rows)("%s", async (path, expected) => {
      const all = await readAll(create(join(shared, path)));
      expect(all.map(({ ref }) => ref.key).sort()).toEqual(expected.map((row) => row.id).sort());
      for (const row of expected) {
        const one = all.find(({ ref }) => ref.key === row.id);
        expect(one?.summary).toMatchObject({ title: row.title, cwd: row.cwd });
        expect(one?.summary.parent ?? null).toBe(row.parent);
        const total: Record<string, Record<string, number>> = {};
        for (const usage of [one?.summary.usage ?? {}, one?.summary.inheritedUsage ?? {}]) {
          for (const [model, tokens] of Object.entries(usage)) {
            total[model] ??= {};
            for (const [name, n] of Object.entries(tokens)) total[model][name] = (total[model]?.[name] ?? 0) + n;
          }
        }
        expect(total).toEqual(row.usage);
        const kinds = kindsOf(one?.events ?? []);
        expect((kinds.user ?? 0) + (kinds.assistant ?? 0) + (kinds.note ?? 0)).toBe(row.parts.text);
        expect([kinds.thinking, kinds.tool_use, kinds.tool_result]).toEqual(
          [row.parts.reasoning, row.parts.tool, row.parts.tool].map((n) => n ?? undefined),
        );
        expect(one?.summary.skipped).toEqual({ lines: 0, unknown: {} });
        if (row.title.includes("fork")) {
          expect(one?.summary.usage["mock-large"]).toMatchObject({ input: 490, output: 80, cacheRead: 610 });
          expect(one?.summary.forkedFrom).toBe("ses_e055e4f99ffe3kH0MNyjfjA4D0");
        } else expect(one?.summary.inheritedUsage).toBeUndefined();
      }
    });
  },
);
