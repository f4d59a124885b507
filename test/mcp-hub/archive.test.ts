/** The archive as a service of the hub, and calls as the archive knows them. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import causality from "../../plugins/causality/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import type { JoinedCall, ToolFigures } from "../../plugins/mcp-hub/index.ts";
import type { TestKernel } from "../kernel.ts";
import { type Row, SESSION, toLog } from "../security/_kernel.ts";
import { letters } from "../security/_samples.ts";
import { startHub } from "./_hub.ts";

const KEY = `ghp_${letters(36, 88)}`;
const ROWS: Row[] = [
  { role: "user", text: `Why does the upload fail? The key is ${KEY}` },
  { role: "call", name: "Read", input: { file_path: "/w/app/src/upload.ts" }, id: "r" },
  { role: "result", id: "r", text: "const url = 'x';" },
  {
    role: "call",
    name: "Edit",
    input: { file_path: "/w/app/src/upload.ts", old_string: "x", new_string: "y" },
    id: "e",
  },
  { role: "result", id: "e", text: "ok" },
  { role: "assistant", text: `The upload works now. ${"It was the address. ".repeat(400)}` },
];

async function importRows(t: TestKernel, rows: readonly Row[]): Promise<void> {
  const file = join(t.home, ".claude/projects/-w-app", `${SESSION.split(":")[1]}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, toLog(rows, "/w/app", "main"));
  const { status, body } = await t.send<{ imported: number }>("POST", "/api/import", { all: true });
  expect([status, body.imported]).toEqual([200, 1]);
}

async function start() {
  const t = await startHub({ plugins: [claude(), insights(), causality()] });
  await importRows(t, ROWS);
  const call = async (tool: string, args: object = {}) => {
    const body = { name: `sessarc__${tool}`, arguments: args };
    const answer = await t.send<{ result: { content: { text: string }[]; isError?: boolean } }>(
      "POST",
      "/api/mcp/call",
      body,
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return { text: answer.body.result.content[0]?.text ?? "", isError: answer.body.result.isError === true };
  };
  return { t, call };
}

describe("mcp-hub: the archive as a service", () => {
  it("searches, reads and explains, and cites session and message", async () => {
    const { call } = await start();
    expect((await call("search_sessions", { query: "upload" })).text).toContain(SESSION);
    expect((await call("get_session", { session: SESSION })).text).toMatch(/upload fail\?/);
    const messages = await call("get_messages", { session: SESSION });
    expect(messages.text).toContain(`[${SESSION} #0]`);
    expect(messages.text).toContain(`/sessions/${encodeURIComponent(SESSION)}?m=0`);
    expect((await call("list_projects")).text).toContain("/w/app");
    expect((await call("usage", { by: "model" })).text).toMatch(/^Total: .* 1 sessions/);
    const why = await call("why_changed", { session: SESSION, path: "upload.ts" });
    expect(why.text).toMatch(/#3\] Edit .*upload\.ts/);
    expect(why.text).toContain("because of #1 Read");
  });

  it("S11: shows no secret, keeps to its budget and says where to go on", async () => {
    const { call } = await start();
    const first = await call("get_messages", { session: SESSION, max_tokens: 250 });
    expect(first.text.length).toBeLessThan(250 * 4 + 50);
    const after = /More with after: (\d+)/.exec(first.text)?.[1];
    expect(after).toBeDefined();
    expect((await call("get_messages", { session: SESSION, after: Number(after) })).text).toContain("upload works now");
    for (const tool of ["get_messages", "get_session"]) {
      const { text } = await call(tool, { session: SESSION });
      expect(text).not.toContain(KEY);
      expect(text).toContain("The key is");
    }
  });

  it("answers a mistake with what the model can do about it", async () => {
    const { call } = await start();
    expect(await call("get_session", { session: "codex:nothing" })).toEqual({
      text: expect.stringMatching(/^No session codex:nothing\. `sessarc sessions` .* lists the ids/),
      isError: true,
    });
    expect((await call("get_session")).isError).toBe(true);
  });

  it("joins calls to the session they were made in, by the client's id or by name and time", async () => {
    const { t } = await start();
    const mcp = t.kernel.inject("mcp");
    const view = { service: null, context: { client: "claude-code", project: null }, search: false };
    const caller = { session: "test", protocol: "legacy" as const, capabilities: {}, tell: () => {} };
    const params = { name: "sessarc__list_projects", arguments: {}, _meta: { "claudecode/toolUseId": "toolu_1" } };
    const { signal } = new AbortController();
    await mcp.hub.ask(view, { caller, method: "tools/call", params, signal }, 1);
    for (const id of [2, 3])
      await mcp.hub.ask(view, { caller, method: "tools/call", params: { ...params, _meta: {} }, signal }, id);
    await mcp.hub.flush();
    // The log's clock is not ours: its messages are of another year, the session's span must hold the call.
    await t.kernel.storage.db.run("update mcp_call set at = ? where id < 3", [Date.UTC(2026, 10, 1, 10, 0, 2)]);
    await importRows(t, [
      ...ROWS,
      { role: "call", name: "mcp__sessarc__sessarc__list_projects", input: {}, id: "toolu_1" },
      { role: "result", id: "toolu_1", text: "…" },
      { role: "call", name: "mcp__sessarc__sessarc__list_projects", input: {}, id: "another" },
      { role: "result", id: "another", text: "…" },
    ]);
    const { calls, tools } = await t.json<{ calls: JoinedCall[]; tools: ToolFigures[] }>("/api/mcp/calls");
    expect(calls.map(({ tool, sessionId, seq, ok, client }) => [tool, sessionId, seq, ok, client])).toEqual([
      ["list_projects", null, null, true, "claude-code"],
      ["list_projects", SESSION, 8, true, "claude-code"],
      ["list_projects", SESSION, 6, true, "claude-code"],
    ]);
    expect(tools).toMatchObject([{ service: "sessarc", tool: "list_projects", calls: 3, errors: 0 }]);
    // Of the joined ones: 15 dollars a million for what the model wrote, 3 for what it read.
    const { tokensIn = 0, tokensOut = 0 } = calls[1] ?? {};
    expect(tokensOut).toBeGreaterThan(10);
    expect(tools[0]?.cost).toMatchObject({ microdollars: 2 * (tokensIn * 15 + tokensOut * 3), unpriced: [] });
  });

  it("finds tools by what they do, and calls them, where a client lists two alone", async () => {
    const { t } = await start();
    const { hub } = t.kernel.inject("mcp");
    const view = { service: null, context: { client: null, project: null }, search: true };
    const caller = { session: "test", protocol: "legacy" as const, capabilities: {}, tell: () => {} };
    const { signal } = new AbortController();
    const ask = (method: string, params = {}) => hub.ask(view, { caller, method, params, signal }, 1);
    expect(await ask("tools/list")).toMatchObject({ tools: [{ name: "find_tools" }, { name: "call_tool" }] });
    const found = await ask("tools/call", { name: "find_tools", arguments: { query: "why did a file change" } });
    expect(JSON.stringify(found)).toContain("sessarc__why_changed");
    const params = { name: "call_tool", arguments: { name: "sessarc__list_projects", arguments: {} } };
    expect(JSON.stringify(await ask("tools/call", params))).toContain("/w/app");
    await expect(ask("tools/call", { name: "sessarc__list_projects" })).resolves.toBeDefined();
  });
});
