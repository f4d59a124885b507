/** Devin CLI: nodes of its database, each message once however often a compaction wrote it. */
import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import devin from "../../plugins/devin/index.ts";
import { runCommand } from "../command.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { fixtureFolder, type Rows, tokens, writeTables } from "./_store.ts";

useHome("devin");

const PLACE = ".local/share/devin/cli/sessions.db";
const T = 1_788_905_000;
const at = (n: number) => new Date((T + n) * 1000).toISOString();
const session = (id = "calm-river", more = {}) => ({
  id,
  working_directory: "/w/app",
  backend_type: "windsurf",
  model: "adaptive",
  agent_mode: "bypass",
  created_at: T,
  last_activity_at: T + 90,
  title: "Receipts",
  main_chain_id: 6,
  hidden: 0,
  metadata: JSON.stringify({ total_acu_cost: 0.5 }),
  ...more,
});
const message = (n: number, role: string, content: unknown, metadata: object = {}, more: object = {}) => ({
  message_id: `m${n}`,
  role,
  content,
  ...more,
  metadata: { created_at: at(n), ...metadata },
});
type Message = ReturnType<typeof message>;
/** A node: written after `later` seconds, when a compaction keeps an older message. */
const node = (
  node_id: number,
  chat: Message | string,
  later = 0,
  metadata: object | null = null,
  id = "calm-river",
) => ({
  session_id: id,
  node_id,
  parent_node_id: node_id === 0 ? null : node_id - 1,
  chat_message: typeof chat === "string" ? chat : JSON.stringify(chat),
  created_at: T + node_id + later,
  metadata: metadata && JSON.stringify(metadata),
});
const metrics = (input: number, output: number, read: number | null = null, write: number | null = null) => ({
  generation_model: "swe-2-max",
  metrics: {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_creation_tokens: write,
    ttft_ms: 8,
  },
});
const asked = message(1, "user", "Sort the receipts", { is_user_input: true, telemetry: { source: "user" } });
const called = message(2, "assistant", "Looking.", metrics(4727, 155, 13_312), {
  thinking: { thinking: "By date.", signature: "s" },
  tool_calls: [{ id: "call_1", name: "exec", index: 0, kind: "function", arguments: { command: "ls" } }],
});
const failed = message(
  3,
  "tool",
  "no such folder",
  { extensions: { "chisel/tool_result_meta": { success: false, kind: "execute" } } },
  { tool_call_id: "call_1" },
);
const answered = message(4, "assistant", "None there.", metrics(90, 12, 18_000, 40));
const NODES: Rows = [
  node(0, message(0, "system", "You are Devin", { telemetry: { source: "sysprompt" } }), 0, { is_system_prefix: true }),
  node(1, asked),
  node(2, called),
  node(3, failed),
  node(4, answered),
];
const COMPACTED: Rows = [
  ...NODES,
  node(5, message(5, "user", "Conversation to summarize"), 60),
  node(6, message(6, "assistant", "The person sorts receipts.", metrics(500, 20)), 60, { summarized_from: 4 }),
  // Kept: under its own id, and under a new one.
  node(7, called, 60),
  node(8, { ...failed, message_id: "m3-again" }, 60),
  node(9, { ...answered, message_id: "m4-again" }, 60),
  node(10, message(70, "user", "", { telemetry: { source: "cache_keepalive" } })),
  node(11, message(71, "assistant", "Good.", metrics(1, 2, 19_000))),
];
const tables = (nodes: Rows = NODES, sessions: Rows = [session()]) => ({ sessions, message_nodes: nodes });
const write = (nodes?: Rows, sessions?: Rows) => writeTables(join(home, PLACE), tables(nodes, sessions));

const fixtures = await fixtureFolder("devin", (dir) => writeTables(join(dir, PLACE), tables(COMPACTED)));

describe("adapters: devin", () =>
  testAdapter({
    plugin: (dir) => devin({ dir }),
    fixtures,
    expect: {
      sessions: 1,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { "swe-2-max": tokens(5318, 189, 50_312, 40) },
    },
  }));

