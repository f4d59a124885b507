import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AdapterEnv, Cursor, SessionEvent, SessionRef, SessionSummary } from "sessarc";
import { testAdapter } from "sessarc/test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import cursor from "../../plugins/cursor/index.ts";
import { toPrompt } from "../../plugins/cursor/read/text.ts";
import { pathOfUri } from "../../plugins/cursor/stores/uri.ts";
import {
  ask,
  CHAT,
  call,
  composer,
  FOLDER,
  md5,
  say,
  sha,
  T0,
  TRANSCRIPT,
  writeChat,
  writeGlobal,
  writeTranscript,
  writeWorkspace,
} from "../fixtures/cursor/build.ts";

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

let home: string;
let user: string;
let dot: string;
let env: AdapterEnv;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sessarc-cursor-"));
  user = join(home, ".config", "Cursor", "User");
  dot = join(home, ".cursor");
  env = { home, platform: "linux", env: {} };
});
afterEach(() => rm(home, { recursive: true, force: true }));

const create = (dir?: string) => cursor(dir === undefined ? undefined : { dir }).adapter;
type Adapter = ReturnType<typeof create>;

async function scan(adapter: Adapter, on: AdapterEnv = env): Promise<SessionRef[]> {
  const refs: SessionRef[] = [];
  for (const root of adapter.roots(on)) for await (const ref of adapter.scan(root, on)) refs.push(ref);
  return refs;
}
async function drain(reader: AsyncGenerator<SessionEvent, SessionSummary>) {
  const events: SessionEvent[] = [];
  for (;;) {
    const step = await reader.next();
    if (step.done) return { events, summary: step.value };
    events.push(step.value);
  }
}
async function readAll(adapter: Adapter, on: AdapterEnv = env) {
  const all = [];
  for (const ref of await scan(adapter, on)) all.push({ ref, ...(await drain(adapter.read(ref, on))) });
  return all;
}
const shape = (events: readonly SessionEvent[]) => events.map((event) => [event.kind, event.text]);
const iso = (ms: number) => new Date(ms).toISOString();
const globalDb = () => join(user, "globalStorage", "state.vscdb");

const fixtures = await mkdtemp(join(tmpdir(), "sessarc-cursor-fixtures-"));
const fixtureUser = join(fixtures, ".config", "Cursor", "User");
const fixtureDot = join(fixtures, ".cursor");
await writeGlobal(
  fixtureUser,
  composer("c1", [
    ask("Rename the helper"),
    say("", T0 + 200, { thinking: { text: "look first" } }),
    call("read_file", { target_file: "src/a.ts" }, { contents: "export const a = 1" }),
    say("Renamed it.", T0 + 9000, { tokenCount: { inputTokens: 1200, outputTokens: 80 } }),
  ]),
);
await writeWorkspace(fixtureUser, "w1", { folder: "file:///home/dev/my%20app" }, [
  [
    "workbench.panel.aichat.view.aichat.chatdata",
    { tabs: [{ tabId: "tab1", chatTitle: "Login", lastSendTime: T0, bubbles: [{ type: "user", text: "Why?" }] }] },
  ],
]);
await writeTranscript(fixtureDot, "home-dev-my-app", "t1/t1.jsonl", TRANSCRIPT);
await writeTranscript(fixtureDot, "home-dev-my-app", "t1/subagents/t2.jsonl", TRANSCRIPT.slice(0, 2));
await writeTranscript(fixtureDot, "home-dev-my-app", "t3.txt", [
  "user:",
  "hello",
  "assistant:",
  "[Thinking] hm",
  "",
  "hi",
]);
await writeChat(join(fixtureDot, "chats", md5(FOLDER), "cli1", "store.db"), { messages: CHAT });
afterAll(() => rm(fixtures, { recursive: true, force: true }));

