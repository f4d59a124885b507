import { appendFile, copyFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse as parseToml } from "@decimalturn/toml-patch";
import type { SessionEvent } from "sessarc";
import archive from "sessarc/plugins/archive";
import codex from "sessarc/plugins/codex";
import { describe, expect, it } from "vitest";
import { type Bench, drainTail, essence, withBench } from "../adapter/bench.ts";
import { testAdapter } from "../adapter.ts";
import { createTestKernel } from "../kernel.ts";
import { serversIn } from "./mcp-servers.ts";

const fixtures = fileURLToPath(new URL("../fixtures/codex", import.meta.url));
const plugin = (dir: string) => codex({ dir });
const bench = (work: (bench: Bench) => Promise<void>) => withBench({ plugin, fixtures }, work);
const thread = (number: number) => `019a4300-0000-7000-8000-00000000000${number}`;

async function readKey(bench: Bench, key: string) {
  const ref = (await bench.scan()).find((found) => found.key === key);
  if (!ref) throw new Error(`no session ${key}`);
  return { ref, ...(await bench.read(ref)) };
}
const texts = (events: SessionEvent[]) => events.map((event) => `${event.kind}: ${event.text}`);
const tokens = (input: number, output: number, cacheRead: number, cacheWrite5m = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h: 0,
});

/** A zstandard frame of raw blocks: what a compressor may write too. */
function toZstd(bytes: Buffer): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])]; // magic, no options, window of 2 MB
  for (let at = 0; at < bytes.length; at += 65536) {
    const part = bytes.subarray(at, at + 65536);
    const header = (part.length << 3) | (at + 65536 >= bytes.length ? 1 : 0);
    parts.push(Buffer.from([header & 255, (header >> 8) & 255, (header >> 16) & 255]), part);
  }
  return Buffer.concat(parts);
}

const variable = (name: string) => `\${${name}}`;

