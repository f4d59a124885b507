/** Codebuff and Freebuff: a chat is a document, the folder is in another beside it, and tokens are in neither as a rule. */
import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import codebuff from "../../plugins/codebuff/index.ts";
import { runCommand } from "../command.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { fixtureFolder, tokens, writeDocument } from "./_store.ts";

useHome("codebuff");

const T = Date.parse("2026-08-11T07:07:38.552Z");
const CHAT = "2026-08-11T07-07-38.552Z";
const place = (project = "app", folder = "manicode") => join(".config", folder, "projects", project, "chats", CHAT);
const tool = (toolCallId: string, toolName: string, input: object, output?: unknown) => ({
  type: "tool",
  toolCallId,
  toolName,
  input,
  ...(output !== undefined && { output }),
});
const user = (n: number, content: string, more: object = {}) => ({
  id: `user-${T + n}`,
  variant: "user",
  content,
  timestamp: "12:38 PM",
  ...more,
});
const reply = (n: number, blocks: object[], more: object = {}) => ({
  id: `ai-${T + n}`,
  variant: "ai",
  content: "",
  timestamp: "12:38 PM",
  metadata: {},
  blocks,
  ...more,
});
const MESSAGES: object[] = [
  { id: `divider-${T}`, variant: "ai", content: "", blocks: [{ type: "mode-divider", mode: "LITE" }] },
  user(1, "Sort the receipts", { attachments: [{ filename: "a.png", path: "/tmp/a.png" }] }),
  reply(
    4000,
    [
      { type: "text", textType: "reasoning", content: "By date." },
      { type: "text", textType: "text", content: "Sorting." },
      tool("c1", "read_files", { paths: ["receipts.md"] }, "1 May\n"),
      {
        type: "agent",
        agentId: "agent-1",
        agentName: "basher",
        agentType: "basher",
        content: "Passed.",
        status: "complete",
        initialPrompt: "",
        params: { command: "ls" },
        blocks: [{ type: "text", content: "Running." }, tool("c2", "run_terminal_command", { command: "ls" }, "a\n")],
      },
    ],
    { credits: 12 },
  ),
];
const STATE = {
  sessionState: {
    fileContext: { projectRoot: "/w/app", cwd: "/w/app" },
    mainAgentState: {
      contextTokenCount: 41_230,
      creditsUsed: 12,
      messageHistory: [{ role: "assistant", content: "Sorting." }],
    },
  },
};
const write = async (messages: unknown = MESSAGES, state: unknown = STATE, folder = place(), base = home) => {
  await writeDocument(join(base, folder, "chat-messages.json"), messages);
  if (state !== null) await writeDocument(join(base, folder, "run-state.json"), state);
};
const create = () => codebuff().adapter;

const fixtures = await fixtureFolder("codebuff", (dir) => write(MESSAGES, STATE, place(), dir));

describe("adapters: codebuff", () =>
  testAdapter({
    plugin: (dir) => codebuff({ dir }),
    fixtures,
    expect: { sessions: 1, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] },
  }));

