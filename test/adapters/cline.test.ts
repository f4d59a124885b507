import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import cline from "../../plugins/cline/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, tokens, writeDocument } from "./_store.ts";

useHome("cline");

const T = 1_786_000_000_000;
const ask = (text: string, ts = T, id = "u1") => ({ id, role: "user", ts, content: [{ type: "text", text }] });
const say = (content: object[], ts = T + 1000, id = "a1") => ({
  id,
  role: "assistant",
  ts,
  content,
  modelInfo: { id: "m" },
  metrics: { inputTokens: 100, outputTokens: 10, cacheReadTokens: 30, cacheWriteTokens: 20, cost: 0.25 },
});
const call = { type: "tool_use", id: "t1", name: "run_commands", input: { commands: ["ls", "pwd"] } };
const result = { type: "tool_result", tool_use_id: "t1", content: "a", is_error: true };
const REPLY = say([{ type: "thinking", thinking: "Hm." }, { type: "text", text: "Looking." }, call]);
const MESSAGES = [
  ask('<user_input mode="act">Go</user_input>'),
  REPLY,
  { role: "user", ts: T + 2000, content: [result] },
];
const PAID = { m: tokens(50, 10, 30, 20) };

async function writeSession(data: string, id: string, messages: object[], manifest: object = {}, agent?: object[]) {
  const folder = join(data, "sessions", id);
  await writeDocument(join(folder, `${id}.messages.json`), { messages });
  await writeDocument(join(folder, `${id}.json`), { started_at: new Date(T).toISOString(), cwd: "/w", ...manifest });
  if (agent) await writeDocument(join(folder, "agent_1.messages.json"), { messages: agent });
}

const request = (ts: number, figures: object) => ({ ts, say: "api_req_started", text: JSON.stringify(figures) });
async function writeTask(tasks: string, id: string, rows: object[], more: Record<string, unknown> = {}) {
  const messages = [
    ask("<task>\nFix it\n</task>"),
    ask("<environment_details>\n<model>m</model>\n</environment_details>"),
    { ...say([{ type: "text", text: "Fixed." }]), modelInfo: undefined, metrics: undefined },
    { role: "user", ts: T + 2000, content: [{ ...result, content: "denied\n<feedback>\nNot so\n</feedback>" }] },
  ];
  await writeDocument(join(tasks, id, "api_conversation_history.json"), messages);
  await writeDocument(join(tasks, id, "ui_messages.json"), rows);
  for (const [name, content] of Object.entries(more)) await writeDocument(join(tasks, id, name), content);
}

const ROWS = [
  request(T + 500, { tokensIn: 50, tokensOut: 10, cacheReads: 30, cacheWrites: 20, cost: 0.5 }),
  request(T + 700, { request: "cancelled" }),
];

const fixtures = await fixtureFolder("cline", async (dir) => {
  await writeSession(join(dir, ".cline/data"), "1_a", MESSAGES, {}, [ask("Sub"), say([], T, "b1")]);
  await writeTask(
    join(dir, "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"),
    "1786",
    ROWS,
  );
});

describe("adapters: cline", () =>
  testAdapter({
    plugin: (dir) => cline({ dir }),
    fixtures,
    expect: {
      sessions: 3,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m: tokens(150, 30, 90, 60) },
    },
  }));

