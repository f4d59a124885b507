import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { testAdapter } from "sessarc/test";
import { afterAll, describe, expect, it } from "vitest";
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
  T0,
  TRANSCRIPT,
  writeChat,
  writeGlobal,
  writeTranscript,
  writeWorkspace,
} from "../fixtures/cursor/build.ts";
import { create, dot, useCursor, user } from "./_cursor.ts";
import { env, home, readAll, scan } from "./_home.ts";
import { serversIn } from "./mcp-servers.ts";

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

useCursor();

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
    expect(serversIn(mcp, config)).toEqual([
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
