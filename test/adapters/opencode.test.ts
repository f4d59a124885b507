import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testAdapter } from "sessarc/test";
import { afterAll, describe, expect, it } from "vitest";
import { toTokens } from "../../core/session/usage.ts";
import opencode from "../../plugins/opencode/index.ts";
import { toUsage } from "../../plugins/opencode/parse.ts";
import {
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
import { drain, env, home, readAll, scan } from "./_home.ts";
import { create, data, db, toKinds, twice, USAGE, useOpenCode } from "./_opencode.ts";
import { serversIn } from "./mcp-servers.ts";

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

useOpenCode();

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
      expect(toKinds(one?.events ?? [])).toEqual({
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
    const counted = (tokens: object) => toTokens(toUsage({ ...tokens })).output;
    expect(counted({ total: 1114, input: 436, output: 74, reasoning: 24, cache })).toBe(74);
    expect(counted({ total: 1092, input: 418, output: 50, reasoning: 22, cache: { read: 602, write: 0 } })).toBe(72);
    expect(counted({ input: 418, output: 50, reasoning: 22, cache })).toBe(50);
    expect(toTokens(toUsage({ input: "7", output: -3, reasoning: Number.NaN, cache: null }))).toEqual({
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
    expect(serversIn(mcp, config)).toEqual([
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
    expect(serversIn(mcp, second)).toEqual([
      {
        name: "web",
        path: ["mcp", "servers", "web"],
        transport: "http",
        url: "https://example.org/mcp",
        disabled: true,
      },
    ]);
    expect(serversIn(mcp, {})).toEqual([]);
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
        const kinds = toKinds(one?.events ?? []);
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
