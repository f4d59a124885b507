/** Small logs of assistants in a home, and a kernel that stores and restores them. */
import { createHash } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import rescue from "../../plugins/rescue/index.ts";
import security from "../../plugins/security/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

export const plugins = () => [archive(), claude(), codex(), gemini(), copilot(), opencode(), security(), rescue()];

export const startIn = (home: string, config: object = {}): Promise<TestKernel> =>
  createTestKernel({ home, plugins: plugins(), config });

/** Names of the files that hold what is stored. */
export const packsIn = async (home: string): Promise<string[]> =>
  (await readdir(join(home, "data/logs"), { recursive: true }).catch(() => [])).filter((name) => name.length > 2);

/** A session as a test writes it: prompts, each with a reply. */
export interface Said {
  key: string;
  cwd: string;
  turns: number;
  /** Further fields of each row of Claude Code, or of the head of another log. */
  extra?: object;
}

const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

export function claudeRows({ key, cwd, turns, extra = {} }: Said): object[] {
  return Array.from({ length: turns }, (_, n) => {
    const base = { ...extra, sessionId: key, cwd, timestamp: at(n), isSidechain: false };
    const usage = { input_tokens: 10 + n, output_tokens: 5, cache_read_input_tokens: 100 };
    const message = { id: `msg-${key}-${n}`, role: "assistant", model: "claude-sonnet-4-5", usage };
    return [
      { ...base, type: "user", uuid: `u${n}-${key}`, message: { role: "user", content: `prompt ${n} of ${key}` } },
      {
        ...base,
        type: "assistant",
        uuid: `a${n}-${key}`,
        requestId: `req-${key}-${n}`,
        message: { ...message, content: [{ type: "text", text: `reply ${n} of ${key}` }] },
      },
    ];
  }).flat();
}

export const claudePath = (home: string, { key, cwd }: Pick<Said, "key" | "cwd">) =>
  join(home, ".claude/projects", cwd.replace(/[^A-Za-z0-9]/g, "-"), `${key}.jsonl`);

export const codexPath = (home: string, { key }: Pick<Said, "key">) =>
  join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${key}.jsonl`);

export function codexRows({ key, cwd, turns, extra = {} }: Said): object[] {
  const meta = { id: key, timestamp: at(0), cwd, originator: "codex_cli_rs", cli_version: "0.50.0", source: "cli" };
  const turn = (n: number) => {
    const message = (role: string, type: string, text: string) => ({
      timestamp: at(n + 1),
      type: "response_item",
      payload: { type: "message", role, content: [{ type, text }] },
    });
    const last = {
      input_tokens: 100,
      cached_input_tokens: 40,
      output_tokens: 7,
      reasoning_output_tokens: 0,
      total_tokens: 107,
    };
    const total = Object.fromEntries(Object.entries(last).map(([name, count]) => [name, count * (n + 1)]));
    return [
      {
        timestamp: at(n + 1),
        type: "turn_context",
        payload: { cwd, model: "gpt-5.1-codex", approval_policy: "never" },
      },
      { timestamp: at(n + 1), type: "event_msg", payload: { type: "user_message", message: `prompt ${n} of ${key}` } },
      message("user", "input_text", `prompt ${n} of ${key}`),
      message("assistant", "output_text", `reply ${n} of ${key}`),
      {
        timestamp: at(n + 1),
        type: "event_msg",
        payload: { type: "token_count", info: { total_token_usage: total, last_token_usage: last } },
      },
    ];
  };
  return [
    { timestamp: at(0), type: "session_meta", payload: { ...meta, ...extra } },
    ...Array.from({ length: turns }, (_, n) => turn(n)).flat(),
  ];
}

export const geminiPath = (home: string, { key }: Pick<Said, "key">) =>
  join(home, `.gemini/tmp/app/chats/session-2026-01-01T00-00-${key.slice(0, 8)}.jsonl`);

export function geminiRows({ key, cwd, turns }: Said): object[] {
  const hash = createHash("sha256").update(cwd).digest("hex");
  return [
    // Written once: a log that grows keeps its head.
    { sessionId: key, projectHash: hash, startTime: at(0), lastUpdated: at(1), kind: "main" },
    ...Array.from({ length: turns }, (_, n) => [
      { id: `u${n}-${key}`, timestamp: at(n), type: "user", content: [{ text: `prompt ${n} of ${key}` }] },
      {
        id: `g${n}-${key}`,
        timestamp: at(n),
        type: "gemini",
        content: `reply ${n} of ${key}`,
        model: "gemini-2.5-pro",
        tokens: { input: 100, output: 10, cached: 40, thoughts: 1, tool: 0, total: 111 },
      },
    ]).flat(),
  ];
}

export const copilotPath = (home: string, { key }: Pick<Said, "key">) =>
  join(home, ".copilot/session-state", key, "events.jsonl");

export function copilotRows({ key, cwd, turns }: Said): object[] {
  return [
    {
      type: "session.start",
      data: { sessionId: key, version: 1, producer: "copilot-agent", startTime: at(0), context: { cwd } },
      id: `s-${key}`,
      timestamp: at(0),
    },
    ...Array.from({ length: turns }, (_, n) => [
      { type: "user.message", data: { content: `prompt ${n} of ${key}` }, id: `u${n}-${key}`, timestamp: at(n) },
      {
        type: "assistant.message",
        data: { messageId: `m${n}-${key}`, content: `reply ${n} of ${key}`, model: "gpt-5.2", outputTokens: 7 },
        id: `a${n}-${key}`,
        timestamp: at(n),
      },
    ]).flat(),
  ];
}

export interface Tool {
  name: string;
  path(home: string, said: Pick<Said, "key" | "cwd">): string;
  rows(said: Said): object[];
}

/** Those whose sessions are files. */
export const TOOLS: readonly Tool[] = [
  { name: "claude-code", path: claudePath, rows: claudeRows },
  { name: "codex", path: codexPath, rows: codexRows },
  { name: "gemini-cli", path: geminiPath, rows: geminiRows },
  { name: "copilot", path: copilotPath, rows: copilotRows },
];

export async function writeLog(path: string, rows: readonly object[]): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, lines(rows));
  return path;
}

export const importAll = async (t: TestKernel) => {
  const { status, body } = await t.send<{ failed: unknown[] }>("POST", "/api/import", { all: true });
  if (status !== 200 || body.failed.length > 0) throw new Error(JSON.stringify(body));
};

/** Figures and texts of all sessions, without what says where and when they were read. */
export async function told(t: TestKernel): Promise<unknown> {
  const { sessions } = await t.json<{ sessions: Told[] }>("/api/sessions?limit=100&sort=oldest");
  const rows = await Promise.all(
    sessions.map(async ({ id, messageCount, usage, title, cwd }) => {
      const { messages } = await t.json<{ messages: object[] }>(`/api/sessions/${encodeURIComponent(id)}/messages`);
      return { id, messageCount, usage, title, cwd, messages };
    }),
  );
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}
interface Told {
  id: string;
  messageCount: number;
  usage: object;
  title: string | null;
  cwd: string | null;
}