describe("Devin CLI", () => {
  it("reads messages, calls and tokens", async () => {
    await write();
    const [one, ...others] = await readAll(devin().adapter);
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ tool: "devin", key: "calm-river", title: "Receipts", cwd: "/w/app" });
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Sort the receipts"],
      ["thinking", "By date."],
      ["assistant", "Looking."],
      ["tool_use", ""],
      ["tool_result", "no such folder"],
      ["assistant", "None there."],
    ]);
    expect(one?.events[3]).toMatchObject({ tool_name: "exec", tool_use_id: "call_1", tool_input: { command: "ls" } });
    expect(one?.events[4]).toMatchObject({ tool_name: "exec", is_error: true });
    expect(one?.summary).toMatchObject({
      startedAt: at(0),
      endedAt: at(90),
      usage: { "swe-2-max": tokens(4817, 167, 31_312, 40) },
    });
    // Credits are no dollars.
    expect(one?.summary.costUSD).toBeUndefined();
  });

  it("shows and counts a message once that a compaction wrote again, by its id or by its time and content", async () => {
    await write(COMPACTED);
    const [one] = await readAll(devin().adapter);
    expect(shape(one?.events ?? []).slice(6)).toEqual([
      ["note", "Conversation to summarize"],
      ["note", "The person sorts receipts."],
      ["assistant", "Good."],
    ]);
    expect(one?.summary.usage).toEqual({ "swe-2-max": tokens(5318, 189, 50_312, 40) });
    expect(one?.summary.evidence).toMatchObject({ requests: 4, duplicatesFolded: 2 });
    // The time is when it was said, not when the node was written.
    expect(one?.events.at(-1)?.at).toBe(at(71));
  });

  it("keeps two replies with the same words apart, and takes the figures of the copy that has them", async () => {
    const twice = [message(4, "assistant", "Yes.", metrics(10, 1)), message(5, "assistant", "Yes.", metrics(20, 1))];
    const early = message(6, "assistant", "Late.", { generation_model: "swe-2-max" });
    const late = { ...early, metadata: { ...early.metadata, ...metrics(5, 5) } };
    await write([...twice, early, late].map((chat, n) => node(n, chat)));
    const [one] = await readAll(devin().adapter);
    expect(one?.events.map(({ text }) => text)).toEqual(["Yes.", "Yes.", "Late."]);
    expect(one?.summary.usage).toEqual({ "swe-2-max": tokens(35, 7) });
  });

  it("counts a reply once that two sessions hold", async () => {
    await write(
      [...NODES, ...NODES.map((row) => ({ ...row, session_id: "kept-lake" }))],
      [session(), session("kept-lake")],
    );
    const [one, other] = await readAll(devin().adapter);
    const keys = one?.summary.replies?.map(({ key }) => key);
    expect(keys).toEqual(other?.summary.replies?.map(({ key }) => key));
    expect(keys?.every((key) => key !== undefined)).toBe(true);
  });

  it("says nothing of tokens where no figures are, and takes the session's model where a reply has none", async () => {
    await write(
      [node(0, asked), node(1, message(2, "assistant", "Hi.", { num_tokens: 147 }))],
      [session(), session("empty-sea")],
    );
    const [one, ...others] = await readAll(devin().adapter);
    expect([others, one?.summary.usage, one?.events.at(-1)?.model]).toEqual([[], {}, "adaptive"]);
  });

  it("leaves out nodes that cannot be read, and absurd counts", async () => {
    const odd = [
      node(5, "{cut"),
      node(6, message(6, "oracle", "?")),
      node(7, "null"),
      node(8, message(8, "assistant", null)),
    ];
    const absurd = node(9, message(9, "assistant", "Hm.", { metrics: { input_tokens: -4, output_tokens: 1e300 } }));
    await write([...NODES, ...odd, absurd]);
    const [one] = await readAll(devin().adapter);
    expect(one?.summary.usage).toMatchObject({ "swe-2-max": tokens(4817, 167, 31_312, 40) });
    expect(one?.summary.skipped).toEqual({ lines: 2, unknown: { "role:oracle": 1 } });
    await writeTables(join(home, PLACE), { sessions: [session()] });
    expect(await scan(devin().adapter)).toEqual([]);
  });

  it("follows a session", async () => {
    const { adapter } = devin();
    await write();
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await write(COMPACTED);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.map(({ kind }) => kind)]).toEqual([false, ["note", "note", "assistant"]]);
  });

  it("is where each system keeps it, and doctor calls it unproved", async () => {
    const { adapter } = devin();
    expect(adapter.roots({ ...env, env: { XDG_DATA_HOME: "/x" } })).toEqual([join("/x/devin/cli/sessions.db")]);
    expect(adapter.roots({ ...env, platform: "win32", env: { APPDATA: "/a" } })).toEqual([
      join("/a/devin/cli/sessions.db"),
    ]);
    await write();
    const { stdout } = await runCommand(["doctor", "--all"], home);
    expect(stdout).toContain(`Devin CLI: 1 sessions in ${join(home, PLACE)}; unproved`);
  });
});
