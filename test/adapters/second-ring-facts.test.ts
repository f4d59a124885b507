/** What the logs of the second ring say beyond the contract: forks, figures beside the log, several stores. */
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import grok from "sessarc/plugins/grok";
import kimi from "sessarc/plugins/kimi";
import pi from "sessarc/plugins/pi";
import qwen from "sessarc/plugins/qwen";
import { beforeEach, describe, expect, it } from "vitest";
import { loadSqlJs } from "../../core/storage/sqljs.ts";
import { env, home, readAll, scan, shape, useHome } from "./_home.ts";

useHome("second-ring");

const fixtures = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const roots = (adapter: Adapter, variables: Record<string, string> = {}) =>
  adapter.roots({ home: "/h", platform: "linux", env: variables });
const session = async (adapter: Adapter, key: string) => {
  const found = (await readAll(adapter)).find(({ ref }) => ref.key === key);
  if (!found) throw new Error(`no session ${key}`);
  return found;
};

async function write(path: string, ...rows: object[]): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

describe("pi", () => {
  const [first, fork] = [1, 2].map((n) => `0199a000-0000-7000-8000-00000000000${n}`);

  beforeEach(() => cp(fixtures("pi"), home, { recursive: true }));

  it("keeps the cost that replies name, and names the session", async () => {
    const { summary, events } = await session(pi({ dir: home }).adapter, first ?? "");
    expect(summary).toMatchObject({ title: "Fruit", cwd: "/home/ana/shop", costUSD: 0.01 });
    expect(shape(events).filter(([kind]) => kind === "note")).toEqual([
      ["note", "! date\ntoday"],
      ["note", "The shop has fruit."],
    ]);
  });

  it("sets replies apart that a fork copied", async () => {
    const { summary } = await session(pi({ dir: home }).adapter, fork ?? "");
    expect(summary.forkedFrom).toBe(first);
    expect(summary.usage["acme-large"]?.input).toBe(40);
    expect(summary.inheritedUsage?.["acme-large"]?.input).toBe(100);
    // Both logs name the copied reply alike, so that it is counted once across them.
    const original = await session(pi({ dir: home }).adapter, first ?? "");
    expect(summary.replies?.[0]?.key).toBe(original.summary.replies?.[0]?.key);
  });

  it("reads the places of its relatives", () => {
    expect(roots(pi().adapter, { PI_CODING_AGENT_DIR: "/p" })).toEqual(["/p/sessions"]);
    expect(roots(pi({ variant: "prime" }).adapter)).toEqual(["/h/.prime/agent/sessions"]);
    expect(roots(pi({ variant: "omp" }).adapter, { XDG_DATA_HOME: "/x" })).toEqual([
      "/h/.omp/agent/sessions",
      "/x/omp/sessions",
    ]);
    expect(roots(pi({ variant: "openclaw" }).adapter, { OPENCLAW_STATE_DIR: "/o" })).toEqual(["/o/agents"]);
  });
});

describe("OpenClaw", () => {
  const message = (id: string, role: string, content: string) => ({
    type: "message",
    id,
    timestamp: "2026-10-01T08:00:01.000Z",
    message: { role, content, ...(role === "assistant" && { model: "acme", usage: { input: 5, output: 2 } }) },
  });
  const rows = [
    { type: "session", version: 4, id: "s1", timestamp: "2026-10-01T08:00:00.000Z", cwd: "/home/ana/shop" },
    message("m1", "user", "What is in the shop?"),
    message("m2", "assistant", "Apples."),
  ];

  it("takes a session from the database and not from the log that it was made of", async () => {
    await write("agents/main/sessions/s1.jsonl", ...rows.slice(0, 2));
    await write("agents/main/sessions/s1.checkpoint.1.jsonl", ...rows);
    await write("agents/main/sessions/s2.jsonl", { ...rows[0], id: "s2" }, message("m9", "user", "Hello"));
    const sql = await loadSqlJs();
    const db = new sql.Database();
    db.run(
      "create table transcript_events (session_id text, seq integer, event_json text, created_at integer, event_zstd blob)",
    );
    for (const [seq, row] of [...rows, undefined].entries())
      db.run("insert into transcript_events values ('s1', ?, ?, 1790841600000, ?)", [
        seq,
        row ? JSON.stringify(row) : null,
        row ? null : "z",
      ]);
    await mkdir(join(home, "agents/main/agent"));
    await writeFile(join(home, "agents/main/agent/openclaw-agent.sqlite"), db.export());
    db.close();

    const { adapter } = pi({ variant: "openclaw", dir: home });
    const all = await readAll(adapter);
    expect(all.map(({ ref }) => ref.key)).toEqual(["s1", "s2"]);
    const [first] = all;
    expect(shape(first?.events ?? [])).toEqual([
      ["user", "What is in the shop?"],
      ["assistant", "Apples."],
    ]);
    expect(first?.summary.usage.acme).toMatchObject({ input: 5, output: 2 });
    expect(first?.summary.skipped?.lines).toBe(1); // compressed
  });

  it("lists the sessions of other agents when a database is damaged", async () => {
    await write("agents/main/sessions/s2.jsonl", { ...rows[0], id: "s2" });
    await mkdir(join(home, "agents/other/agent"), { recursive: true });
    await writeFile(join(home, "agents/other/agent/openclaw-agent.sqlite"), "no database at all".repeat(100));
    const { adapter } = pi({ variant: "openclaw", dir: home });
    const found: string[] = [];
    const all = async () => {
      for await (const ref of adapter.scan(join(home, "agents"), env)) found.push(ref.key);
    };
    await expect(all()).rejects.toMatchObject({ code: "SOURCE_DAMAGED" });
    expect(found).toEqual(["s2"]);
  });
});