describe("adapters: codex", () => {
  testAdapter({
    plugin,
    fixtures,
    expect: { sessions: 7, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] },
  });

  it("builds events from items and takes nothing twice", () =>
    bench(async (bench) => {
      const { events, summary } = await readKey(bench, thread(0));
      expect(texts(events)).toEqual([
        "note: Rules of the sandbox",
        "note: <environment_context>x</environment_context>",
        "user: List the files",
        "thinking: List them",
        "tool_use: ",
        "tool_result: Chunk ID: 1\nWall time: 0.1 seconds\nOutput:\nls: nothing",
        "tool_use: ",
        "tool_result: Done",
        "note: What was said so far",
        "assistant: There are none.",
        "note: Rolled back 1 turns",
        "note: Turn aborted: interrupted",
      ]);
      expect(events[4]).toMatchObject({ tool_name: "exec_command", tool_input: { cmd: "ls nothing" } });
      expect(events[5]).toMatchObject({ tool_name: "exec_command", tool_use_id: "c1", is_error: true });
      expect(events[6]?.tool_input).toBe("*** Begin Patch\n*** End Patch");
      expect(events[7]?.is_error).toBe(false);
      expect(summary.skipped?.unknown).toEqual({ from_the_future: 1 });
      expect(summary.gitRemote).toBe("https://example.com/acme/app.git");
    }));

  it("a message without a type, results that a guard blocked, and what is sealed between agents", () =>
    bench(async (bench) => {
      const { ref } = await readKey(bench, thread(0));
      const item = (payload: object) =>
        `${JSON.stringify({ timestamp: "2026-11-02T10:09:00Z", type: "response_item", payload })}\n`;
      const content = [{ type: "input_text", text: "Message Type: NEW_TASK\nTask name: /root/a\nPayload:\n" }];
      const sealed = { type: "encrypted_content", encrypted_content: `gAAAAA${"x".repeat(80)}` };
      const rows = [
        { role: "user", content: [{ type: "input_text", text: "Plain" }] },
        { type: "function_call", name: "exec_command", arguments: "{}", call_id: "b1" },
        { type: "function_call_output", call_id: "b1", output: "Command blocked by PreToolUse hook: a secret" },
        { type: "agent_message", content: [...content, sealed] },
        { type: "agent_message", content: [{ type: "input_text", text: "Message Type: FINAL_ANSWER\nPayload:\nok" }] },
      ];
      await appendFile(ref.path, rows.map(item).join(""));
      const { events } = await bench.read(ref);
      expect(texts(events.slice(-5))).toEqual([
        "user: Plain",
        "tool_use: ",
        "tool_result: Command blocked by PreToolUse hook: a secret",
        "user: Message Type: NEW_TASK\nTask name: /root/a\nPayload:",
        "note: Message Type: FINAL_ANSWER\nPayload:\nok",
      ]);
      expect(events.at(-3)?.is_error).toBe(true);
    }));

  it("D1: counts usage records once and never adds token counts to them", () =>
    bench(async (bench) => {
      const { summary } = await readKey(bench, thread(0));
      expect(summary.usage).toEqual({ "gpt-5.2-codex": tokens(800, 90, 1300, 100) });
      expect(summary.evidence).toMatchObject({ requests: 2, duplicatesFolded: 1 });
    }));

  it("D21: a paginated fork owns what it added, not its parent's total", () =>
    bench(async (bench) => {
      const { summary, events } = await readKey(bench, thread(1));
      expect(summary.usage).toEqual({ "gpt-5.2-codex": tokens(400, 30, 100) });
      expect(summary.forkedFrom).toBe(thread(0));
      expect(texts(events)).toEqual(["user: Forked question", "assistant: Forked answer"]);
    }));

  it("D21: a sub-agent leaves its parent's context to the parent", () =>
    bench(async (bench) => {
      const { summary, events } = await readKey(bench, thread(2));
      const parent = await readKey(bench, thread(0));
      expect(summary.parent).toBe(thread(0));
      expect(texts(events)).toEqual(["user: Count them", "assistant: Zero."]);
      expect(summary.usage).toEqual({ "gpt-5-mini": tokens(50, 5, 0) });
      expect(Object.values(summary.inheritedUsage ?? {})).toEqual([tokens(300, 70, 600, 100)]);
      const copied = summary.replies?.find((reply) => reply.inherited);
      expect(parent.summary.replies?.map((reply) => reply.key)).toContain(copied?.key);
    }));

  it("D22: a cumulative counter is not summed, repeats count once, a missing last is the growth", () =>
    bench(async (bench) => {
      const { summary, events } = await readKey(bench, thread(3));
      expect(summary.usage).toEqual({ "gpt-5-codex": tokens(160, 25, 90) });
      expect(summary.evidence?.requests).toBe(2);
      expect(summary.title).toBe("Greeting");
      expect(texts(events)).toEqual([
        "note: <environment_context>y</environment_context>",
        "note: # Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:",
        "user: Say hi",
        "thinking: Greet",
        "tool_use: ",
        "tool_result: a.ts\n",
        "assistant: Hi.",
      ]);
      expect(events[5]?.is_error).toBe(true);
    }));

  it("D21: a legacy fork's copied lines are the parent's", () =>
    bench(async (bench) => {
      const { summary, events } = await readKey(bench, thread(4));
      expect(texts(events)).toEqual(["user: Again", "assistant: Hi again."]);
      expect(summary.usage).toEqual({ "gpt-5-codex": tokens(140, 5, 10) });
      expect(summary.inheritedUsage).toEqual({ "gpt-5-codex": tokens(160, 25, 90) });
      expect(summary.forkedFrom).toBe(thread(3));
    }));

  it("falls back to event twins where a file has no items", () =>
    bench(async (bench) => {
      const { events } = await readKey(bench, thread(5));
      expect(texts(events)).toEqual(["user: Only events", "thinking: Think", "assistant: Yes."]);
    }));

  it("reads unwrapped rows of early versions and takes the id from the first line", () =>
    bench(async (bench) => {
      const { events, summary } = await readKey(bench, "old-thread");
      expect(texts(events)).toEqual([
        "user: Bare prompt",
        "tool_use: ",
        "tool_result: Exit code: 0\nok",
        "assistant: Bare answer",
      ]);
      expect(events[1]?.tool_input).toBe("not json");
      expect(events[2]?.is_error).toBe(false);
      expect(summary).toMatchObject({ gitBranch: "dev", startedAt: "2025-06-01T08:00:00.000Z" });
      expect(summary.skipped?.unknown).toEqual({});
    }));

  it("reads a compressed log like the plain one, and prefers the plain one", () =>
    bench(async (bench) => {
      const plain = await readKey(bench, thread(0));
      const packed = `${plain.ref.path}.zst`;
      const bytes = await readFile(plain.ref.path);
      // Longer than one block, so that lines cross blocks.
      const filler = Buffer.from(`{"type":"world_state","payload":"${"é".repeat(70_000)}"}\n`);
      await writeFile(packed, toZstd(Buffer.concat([filler, bytes])));
      const both = await readKey(bench, thread(0));
      expect(both.ref.path).toBe(plain.ref.path);
      expect(both.ref.companions).toEqual([packed]);
      await rm(plain.ref.path);
      const again = await readKey(bench, thread(0));
      expect(again.ref.path).toBe(packed);
      expect(essence(again)).toEqual(essence(plain));
      const tail = await drainTail(bench.adapter.tail(again.ref, undefined, bench.env));
      expect(tail?.events).toEqual(again.events);
      const next = await drainTail(bench.adapter.tail(again.ref, tail?.cursor, bench.env));
      expect(next).toMatchObject({ events: [], restarted: false });
    }));

  it("counts a damaged compressed log as a bad line and keeps what came before", () =>
    bench(async (bench) => {
      const { ref } = await readKey(bench, thread(3));
      const packed = toZstd(await readFile(ref.path));
      await writeFile(`${ref.path}.zst`, packed.subarray(0, packed.length - 40));
      await rm(ref.path);
      const cut = await readKey(bench, thread(3));
      expect((cut.summary.skipped?.lines ?? 0) + (cut.summary.skipped?.pending ?? 0)).toBeGreaterThan(0);
      await writeFile(`${ref.path}.zst`, "no zstandard at all");
      const broken = await readKey(bench, thread(3));
      expect(broken.events).toEqual([]);
      expect(broken.summary.skipped?.lines).toBe(1);
    }));

  it("D3: an archived log keeps its key", () =>
    bench(async (bench) => {
      const { ref } = await readKey(bench, thread(3));
      const moved = join(bench.dir, "archived_sessions", basename(ref.path));
      await rename(ref.path, moved);
      expect((await readKey(bench, thread(3))).ref.path).toBe(moved);
    }));

  it("D3: a second file of one id is a session of its own only when its contents differ", () =>
    bench(async (bench) => {
      const before = (await bench.scan()).length;
      const { ref } = await readKey(bench, thread(3));
      const other = join(dirname(ref.path), "..", "03", basename(ref.path));
      await mkdir(dirname(other));
      await copyFile(ref.path, other);
      expect(await bench.scan()).toHaveLength(before);
      await writeFile(other, '{"type":"session_meta","payload":{"id":"another"}}\n');
      const keys = (await bench.scan()).map((found) => found.key);
      expect(keys).toHaveLength(before + 1);
      expect(new Set(keys).size).toBe(before + 1);
    }));

  it("takes a new title without reading the log again from its start", () =>
    bench(async (bench) => {
      const { ref } = await readKey(bench, thread(0));
      const first = await drainTail(bench.adapter.tail(ref, undefined, bench.env));
      await appendFile(
        join(bench.dir, "session_index.jsonl"),
        `{"id":"${thread(0)}","thread_name":"Files"}\n{"id":"half`,
      );
      const renamed = await readKey(bench, thread(0));
      const next = await drainTail(bench.adapter.tail(renamed.ref, first?.cursor, bench.env));
      expect(next?.summary.title).toBe("Files");
      expect(next?.events).toEqual([]);
    }));

  it("a rename in the state database or the index is picked up by a sync, not with the thread's next line", async () => {
    const t = await createTestKernel({ plugins: [archive(), codex()] });
    const base = join(t.home, ".codex");
    const day = join(base, "sessions/2026/11/23");
    await mkdir(day, { recursive: true });
    const rows = [
      { type: "session_meta", payload: { id: thread(0), timestamp: "2026-11-23T10:00:00Z", cwd: "/w" } },
      {
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
      },
    ];
    await writeFile(join(day, `rollout-${thread(0)}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const titleNow = async () => {
      await t.send("POST", "/api/sync?wait=1");
      const { session } = await t.json<{ session: { title: string | null } }>(`/api/sessions/codex:${thread(0)}`);
      return session.title;
    };
    await t.send("POST", "/api/import", { all: true });
    expect(await titleNow()).toBeNull();
    await writeFile(join(base, "session_index.jsonl"), `{"id":"${thread(0)}","thread_name":"By index"}\n`);
    expect(await titleNow()).toBe("By index");
    const state = async (name: string) => {
      const { Database } = await (await import("sql.js")).default();
      const db = new Database();
      db.run("create table threads (id text primary key, title text not null, name text)");
      db.run("insert into threads values (?, 'hi', ?)", [thread(0), name]);
      await writeFile(join(base, "state_5.sqlite"), db.export());
      db.close();
    };
    await state("By database");
    expect(await titleNow()).toBe("By database");
    await state("Once more");
    expect(await titleNow()).toBe("Once more");
  });

  it("reads where the environment says", () => {
    const roots = (env: Record<string, string>) => codex().adapter.roots({ home: "/h", platform: "linux", env });
    expect(roots({})).toEqual(["/h/.codex/sessions", "/h/.codex/archived_sessions"]);
    expect(roots({ CODEX_HOME: "/c" })).toEqual(["/c/sessions", "/c/archived_sessions"]);
  });

  it("declares where skills, servers and the guard live", async () => {
    const { skills, mcp, guard } = codex().adapter;
    const env = { home: "/h", platform: "linux", env: { CODEX_HOME: "/c" } } as const;
    expect(skills?.dirs(env)).toEqual([
      { path: ".agents/skills", scope: "project" },
      { path: "/h/.agents/skills", scope: "user" },
      { path: "/c/skills", scope: "user" },
    ]);
    expect(mcp?.files(env)).toEqual([
      { path: "/c/config.toml", scope: "user" },
      { path: ".codex/config.toml", scope: "project" },
    ]);
    expect(guard?.settings(env)).toBe("/c/hooks.json");
    // D10: what looks like a table inside a text, a comment or another table is no server.
    const text = `
model = "x" # [mcp_servers.comment]
note = """
[mcp_servers.text]
command = "no"
"""
[mcp_servers.a]
command = "npx"
args = ["-y", 'a#b']
env_vars = ["HOME", { name = "B" }]
[mcp_servers.a.env]
K = "v"
[mcp_servers."b.c"]
url = "https://e.org/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X = "y" }
env_http_headers = { Z = "ZED" }
enabled = false
[other.mcp_servers.d]
command = "no"
[mcp_servers.empty]
`;
    expect(serversIn(mcp, parseToml(text))).toEqual([
      {
        name: "a",
        path: ["mcp_servers", "a"],
        transport: "stdio",
        command: "npx",
        args: ["-y", "a#b"],
        env: { HOME: variable("HOME"), B: variable("B"), K: "v" },
      },
      {
        name: "b.c",
        path: ["mcp_servers", "b.c"],
        transport: "http",
        url: "https://e.org/mcp",
        headers: { X: "y", Z: variable("ZED"), Authorization: `Bearer ${variable("TOKEN")}` },
        disabled: true,
      },
    ]);
    expect(serversIn(mcp, {})).toEqual([]);
  });
});
