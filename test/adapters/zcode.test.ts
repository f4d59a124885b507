/** ZCode: OpenCode's tables, and a row for each request that counts cached tokens as input. */
import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import opencode from "../../plugins/opencode/index.ts";
import { runCommand } from "../command.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { fixtureFolder, type Rows, tokens, writeTables } from "./_store.ts";

useHome("zcode");

const T = 1_788_400_000_000;
const PLACE = ".zcode/cli/db/db.sqlite";
const session = (id: string, more = {}) => ({
  id,
  project_id: "p",
  parent_id: null,
  directory: "/w/app",
  title: "Receipts",
  version: "0.16.9",
  revert: null,
  time_created: T,
  time_updated: T + 9000,
  ...more,
});
const message = (id: string, sequence: number, data: object, session_id = "sess_a") => ({
  id,
  session_id,
  time_created: T + sequence * 100,
  time_updated: T + sequence * 100,
  data: JSON.stringify({ time: { created: T + sequence * 100 }, ...data }),
  sequence,
});
const part = (id: string, message_id: string, sequence: number, data: object) => ({
  id,
  message_id,
  session_id: "sess_a",
  time_created: T + sequence,
  time_updated: T + sequence,
  data: JSON.stringify(data),
  sequence,
});
const request = (id: string, more = {}) => ({
  id,
  session_id: "sess_a",
  assistant_message_id: null,
  model_id: "GLM-5.3",
  status: "completed",
  started_at: T + 4000,
  completed_at: T + 5000,
  input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  computed_total_tokens: 0,
  ...more,
});
const ASKED = {
  input_tokens: 12_860,
  output_tokens: 91,
  cache_read_input_tokens: 8448,
  cache_creation_input_tokens: 12,
};
const REPLY = {
  role: "assistant",
  modelID: "GLM-5.3",
  tokens: { input: 12_860, output: 91, reasoning: 0, cache: { read: 8448, write: 12 } },
};
const done = (at: number) => ({ time: { created: at - 900, completed: at } });
/** Ids in no order: `sequence` gives it. */
const MESSAGES: Rows = [
  message("msg_9", 1, { role: "user" }),
  message("msg_2", 2, { ...REPLY, ...done(T + 5000) }),
  message("msg_5", 3, { role: "user", semantics: { kind: "setting_update" } }),
  message("msg_1", 4, { role: "user" }),
];
const PARTS: Rows = [
  part("prt_z", "msg_9", 1, { type: "text", text: "Sort the receipts" }),
  part("prt_y", "msg_2", 2, { type: "reasoning", text: "By date." }),
  part("prt_x", "msg_2", 3, { type: "text", text: "Sorting." }),
  part("prt_c", "msg_2", 4, {
    type: "tool",
    tool: "Bash",
    callID: "c1",
    state: {
      status: "completed",
      input: { command: "ls" },
      output: "a\n",
      metadata: { exit: 0 },
      time: { start: T + 4, end: T + 5 },
    },
  }),
  part("prt_b", "msg_2", 5, {
    type: "timeline",
    timelineType: "model_change",
    toModelSelection: { modelId: "GLM-5.3" },
  }),
  part("prt_a", "msg_2", 6, { type: "compaction", summaryMessageId: "msg_1" }),
  part("prt_0", "msg_5", 7, { type: "text", text: "mode: build" }),
  part("prt_1", "msg_1", 8, { type: "text", text: "So far: receipts." }),
];
const USAGE: Rows = [
  request("usage_1", { assistant_message_id: "msg_2", ...ASKED, computed_total_tokens: 12_951 }),
  request("usage_title", { model_id: "GLM-5.3-Air", input_tokens: 281, output_tokens: 13, computed_total_tokens: 294 }),
  request("usage_running", { status: "running", completed_at: null }),
];
const tables = (more: Record<string, Rows> = {}) => ({
  session: [session("sess_a")],
  message: MESSAGES,
  part: PARTS,
  model_usage: USAGE,
  ...more,
});
const COUNTED = { "GLM-5.3": tokens(4400, 91, 8448, 12), "GLM-5.3-Air": tokens(281, 13) };
const create = (dir?: string) => opencode({ variant: "zcode", ...(dir !== undefined && { dir }) }).adapter;

const fixtures = await fixtureFolder("zcode", (dir) => writeTables(join(dir, PLACE), tables()));

describe("adapters: zcode", () =>
  testAdapter({
    plugin: (dir) => opencode({ variant: "zcode", dir }),
    fixtures,
    expect: {
      sessions: 1,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: COUNTED,
    },
  }));