describe("Grok", () => {
  const dir = join("sessions", "%2Fhome%2Fana%2Fshop", "0199b000-0000-7000-8000-000000000001");

  beforeEach(() => cp(fixtures("grok"), home, { recursive: true }));

  it("sets turns apart that a fork carries along, and counts what is in no turn", async () => {
    const path = join(home, dir, "summary.json");
    const summary = JSON.parse(await readFile(path, "utf8"));
    await writeFile(
      path,
      JSON.stringify({ ...summary, parent_session_id: "0", forked_at: "2026-10-01T08:00:00.700Z" }),
    );
    const { summary: read } = await session(grok({ dir: home }).adapter, "0199b000-0000-7000-8000-000000000001");
    expect(read.forkedFrom).toBe("0");
    expect(read.inheritedUsage?.["acme-large"]).toMatchObject({ input: 100, output: 30, cacheRead: 100 });
    expect(read.usage["acme-large"]).toMatchObject({ input: 20, output: 5, cacheRead: 30 });
    expect(read.evidence?.requests).toBe(1);
  });

  it("takes the figures of a sub-agent that ended within a turn out of it, with and without a file of tokens", async () => {
    const child = "0199b000-0000-7000-8000-000000000002";
    const counts = { inputTokens: 110, outputTokens: 10, cachedReadTokens: 20, modelCalls: 1 };
    const usage = { sessionId: child, session: { ...counts, modelUsage: { "acme-large": counts } }, turns: [] };
    await writeFile(join(home, dir, "..", child, "usage.json"), JSON.stringify(usage));
    const path = join(home, dir, "updates.jsonl");
    const rows = (await readFile(path, "utf8")).split("\n");
    const finished = { params: { update: { sessionUpdate: "subagent_finished", child_session_id: child } } };
    const at = rows.findIndex((row) => row.includes("turn_completed"));
    await writeFile(path, rows.toSpliced(at, 0, JSON.stringify(finished)).join("\n"));
    const key = "0199b000-0000-7000-8000-000000000001";
    const { summary } = await session(grok({ dir: home }).adapter, key);
    // 100 + 20 beyond the turn, less the child's 90.
    expect(summary.usage["acme-large"]).toMatchObject({ input: 30, output: 25, cacheRead: 110 });
    expect(summary.evidence?.requests).toBe(2);
    await rm(join(home, dir, "usage.json"));
    const { summary: logged } = await session(grok({ dir: home }).adapter, key);
    expect(logged.usage["acme-large"]).toMatchObject({ input: 10, output: 20, cacheRead: 80 });
  });

  it("counts the log's turns where there is no file of tokens", async () => {
    await rm(join(home, dir, "usage.json"));
    const { summary } = await session(grok({ dir: home }).adapter, "0199b000-0000-7000-8000-000000000001");
    expect(summary.usage["acme-large"]).toMatchObject({ input: 100, output: 30, cacheRead: 100 });
  });

  it("is imported again when the file of tokens changes", async () => {
    const versions = async () => (await scan(grok({ dir: home }).adapter)).map((ref) => ref.version);
    const before = await versions();
    await writeFile(join(home, dir, "usage.json"), "{}");
    expect(await versions()).not.toEqual(before);
  });
});

