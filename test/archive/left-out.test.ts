/** A row whose time or count cannot be is in no figure; all others of its session are. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { writeTables } from "../adapters/_store.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";

const ID = "5e550000-0000-4000-8000-000000000001";
const LATE = "2036-01-02T03:04:05.000Z";
const now = "2026-11-20T09:00:00.000Z";

interface Reply {
  at?: string;
  input?: unknown;
  output?: unknown;
}
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
/** JSON has no way to write an infinite number but a large one. */
const infinite = (text: string) => text.replaceAll('"∞"', "1e999");

const LOGS = {
  "claude-code": {
    path: `.claude/projects/-w-app/${ID}.jsonl`,
    text: (replies: readonly Reply[]) =>
      lines(
        replies.map(({ at = now, input = 100, output = 50 }, n) => ({
          type: "assistant",
          uuid: `u${n}`,
          sessionId: ID,
          cwd: "/w/app",
          timestamp: at,
          requestId: `r${n}`,
          message: {
            id: `m${n}`,
            role: "assistant",
            model: "model",
            content: [{ type: "text", text: `answer ${n}` }],
            usage: { input_tokens: input, output_tokens: output },
          },
        })),
      ),
  },
  codex: {
    path: `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${ID}.jsonl`,
    text: (replies: readonly Reply[]) =>
      lines([
        { timestamp: now, type: "session_meta", payload: { id: ID, timestamp: now, cwd: "/w/app" } },
        { timestamp: now, type: "turn_context", payload: { model: "model" } },
        ...replies.map(({ at = now, input = 100, output = 50 }, n) => ({
          timestamp: at,
          type: "token_usage_record",
          payload: { thread_id: ID, response_id: `r${n}`, usage: { input_tokens: input, output_tokens: output } },
        })),
      ]),
  },
  pi: {
    path: `.pi/agent/sessions/--w-app--/2026-11-20T09-00-00-000Z_${ID}.jsonl`,
    text: (replies: readonly Reply[]) =>
      lines([
        { type: "session", version: 3, id: ID, timestamp: now, cwd: "/w/app" },
        ...replies.map(({ at = now, input = 100, output = 50 }, n) => ({
          type: "message",
          id: `e${n}`,
          parentId: n === 0 ? null : `e${n - 1}`,
          timestamp: at,
          message: {
            role: "assistant",
            content: [{ type: "text", text: `answer ${n}` }],
            provider: "p",
            model: "model",
            usage: { input, output, cacheRead: 0, cacheWrite: 0 },
            timestamp: Date.parse(at),
          },
        })),
      ]),
  },
  qwen: {
    path: `.qwen/projects/-w-app/chats/${ID}.jsonl`,
    text: (replies: readonly Reply[]) =>
      lines(
        replies.map(({ at = now, input = 100, output = 50 }, n) => ({
          uuid: `u${n}`,
          sessionId: ID,
          timestamp: at,
          cwd: "/w/app",
          type: "assistant",
          model: "model",
          message: { role: "model", parts: [{ text: `answer ${n}` }] },
          usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
        })),
      ),
  },
} as const;

async function write(home: string, tool: keyof typeof LOGS, replies: readonly Reply[]): Promise<void> {
  const path = join(home, LOGS[tool].path);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, infinite(LOGS[tool].text(replies)));
  await utimes(path, new Date(now), new Date(now));
}

interface Totals {
  totals: { tokens: { input: number; output: number } };
  leftOut?: { id: string; reason: string }[];
}
const figures = async (home: string, ...flags: string[]) => {
  const { stdout, stderr } = await runCommand(["usage", "--json", ...flags], home);
  const { tokens } = (JSON.parse(stdout) as Totals).totals;
  return { input: tokens?.input ?? 0, output: tokens?.output ?? 0, stderr };
};

describe.each(Object.keys(LOGS) as (keyof typeof LOGS)[])("a row that cannot be, of %s", (tool) => {
  it("is in no figure and is named, if it is later than now; the others of its session count", async () => {
    const home = await makeTempDir();
    await write(home, tool, [{}, { at: LATE }, {}]);
    const stateless = await figures(home, "--stateless");
    expect(stateless).toMatchObject({ input: 200, output: 100 });
    expect(stateless.stderr).toContain(LATE);
    await runCommand(["import"], home);
    const { stderr, ...sums } = await figures(home);
    expect(sums).toEqual({ input: 200, output: 100 });
    expect(stderr).toContain(`${tool}:`);
    expect(stderr).toContain(`1 reply is dated ${LATE}, later than now`);
    expect((await runCommand(["doctor"], home)).stdout).toContain(LATE);
    const [session] = (
      JSON.parse((await runCommand(["sessions", "--json"], home)).stdout) as { sessions: { endedAt: string }[] }
    ).sessions;
    expect(session?.endedAt).toBe(now);
  });

  it.each([
    ["infinite", "∞"],
    ["absurd", 4e15],
    ["negative", -5],
    ["a negative text", "-5"],
    ["an absurd text", "99999999999999"],
  ])("has a count of 0 and is named, if the count is %s", async (_, output) => {
    const home = await makeTempDir();
    await write(home, tool, [{}, { output }, {}]);
    expect(await figures(home, "--stateless")).toMatchObject({ input: 300, output: 100 });
    await runCommand(["import"], home);
    const { stderr, ...sums } = await figures(home);
    expect(sums).toEqual({ input: 300, output: 100 });
    expect(stderr).toContain("1 record has impossible token counts, which count 0");
    expect((await runCommand(["doctor"], home)).stdout).toContain("impossible token counts");
  });

  it("counts what it has, if a count is missing or no number", async () => {
    const home = await makeTempDir();
    await write(home, tool, [{}, { output: null }, { input: "many" }, {}]);
    await runCommand(["import"], home);
    expect(await figures(home)).toEqual({ input: 300, output: 150, stderr: "" });
  });
});