describe("adapters: cursor", () =>
  testAdapter({
    plugin: (dir) => cursor({ dir }),
    fixtures,
    expect: {
      sessions: 6,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { "model-x": { input: 1200, output: 80, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } },
    },
  }));

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

  it("(a) legacy tabs, and composers whose row stands in the workspace and whose bubbles in the global database", async () => {
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

describe("Cursor: one conversation in several places", () => {
  it("is one session: the database before the transcript, the transcript where the database has only a header", async () => {
    await writeGlobal(
      user,
      [
        ...composer("both", [ask("from the database")]),
        [
          "composerData:headed",
          { composerId: "headed", fullConversationHeadersOnly: [{ bubbleId: "x", type: 1 }], createdAt: T0 },
        ],
      ],
      [
        {
          id: "headed",
          workspace: "w1",
          value: { name: "Named by its header", workspaceIdentifier: { uri: { fsPath: "/home/dev/other" } } },
        },
        { id: "sub", workspace: "w1", value: { subagentInfo: { parentComposerId: "both" } } },
      ],
    );
    await writeWorkspace(user, "w1", { folder: "file:///home/dev/my%20app" }, [
      [
        "composer.composerData",
        {
          allComposers: [{ composerId: "both", conversation: [{ type: 1, text: "old copy", bubbleId: "o" }] }],
          selectedComposerIds: ["both"],
        },
      ],
    ]);
    for (const id of ["both", "headed", "sub"]) await writeTranscript(dot, "p", `${id}/${id}.jsonl`, TRANSCRIPT);
    await writeChat(join(dot, "chats", md5(FOLDER), "cli", "store.db"), { messages: CHAT });
    await writeTranscript(dot, "p", "cli.jsonl", TRANSCRIPT);
    const all = await readAll(create());
    expect(all.map(({ ref }) => ref.key).sort()).toEqual(["both", "cli", "headed", "sub"]);
    const of = (key: string) => all.find(({ ref }) => ref.key === key);
    expect(of("both")?.events[0]?.text).toBe("from the database");
    expect(of("headed")?.ref).toMatchObject({ title: "Named by its header", cwd: "/home/dev/other", exclusive: true });
    expect(of("headed")?.summary).toMatchObject({ title: "Named by its header", cwd: "/home/dev/other" });
    expect(of("sub")?.summary).toMatchObject({ parent: "both", cwd: FOLDER });
    expect(of("cli")?.ref).toMatchObject({ path: expect.stringContaining("store.db"), cwd: FOLDER });
  });
});

describe("Cursor: the project", () => {
  const noFolder = { workspaceIdentifier: undefined };

  it("follows the rules in their order and never decodes a folder's name", async () => {
    await writeGlobal(
      user,
      [
        ...composer("own", [ask("a")]),
        ...composer("by-header", [ask("a")], noFolder),
        ...composer("by-window", [ask("a")], { workspaceIdentifier: { id: "w2" } }),
        ...composer("by-member", [ask("a")], noFolder),
        ...composer("by-view", [ask("a")], noFolder),
        ...composer(
          "by-tools",
          [ask("a"), call("read_file", { target_file: "/home/dev/my app/src/a.ts" }, "x")],
          noFolder,
        ),
        ...composer("remote", [ask("a")], { workspaceIdentifier: { uri: "vscode-remote://ssh-remote%2Bbox/home/x" } }),
        ...composer("nowhere", [ask("a"), call("read_file", { target_file: "src/a.ts" }, "x")], noFolder),
      ],
      [
        { id: "by-header", value: { workspaceIdentifier: { uri: { external: "file:///srv/h%C3%BC" } } } },
        { id: "own", workspace: "w2" },
      ],
    );
    await writeWorkspace(user, "w1", { folder: "file:///home/dev/my%20app" }, [
      ["composer.composerData", { selectedComposerIds: ["by-member"] }],
      ["workbench.panel.aichat.view.by-view", "{}"],
    ]);
    await writeWorkspace(user, "w2", { workspace: "file:///home/dev/team/all.code-workspace" }, []);
    await writeWorkspace(user, "w3", { folder: "vscode-remote://ssh-remote%2Bbox/home/x" }, []);
    await writeWorkspace(user, "w4", { folder: "file:///%zz" }, []);
    await writeWorkspace(user, "w5", undefined, []);
    const all = await readAll(create());
    expect(Object.fromEntries(all.map(({ ref, summary }) => [ref.key, [ref.cwd, summary.cwd]]))).toEqual({
      own: [FOLDER, FOLDER],
      "by-header": ["/srv/hü", "/srv/hü"],
      "by-window": ["/home/dev/team", "/home/dev/team"],
      "by-member": [FOLDER, FOLDER],
      "by-view": [FOLDER, FOLDER],
      "by-tools": [undefined, FOLDER],
      remote: [undefined, undefined],
      nowhere: [undefined, undefined],
    });
  });

  it("decodes folders' addresses", () => {
    expect(pathOfUri("file:///c%3A/Users/dev/a%20b")).toBe("c:/Users/dev/a b");
    expect(pathOfUri("file://server/share/x")).toBe("//server/share/x");
    expect(pathOfUri("file:///home/dev/100%25")).toBe("/home/dev/100%");
    expect(pathOfUri("vscode-remote://wsl%2Bubuntu/home/x")).toBeUndefined();
    expect(pathOfUri(7)).toBeUndefined();
  });

  it("finds a chat's folder by its hash among known folders, by its root, or by meta.json when the hash agrees", async () => {
    await writeWorkspace(user, "w1", { folder: "file:///home/dev/my%20app" }, []);
    const plain = CHAT.filter((_, i) => i !== 1);
    const at = (bucket: string, id: string) => join(dot, "chats", bucket, id, "store.db");
    await writeChat(at(md5(FOLDER), "hash"), { messages: plain });
    await writeChat(at("0".repeat(32), "none"), { messages: plain });
    await writeChat(at("1".repeat(32), "root"), { messages: plain, workspace: "file:///srv/in%20root" });
    await writeChat(at(md5("/srv/side"), "side"), { messages: plain });
    await writeFile(join(dirname(at(md5("/srv/side"), "side")), "meta.json"), JSON.stringify({ cwd: "/srv/side" }));
    await writeChat(at("2".repeat(32), "lies"), { messages: plain });
    await writeFile(join(dirname(at("2".repeat(32), "lies")), "meta.json"), JSON.stringify({ cwd: "/srv/side" }));
    const all = await readAll(create());
    expect(Object.fromEntries(all.map(({ ref, summary }) => [ref.key, summary.cwd]))).toEqual({
      hash: FOLDER,
      none: undefined,
      root: "/srv/in root",
      side: "/srv/side",
      lies: undefined,
    });
  });
});

describe("Cursor: places", () => {
  it("names the places of each system", () => {
    const on = (platform: NodeJS.Platform, variables = {}) => create().roots({ home: "/h", platform, env: variables });
    expect(on("linux")[0]).toBe("/h/.config/Cursor/User/globalStorage/state.vscdb");
    expect(on("darwin")[0]).toBe("/h/Library/Application Support/Cursor/User/globalStorage/state.vscdb");
    expect(on("win32", { APPDATA: "/r" })[0]).toBe("/r/Cursor/User/globalStorage/state.vscdb");
    expect(on("linux").slice(2)).toEqual(["/h/.cursor/projects", "/h/.cursor/chats"]);
  });

  it("takes a home, a User folder or a .cursor folder as `dir`", async () => {
    await writeGlobal(user, composer("c1", [ask("a")]));
    await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT);
    const keys = async (dir: string) => (await scan(create(dir))).map((ref) => ref.key).sort();
    expect(await keys(home)).toEqual(["c1", "t1"]);
    expect(await keys(user)).toEqual(["c1"]);
    expect(await keys(dot)).toEqual(["t1"]);
    expect(await keys(join(home, "nowhere"))).toEqual([]);
    expect(
      create(home)
        .roots(env)
        .every((root) => root.startsWith(home)),
    ).toBe(true);
  });

  it("does not follow links out of its folders", async () => {
    const outside = join(home, "outside");
    await writeTranscript(outside, "p", "secret.jsonl", TRANSCRIPT);
    await writeTranscript(dot, "q", "own.jsonl", TRANSCRIPT);
    await symlink(join(outside, "projects", "p"), join(dot, "projects", "p"));
    await symlink(
      join(outside, "projects", "p", "agent-transcripts", "secret.jsonl"),
      join(dot, "projects", "q", "agent-transcripts", "link.jsonl"),
    );
    expect((await scan(create())).map((ref) => ref.key)).toEqual(["own"]);
  });
});

describe("Cursor: damage", () => {
  it("counts hostile rows and never throws", async () => {
    await writeGlobal(
      user,
      [
        ...composer(
          "odd",
          [
            ask("fine"),
            { type: 9, text: "?" },
            {
              type: 2,
              text: 7,
              thinking: [],
              toolFormerData: { tool: "x", rawArgs: 5, result: { a: 1 }, status: 3 },
              createdAt: "never",
              timingInfo: { clientStartTime: -1 },
              tokenCount: { inputTokens: "12", outputTokens: -4 },
            },
            { type: 2, toolFormerData: "x", toolResults: [1, null], richText: "{", tokenCount: 3 },
          ],
          {
            createdAt: "x",
            modelConfig: 4,
            workspaceIdentifier: { uri: 7 },
            subagentInfo: "no",
            capabilities: [{ type: 15, data: { bubbleDataMap: "{" } }, 3],
            fullConversationHeadersOnly: [
              { bubbleId: "b1" },
              { bubbleId: "b1" },
              { bubbleId: "b2" },
              { bubbleId: "b3" },
              { bubbleId: "b4" },
              { bubbleId: "missing" },
              { bubbleId: "null" },
              { bubbleId: "bad" },
              { bubbleId: "list" },
              5,
              {},
            ],
          },
        ),
        ["bubbleId:odd:null", null],
        ["bubbleId:odd:bad", "{"],
        ["bubbleId:odd:list", "[1]"],
        ["composerData:bad", "{"],
        ["composerData:list", "[]"],
        ["composerData:", {}],
        [null, "x"],
        ["composerData:bytes", new Uint8Array([255, 0, 1])],
      ],
      [{ id: "odd", value: "{" }],
    );
    const all = await readAll(create());
    expect(all.map(({ ref }) => ref.key)).toEqual(["odd"]);
    expect(shape(all[0]?.events ?? [])).toEqual([
      ["user", "fine"],
      ["tool_use", ""],
      ["tool_result", '{"a":1}'],
    ]);
    expect(all[0]?.summary.skipped).toEqual({ lines: 4, unknown: { "bubble:9": 1, "bubble:missing": 2 } });
    expect(all[0]?.summary.usage).toEqual({
      unknown: { input: 12, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    });
  });

  it("survives chats that refer to themselves, to nothing, or are no chats", async () => {
    const at = (id: string) => join(dot, "chats", "b", id, "store.db");
    const hello = Buffer.from(JSON.stringify({ role: "user", content: "hello" }));
    await writeChat(at("missing"), {
      messages: [{ role: "user", content: "hello" }],
      refs: [sha(hello), "ab".repeat(32)],
    });
    await writeChat(at("bad"), {
      messages: ["{", "\u0001", { role: "assistant", content: [5, { type: "hologram" }, { type: "text" }] }],
    });
    await writeChat(at("meta"), { messages: [], meta: "not hex" });
    await mkdir(join(dot, "chats", "b", "void"), { recursive: true });
    await writeFile(at("void"), "");
    const all = await readAll(create());
    expect(
      Object.fromEntries(all.map(({ ref, events, summary }) => [ref.key, [shape(events), summary.skipped]])),
    ).toEqual({
      missing: [[["user", "hello"]], { lines: 0, unknown: { "blob:missing": 1 } }],
      bad: [[], { lines: 2, unknown: { blob: 1, "chat:hologram": 1 } }],
    });
  });

  it("keeps a broken database from hiding the others", async () => {
    await writeWorkspace(user, "w2", { folder: "file:///x" }, [
      [
        "workbench.panel.aichat.view.aichat.chatdata",
        { tabs: [{ tabId: "t", bubbles: [{ type: "user", text: "hi" }] }] },
      ],
    ]);
    await mkdir(join(user, "workspaceStorage", "w1"), { recursive: true });
    await writeFile(
      join(user, "workspaceStorage", "w1", "state.vscdb"),
      "no database at all, but long enough to be looked at".repeat(50),
    );
    await mkdir(join(user, "globalStorage"), { recursive: true });
    await writeFile(globalDb(), "no database at all, but long enough to be looked at".repeat(50));
    await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT);
    const adapter = create();
    const outcome: [string, string[], string | undefined][] = [];
    for (const root of adapter.roots(env)) {
      const keys: string[] = [];
      let code: string | undefined;
      try {
        for await (const ref of adapter.scan(root, env)) keys.push(ref.key);
      } catch (error) {
        code = (error as { code?: string }).code;
      }
      outcome.push([root.slice(home.length), keys, code]);
    }
    expect(outcome.map(([, keys, code]) => [keys, code])).toEqual([
      [[], "SOURCE_DAMAGED"],
      [["t"], "SOURCE_DAMAGED"],
      [["t1"], undefined],
      [[], undefined],
    ]);
  });

  it("P7: a global database past the limit is reported, not copied, and the rest goes on", async () => {
    await mkdir(join(user, "globalStorage"), { recursive: true });
    await writeFile(globalDb(), "");
    await truncate(globalDb(), 600 * 2 ** 20); // a hole, no bytes on the disk
    await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT);
    const adapter = create();
    const [global, ...others] = adapter.roots(env);
    const first = adapter
      .scan(global ?? "", env)
      [Symbol.asyncIterator]()
      .next();
    await expect(first).rejects.toMatchObject({ code: "SOURCE_TOO_LARGE", status: 422 });
    const keys: string[] = [];
    for (const root of others) for await (const ref of adapter.scan(root, env)) keys.push(ref.key);
    expect(keys).toEqual(["t1"]);
  });

  it("never lets a secret of another key or table out", async () => {
    await writeGlobal(user, composer("c1", [ask("a")]), [{ id: "c1" }]);
    await writeWorkspace(user, "w1", { folder: "file:///x" }, [
      [
        "workbench.panel.aichat.view.aichat.chatdata",
        { tabs: [{ tabId: "t", bubbles: [{ type: "user", text: "hi" }] }] },
      ],
    ]);
    expect((await readFile(globalDb())).includes("TRAP-SECRET")).toBe(true);
    const adapter = create();
    const refs = await scan(adapter);
    const tails = await Promise.all(refs.map((ref) => adapter.tail?.(ref, undefined, env)));
    expect(refs).toHaveLength(2);
    expect(JSON.stringify([refs, await readAll(adapter), tails])).not.toContain("TRAP-SECRET");
  });
});

