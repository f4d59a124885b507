import { appendFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { matchCalls } from "../../plugins/copilot/vscode/calls.ts";
import { createObjectLog } from "../../plugins/copilot/vscode/oplog.ts";
import { findFolder } from "../../plugins/copilot/vscode/places.ts";
import { contentText } from "../../plugins/copilot/vscode/text.ts";
import { CHATS, chat, create, find, kinds, own, put, read, scan, texts, tokens } from "./_copilot.ts";
import { drainTail, env, useHome } from "./_home.ts";
import { serversIn } from "./mcp-servers.ts";

useHome("copilot");

describe("Copilot Chat in VS Code", () => {
  it("reads a document: arguments from the rounds by the head of the id, results from prompt trees", async () => {
    const adapter = create(own);
    const { events, summary } = await read(adapter, await find(adapter, "c0de0000-0000-4000-8000-000000000003"));
    expect(events.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      "user: list files",
      "assistant: Looking.",
      "thinking: one two",
      "tool_use: Ran ls",
      "tool_result: a.ts\nb.ts",
      "assistant: See b.ts",
    ]);
    expect(events[3]).toMatchObject({ tool_name: "run_in_terminal", tool_input: { command: "ls -la" } });
    expect(events[4]?.is_error).toBe(true);
    expect(summary).toMatchObject({
      title: "list files",
      cwd: "/home/dev/my app",
      usage: { "gpt-5-2026-01-01": tokens(700, 30) },
      startedAt: "2026-10-06T10:00:00.000Z",
      endedAt: "2026-10-06T10:00:03.000Z",
    });
    expect(summary.virtualProject).toBeUndefined();
  });

  it("reads an operation log of an empty window", async () => {
    const adapter = create(own);
    const { events, summary } = await read(adapter, await find(adapter, "c0de0000-0000-4000-8000-000000000004"));
    expect(texts(events)).toEqual(["first", "partly, then whole"]);
    expect(summary).toMatchObject({
      title: "From the log",
      usage: { "gpt-5": tokens(120, 9) },
      virtualProject: { key: "no-folder", name: "VS Code (no folder)" },
      skipped: { lines: 0, unknown: {} },
    });
  });

  it("the log wins over the document of the same id; of two copies the newest counts", async () => {
    const old = await put(`${CHATS}/a.json`, JSON.stringify({ requests: [{ message: "old" }] }));
    const { events } = await chat("a.jsonl", [{ kind: 0, v: { requests: [{ message: { text: "new" } }] } }]);
    expect(texts(events)).toEqual(["new"]);
    expect((await scan(create())).map((ref) => ref.companions)).toEqual([[old]]);
  });

  it("cuts an array at `i` before it appends", () => {
    const log = createObjectLog();
    for (const op of [
      { kind: 0, v: { list: [1, 2, 3] } },
      { kind: 2, k: ["list"], v: [9], i: 1 },
      { kind: 2, k: ["list"], i: 1 },
      { kind: 2, k: ["fresh"], v: [1] },
      { kind: 1, k: ["list", 1], v: 5 },
      { kind: 3, k: ["fresh"] },
    ]) {
      expect(log.apply(op)).toBe(true);
    }
    expect(log.value()).toEqual({ list: [1, 5] });
  });

  it("hostile operations lead nowhere and are counted", async () => {
    const ops = [
      { kind: 1, k: ["early"], v: 1 },
      { kind: 0, v: { requests: [{ message: { text: "here" } }], list: [1] } },
      { kind: 1, k: ["__proto__", "polluted"], v: 1 },
      { kind: 1, k: ["constructor", "prototype", "polluted"], v: 1 },
      { kind: 1, k: ["requests", "__proto__"], v: {} },
      { kind: 1, k: ["list", 4_294_967_294], v: 1 },
      { kind: 1, k: ["list", -1], v: 1 },
      { kind: 1, k: ["list", 0.5], v: 1 },
      { kind: 1, k: ["list", "length"], v: 1e9 },
      { kind: 2, k: ["list"], v: "abc" },
      { kind: 2, k: ["list"], v: [], i: -1 },
      { kind: 2, k: ["toString"], v: 3 },
      { kind: 1, k: ["no", "such", "path"], v: 1 },
      { kind: 1, k: [], v: 1 },
      { kind: 1, k: "list", v: 1 },
      { kind: 9, k: ["list"] },
      { kind: "1" },
    ];
    const { events, summary } = await chat(
      "a.jsonl",
      `${ops.map((op) => JSON.stringify(op)).join("\n")}\n{"kind":1,"k":["x`,
    );
    expect(texts(events)).toEqual(["here"]);
    expect(summary.skipped).toEqual({ lines: 16, pending: 1, unknown: {} });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("hostile documents are read as far as they make sense", async () => {
    const deep = `${'{"children":['.repeat(5000)}1${"]}".repeat(5000)}`;
    const request = `{"message":{"text":"q"},"timestamp":1e300,"modelId":"copilot/__proto__","response":[7,"plain ",null,{"kind":"martian"},{"kind":{}},{"value":["a",3]},{"kind":"toolInvocationSerialized","toolCallId":"tttt","toolSpecificData":{"kind":"terminal","commandLine":{"original":"ls"}}}],"result":{"timings":{"totalElapsed":"x"},"metadata":{"promptTokens":1e999,"outputTokens":"2","toolCallRounds":{"a":1},"toolCallResults":{"tttt":{"content":[{"value":{"node":${deep}}},{"value":"end"}]}}}}}`;
    const { events, summary } = await chat(
      "a.json",
      `{"requests":[3,null,${request}],"customTitle":{"a":1},"creationDate":"never"}`,
    );
    expect(kinds(events)).toEqual(["user", "assistant", "tool_use", "tool_result"]);
    expect(events[1]?.text).toBe("plain");
    expect(events[2]?.tool_input).toEqual({ command: "ls" });
    expect(events[3]?.text).toBe("end");
    expect(summary.skipped).toEqual({
      lines: 0,
      unknown: { request: 2, response: 2, martian: 1, "[object Object]": 1 },
    });
    expect(summary.usage).toEqual({ unknown: tokens(0, 2) });
    const broken = await chat("b.json", "not json");
    expect([broken.events, broken.summary.skipped?.lines]).toEqual([[], 1]);
    const cut = await chat("c.json", '{"requests":[{"message":{"text":"kept"}},{"message":{"te');
    expect([texts(cut.events), cut.summary.skipped]).toEqual([["kept"], { lines: 0, pending: 1, unknown: {} }]);
    expect((await chat("d.json", "")).events).toEqual([]);
  });

  it("tails by reading again: only new events while the earlier ones stay", async () => {
    const first = { kind: 0, v: { requests: [{ message: { text: "one" }, response: [{ value: "r" }] }] } };
    await chat("a.jsonl", [first]);
    const adapter = create();
    const ref = await find(adapter, "a");
    const add = (op: unknown) => appendFile(ref.path, `${JSON.stringify(op)}\n`);
    const start = await drainTail(adapter.tail(ref, undefined, env));
    expect(texts(start?.events ?? [])).toEqual(["one", "r"]);
    await add({ kind: 2, k: ["requests"], v: [{ message: { text: "two" } }] });
    const next = await drainTail(adapter.tail(ref, start?.cursor, env));
    expect([texts(next?.events ?? []), next?.events[0]?.seq, next?.restarted]).toEqual([["two"], 2, false]);
    expect((await drainTail(adapter.tail(ref, next?.cursor, env)))?.bytesRead).toBe(0);
    await add({ kind: 1, k: ["requests", 0, "response"], v: [{ value: "changed" }] });
    const again = await drainTail(adapter.tail(ref, next?.cursor, env));
    expect([texts(again?.events ?? []), again?.restarted]).toEqual([["one", "changed", "two"], true]);
    // The assistant rewrites the log after 512 operations.
    await writeFile(ref.path, `${JSON.stringify({ kind: 0, v: { requests: [{ message: { text: "one" } }] } })}\n`);
    const anew = await drainTail(adapter.tail(ref, again?.cursor, env));
    expect([texts(anew?.events ?? []), anew?.restarted]).toEqual([["one"], true]);
  });

  it("matches calls by id, by the head of an id, else by order", () => {
    const calls = ["call_a", "call_b"].map((id) => ({ id, name: id, input: {} }));
    const match = (...ids: string[]) =>
      matchCalls(
        ids.map((toolCallId) => ({ toolCallId })),
        calls,
      ).map((call) => call?.id);
    expect(match("call_b", "call_a")).toEqual(["call_b", "call_a"]);
    expect(match("call_b__vscode-2", "other")).toEqual(["call_b", undefined]);
    expect(match("x1", "x2", "x3")).toEqual(["call_a", "call_b", undefined]);
  });

  it("turns workspace URIs into folders", () => {
    expect(findFolder("file:///home/dev/my%20app/")).toBe("/home/dev/my app");
    expect(findFolder("file:///c%3A/Users/dev/app")).toBe("C:\\Users\\dev\\app");
    expect(findFolder("file:///d:/x")).toBe("D:\\x");
    expect(findFolder("file://server/share/x")).toBe("\\\\server\\share\\x");
    expect(findFolder("vscode-remote://wsl%2Bubuntu/home/dev/app")).toBe("/home/dev/app");
    expect(findFolder("file:///a/100%/b")).toBe("/a/100%/b");
    expect(findFolder("file:///home/dev/all/x.code-workspace", true)).toBe("/home/dev/all");
    expect(findFolder("file:///home/dev/.config/Code/Workspaces/1700/workspace.json", true)).toBeUndefined();
    expect(findFolder("vscode-vfs://github/octo/app")).toBeUndefined();
  });

  it("joins the parts of a result", () => {
    expect(
      contentText([
        { kind: "text", value: "a" },
        "b",
        { type: "text", text: "c" },
        { mimeType: "image/png", data: [1] },
      ]),
    ).toBe("a\nb\nc\n[data]");
  });

  it("reads servers, and which of their tools are shown", () => {
    const path = (name: string) => ({ name, path: ["mcpServers", name] });
    expect(
      serversIn(create().mcp, {
        mcpServers: {
          a: { type: "local", command: "x", args: ["y"], tools: ["*"] },
          b: { type: "http", url: "https://b", tools: [] },
          c: { type: "sse", url: "https://c", tools: ["t"], excludeTools: ["u"], timeout: 5 },
          d: 1,
        },
      }),
    ).toEqual([
      { ...path("a"), transport: "stdio", command: "x", args: ["y"] },
      { ...path("b"), transport: "http", url: "https://b", tools: { allow: [], deny: ["*"] } },
      { ...path("c"), transport: "sse", url: "https://c", tools: { allow: ["t"], deny: ["u"] }, timeoutMs: 5 },
    ]);
  });
});
