import { existsSync } from "node:fs";
import { appendFile, cp, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent, SessionRef, SessionSummary } from "sessarc";
import type { Cursor } from "sessarc/adapter";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import { parseFlatYaml } from "../../plugins/copilot/cli/workspace.ts";
import copilot from "../../plugins/copilot/index.ts";
import { userFolders } from "../../plugins/copilot/vscode/places.ts";
import { cli, create, find, kinds, own, put, read, row, scan, texts, tokens } from "./_copilot.ts";
import { drainTail, env, home, useHome } from "./_home.ts";

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const SESSION = "c1100000-0000-4000-8000-000000000001";

useHome("copilot");

describe("adapters: copilot", () => {
  testAdapter({
    plugin: (dir) => copilot({ dir }),
    fixtures: own,
    expect: { sessions: 4, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] },
  });

  it("finds CLI sessions, flat ones, chats of folders and of empty windows", async () => {
    const adapter = create(own);
    const refs = await scan(adapter);
    expect(refs.map(({ key, cwd }) => ({ key, cwd }))).toEqual([
      { key: "c0de0000-0000-4000-8000-000000000003", cwd: "/home/dev/my app" },
      { key: "c0de0000-0000-4000-8000-000000000004", cwd: undefined },
      { key: SESSION, cwd: undefined },
      { key: "c1100000-0000-4000-8000-000000000002", cwd: undefined },
    ]);
    expect(refs.every((ref) => ref.exclusive)).toBe(true);
    expect(refs[2]?.companions?.map((path) => basename(path))).toEqual([SESSION]);
    expect(await Promise.all(refs.map((ref) => adapter.peek?.(ref, env)))).toMatchObject([
      { title: "list files", cwd: "/home/dev/my app", startedAt: "2026-10-06T10:00:00.000Z" },
      { title: "From the log" },
      { title: "Fix 'a' # once", cwd: "/home/dev/app", gitBranch: "main", startedAt: "2026-10-06T09:59:59.000Z" },
      {},
    ]);
  });

  it("keeps to the roots of one home, wherever that is", () => {
    expect(
      create().roots({ home: "/h", platform: "linux", env: { COPILOT_HOME: "/c", XDG_CONFIG_HOME: "/x" } }),
    ).toEqual(
      expect.arrayContaining([
        "/c/session-state",
        "/x/Code/User/workspaceStorage",
        "/x/VSCodium/User/globalStorage/emptyWindowChatSessions",
        "/x/Code - Insiders/User/globalStorage/transferredChatSessions",
        "/h/.vscode-server/data/User/workspaceStorage",
      ]),
    );
    expect(userFolders({ home: "/Users/a", platform: "darwin", env: {} })[0]).toBe(
      "/Users/a/Library/Application Support/Code/User",
    );
    expect(userFolders({ home: "C:\\Users\\a", platform: "win32", env: { APPDATA: "D:\\R" } })[0]).toBe(
      "D:\\R\\Code\\User",
    );
    expect(
      create("/d")
        .roots(env)
        .every((root) => root.startsWith("/d/")),
    ).toBe(true);
  });
});