describe("Cursor: change", () => {
  it("gives a conversation another version when its row or a bubble changed, and only then", async () => {
    const adapter = create();
    const versions = async (first: object[], extra: object = {}) => {
      await writeGlobal(user, [...composer("a", first, extra), ...composer("z", [ask("same")])]);
      return Object.fromEntries((await scan(adapter)).map((ref) => [ref.key, ref.version]));
    };
    const base = await versions([ask("q"), say("answer")]);
    for (const [first, extra] of [
      [[ask("q"), say("answer and more")], {}],
      [[ask("q")], {}],
      [[ask("q"), say("answer"), say("next")], {}],
      [[ask("q"), say("answer")], { name: "Other" }],
      [[ask("q"), say("answer")], { lastUpdatedAt: T0 + 9001 }],
    ] as [object[], object][]) {
      const now = await versions(first, extra);
      const fresh = Object.fromEntries((await scan(create())).map((ref) => [ref.key, ref.version]));
      expect(now.a).not.toBe(base.a);
      expect(now.z).toBe(base.z);
      // What was taken over from the former index equals what is found from nothing.
      expect(now).toEqual(fresh);
    }
    expect(await versions([ask("q"), say("answer")])).toEqual(base);
  });

  it("P7: does not open a database that did not change", async () => {
    await writeGlobal(user, composer("c1", [ask("a")]));
    const when = new Date(T0);
    await utimes(globalDb(), when, when);
    const adapter = create();
    const refs = await scan(adapter);
    const bytes = await readFile(globalDb());
    await writeFile(globalDb(), bytes.fill(0, 0, 16));
    await utimes(globalDb(), when, when);
    expect(await scan(adapter)).toEqual(refs);
    await expect(scan(create())).rejects.toMatchObject({ code: "SOURCE_DAMAGED" });
  });

  it("reads many conversations of one database in one go", async () => {
    await writeGlobal(user, [...composer("c1", [ask("one")]), ...composer("c2", [ask("two")])]);
    await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT);
    const adapter = create();
    const refs = await scan(adapter);
    const seen: unknown[] = [];
    const gone = { ...(refs[0] as SessionRef), key: "gone" };
    for await (const [ref, reader] of adapter.readMany?.([...refs, gone], env) ?? []) {
      const result = await drain(reader).catch((error: { code?: string }) => error.code);
      seen.push([ref.key, typeof result === "string" ? result : result?.events[0]?.text]);
    }
    expect(seen).toEqual([
      ["c1", "one"],
      ["c2", "two"],
      ["gone", "SOURCE_MISSING"],
      ["t1", "fix the test"],
    ]);
  });

  it("tails a composer: what is new, nothing twice, everything again when the past changed", async () => {
    const put = (bubbles: object[], extra: object = {}) => writeGlobal(user, composer("c1", bubbles, extra));
    await put([ask("go")]);
    const adapter = create();
    const [ref] = await scan(adapter);
    const tail = async (at?: Cursor) => {
      const answer = await adapter.tail?.(ref as SessionRef, at, env);
      if (!answer) throw new Error("no tail");
      return { ...answer, cursor: JSON.parse(JSON.stringify(answer.cursor)) as Cursor };
    };
    const first = await tail();
    expect(first).toMatchObject({
      restarted: false,
      events: (await drain(adapter.read(ref as SessionRef, env))).events,
    });
    expect(await tail(first.cursor)).toMatchObject({ events: [], restarted: false, bytesRead: 0 });

    await put([ask("go"), say("Wor")], { status: "generating" });
    const second = await tail(first.cursor);
    expect(second).toMatchObject({ events: [], restarted: false });
    await put([ask("go"), say("Working.")], { status: "completed" });
    const third = await tail(second.cursor);
    expect(third.restarted).toBe(false);
    expect(third.events.map((event) => [event.seq, event.text])).toEqual([[1, "Working."]]);

    await put([ask("gone"), say("Working.")], { status: "completed" });
    const fourth = await tail(third.cursor);
    expect(fourth.restarted).toBe(true);
    expect(shape(fourth.events)).toEqual([
      ["user", "gone"],
      ["assistant", "Working."],
    ]);
  });

  it("tails a transcript by its bytes", async () => {
    const path = await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT.slice(0, 2));
    const adapter = create();
    const [ref] = await scan(adapter);
    const first = await adapter.tail?.(ref as SessionRef, undefined, env);
    await appendFile(path, `${JSON.stringify(TRANSCRIPT[3])}\n`);
    const second = await adapter.tail?.(ref as SessionRef, first?.cursor, env);
    expect(second?.restarted).toBe(false);
    expect(second?.events.map((event) => [event.seq, event.text])).toEqual([[3, "Fixed."]]);
  });
});