describe("Codebuff", () => {
  it("reads messages, the calls of its agents, and credits; tokens are not logged", async () => {
    await write();
    const [one, ...others] = await readAll(create());
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ tool: "codebuff", key: CHAT });
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Sort the receipts"],
      ["note", "[file] a.png"],
      ["thinking", "By date."],
      ["assistant", "Sorting."],
      ["tool_use", ""],
      ["tool_result", "1 May\n"],
      ["tool_use", ""],
      ["note", "Running."],
      ["tool_use", ""],
      ["tool_result", "a\n"],
      ["tool_result", "Passed."],
      ["note", "Credits: 12"],
    ]);
    expect(one?.events[6]).toMatchObject({
      tool_name: "spawn_agents",
      tool_input: { agent: "basher", params: { command: "ls" } },
    });
    expect(one?.summary).toMatchObject({ cwd: "/w/app", usage: {}, startedAt: new Date(T).toISOString() });
    expect(one?.summary.endedAt).toBe(new Date(T + 4000).toISOString());
    expect(one?.summary.costUSD).toBeUndefined();
  });

  it("is a project of its own name where no state names the folder", async () => {
    await write(MESSAGES, null, place("receipts"));
    const project = { virtualProject: { key: "receipts", name: "receipts" } };
    const [one] = await readAll(create());
    expect(one?.summary).toMatchObject(project);
    expect(one && (await create().peek?.(one.ref, env))).toEqual(project);
  });

  it.each([
    [
      "Anthropic's",
      { inputTokens: 100, outputTokens: 40, cacheReadInputTokens: 20, cacheCreationInputTokens: 5 },
      tokens(100, 40, 20, 5),
    ],
    [
      "OpenAI's",
      { prompt_tokens: 100, completion_tokens: 40, prompt_tokens_details: { cached_tokens: 20 } },
      tokens(80, 40, 20),
    ],
    ["the AI SDK's", { inputTokens: 100, outputTokens: 40, cachedInputTokens: 20 }, tokens(80, 40, 20)],
  ])("counts tokens where a message has them, by %s names", async (_, usage, expected) => {
    const places = [{ usage, model: "m" }, { codebuff: { usage: { ...usage, model: "m" } } }];
    for (const metadata of places) {
      await write([user(1, "Go"), reply(2, [], { metadata })]);
      const [one] = await readAll(create());
      expect(one?.summary.usage).toEqual({ m: expected });
    }
  });

  it("counts each call of an agent's history once, though every message and the state repeat it", async () => {
    const call = (content: string, inputTokens: number) => ({
      role: "assistant",
      content,
      providerOptions: { usage: { inputTokens, outputTokens: 1 }, codebuff: { model: "m" } },
    });
    const runState = (...messageHistory: object[]) => ({
      sessionState: { mainAgentState: { messageHistory }, fileContext: { cwd: "/w" } },
    });
    const [a, b, c] = [call("a", 10), call("b", 20), call("c", 30)];
    const first = reply(2, [], { metadata: { runState: runState(a, b) } });
    const second = reply(4, [], { metadata: { runState: runState(a, b, c) } });
    await write([first, second], runState(b, c, call("d", 40)));
    const [one] = await readAll(create());
    expect(one?.summary.usage).toEqual({ m: tokens(100, 4) });
    // A message's own figures are those of the same calls.
    await write([{ ...first, metadata: { ...first.metadata, usage: { inputTokens: 30, outputTokens: 2 } } }]);
    const [own] = await readAll(create());
    expect(own?.summary.usage).toEqual({ unknown: tokens(30, 2) });
  });

  it("follows a chat whose last reply is being written", async () => {
    const adapter = create();
    const growing = (content: string, more: object = {}) =>
      write([...MESSAGES, reply(5000, [{ type: "text", content }], more)]);
    await write();
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await growing("Gro", { isComplete: false });
    const between = await drainTail(adapter.tail(ref, first.cursor, env));
    await growing("Grown.", { isComplete: true });
    const next = await drainTail(adapter.tail(ref, between.cursor, env));
    expect([between.events, next.restarted, shape(next.events)]).toEqual([[], false, [["assistant", "Grown."]]]);
  });

  it("leaves out what it does not know, however deep agents are nested, and reads a document that is cut", async () => {
    let nested: object = { type: "text", content: "deep" };
    for (let n = 0; n < 40; n++) nested = { type: "agent", agentId: `a${n}`, agentType: "t", blocks: [nested] };
    const odd = [
      null,
      { id: 7, variant: "oracle", content: "?" },
      { variant: "error", content: "Out of credits", credits: -1 },
      reply(6000, [nested, { type: "hologram" }]),
      user(Number.NaN, "When?"),
    ];
    await write([...MESSAGES, ...odd]);
    const [one] = await readAll(create());
    expect(one?.summary.skipped?.unknown).toEqual({
      "message:?": 1,
      "message:oracle": 1,
      "block:agent": 1,
      "block:hologram": 1,
    });
    expect(shape(one?.events ?? [])).toContainEqual(["note", "Out of credits"]);
    await write(`${JSON.stringify(MESSAGES).slice(0, -40)}`, "{cut");
    const [cut] = await readAll(create());
    expect(cut?.events[0]?.text).toBe("Sort the receipts");
    await write({ not: "a list" });
    const [none] = await readAll(create());
    expect([none?.events, none?.summary.skipped?.lines]).toEqual([[], 1]);
  });

  it("reads the folders of all channels, and no others; doctor calls it unproved", async () => {
    for (const folder of ["manicode", "manicode-dev", "manicode-staging", "manicode-old"])
      await write(MESSAGES, STATE, place("app", folder));
    await writeDocument(join(home, place(), "chats", "chat-messages.json"), MESSAGES);
    expect((await scan(create())).map(({ path }) => path.split("/").at(-6))).toEqual([
      "manicode",
      "manicode-dev",
      "manicode-staging",
    ]);
    const { stdout } = await runCommand(["doctor", "--all"], home);
    expect(stdout).toContain("Codebuff: 1 sessions in");
    expect(stdout).toContain("unproved");
  });
});