describe("Copilot CLI", () => {
  it("reads a session: each call once, injected prompts as notes", async () => {
    const adapter = create(own);
    const { events, summary } = await read(adapter, await find(adapter, SESSION));
    expect(events.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      "user: fix a.ts",
      "note: Skill pdf",
      "note: # pdf skill",
      "thinking: Think.",
      "assistant: Two steps.",
      "tool_use: Look",
      "tool_result: 1. const a = 1",
      "tool_use: ",
      "tool_result: patch does not apply",
      "note: Sub-agent started: Explore",
      "note: look at b.ts",
      "assistant: Nothing in b.ts.",
      "note: So far: a.ts.",
      "note: Aborted: user initiated",
    ]);
    // The arguments it ran with, not those the reply asked for.
    expect(events[5]?.tool_input).toEqual({ path: "/home/dev/app/a.ts", view_range: [1, 9] });
    expect(events[7]).toMatchObject({
      tool_name: "apply_patch",
      tool_input: expect.stringContaining("*** Begin Patch"),
    });
    expect(events[8]).toMatchObject({ is_error: true, tool_use_id: "t2" });
    expect(summary).toMatchObject({
      title: "Fix 'a' # once",
      cwd: "/home/dev/app",
      gitBranch: "main",
      gitRemote: "https://github.com/octo/app",
      startedAt: "2026-10-06T09:59:59.000Z",
      skipped: { lines: 0, unknown: {} },
    });
  });

  it("D1: a call's usage counts once, cache reads and writes are not input, shutdowns are not added", async () => {
    const adapter = create(own);
    const { summary } = await read(adapter, await find(adapter, SESSION));
    expect(summary.usage).toEqual({ "claude-sonnet-4.5": tokens(300, 40, 600, 100), "gpt-5-mini": tokens(500, 20) });
    expect(summary.evidence).toEqual({ records: 3, requests: 2, duplicatesFolded: 1, inheritedExcluded: 0 });
  });

  it("D22: without call records the last shutdown counts, not the sum", async () => {
    const adapter = create(own);
    const { summary } = await read(adapter, await find(adapter, "c1100000-0000-4000-8000-000000000002"));
    expect(summary.usage).toEqual({ "gpt-5": tokens(160, 11, 90) });
    expect(summary.replies).toHaveLength(2);
  });

  const shutdown = (inputTokens: number, outputTokens: number) =>
    row("session.shutdown", { modelMetrics: { m: { usage: { inputTokens, outputTokens } } } });
  const record = (sequence: number, inputTokens: number) =>
    row("session.usage_record", {
      usage: { model: "m", inputTokens, outputTokens: 1, accounting: { sourceSessionId: "s", sequence } },
    });

  it("adds shutdowns that each count their own run", async () => {
    const { summary } = await cli([shutdown(100, 10), shutdown(30, 5)]);
    expect(summary.usage).toEqual({ m: tokens(130, 15) });
  });

  it("adds call records to runs of an older version", async () => {
    const { summary } = await cli([shutdown(100, 10), record(1, 7), shutdown(107, 11)]);
    expect(summary.usage).toEqual({ m: tokens(107, 11) });
  });

  it("a killed session of an older version has its messages' output at least", async () => {
    const { summary } = await cli([
      row("assistant.message", { content: "a", model: "m", outputTokens: 5 }),
      shutdown(100, 5),
      row("assistant.message", { content: "b", model: "m", outputTokens: "3" }),
    ]);
    expect(summary.usage).toEqual({ m: tokens(100, 8) });
  });

  it("gives calls that never started, before what follows them", async () => {
    const ask = (toolCallId: string) => ({ toolCallId, name: "bash", arguments: { command: toolCallId } });
    const { events } = await cli([
      row("assistant.message", { content: "", toolRequests: [ask("a"), ask("b")] }),
      row("tool.execution_start", { toolCallId: "b", toolName: "bash", arguments: { command: "b" } }),
      row("user.message", { content: "stop" }),
      row("tool.execution_start", { toolCallId: "a", toolName: "bash", arguments: { command: "a" } }),
    ]);
    expect(events.map((event) => event.tool_use_id ?? event.text)).toEqual(["b", "a", "stop"]);
  });

  it("a failing command is an error", async () => {
    const { events } = await cli([
      row("tool.execution_complete", {
        toolCallId: "a",
        success: true,
        result: { content: "no" },
        shellExecution: { exitCode: 2 },
      }),
    ]);
    expect(events[0]).toMatchObject({ kind: "tool_result", is_error: true });
  });

  it("tails to the same events and figures at every cut", async () => {
    const text = await readFile(join(own, ".copilot/session-state", SESSION, "events.jsonl"), "utf8");
    const lines = text.split(/(?<=\n)/);
    const adapter = create();
    const path = await put(`.copilot/session-state/${SESSION}/events.jsonl`, "");
    const ref = await find(adapter, SESSION);
    let cursor: Cursor | undefined;
    const events: SessionEvent[] = [];
    let summary: SessionSummary | undefined;
    for (const line of lines) {
      const half = Math.floor(line.length / 2);
      for (const part of [line.slice(0, half), line.slice(half)]) {
        await appendFile(path, part);
        const tail = await drainTail(adapter.tail(ref, cursor, env));
        expect(tail?.restarted).toBe(false);
        events.push(...(tail?.events ?? []));
        summary = tail?.summary;
        cursor = tail?.cursor;
      }
    }
    const whole = await read(adapter, ref);
    expect(events).toEqual(whole.events);
    expect(summary?.usage).toEqual(whole.summary.usage);
    expect(summary?.slots).toEqual(whole.summary.slots);
  });

  it("a folder replaces the flat log of the same id", async () => {
    const flat = await put(".copilot/session-state/s.jsonl", [row("user.message", { content: "old" })]);
    const { events } = await cli([row("user.message", { content: "new" })]);
    expect(texts(events)).toEqual(["new"]);
    expect((await scan(create())).map((ref) => ref.companions)).toEqual([
      [dirname(join(home, ".copilot/session-state/s/x")), flat],
    ]);
  });

  it("a new name in workspace.yaml changes the version of a session", async () => {
    await cli([row("user.message", { content: "a" })]);
    const before = await find(create(), "s");
    await put(".copilot/session-state/s/workspace.yaml", "name: Better\n");
    const after = await find(create(), "s");
    expect(after.version).not.toBe(before.version);
    expect((await read(create(), after)).summary.title).toBe("Better");
  });

  it("reads flat scalars of workspace.yaml and leaves the rest", () => {
    const text = `a: plain # note\nb: "q \\" \\u00e9"\nc: 'it''s # fine'\nd:\ne: null\nf: |\n  block\ng: [1]\n  nested: x\n- item\nh: "open\r\ni: http://x/#y\r\n`;
    expect(Object.fromEntries(parseFlatYaml(text))).toEqual({
      a: "plain",
      b: 'q " é',
      c: "it's # fine",
      i: "http://x/#y",
    });
  });

  it("hostile rows are counted, never thrown", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const { events, summary } = await cli(
      [
        "{bad",
        '{"type":5}',
        '{"type":"user.message","data":"text"}',
        '{"type":"from.the.future","data":{}}',
        '{"type":"__proto__","data":{}}',
        '{"type":"user.message","data":{"content":{"a":1}}}',
        '{"type":"session.shutdown","data":{"modelMetrics":{"__proto__":{"usage":{"outputTokens":1}},"m":7}}}',
        '{"type":"session.usage_record","data":{"usage":[1]}}',
        `{"type":"tool.execution_start","data":{"toolCallId":"t","toolName":"x","arguments":${deep}}}`,
        '{"type":"tool.execution_complete","data":{"toolCallId":["t"],"result":{"content":[{"text":"a"},{"b":1}]},"success":false}}',
        '{"type":"assistant.message","data":{"content":7,"toolRequests":[null,{"toolCallId":3}]},"timestamp":"soon"}',
        '{"type":"us',
      ].join("\n"),
    );
    expect(kinds(events)).toEqual(["tool_use", "tool_result"]);
    expect(events[1]).toMatchObject({ text: 'a\n{"b":1}', is_error: true });
    expect(JSON.stringify(events[0])).toContain("nested too deep");
    expect(summary.skipped).toEqual({ lines: 3, pending: 1, unknown: { "from.the.future": 1, "?": 1 } });
    expect(Object.keys(summary.usage)).toEqual(["unknown"]);
  });
});