describe("Cursor: text and capabilities", () => {
  it("takes the typed text out of what is sent with it", () => {
    expect(toPrompt("plain")).toEqual({ text: "plain", note: "", at: undefined });
    expect(toPrompt("<user_info>\nx\n</user_info>")).toEqual({
      text: "",
      note: "<user_info>\nx\n</user_info>",
      at: undefined,
    });
    expect(toPrompt("<rules>r</rules>\n<user_query>do $& it</user_query>")).toEqual({
      text: "do $& it",
      note: "<rules>r</rules>",
      at: undefined,
    });
    expect(toPrompt("<user_query>cut")).toEqual({ text: "cut", note: "", at: undefined });
    expect(toPrompt("<timestamp>today</timestamp>\nhi")).toMatchObject({ text: "hi", at: undefined });
    expect(toPrompt("<div>is my question</div>").text).toBe("<div>is my question</div>");
  });

  it("reads servers", () => {
    const { mcp, guard } = create();
    const config = {
      mcpServers: {
        a: { command: "npx", args: ["x", 1], env: { K: "v" }, disabled: true },
        b: { url: "https://e.org", headers: { H: "v" } },
        c: { type: "sse", url: "https://e.org/sse" },
        d: 4,
      },
    };
    expect(mcp?.servers(config)).toEqual([
      {
        name: "a",
        path: ["mcpServers", "a"],
        transport: "stdio",
        command: "npx",
        args: ["x", "1"],
        env: { K: "v" },
        disabled: true,
      },
      { name: "b", path: ["mcpServers", "b"], transport: "http", url: "https://e.org", headers: { H: "v" } },
      { name: "c", path: ["mcpServers", "c"], transport: "sse", url: "https://e.org/sse" },
    ]);
    expect(guard?.settings(env)).toBe(join(home, ".cursor", "hooks.json"));
  });
});

