/** Texts, calls and prompts in the order and of the kind that they were: VS Code's answers, what a person typed meanwhile. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import dsh from "sessarc/plugins/dsh";
import grok from "sessarc/plugins/grok";
import kimi from "sessarc/plugins/kimi";
import { describe, expect, it } from "vitest";
import { chat, create, find, put } from "./_copilot.ts";
import { drainTail, env, home, readAll, shape, useHome } from "./_home.ts";

useHome("true-order");

const call = (toolCallId: string, command: string, more: object = {}) => ({
  kind: "toolInvocationSerialized",
  toolId: "run_in_terminal",
  toolCallId,
  pastTenseMessage: { value: "Ran" },
  toolSpecificData: { kind: "terminal", commandLine: { original: command }, ...more },
});
const request = (response: object[], metadata: object = {}) => ({
  requests: [
    {
      requestId: "r1",
      message: { text: "Go" },
      response,
      timestamp: 1_795_165_200_000,
      result: { timings: { totalElapsed: 5000 }, metadata },
    },
  ],
});
const answer = async (response: object[], metadata?: object) =>
  shape((await chat("a.json", JSON.stringify(request(response, metadata)))).events).slice(1);

describe("an answer of VS Code", () => {
  it("alternates text and calls, with what the terminal showed", async () => {
    const shown = (text: string) => ({ terminalCommandOutput: { text }, terminalCommandState: { exitCode: 0 } });
    expect(
      await answer([
        { value: "First I look. " },
        call("c1", "ls", shown("a.ts")),
        { value: "Now the tests." },
        call("c2", "npm test", shown("all green")),
        { value: "All pass." },
      ]),
    ).toEqual([
      ["assistant", "First I look."],
      ["tool_use", "Ran"],
      ["tool_result", "a.ts"],
      ["assistant", "Now the tests."],
      ["tool_use", "Ran"],
      ["tool_result", "all green"],
      ["assistant", "All pass."],
    ]);
  });

  it("joins the pieces of one text, edits and references between them included", async () => {
    expect(
      await answer([
        { value: "See " },
        { kind: "inlineReference", inlineReference: { path: "/w/b.ts" } },
        { kind: "textEditGroup", edits: [] },
        { value: " and go on." },
        { kind: "thinking", value: "Hm." },
        { value: "Done." },
      ]),
    ).toEqual([
      ["assistant", "See b.ts and go on."],
      ["thinking", "Hm."],
      ["assistant", "Done."],
    ]);
  });

  it("takes a terminal's output as a text, and a result that the model saw before it", async () => {
    expect(
      await answer(
        [call("call_1", "a", { terminalCommandOutput: "x\r\ny" }), call("call_2", "b", { output: "seen by the view" })],
        { toolCallResults: { call_2: { content: [{ value: "seen by the model" }] } } },
      ),
    ).toEqual([
      ["tool_use", "Ran"],
      ["tool_result", "x\ny"],
      ["tool_use", "Ran"],
      ["tool_result", "seen by the model"],
    ]);
  });

  it("orders calls that the view does not have by the rounds of the model", async () => {
    const rounds = [
      { response: "First.", toolCalls: [{ id: "call_1", name: "read_file", arguments: "{}" }] },
      { response: "Then.", toolCalls: [{ id: "call_2", name: "read_file", arguments: "{}" }] },
      { response: "Done.", toolCalls: [] },
    ];
    const wanted = [
      ["assistant", "First."],
      ["tool_use", ""],
      ["assistant", "Then."],
      ["tool_use", ""],
      ["assistant", "Done."],
    ];
    expect(await answer([], { toolCallRounds: rounds })).toEqual(wanted);
    expect(await answer([{ value: "First.Then.Done." }], { toolCallRounds: rounds })).toEqual(wanted);
    // A text that the rounds do not have is the answer.
    expect(await answer([{ value: "Other." }], { toolCallRounds: rounds })).toEqual([
      ["tool_use", ""],
      ["tool_use", ""],
      ["assistant", "Other."],
    ]);
  });

  it("is followed while it grows", async () => {
    const parts = [{ value: "First. " }, call("c1", "ls", { terminalCommandOutput: { text: "a" } })];
    await chat("a.jsonl", [{ kind: 0, v: request(parts) }]);
    const adapter = create();
    const ref = await find(adapter, "a");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await put(".config/Code/User/workspaceStorage/h1/chatSessions/a.jsonl", [
      { kind: 0, v: request(parts) },
      { kind: 2, k: ["requests", 0, "response"], v: [{ value: "Then." }] },
    ]);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, shape(next.events)]).toEqual([false, [["assistant", "Then."]]]);
  });
});

describe("what a person typed while the assistant worked", () => {
  const write = async (path: string, rows: readonly object[]) => {
    const file = join(home, path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  };
  const prompts = async (adapter: ReturnType<typeof grok>["adapter"]) =>
    (await readAll(adapter)).flatMap(({ events }) =>
      events.flatMap(({ kind, text }) => (kind === "user" ? [text] : [])),
    );

  it("is a prompt in Grok's history and in its updates", async () => {
    const said = (text: string, synthetic_reason?: string | null) => ({
      type: "user",
      content: [{ type: "text", text }],
      ...(synthetic_reason !== undefined && { synthetic_reason }),
    });
    await write(".grok/sessions/%2Fw/s1/chat_history.jsonl", [
      said("rules", "project_instructions"),
      said("check the parser"),
      said("the lexer, too", "interjection"),
      said("and this", null),
      said("remember", "system_reminder"),
      said("<user_query>\nlast\n</user_query>", "interjection"),
    ]);
    const update = (text: string, _meta: object) => ({
      params: { update: { sessionUpdate: "user_message_chunk", content: { type: "text", text }, _meta } },
    });
    await write(".grok/sessions/%2Fw/s2/updates.jsonl", [
      update("typed", {}),
      update("meanwhile", { syntheticReason: "interjection", hideFromScrollback: true }),
      update("hidden", { hideFromScrollback: true }),
      update("made", { syntheticReason: "system_reminder" }),
    ]);
    expect(await prompts(grok({ dir: home }).adapter)).toEqual([
      "check the parser",
      "the lexer, too",
      "and this",
      "last",
      "typed",
      "meanwhile",
    ]);
  });

  it("is a prompt in Kimi's and DeepSeek Harness's logs", async () => {
    await write(".kimi-code/sessions/wd_w_1/s1/agents/main/wire.jsonl", [
      { type: "turn.prompt", time: 1_795_165_200_000, input: [{ type: "text", text: "Go" }], origin: { kind: "user" } },
      { type: "turn.steer", time: 1_795_165_201_000, input: [{ type: "text", text: "No, left" }] },
    ]);
    expect(await prompts(kimi({ dir: home }).adapter)).toEqual(["Go", "No, left"]);
    const user = (seq: number, text: string, kind: string) => ({
      type: "user/message",
      seq,
      time: 1_795_165_200_000 + seq,
      data: { content: [{ type: "text", text }], source: { kind }, id: `u${seq}` },
    });
    await write(".dsh/sessions/--w--/session-1/session.v4.jsonl", [
      { type: "session", version: 4, id: "session-1", createdAt: 1_795_165_200_000, cwd: "/w" },
      user(0, "Go", "user"),
      user(1, "rules", "agent-instructions"),
      user(2, "No, left", "user"),
    ]);
    expect(await prompts(dsh({ dir: home }).adapter)).toEqual(["Go", "No, left"]);
  });
});