describe.skipIf(!existsSync(join(shared, "copilot-cli")))("copilot: shared fixtures (SESSARC_FIXTURES)", () => {
  const count = (events: readonly SessionEvent[]) => {
    const kindsOf: Record<string, number> = {};
    for (const event of events) kindsOf[event.kind] = (kindsOf[event.kind] ?? 0) + 1;
    return kindsOf;
  };
  const load = async (name: string) => JSON.parse(await readFile(join(shared, name), "utf8"));

  it("the CLI session is as expected", async () => {
    const [path, expected] =
      Object.entries<Record<string, unknown>>(await load("EXPECTED.json")).find(([key]) =>
        key.startsWith("copilot-cli/"),
      ) ?? [];
    const adapter = create(join(shared, "copilot-cli/generated-copilot-1.0.102"));
    const refs = await scan(adapter);
    expect(refs.map((ref) => ref.path)).toEqual([join(shared, path ?? "")]);
    const { events, summary } = await read(adapter, refs[0] as SessionRef);
    expect({
      id: refs[0]?.key,
      cwd: summary.cwd,
      branch: summary.gitBranch,
      kinds: count(events),
      usage: summary.usage,
    }).toEqual({
      id: expected?.id,
      cwd: expected?.cwd,
      branch: expected?.branch,
      kinds: expected?.kinds,
      usage: expected?.usage,
    });
  });

  it("the VS Code chats are as expected", async () => {
    const expected = await load("EXPECTED-selfmade.json");
    await cp(join(shared, "copilot-vscode/self-made-1"), join(home, "copy"), { recursive: true });
    const adapter = create(join(home, "copy"));
    const refs = await scan(adapter);
    expect(refs).toHaveLength(2);
    const at = (name: string) => expected[Object.keys(expected).find((key) => key.endsWith(name)) ?? ""];

    const document = await read(adapter, refs[0] as SessionRef);
    const row = at("0001.json");
    expect(document.summary).toMatchObject({ title: row.title, cwd: row.cwd, usage: row.usage });
    // Its first answer has a text before the call and one after it.
    expect(count(document.events)).toEqual({ ...row.kinds, assistant: 3 });
    expect(document.events.find((event) => event.kind === "tool_use")?.tool_input).toEqual(row.tool_input);

    const log = await read(adapter, refs[1] as SessionRef);
    const ops = at("00ff.jsonl");
    expect([refs[1]?.key, log.summary.title]).toEqual([ops.id, ops.title]);
    expect(texts(log.events.filter((event) => event.kind === "user"))).toEqual(ops.requests);
    expect(log.events.find((event) => event.kind === "assistant")?.text).toBe(ops.first_reply);
  });
});