describe("a reply that is later than now", () => {
  it("counts when its time has come, without the log having changed, and at a row that is appended before then", async () => {
    const home = await makeTempDir();
    await write(home, "claude-code", [{}, { at: LATE }]);
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    const usage = async () => (await t.json<Totals>("/api/usage?by=model")).totals.tokens;
    await t.send("POST", "/api/import", { all: true });
    expect(await usage()).toMatchObject({ input: 100, output: 50 });
    expect(await t.json("/api/sessions/left-out")).toMatchObject({ total: 1 });
    await t.send("POST", "/api/sync?wait=1");
    expect(await t.json("/api/sessions/left-out")).toMatchObject({ total: 1 });
    await write(home, "claude-code", [{}, { at: LATE }, {}]);
    await t.send("POST", "/api/sync?wait=1");
    expect(await usage()).toMatchObject({ input: 200, output: 100 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(LATE) - 3_600_000 });
    try {
      await t.send("POST", "/api/sync?wait=1");
      expect(await usage()).toMatchObject({ input: 300, output: 150 });
      expect(await t.json("/api/sessions/left-out")).toEqual({ sessions: [], total: 0 });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a reply in a database, whose own rows say that they were written later than now", () => {
  const T = Date.parse(now);
  const AT = [T, Date.parse(LATE), T + 1000];
  const DATABASES: Record<string, { path: string; tables: Parameters<typeof writeTables>[1] }> = {
    opencode: {
      path: ".local/share/opencode/opencode.db",
      tables: {
        session: [
          {
            id: "s",
            project_id: "p",
            directory: "/w/app",
            title: "t",
            version: "1",
            time_created: T,
            time_updated: AT[1] ?? 0,
          },
        ],
        message: AT.map((created, n) => ({
          id: `m${n}`,
          session_id: "s",
          time_created: created,
          time_updated: created,
          data: JSON.stringify({
            role: "assistant",
            modelID: "model",
            time: { created },
            tokens: { input: 100, output: 50 },
          }),
        })),
        part: [],
      },
    },
    devin: {
      path: ".local/share/devin/cli/sessions.db",
      tables: {
        sessions: [
          {
            id: "s",
            working_directory: "/w/app",
            model: "model",
            title: "t",
            created_at: T / 1000,
            last_activity_at: (AT[1] ?? 0) / 1000,
          },
        ],
        message_nodes: AT.map((ms, n) => ({
          session_id: "s",
          node_id: n,
          chat_message: JSON.stringify({
            message_id: `m${n}`,
            role: "assistant",
            content: `answer ${n}`,
            metadata: { created_at: new Date(ms).toISOString(), metrics: { input_tokens: 100, output_tokens: 50 } },
          }),
          created_at: ms / 1000,
        })),
      },
    },
    "freebuff-desktop": {
      path: ".config/freebuff-desktop/projects/demo/desktop-v2.db",
      tables: {
        threads: [
          {
            id: "s",
            project_path: "/w/app",
            title: "t",
            model: "model",
            turn_state: "idle",
            created_at: T,
            updated_at: AT[1] ?? 0,
          },
        ],
        messages: AT.map((ts, n) => ({
          seq: n,
          thread_id: "s",
          role: "assistant",
          parts_json: JSON.stringify([{ kind: "text", text: `answer ${n}` }]),
          metrics_json: JSON.stringify({ usage: { inputTokens: 100, outputTokens: 50 } }),
          ts,
        })),
      },
    },
  };

  it.each(Object.entries(DATABASES))("is in no figure and is named: %s", async (tool, { path, tables }) => {
    const home = await makeTempDir();
    await writeTables(join(home, path), tables);
    expect(await figures(home, "--stateless")).toMatchObject({ input: 200, output: 100 });
    await runCommand(["import"], home);
    const { stderr, ...sums } = await figures(home);
    expect(sums).toEqual({ input: 200, output: 100 });
    expect(stderr).toContain(`${tool}:s: 1 reply is dated ${LATE}, later than now`);
  });
});
