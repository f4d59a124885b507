/** Freebuff's desktop program: threads of its databases, each reply with its tokens. */
import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import codebuff from "../../plugins/codebuff/index.ts";
import { runCommand } from "../command.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { fixtureFolder, type Rows, tokens, writeDocument, writeTables } from "./_store.ts";

useHome("freebuff-desktop");

const T = 1_788_430_000_000;
const FOLDER = ".config/freebuff-desktop";
const PLACE = `${FOLDER}/projects/demo-11111111/desktop-v2.db`;
const thread = (more: object = {}) => ({
  id: "00000000-1111-4222-8333-444444444444",
  project_id: "p",
  project_path: "/w/app",
  title: "Receipts",
  model: "deepseek/deepseek-v4-flash",
  turn_state: "idle",
  created_at: T,
  updated_at: T + 9000,
  ...more,
});
const message = (seq: number, role: string, parts: unknown, metrics: object = {}, more: object = {}) => ({
  seq,
  thread_id: thread().id,
  role,
  parts_json: typeof parts === "string" ? parts : JSON.stringify(parts),
  attachments_json: "[]",
  metrics_json: JSON.stringify(metrics),
  ts: T + seq * 1000,
  ...more,
});
const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  usage: { inputTokens, outputTokens, cachedInputTokens, totalTokens: inputTokens + outputTokens },
  context: { usedTokens: 9, windowTokens: 99 },
  costUsd: 0,
});
const MESSAGES: Rows = [
  message(1, "user", [{ kind: "text", text: "Sort the receipts" }], {}, { attachments_json: '[{"name":"a.png"}]' }),
  message(
    2,
    "assistant",
    [
      { kind: "reasoning", text: "By date." },
      { kind: "text", text: "\n\n" },
      { kind: "tool", id: "t1", toolName: "read_files", input: { paths: ["a.md"] } },
      {
        kind: "tool",
        id: "t2",
        toolName: "run_terminal_command",
        input: { command: "ls" },
        status: "error",
        output: "no",
      },
      { kind: "ad", ad: { clickUrl: "https://example.invalid/SIGNED" } },
      { kind: "changes", files: [{ path: "a.md", status: "added" }] },
      { kind: "text", text: "Sorted." },
    ],
    usage(108_245, 1622, 94_208),
  ),
];
const tables = (messages: Rows = MESSAGES, threads: Rows = [thread()]) => ({ threads, messages });
const write = (messages?: Rows, threads?: Rows) => writeTables(join(home, PLACE), tables(messages, threads));
const create = () => codebuff({ variant: "freebuff-desktop" }).adapter;

const fixtures = await fixtureFolder("freebuff", (dir) => writeTables(join(dir, PLACE), tables()));

describe("adapters: freebuff-desktop", () =>
  testAdapter({
    plugin: (dir) => codebuff({ dir, variant: "freebuff-desktop" }),
    fixtures,
    expect: {
      sessions: 1,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { "deepseek/deepseek-v4-flash": tokens(14_037, 1622, 94_208) },
    },
  }));

describe("Freebuff Desktop", () => {
  it("reads threads, and nothing that holds the user's account", async () => {
    await write();
    await writeDocument(join(home, FOLDER, "state.json"), { authSessions: [{ accessToken: "SIGNED" }] });
    const [one, ...others] = await readAll(create());
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ tool: "freebuff-desktop", title: "Receipts", cwd: "/w/app" });
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Sort the receipts"],
      ["note", "[file] a.png"],
      ["thinking", "By date."],
      ["tool_use", ""],
      ["tool_use", ""],
      ["tool_result", "no"],
      ["assistant", "Sorted."],
    ]);
    expect(one?.events[5]).toMatchObject({ tool_name: "run_terminal_command", is_error: true });
    expect(one?.summary.usage).toEqual({ "deepseek/deepseek-v4-flash": tokens(14_037, 1622, 94_208) });
    expect(one?.summary.costUSD).toBeUndefined();
    expect(JSON.stringify(one)).not.toContain("SIGNED");
  });

  it("waits for a reply that is being written", async () => {
    const adapter = create();
    const [asked = {}, answered = {}] = MESSAGES;
    await write([asked]);
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    const growing = message(2, "assistant", [{ kind: "reasoning", text: "By" }]);
    await write([asked, growing], [thread({ turn_state: "running" })]);
    const between = await drainTail(adapter.tail(ref, first.cursor, env));
    await write([asked, answered]);
    const next = await drainTail(adapter.tail(ref, between.cursor, env));
    expect([between.events, next.restarted, next.events.length]).toEqual([[], false, 5]);
  });

  it("leaves out what cannot be read, and threads without a message", async () => {
    const odd = [
      message(3, "assistant", "{cut", { usage: { inputTokens: -5, outputTokens: 1e300 } }),
      message(4, "assistant", [null, { kind: "hologram" }], { usage: "none" }),
      { ...message(5, "user", null), parts_json: null, ts: "noon" },
    ];
    await write([...MESSAGES, ...odd], [thread(), thread({ id: "empty" })]);
    const all = await readAll(create());
    expect(all.map(({ summary }) => summary.usage)).toEqual([
      { "deepseek/deepseek-v4-flash": tokens(14_037, 1622, 94_208) },
    ]);
    expect(all[0]?.summary.skipped).toEqual({ lines: 2, unknown: { "part:?": 1, "part:hologram": 1 } });
    await writeTables(join(home, PLACE), { threads: [thread()] });
    expect(await scan(create())).toEqual([]);
  });

  it("is unproved in doctor", async () => {
    await write();
    const { stdout } = await runCommand(["doctor", "--all"], home);
    expect(stdout).toContain(`Freebuff Desktop: 1 sessions in ${join(home, FOLDER, "projects")}; unproved`);
  });
});
