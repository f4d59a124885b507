/** Sessions whose logs were deleted before they were archived: their prompts are back, and are in no figure. */
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeEach, describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { letters } from "../security/_samples.ts";

let home: string;
const DAY = 86_400_000;
const START = Date.now() - 40 * DAY;
const uuid = (n: number) => `7d0e0000-0000-4000-8000-00000000000${n}`;
const toId = (n: number) => `claude-code:${uuid(n)}`;
const history = () => join(home, ".claude/history.jsonl");
const log = (n: number) => join(home, `.claude/projects/-w-app/${uuid(n)}.jsonl`);

const typed = (n: number, text: string, at = START, more: object = {}) =>
  `${JSON.stringify({ display: text, pastedContents: {}, timestamp: at, project: "/w/app", sessionId: uuid(n), ...more })}\n`;
const row = (n: number, text: string, at = START) =>
  `${JSON.stringify({
    type: "user",
    uuid: `u${n}-${text}`,
    sessionId: uuid(n),
    timestamp: new Date(at).toISOString(),
    cwd: "/w/app",
    message: { role: "user", content: text },
  })}\n`;
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
const start = () => createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
const importAll = (t: TestKernel) => t.send("POST", "/api/import", { all: true });

interface Traces {
  sessions: number;
  prompts: number;
  traces: { id: string; title: string | null; cwd: string | null; startedAt: string | null; prompts: number }[];
}
interface Search {
  total: { sessions: number };
  traces: { total: number; results: { trace: { id: string }; matches: { snippet: string }[] }[] } | null;
}
const list = (t: TestKernel) => t.json<Traces>("/api/traces");
const search = (t: TestKernel, q: string, more = "") => t.json<Search>(`/api/search?q=${encodeURIComponent(q)}${more}`);

beforeEach(async () => {
  home = await makeTempDir();
});

