/** A count that cannot be costs no other count of its record, however the record's tokens are put together; and it is named. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import commandCode from "sessarc/plugins/command-code";
import copilot from "sessarc/plugins/copilot";
import gemini from "sessarc/plugins/gemini-cli";
import opencode from "sessarc/plugins/opencode";
import pi from "sessarc/plugins/pi";
import qwen from "sessarc/plugins/qwen";
import { expect, it } from "vitest";
import { home, readAll, useHome } from "./_home.ts";
import { writeTables } from "./_store.ts";

useHome("impossible");

const ID = "5e550000-0000-4000-8000-000000000001";
const at = "2026-11-20T09:00:00.000Z";
const T = Date.parse(at);

interface Log {
  plugin: () => { adapter?: Adapter | undefined };
  path: string;
  /** What the log has of a reply. `bad` is the count that cannot be. */
  write(path: string, bad: number): Promise<void>;
}
const lines = (rows: (bad: number) => readonly object[]) => async (path: string, bad: number) => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(
    path,
    rows(bad)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  );
};
const claudeRow = (usage: object) => ({
  type: "assistant",
  uuid: "u",
  sessionId: ID,
  cwd: "/w/app",
  timestamp: at,
  requestId: "r",
  message: { id: "m", role: "assistant", model: "model", content: [{ type: "text", text: "answer" }], usage },
});
const session = {
  id: "ses_a",
  project_id: "p",
  directory: "/w/app",
  title: "t",
  version: "1",
  time_created: T - 9,
  time_updated: T + 9,
};
const reply = (tokens: object) => ({
  id: "msg_a",
  session_id: "ses_a",
  time_created: T,
  time_updated: T,
  sequence: 1,
  data: JSON.stringify({ role: "assistant", modelID: "model", time: { created: T, completed: T + 5 }, tokens }),
});