describe.skipIf(!existsSync(join(shared, "INDEX.md")))("Cursor: shared fixtures", () => {
  it("a v3 composer", async () => {
    const [one, ...others] = await readAll(create(join(shared, "cursor/self-made-v3-a/Cursor/User")));
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ key: "c0mp0ser-a-0001", title: "Rename helper", cwd: "/home/dev/my app" });
    expect(one?.events.map((event) => event.kind)).toEqual([
      "user",
      "thinking",
      "tool_use",
      "tool_result",
      "assistant",
    ]);
    expect(one?.events[2]?.tool_input).toEqual({ target_file: "src/a.ts" });
    expect(one?.summary.usage).toMatchObject({ "claude-4.5-sonnet": { input: 1200, output: 80 } });
  });

  it("a transcript", async () => {
    const [one] = await readAll(create(join(shared, "cursor/self-made-transcripts/x")));
    expect(one?.events.map((event) => event.kind)).toEqual(["user", "assistant", "tool_use", "assistant"]);
    expect(one?.events[0]?.text).toBe("fix the test");
  });

  it("a chat of the command line", async () => {
    const [one] = await readAll(create(join(shared, "cursor/self-made-cli-a")));
    expect(one?.ref).toMatchObject({ key: "5e55-a", title: "List files", cwd: undefined });
    expect(one?.events.map((event) => event.kind)).toEqual([
      "note",
      "note",
      "user",
      "thinking",
      "tool_use",
      "tool_result",
      "assistant",
    ]);
  });

  it("tab, composer and transcript of one User folder", async () => {
    const all = await readAll(create(join(shared, "cursor/chronicle/cursor-user")));
    expect(all.map(({ ref, summary }) => [ref.key, summary.title, summary.cwd])).toEqual([
      ["tab1", "Fix auth bug", "/Users/dev/example-repo"],
      ["comp1", "Refactor dashboard", "/Users/dev/example-repo"],
      ["agent-session-1", "Agent mode export test", "/Users/dev/example-repo"],
    ]);
    expect(all[1]?.events.map((event) => event.kind)).toEqual([
      "user",
      "thinking",
      "tool_use",
      "tool_result",
      "assistant",
    ]);
    expect(all[2]?.events[0]).toMatchObject({ text: "Add agent transcript import", at: "2026-07-01T08:05:00.000Z" });
  });
});