describe("Cline", () => {
  const data = () => join(home, ".cline/data");

  it("reads a session with its sub-agent, whose tokens are its own", async () => {
    await writeSession(data(), "1_a", MESSAGES, { metadata: { title: "Go" } }, [ask("Sub"), say([], T, "b1")]);
    const [own, agent] = await readAll(cline().adapter);
    expect(agent?.ref).toMatchObject({ key: "1_a__agent_1", parent: "1_a" });
    expect([agent?.summary.parent, agent?.summary.cwd, agent?.summary.title]).toEqual(["1_a", "/w", undefined]);
    expect(own?.summary).toMatchObject({ title: "Go", cwd: "/w", usage: PAID, costUSD: 0.25 });
    expect(shape(own?.events ?? [])).toEqual([
      ["user", "Go"],
      ["thinking", "Hm."],
      ["assistant", "Looking."],
      ["tool_use", ""],
      ["tool_result", "a"],
    ]);
    expect(own?.events[4]).toMatchObject({ tool_name: "run_commands", is_error: true });
  });

  it("reads the outcomes of the newer tools, of which one that failed fails the call", async () => {
    const fine = { query: "ls", result: "a.txt", success: true };
    const failed = { query: "exit 3", result: "", error: "Command exited with code 3", success: false };
    const edited = { query: "edit:/w/a", result: "", error: "No match found", success: false };
    const results = [[fine], [fine, failed], JSON.stringify(edited), JSON.stringify({ text: "An agent's answer." })];
    const calls = results.map((_, index) => ({ ...call, id: `t${index}` }));
    const content = results.map((one, index) => ({ type: "tool_result", tool_use_id: `t${index}`, content: one }));
    await writeSession(data(), "1_a", [ask("Go"), say(calls), { role: "user", ts: T + 2000, content }]);
    const [own] = await readAll(cline().adapter);
    const told = own?.events.flatMap(({ kind, text, is_error }) => (kind === "tool_result" ? [[text, is_error]] : []));
    expect(told).toEqual([
      ["a.txt", false],
      ["a.txt\nCommand exited with code 3", true],
      ["No match found", true],
      ['{"text":"An agent\'s answer."}', false],
    ]);
  });

  it("counts what a fork copied as inherited", async () => {
    const fork = { forkedFromSessionId: "1_a", forkedAt: new Date(T + 5000).toISOString() };
    await writeSession(data(), "2_b", [...MESSAGES, say([], T + 6000, "a2")], { metadata: { fork } });
    const [own] = await readAll(cline().adapter);
    expect(own?.summary).toMatchObject({ forkedFrom: "1_a", usage: PAID, inheritedUsage: PAID, costUSD: 0.25 });
  });

  it("follows a session that is written whole again, and one whose title alone changed", async () => {
    const { adapter } = cline();
    await writeSession(data(), "1_a", MESSAGES.slice(0, 2));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await writeSession(data(), "1_a", MESSAGES, { metadata: { title: "Named" } });
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect(next.restarted).toBe(false);
    expect(next.events.map((event) => event.kind)).toEqual(["tool_result"]);
    expect(next.summary.title).toBe("Named");
    await writeDocument(
      join(data(), "sessions", "1_a", "1_a.messages.json"),
      '{"messages":[{"role":"user","ts":1,"content":"ha',
    );
    expect((await drainTail(adapter.tail(ref, next.cursor, env))).summary.skipped?.lines).toBe(1);
  });

  it("reads an older task: what the person said between tags, cancelled requests left out", async () => {
    await writeTask(join(data(), "tasks"), "1786", ROWS, {
      "task_metadata.json": { model_usage: [{ ts: T, model_id: "m" }] },
    });
    await writeDocument(join(data(), "state/taskHistory.json"), [
      { id: "1786", task: "Fix it", cwdOnTaskInitialization: "/w" },
    ]);
    const [own] = await readAll(cline().adapter);
    expect(own?.summary).toMatchObject({ title: "Fix it", cwd: "/w", usage: PAID, costUSD: 0.5 });
    expect(own?.events.filter((event) => event.kind === "user").map((event) => event.text)).toEqual([
      "Fix it",
      "Not so",
    ]);
    expect(cline().adapter.resume?.(own?.ref ?? { key: "", path: "" })).toBeUndefined();
  });

  it("takes Roo Code's whole prompt apart, and links a sub-task to a task that is there", async () => {
    const tasks = join(home, ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks");
    const whole = request(T, {
      apiProtocol: "anthropic",
      tokensIn: 100,
      tokensOut: 10,
      cacheReads: 30,
      cacheWrites: 20,
    });
    const without = request(T + 1, {
      apiProtocol: "openai",
      tokensIn: 5,
      tokensOut: 1,
      cacheReads: 30,
      cacheWrites: 20,
    });
    await writeTask(tasks, "one", [whole, without], { "history_item.json": { parentTaskId: "gone", workspace: "/w" } });
    await writeTask(tasks, "two", [], { "history_item.json": { parentTaskId: "one" } });
    const [one, two] = await readAll(cline({ variant: "roo" }).adapter);
    expect(one?.ref.tool).toBe("roo");
    expect(one?.summary).toMatchObject({ cwd: "/w", usage: { m: tokens(55, 11, 60, 40) } });
    expect([one?.summary.parent, two?.summary.parent]).toEqual([undefined, "one"]);
  });

  it("says what each of several commands does", () => {
    const { replay } = cline().adapter;
    expect(replay?.actions?.({ name: "run_commands", input: call.input })).toEqual([
      { do: "command", command: "ls" },
      { do: "command", command: "pwd" },
    ]);
    expect(replay?.actions?.({ name: "editor", input: {} })).toBeUndefined();
  });

  for (const fixture of ["cline/cline-repo-fixture", "cline/generated-cline-3.0.65", "cline/self-made-legacy-1"])
    testRing({ fixture, plugin: (dir) => cline({ dir }) });
  testRing({ fixture: "roo/self-made-1", plugin: (dir) => cline({ dir, variant: "roo" }) });
  testRing({ fixture: "zoo/self-made-1", plugin: (dir) => cline({ dir, variant: "zoo" }) });
});
