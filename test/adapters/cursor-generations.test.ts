import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  ask,
  CHAT,
  call,
  composer,
  FOLDER,
  md5,
  say,
  T0,
  TRANSCRIPT,
  writeChat,
  writeGlobal,
  writeTranscript,
  writeWorkspace,
} from "../fixtures/cursor/build.ts";
import { create, dot, globalDb, useCursor, user } from "./_cursor.ts";
import { readAll, shape } from "./_home.ts";

useCursor();

const iso = (ms: number) => new Date(ms).toISOString();

describe("Cursor: generations", () => {
  it("(c) composers with bubbles in the order of their headers", async () => {
    await writeGlobal(user, [
      ...composer("c1", [
        ask("Rename the helper"),
        say("", T0 + 200, { thinking: { text: "look first" } }),
        call("read_file", { target_file: "src/a.ts" }, { contents: "export const a = 1" }),
        call("run_terminal_cmd", { command: "false" }, { output: "no", exitCodeV2: 1 }),
        call("edit_file", { target_file: "src/a.ts" }, "", { status: "cancelled", userDecision: "rejected" }),
        say("Renamed it.", T0 + 9000, {
          modelInfo: { modelName: "model-y" },
          tokenCount: { inputTokens: 1200, outputTokens: 80 },
        }),
      ]),
      ["bubbleId:c1:orphan", { type: 2, text: "no header names it" }],
      ["composerData:nothing", null],
      ["composerData:draft", { composerId: "draft", fullConversationHeadersOnly: [], createdAt: T0 }],
      [
        "composerData:gone",
        { composerId: "gone", fullConversationHeadersOnly: [{ bubbleId: "x", type: 1 }], createdAt: T0 },
      ],
    ]);
    const [one, ...others] = await readAll(create());
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({
      key: "c1",
      title: "Title of c1",
      cwd: FOLDER,
      exclusive: false,
      path: globalDb(),
    });
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Rename the helper"],
      ["thinking", "look first"],
      ["tool_use", ""],
      ["tool_result", "export const a = 1"],
      ["tool_use", ""],
      ["tool_result", "no"],
      ["tool_use", ""],
      ["tool_result", ""],
      ["assistant", "Renamed it."],
    ]);
    expect(one?.events.map((event) => event.seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(one?.events[2]).toMatchObject({
      tool_name: "read_file",
      tool_use_id: "call_read_file",
      tool_input: { target_file: "src/a.ts" },
      model: "model-x",
    });
    expect(one?.events.filter((event) => event.kind === "tool_result").map((event) => event.is_error)).toEqual([
      false,
      true,
      true,
    ]);
    expect(one?.summary).toMatchObject({
      title: "Title of c1",
      cwd: FOLDER,
      startedAt: iso(T0),
      endedAt: iso(T0 + 9000),
      usage: { "model-y": { input: 1200, output: 80, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } },
      skipped: { lines: 0, unknown: {} },
    });
    // Neither 0/0 figures nor the size of the context are usage.
    expect(Object.keys(one?.summary.usage ?? {})).toEqual(["model-y"]);
  });

  it("(b) old composers with everything inside, tool calls beside", async () => {
    await writeGlobal(user, [
      [
        "composerData:v1",
        {
          composerId: "v1",
          name: "Old",
          createdAt: T0,
          lastUpdatedAt: T0 + 5000,
          conversation: [
            {
              type: 1,
              bubbleId: "a",
              text: "",
              richText: JSON.stringify({
                root: { children: [{ type: "paragraph", children: [{ text: "from the editor" }] }] },
              }),
            },
            { type: 2, bubbleId: "b", text: "Calling.", timingInfo: { clientStartTime: 1500 } },
            { type: 2, bubbleId: "c", text: "Done.", timingInfo: { clientStartTime: T0 + 4000 } },
          ],
          capabilities: [
            { type: 1 },
            {
              type: 15,
              data: {
                bubbleDataMap: JSON.stringify({
                  b: {
                    tool: 7,
                    name: "grep",
                    toolCallId: "g",
                    status: "completed",
                    params: '{"query":"x"}',
                    result: "3 hits",
                  },
                }),
              },
            },
          ],
        },
      ],
    ]);
    const [one] = await readAll(create());
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "from the editor"],
      ["assistant", "Calling."],
      ["tool_use", ""],
      ["tool_result", "3 hits"],
      ["assistant", "Done."],
    ]);
    // A start below the year 2000 is counted from the conversation's own.
    expect(one?.events.map((event) => event.at)).toEqual([
      undefined,
      iso(T0 + 1500),
      iso(T0 + 1500),
      iso(T0 + 1500),
      iso(T0 + 4000),
    ]);
    expect(one?.events[2]).toMatchObject({ tool_input: { query: "x" } });
    expect(one?.summary.cwd).toBeUndefined();
  });

  it("(a) legacy tabs, and composers whose row is in the workspace and whose bubbles in the global database", async () => {
    await writeGlobal(user, [
      ["bubbleId:w-comp:b1", ask("Refactor")],
      [
        "bubbleId:w-comp:b2",
        say("Done", T0 + 1000, {
          thinking: { text: "imports first" },
          toolResults: [{ toolName: "read_file", args: { path: "p.tsx" }, result: "code", toolCallId: "t" }],
        }),
      ],
    ]);
    await writeWorkspace(user, "w1", { folder: "file:///home/dev/my%20app" }, [
      [
        "workbench.panel.aichat.view.aichat.chatdata",
        {
          tabs: [
            {
              tabId: "tab1",
              chatTitle: "Login",
              lastSendTime: T0 + 9,
              bubbles: [
                { type: "user", text: "Why?", timingInfo: { clientStartTime: T0 } },
                { type: "ai", rawText: "Because.", modelType: "gpt-4", id: "x" },
              ],
            },
            { tabId: "empty", bubbles: [] },
            { bubbles: [{}] },
            7,
          ],
        },
      ],
      [
        "composer.composerData",
        {
          allComposers: [
            {
              composerId: "w-comp",
              name: "Charts",
              createdAt: T0,
              fullConversationHeadersOnly: [{ bubbleId: "b1" }, { bubbleId: "b2" }],
            },
            {
              composerId: "w-inline",
              name: "In",
              createdAt: T0,
              conversation: [{ type: 1, bubbleId: "q", text: "inline" }],
            },
            { composerId: "w-empty", createdAt: T0 },
            null,
          ],
        },
      ],
    ]);
    const all = await readAll(create());
    expect(all.map(({ ref }) => [ref.key, ref.title, ref.cwd])).toEqual([
      ["tab1", "Login", FOLDER],
      ["w-comp", "Charts", FOLDER],
      ["w-inline", "In", FOLDER],
    ]);
    expect(shape(all[0]?.events ?? [])).toEqual([
      ["user", "Why?"],
      ["assistant", "Because."],
    ]);
    expect(all[0]?.events[1]?.model).toBe("gpt-4");
    expect(shape(all[1]?.events ?? [])).toEqual([
      ["user", "Refactor"],
      ["thinking", "imports first"],
      ["tool_use", ""],
      ["tool_result", "code"],
      ["assistant", "Done"],
    ]);
    expect(shape(all[2]?.events ?? [])).toEqual([["user", "inline"]]);
    expect(all.map(({ summary }) => summary.cwd)).toEqual([FOLDER, FOLDER, FOLDER]);
  });

  it("agent transcripts, flat and nested, with sub-agents, and the text form", async () => {
    await writeTranscript(dot, "home-dev-my-app", "flat.jsonl", TRANSCRIPT);
    await writeTranscript(dot, "home-dev-my-app", "deep/deep.jsonl", [TRANSCRIPT[3] as object]);
    await writeTranscript(dot, "home-dev-my-app", "deep/subagents/sub.jsonl", [TRANSCRIPT[3] as object]);
    await writeTranscript(dot, "home-dev-my-app", "deep/other.jsonl", [TRANSCRIPT[3] as object]);
    await writeTranscript(dot, "home-dev-my-app", "flat.txt", ["user:", "the same as flat.jsonl"]);
    await writeTranscript(dot, "home-dev-my-app", "plain.txt", [
      "user:",
      "<user_query>",
      "first",
      "",
      "second",
      "</user_query>",
      "",
      "assistant:",
      "[Thinking] hm",
      "",
      "Let me look.",
      "[Tool call] Read",
      "  path: /a/b.ts",
      "  limit: 5",
      "",
      "[Tool result] Read",
      "line 1",
      "",
      "line 2",
      "assistant:",
      "Done\u2028here.",
    ]);
    await writeWorkspace(user, "w1", { folder: "file:///home/dev/my%20app" }, []);
    const all = await readAll(create());
    expect(all.map(({ ref }) => [ref.key, ref.parent, ref.exclusive, ref.cwd])).toEqual(
      [
        ["deep", undefined, true, FOLDER],
        ["sub", "deep", true, FOLDER],
        ["flat", undefined, true, FOLDER],
        ["plain", undefined, true, FOLDER],
      ].sort((a, b) => all.findIndex(({ ref }) => ref.key === a[0]) - all.findIndex(({ ref }) => ref.key === b[0])),
    );
    const flat = all.find(({ ref }) => ref.key === "flat");
    expect(shape(flat?.events ?? [])).toEqual([
      ["user", "fix the test"],
      ["assistant", "Reading."],
      ["tool_use", ""],
      ["assistant", "Fixed."],
    ]);
    expect(flat?.events[0]?.at).toBe("2026-07-01T06:05:00.000Z");
    expect(flat?.summary).toMatchObject({
      startedAt: "2026-07-01T06:05:00.000Z",
      usage: {},
      skipped: { lines: 0, unknown: {} },
    });
    const plain = all.find(({ ref }) => ref.key === "plain");
    expect(shape(plain?.events ?? [])).toEqual([
      ["user", "first\n\nsecond"],
      ["thinking", "hm"],
      ["assistant", "Let me look."],
      ["tool_use", ""],
      ["tool_result", "Read\nline 1\n\nline 2"],
      ["assistant", "Done\u2028here."],
    ]);
    expect(plain?.events[3]).toMatchObject({ tool_name: "Read", tool_input: { path: "/a/b.ts", limit: "5" } });
  });

  it("chats of the command line in the order of the root, not of the rows", async () => {
    await writeChat(join(dot, "chats", md5("/home/dev/cli"), "agent-1", "store.db"), { messages: CHAT });
    const [one] = await readAll(create());
    expect(one?.ref).toMatchObject({ key: "agent-1", title: "Chat", exclusive: false });
    expect(one?.events.map((event) => event.kind)).toEqual([
      "note",
      "note",
      "user",
      "thinking",
      "tool_use",
      "tool_result",
      "assistant",
    ]);
    expect(one?.events[4]).toMatchObject({
      tool_name: "LS",
      tool_use_id: "t1",
      tool_input: { path: "." },
      model: "gpt-5",
    });
    expect(one?.summary).toMatchObject({ startedAt: iso(T0), usage: {}, cwd: "/home/dev/cli" });
  });
});