describe("Qwen Code", () => {
  it("counts a sub-agent in its parent's telemetry only where it has no log", async () => {
    await cp(fixtures("qwen"), home, { recursive: true });
    const key = "0199c000-0000-7000-8000-000000000001";
    expect((await session(qwen({ dir: home }).adapter, key)).summary.usage["acme-large"]?.input).toBe(140);
    await rm(join(home, "projects", "-home-ana-shop", "subagents"), { recursive: true });
    expect((await session(qwen({ dir: home }).adapter, key)).summary.usage["acme-large"]?.input).toBe(240);
  });
});

describe("Kimi", () => {
  it("takes messages from the context where the wire log holds none, and says that the folder is unknown", async () => {
    await write(
      ".kimi/sessions/0123/s1/wire.jsonl",
      { type: "hello" },
      { timestamp: 1780000000, message: { type: "TurnBegin" } },
    );
    await write(
      ".kimi/sessions/0123/s1/context.jsonl",
      { role: "user", content: "Hello" },
      { role: "_usage", token_count: { input_tokens: 12 } },
      { role: "assistant", content: [{ type: "text", text: "Hi." }] },
    );
    const { events, summary } = await session(kimi({ dir: home }).adapter, "s1");
    expect(shape(events)).toEqual([
      ["user", "Hello"],
      ["assistant", "Hi."],
    ]);
    expect(summary).toMatchObject({ usage: {}, virtualProject: { key: "0123" } });
    expect(summary.startedAt).toBe("2026-05-28T20:26:40.000Z");
  });

  it("leaves out sessions of the desktop program's own", async () => {
    const log = { type: "turn.prompt", input: [{ type: "text", text: "Hello" }], origin: { kind: "user" } };
    await write("sessions/wd_x/conv-1/agents/main/wire.jsonl", log);
    await write("sessions/wd_x/title-1/agents/main/wire.jsonl", log);
    const refs = await scan(kimi({ variant: "kimi-work", dir: home }).adapter);
    expect(refs.map(({ key }) => key)).toEqual(["conv-1"]);
  });
});

describe("relatives of Claude Code and Codex", () => {
  it("reads Codex's log of TRAE and Open Interpreter", async () => {
    await cp(fixtures("codex"), join(home, ".trae", "cli"), { recursive: true });
    const { adapter } = codex({ variant: "traex" });
    const refs = await scan(adapter);
    expect(refs.length).toBeGreaterThan(0);
    expect(new Set(refs.map(({ tool }) => tool))).toEqual(new Set(["traex"]));
    expect(adapter.resume?.({ key: "k", path: "" })).toEqual(["traex", "resume", "k"]);
    expect([adapter.mcp, adapter.guard, adapter.skills]).toEqual([undefined, undefined, undefined]);
    const added = await scan(codex({ variant: "traex", dir: home }).adapter);
    expect(added.map(({ key }) => key)).toEqual(refs.map(({ key }) => key));
    const folders = roots(codex({ variant: "open-interpreter" }).adapter, { INTERPRETER_HOME: "/i" });
    expect(folders).toEqual(["/i/sessions", "/i/archived_sessions"]);
  });

  it("reads Claude Code's log of OpenClaude, CodeBuddy and Cowork, whose title is beside the work's home", async () => {
    const own = await readAll(claudeCode({ dir: fixtures("claude-code") }).adapter);
    await cp(fixtures("claude-code"), join(home, ".openclaude"), { recursive: true });
    const relative = await readAll(claudeCode({ variant: "openclaude" }).adapter);
    expect(relative.map(({ events }) => events)).toEqual(own.map(({ events }) => events));
    expect(relative[0]?.ref.tool).toBe("openclaude");
    expect(roots(claudeCode({ variant: "codebuddy" }).adapter)).toEqual(["/h/.codebuddy/projects"]);

    const work = join(home, ".config", "Claude", "local-agent-mode-sessions", "account", "local_1");
    await cp(fixtures("claude-code"), join(work, ".claude"), { recursive: true });
    await writeFile(`${work}.json`, JSON.stringify({ title: "Sort the receipts" }));
    const cowork = await readAll(claudeCode({ variant: "cowork" }).adapter);
    expect(cowork.map(({ events }) => events)).toEqual(own.map(({ events }) => events));
    expect(cowork[0]?.summary.title).toBe("Sort the receipts");
  });
});