describe("traces of deleted sessions", () => {
  it("have every typed prompt with its time and folder, newest session first", async () => {
    await put(
      history(),
      typed(1, "fix the lexer") + typed(1, "/clear", START + 1) + typed(2, "write a poem", START + 9),
    );
    const t = await start();
    expect(await list(t)).toMatchObject({
      sessions: 2,
      prompts: 3,
      traces: [
        { id: toId(2), title: "write a poem" },
        { id: toId(1), title: "fix the lexer", cwd: "/w/app", prompts: 2, startedAt: new Date(START).toISOString() },
      ],
    });
    const { messages } = await t.json<{ messages: object[] }>(`/api/traces/${encodeURIComponent(toId(1))}`);
    expect(messages).toEqual([
      { seq: 0, at: new Date(START).toISOString(), text: "fix the lexer" },
      { seq: 1, at: new Date(START + 1).toISOString(), text: "/clear" },
    ]);
  });

  it("are found by a search beside its sessions, and alone by kind:trace", async () => {
    await put(history(), typed(1, "fix the lexer") + typed(2, "unlike"));
    await put(log(3), row(3, "the lexer again"));
    const t = await start();
    await importAll(t);
    const both = await search(t, "LEXER");
    expect(both.total.sessions).toBe(1);
    expect(both.traces).toMatchObject({
      total: 1,
      results: [{ trace: { id: toId(1) }, matches: [{ snippet: "fix the lexer" }] }],
    });
    expect(await search(t, "kind:trace lexer")).toMatchObject({ total: { sessions: 0 }, traces: { total: 1 } });
    expect(await search(t, "kind:trace")).toMatchObject({ traces: { total: 2 } });
    expect(await search(t, "lexer kind:assistant")).toMatchObject({ traces: null });
    expect(await search(t, "lexer -fix")).toMatchObject({ traces: { total: 0 } });
    expect(await search(t, "lexer tool:codex")).toMatchObject({ traces: { total: 0 } });
  });

  it("are in no total, list or figure", async () => {
    await put(log(3), row(3, "one"));
    const figures = async (t: TestKernel) => ({
      sessions: await t.json("/api/sessions"),
      usage: await t.json("/api/usage"),
      projects: await t.json("/api/projects?git=0"),
      storage: (await t.json<{ storage: { sessions: number; messages: number } }>("/api/status")).storage.sessions,
    });
    const t = await start();
    await importAll(t);
    const before = await figures(t);
    await put(history(), typed(1, "fix the lexer"));
    expect((await list(t)).sessions).toBe(1);
    expect(await figures(t)).toEqual(before);
  });

  it("go into the session when its log turns up, without doubles", async () => {
    await put(history(), typed(1, "fix the lexer"));
    const t = await start();
    expect((await list(t)).sessions).toBe(1);
    await put(log(1), row(1, "fix the lexer"));
    await importAll(t);
    expect((await list(t)).sessions).toBe(0);
    expect(await search(t, "lexer")).toMatchObject({ total: { sessions: 1 }, traces: { total: 0 } });
  });

  it("are none of a session that is only not imported, was deleted by the user, is of today, or was nothing but commands", async () => {
    await put(log(1), row(1, "still there"));
    await put(log(2), row(2, "deleted by me"));
    const t = await start();
    await importAll(t);
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(toId(2))}`);
    await rm(log(2));
    await put(log(3), row(3, "not imported"));
    await put(
      history(),
      [typed(1, "still there"), typed(2, "deleted by me"), typed(3, "not imported")].join("") +
        typed(4, "just now", Date.now()) +
        typed(5, "/exit"),
    );
    expect((await list(t)).traces).toEqual([]);
  });

  it("read of a list that grew what is new, also a line that was half-written", async () => {
    const line = typed(2, "write a poem", START + 5);
    await put(history(), typed(1, "fix the lexer") + line.slice(0, 30));
    const t = await start();
    expect((await list(t)).prompts).toBe(1);
    await appendFile(history(), line.slice(30));
    expect((await list(t)).prompts).toBe(2);
    await put(history(), typed(2, "write a poem", START + 5));
    expect((await list(t)).prompts).toBe(2);
  });

  it("have pasted texts in their place, from the row or from the cache beside it", async () => {
    await put(join(home, ".claude/paste-cache/abc123.txt"), "long text");
    await put(
      history(),
      typed(1, "see [Pasted text #1 +2 lines] and [Pasted text #2] and [Pasted text #3]", START, {
        pastedContents: { 1: { content: "inline" }, 2: { contentHash: "abc123" }, 3: { contentHash: "../../x" } },
      }),
    );
    const t = await start();
    expect((await list(t)).traces[0]?.title).toBe("see inline and long text and [Pasted text #3]");
  });

  it("are read of Codex and Gemini CLI, too", async () => {
    await put(
      join(home, ".codex/history.jsonl"),
      `${JSON.stringify({ session_id: uuid(6), ts: Math.floor(START / 1000), text: "fix the build" })}\n`,
    );
    await put(
      join(home, ".codex/session_index.jsonl"),
      `${JSON.stringify({ id: uuid(6), thread_name: "The build" })}\n`,
    );
    await put(join(home, ".gemini/tmp/app/.project_root"), "/w/app");
    await put(
      join(home, ".gemini/tmp/app/logs.json"),
      JSON.stringify([
        {
          sessionId: uuid(7),
          messageId: 0,
          type: "user",
          message: "draw a map",
          timestamp: new Date(START).toISOString(),
        },
      ]),
    );
    const t = await start();
    expect((await list(t)).traces.map(({ id, title, cwd }) => [id, title, cwd]).sort()).toEqual([
      [`codex:${uuid(6)}`, "The build", null],
      [`gemini-cli:${uuid(7)}`, "draw a map", "/w/app"],
    ]);
  });

  it("are read of Codex's database, whose first prompt counts where history.jsonl has none", async () => {
    const base = join(home, ".codex");
    const line = { session_id: uuid(6), ts: Math.floor(START / 1000), text: "fix the build" };
    await put(join(base, "history.jsonl"), `${JSON.stringify(line)}\n`);
    const { Database } = await (await import("sql.js")).default();
    const db = new Database();
    db.run(
      "create table threads (id text, title text, first_user_message text, cwd text, created_at integer, source text)",
    );
    const at = Math.floor(START / 1000) - 5;
    const threads = [
      [uuid(6), "Build", "fix the build", "/w/app", at, "cli"],
      [uuid(7), "Map", "draw a map\nwith hills", "/w/map", at, "vscode"],
      [uuid(8), "Inner", "do as the plan is", "/w/map", at, '{"subagent":"review"}'],
      [uuid(9), "Young", "just typed", "/w/map", Math.floor(Date.now() / 1000), "cli"],
    ];
    for (const thread of threads) db.run("insert into threads values (?, ?, ?, ?, ?, ?)", thread);
    await writeFile(join(base, "state_5.sqlite"), db.export());
    db.close();
    const t = await start();
    const { traces } = await list(t);
    expect(traces.map(({ id, title, cwd, prompts }) => [id, title, cwd, prompts]).sort()).toEqual([
      [`codex:${uuid(6)}`, "Build", "/w/app", 1],
      [`codex:${uuid(7)}`, "Map", "/w/map", 1],
    ]);
  });

  it("are read of Copilot CLI's turns, and of the lists of Qwen Code and Antigravity", async () => {
    const iso = new Date(START).toISOString();
    const { Database } = await (await import("sql.js")).default();
    const db = new Database();
    db.run("create table sessions (id text, cwd text, summary text)");
    db.run("create table turns (session_id text, turn_index integer, user_message text, timestamp text)");
    db.run("insert into sessions values (?, ?, ?)", [uuid(1), "/w/app", "Sails"]);
    db.run("insert into turns values (?, 0, ?, ?), (?, 1, null, ?)", [uuid(1), "set the sails", iso, uuid(1), iso]);
    await put(join(home, ".copilot/session-store.db"), "");
    await writeFile(join(home, ".copilot/session-store.db"), db.export());
    db.close();
    const qwen = { sessionId: uuid(2), messageId: 0, timestamp: iso, type: "user", message: "haul the nets" };
    const other = { ...qwen, type: "model_switch", message: "{}" };
    await put(join(home, ".qwen/tmp/0f1e/logs.json"), JSON.stringify([qwen, other]));
    const line = { display: "drop the anchor", timestamp: START, workspace: "file:///w/app", conversationId: uuid(3) };
    await put(
      join(home, ".gemini/antigravity-cli/history.jsonl"),
      `${JSON.stringify(line)}\n${JSON.stringify({ display: "of no conversation", timestamp: START })}\n`,
    );
    const t = await start();
    const { traces } = await list(t);
    expect(traces.map(({ id, title, cwd, startedAt, prompts }) => [id, title, cwd, startedAt, prompts]).sort()).toEqual(
      [
        [`antigravity:${uuid(3)}`, "drop the anchor", "/w/app", iso, 1],
        [`copilot:${uuid(1)}`, "Sails", "/w/app", iso, 1],
        [`qwen:${uuid(2)}`, "haul the nets", null, iso, 1],
      ],
    );
  });

  it("have beside them the days that only Claude Code's own statistics know, in no figure", async () => {
    const stats = {
      version: 1,
      lastComputedDate: "2026-01-06",
      dailyActivity: [
        { date: "2026-01-03", messageCount: 120, sessionCount: 4, toolCallCount: 40 },
        { date: "2026-01-04", messageCount: 30, sessionCount: 1, toolCallCount: 5 },
        { date: "2026-01-05", messageCount: 0, sessionCount: 0, toolCallCount: 0 },
        { date: "../..", messageCount: 1, sessionCount: 1 },
        ...[null, "x", { messageCount: 1 }],
      ],
      dailyModelTokens: [{ date: "2026-01-03", tokensByModel: { "claude-opus-4-5": 7_000, "claude-haiku-4-5": 500 } }],
    };
    await put(join(home, ".claude/stats-cache.json"), JSON.stringify(stats));
    await put(log(1), row(1, "here", new Date(2026, 0, 4, 12).getTime()));
    const t = await start();
    await importAll(t);
    const third = { tool: "claude-code", day: "2026-01-03", sessions: 4, messages: 120, calls: 40, tokens: 7_500 };
    expect(await t.json("/api/traces/days")).toEqual({ days: [third] });
    expect(await t.json("/api/traces/days?from=2026-01-04")).toEqual({ days: [] });
    expect(await t.json("/api/usage")).toMatchObject({ totals: { sessions: 1 } });
    await put(join(home, ".claude/stats-cache.json"), '{"dailyActivity": 5');
    expect(await t.json("/api/traces/days")).toEqual({ days: [] });
    expect((await t.fetch("/api/traces/days?from=yesterday")).status).toBe(400);
  });

  it("survive garbage in a list, hide secrets on request, and are forgotten for good", async () => {
    const secret = `ghp_${letters(36, 61)}`;
    await put(
      history(),
      `not json\n[1]\n{"sessionId":"../../etc","display":"x"}\n\u0000\n${typed(1, `my token is ${secret}`)}${JSON.stringify({ sessionId: uuid(2), display: { a: 1 } })}\n`,
    );
    const t = await start();
    expect((await list(t)).traces.map(({ id }) => id)).toEqual([toId(1)]);
    const path = `/api/traces/${encodeURIComponent(toId(1))}`;
    expect(await (await t.fetch(`${path}?redacted=1`)).text()).not.toContain(secret);
    expect(JSON.stringify(await search(t, "token", "&redacted=1"))).not.toContain(secret);
    await t.send("DELETE", path);
    await appendFile(history(), typed(1, "once more"));
    expect((await list(t)).traces).toEqual([]);
    expect((await t.fetch(path)).status).toBe(404);
  });

  it("are shown by import, rescue, search and show", async () => {
    await put(history(), typed(1, "fix the lexer") + typed(1, "and test it", START + 1));
    expect((await runCommand(["import"], home)).stderr).toContain(
      "1 session was deleted before; 2 of their prompts are left",
    );
    const rescue = await runCommand(["rescue"], home);
    expect(rescue.stdout).toContain("2 of their prompts are left");
    expect(rescue.stdout).toContain(toId(1));
    const found = await runCommand(["search", "lexer"], home);
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining(toId(1))]);
    expect((await runCommand(["show", toId(1)], home)).stdout).toContain("and test it");
  });
});