describe("ZCode", () => {
  it("shows messages by their sequence and counts each request once, also those that no message has", async () => {
    await writeTables(join(home, PLACE), tables());
    const [one, ...others] = await readAll(create());
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ tool: "zcode", key: "sess_a", title: "Receipts", cwd: "/w/app" });
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Sort the receipts"],
      ["thinking", "By date."],
      ["assistant", "Sorting."],
      ["tool_use", ""],
      ["tool_result", "a\n"],
      ["note", "Model: GLM-5.3"],
      ["note", "Conversation compacted"],
      ["note", "mode: build"],
      ["note", "So far: receipts."],
    ]);
    expect(one?.summary.usage).toEqual(COUNTED);
    expect(one?.summary.evidence).toMatchObject({ requests: 2 });
    expect(one?.summary.skipped).toEqual({ lines: 0, unknown: {} });
  });

  it.each([
    [
      "reasoning is inside the output",
      { output_tokens: 50, reasoning_tokens: 20, computed_total_tokens: 150 },
      tokens(100, 50),
    ],
    [
      "reasoning is outside the output",
      { output_tokens: 50, reasoning_tokens: 20, computed_total_tokens: 170 },
      tokens(100, 70),
    ],
    [
      "cached tokens are outside the input",
      { output_tokens: 50, cache_read_input_tokens: 300, computed_total_tokens: 450 },
      tokens(100, 50, 300),
    ],
    [
      "a table without totals",
      { output_tokens: 50, cache_read_input_tokens: 30, computed_total_tokens: null },
      tokens(70, 50, 30),
    ],
    [
      "more cached tokens than input",
      { output_tokens: 5, cache_read_input_tokens: 300, computed_total_tokens: null },
      tokens(0, 5, 300),
    ],
    [
      "a negative count, which takes nothing from the input",
      { output_tokens: 5, cache_read_input_tokens: -7, computed_total_tokens: -1 },
      tokens(100, 5),
    ],
  ] as const)("tells by the total what a request's counts mean: %s", async (_, row, expected) => {
    await writeTables(join(home, PLACE), tables({ model_usage: [request("u", { input_tokens: 100, ...row })] }));
    const [one] = await readAll(create());
    expect(one?.summary.usage).toEqual({ "GLM-5.3": expected });
  });

  it("counts replies from before the table of requests by their own tokens", async () => {
    const old = [message("msg_0", 0, { ...REPLY, ...done(T + 1500) }), ...MESSAGES];
    await writeTables(join(home, PLACE), tables({ message: old }));
    const [one] = await readAll(create());
    expect(one?.summary.usage["GLM-5.3"]).toEqual(tokens(8800, 182, 16_896, 24));
    await writeTables(join(home, PLACE), tables({ model_usage: [{ id: "of another version" }] }));
    const [without] = await readAll(create());
    expect(without?.summary.usage).toEqual({ "GLM-5.3": tokens(4400, 91, 8448, 12) });
  });

  it("gives a sub-agent its parent and its own requests", async () => {
    const child = session("sess_subagent_1", { parent_id: "sess_a" });
    const usage = [...USAGE, request("usage_2", { session_id: "sess_subagent_1", input_tokens: 7, output_tokens: 3 })];
    await writeTables(join(home, PLACE), tables({ session: [session("sess_a"), child], model_usage: usage }));
    const all = await readAll(create());
    expect(all.map(({ summary }) => [summary.parent, summary.usage["GLM-5.3"]?.output])).toEqual([
      [undefined, 91],
      ["sess_a", 3],
    ]);
  });

  it("is read again when only a request ended", async () => {
    const path = join(home, PLACE);
    await writeTables(path, tables());
    const adapter = create();
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    const ended = USAGE.map((row) =>
      row.id === "usage_running" ? { ...row, output_tokens: 9, completed_at: T + 8000 } : row,
    );
    await writeTables(path, tables({ model_usage: ended }));
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events, next.summary.usage["GLM-5.3"]?.output]).toEqual([false, [], 100]);
  });

  it("finds its database by its variables, and where a folder is named", async () => {
    const elsewhere = join(home, "elsewhere/sessions.sqlite");
    await writeTables(elsewhere, tables());
    for (const name of ["ZCODE_SESSION_DB_PATH", "ZCODE_SESSION_DB"]) {
      const on = { ...env, env: { [name]: elsewhere } };
      expect((await scan(create(), on)).map(({ path }) => path)).toEqual([elsewhere]);
    }
    const on = { ...env, env: { ZCODE_SESSION_DB_PATH: "~/elsewhere/sessions.sqlite" } };
    expect((await scan(create(), on)).map(({ path }) => path)).toEqual([elsewhere]);
    await writeTables(join(home, PLACE), tables());
    for (const dir of [home, join(home, ".zcode/cli/db"), join(home, PLACE)])
      expect((await scan(create(dir))).map(({ key }) => key)).toEqual(["sess_a"]);
  });

  it("leaves rows out that cannot be read, and counts them", async () => {
    const odd: Rows = [
      { ...message("msg_3", 5, {}), data: "{cut" },
      { ...message("msg_4", 6, {}), data: null },
      message("msg_6", 7, { role: "oracle" }),
    ];
    const usage = [...USAGE, request("usage_3", { model_id: null, output_tokens: "12", started_at: "soon" })];
    await writeTables(join(home, PLACE), tables({ message: [...MESSAGES, ...odd], model_usage: usage }));
    const [one] = await readAll(create());
    expect(one?.summary.usage).toMatchObject({ ...COUNTED, unknown: tokens(0, 12) });
    expect(one?.summary.skipped).toEqual({ lines: 2, unknown: { "message:oracle": 1 } });
  });

  it("knows nothing but its logs, and doctor calls it unproved", async () => {
    await writeTables(join(home, PLACE), tables());
    const { skills, mcp, guard, rescue, unproved, tools } = create();
    expect([skills, mcp, guard, rescue, unproved]).toEqual([undefined, undefined, undefined, undefined, true]);
    expect([tools?.Bash, tools?.bash, tools?.Agent]).toEqual(["shell", "shell", "agent"]);
    const { stdout } = await runCommand(["doctor", "--all"], home);
    expect(stdout).toContain(`ZCode: 1 sessions in ${join(home, PLACE)}; unproved`);
  });
});