const LOGS: Record<string, Log> = {
  "Claude Code, what is kept for an hour": {
    plugin: claudeCode,
    path: `.claude/projects/-w-app/${ID}.jsonl`,
    write: lines((bad) => [
      claudeRow({ input_tokens: 100, output_tokens: 5, cache_creation: { ephemeral_1h_input_tokens: bad } }),
    ]),
  },
  "CodeBuddy, the cached part": {
    plugin: () => claudeCode({ variant: "codebuddy" }),
    path: `.codebuddy/projects/w-app/${ID}.jsonl`,
    write: lines((bad) => [
      {
        id: "a",
        timestamp: T,
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "answer" }],
        providerData: {
          model: "model",
          usage: { inputTokens: 100, outputTokens: 5, inputTokensDetails: [{ cached_tokens: bad }] },
        },
        sessionId: ID,
        cwd: "/w/app",
      },
    ]),
  },
  "Codex, the cached part": {
    plugin: codex,
    path: `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${ID}.jsonl`,
    write: lines((bad) => [
      { timestamp: at, type: "session_meta", payload: { id: ID, timestamp: at, cwd: "/w/app" } },
      { timestamp: at, type: "turn_context", payload: { model: "model" } },
      {
        timestamp: at,
        type: "token_usage_record",
        payload: {
          thread_id: ID,
          response_id: "r",
          usage: { input_tokens: 100, output_tokens: 5, cached_input_tokens: bad },
        },
      },
    ]),
  },
  "Command Code, what is kept for an hour": {
    plugin: commandCode,
    path: `.commandcode/projects/w-app/${ID}.jsonl`,
    write: lines((bad) => [
      { type: "session", version: 3, id: ID, timestamp: at, cwd: "/w/app" },
      {
        type: "message",
        id: "a",
        timestamp: at,
        model: "model",
        message: { role: "assistant", content: [{ type: "text", text: "answer" }] },
        usage: { inputTokens: 100, outputTokens: 5, cacheWriteTokens: 0, cacheWriteTokens1h: bad },
      },
    ]),
  },
  "Copilot, the cached part": {
    plugin: copilot,
    path: `.copilot/session-state/${ID}/events.jsonl`,
    write: lines((bad) => [
      { id: "e0", timestamp: at, type: "session.start", data: { sessionId: ID, startTime: at } },
      {
        id: "e1",
        timestamp: at,
        type: "session.usage_record",
        data: { usage: { model: "model", inputTokens: 100, outputTokens: 5, cacheReadTokens: bad } },
      },
    ]),
  },
  "Gemini CLI, the cached part": {
    plugin: gemini,
    path: `.gemini/tmp/app/chats/session-2026-11-20T09-00-${ID.slice(0, 8)}.jsonl`,
    write: lines((bad) => [
      { sessionId: ID, projectHash: "h", startTime: at, lastUpdated: at },
      {
        id: "a",
        timestamp: at,
        type: "gemini",
        model: "model",
        content: "answer",
        tokens: { input: 100, output: 5, cached: bad },
      },
    ]),
  },
  "Gemini CLI, thoughts": {
    plugin: gemini,
    path: `.gemini/tmp/app/chats/session-2026-11-20T09-00-${ID.slice(0, 8)}.jsonl`,
    write: lines((bad) => [
      { sessionId: ID, projectHash: "h", startTime: at, lastUpdated: at },
      {
        id: "a",
        timestamp: at,
        type: "gemini",
        model: "model",
        content: "answer",
        tokens: { input: 100, output: 5, thoughts: bad },
      },
    ]),
  },
  "OpenCode, reasoning": {
    plugin: opencode,
    path: ".local/share/opencode/opencode.db",
    write: (path, bad) =>
      writeTables(path, { session: [session], message: [reply({ input: 100, output: 5, reasoning: bad })], part: [] }),
  },
  "OpenCode, the cached part": {
    plugin: opencode,
    path: ".local/share/opencode/opencode.db",
    write: (path, bad) =>
      writeTables(path, {
        session: [session],
        message: [reply({ input: 100, output: 5, cache: { read: bad } })],
        part: [],
      }),
  },
  "pi, what is kept for an hour": {
    plugin: pi,
    path: `.pi/agent/sessions/--w-app--/2026-11-20T09-00-00-000Z_${ID}.jsonl`,
    write: lines((bad) => [
      { type: "session", version: 3, id: ID, timestamp: at, cwd: "/w/app" },
      {
        type: "message",
        id: "e",
        parentId: null,
        timestamp: at,
        message: {
          role: "assistant",
          content: [{ type: "text", text: "answer" }],
          provider: "p",
          model: "model",
          usage: { input: 100, output: 5, cacheRead: 0, cacheWrite: 0, cacheWrite1h: bad },
          timestamp: T,
        },
      },
    ]),
  },
  "Qwen Code, the cached part": {
    plugin: qwen,
    path: `.qwen/projects/-w-app/chats/${ID}.jsonl`,
    write: lines((bad) => [
      {
        uuid: "u",
        sessionId: ID,
        timestamp: at,
        cwd: "/w/app",
        type: "assistant",
        model: "model",
        message: { role: "model", parts: [{ text: "answer" }] },
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 5, cachedContentTokenCount: bad },
      },
    ]),
  },
  "ZCode, the cached part": {
    plugin: () => opencode({ variant: "zcode" }),
    path: ".zcode/cli/db/db.sqlite",
    write: (path, bad) =>
      writeTables(path, {
        session: [session],
        message: [reply({ input: 100, output: 5, cache: { read: bad } })],
        part: [],
      }),
  },
};

it.each(Object.entries(LOGS))("%s: the others count", async (_, { plugin, path, write }) => {
  for (const bad of [-7, 4e15]) {
    await write(join(home, path), bad);
    const { adapter } = plugin();
    if (!adapter) throw new Error("no adapter");
    const [one] = await readAll(adapter);
    expect([bad, Object.values(one?.summary.usage ?? {})]).toEqual([
      bad,
      [{ input: 100, output: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }],
    ]);
    expect(one?.summary.evidence?.impossible).toBe(1);
  }
});
