/** Outputs of calls that an assistant stores in files of their own belong to the message. */
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Plugin, SessionEvent } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import gemini from "sessarc/plugins/gemini-cli";
import qwen from "sessarc/plugins/qwen";
import { describe, expect, it } from "vitest";
import type { LeakPage } from "../../plugins/security/index.ts";
import { makeTempDir } from "../_setup.ts";
import { claudePath, claudeRows, importAll, startIn, writeLog } from "../rescue/_logs.ts";
import { home, readAll, useHome } from "./_home.ts";

const ID = "5e550000-0000-4000-8000-000000000001";
const OTHER = "5e550000-0000-4000-8000-000000000002";
const at = "2026-11-20T09:00:00.000Z";
const whole = `head of it\n${"a line\n".repeat(9_000)}needle at the end`;

const toAdapter = (plugin: Plugin): Adapter => {
  const { adapter } = plugin as { adapter?: Adapter };
  if (!adapter) throw new Error("no adapter");
  return adapter;
};
async function write(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const results = (events: readonly SessionEvent[]) =>
  events.flatMap(({ kind, text }) => (kind === "tool_result" ? [text] : []));

const preview = (path: string) =>
  `<persisted-output>\nOutput too large (61.5KB). Full output saved to: ${path}\n\nPreview (first 2KB):\nhead of it\n...\n</persisted-output>`;
const exceeded = (path: string) =>
  `Error: result (307,533 characters) exceeds maximum allowed tokens. Output has been saved to ${path}.\nFormat: Plain text\n`;
const claudeCall = (shown: string, sessionId = ID): object[] => {
  const base = { sessionId, cwd: "/w/app", timestamp: at, isSidechain: false };
  const call = { type: "tool_use", id: "t1", name: "Bash", input: { command: "make" } };
  const message = {
    id: "m1",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [call],
    usage: { output_tokens: 1 },
  };
  const content = [{ type: "tool_result", tool_use_id: "t1", content: shown }];
  return [
    { ...base, type: "user", uuid: "u0", parentUuid: null, message: { role: "user", content: "run it" } },
    { ...base, type: "assistant", uuid: "u1", parentUuid: "u0", requestId: "r1", message },
    { ...base, type: "user", uuid: "u2", parentUuid: "u1", message: { role: "user", content } },
  ];
};

describe("outputs in files of their own", () => {
  useHome("outputs");
  const claudeResults = async () => (await readAll(toAdapter(claudeCode()))).map(({ events }) => results(events));
  const project = () => join(home, ".claude/projects/-w-app");

  it("are the result's text: Claude Code, in both of its notices, from paths of any system", async () => {
    const folder = join(project(), ID, "tool-results");
    await write(join(folder, "b1.txt"), whole);
    for (const named of [
      join(folder, "b1.txt"),
      `C:\\Users\\me\\.claude\\projects\\-w-app\\${ID}\\tool-results\\b1.txt`,
    ])
      for (const shown of [preview(named), exceeded(named)]) {
        await write(join(project(), `${ID}.jsonl`), lines(...claudeCall(shown)));
        expect(await claudeResults()).toEqual([[whole]]);
      }
  });

  it("are found beside the session of a sub-agent, and at the session that a fork or a copy repeats", async () => {
    const named = join("/home/else/.claude/projects/-w-app", ID, "tool-results/b1.txt");
    await write(join(project(), ID, "tool-results/b1.txt"), whole);
    await write(join(project(), ID, "subagents/agent-a1.jsonl"), lines(...claudeCall(preview(named))));
    expect(await claudeResults()).toEqual([[whole]]);
    await write(join(project(), `${OTHER}.jsonl`), lines(...claudeCall(preview(named), OTHER)));
    await write(
      join(home, ".claude/projects/-w-copy", `${OTHER}.jsonl`),
      lines(...claudeCall(exceeded(named), OTHER), {}),
    );
    expect(await claudeResults()).toEqual([[whole], [whole], [whole]]);
  });

  it("that are gone are named, and the start that the log has stays", async () => {
    const shown = preview(join(project(), ID, "tool-results/b1.txt"));
    await write(join(project(), `${ID}.jsonl`), lines(...claudeCall(shown)));
    expect(await claudeResults()).toEqual([
      [`${shown}\n[The assistant stored the whole output in b1.txt, which is gone]`],
    ]);
  });

  it("are never a file elsewhere, a link or a folder, whatever a log says", async () => {
    const secret = await write(join(home, "secret.txt"), "not of this session");
    const folder = join(project(), ID, "tool-results");
    await mkdir(join(folder, "folder"), { recursive: true });
    await symlink(secret, join(folder, "link.txt"));
    const names = ["link.txt", "folder", "..", ".", `../../../../../secret.txt`, "x".repeat(3_000), "a\0b"];
    for (const named of [secret, ...names.map((name) => `${folder}/${name}`), `${home}/tool-results/secret.txt`]) {
      await write(join(project(), `${ID}.jsonl`), lines(...claudeCall(preview(named))));
      const [[text] = []] = await claudeResults();
      expect(text?.startsWith("<persisted-output>")).toBe(true);
      expect(text).not.toContain("not of this session");
    }
  });

  it("are the result's text: Gemini CLI, of this and of earlier versions", async () => {
    const tmp = join(home, ".gemini/tmp/app");
    const shown = (path: string) =>
      `Output too large. Showing first 8,000 and last 32,000 characters. For full output see: ${path}\nhead of it\n`;
    const call = (text: string) => ({
      id: "call1",
      name: "run_shell_command",
      args: {},
      status: "success",
      result: [{ functionResponse: { id: "call1", name: "run_shell_command", response: { output: text } } }],
    });
    const log = (text: string) =>
      write(
        join(tmp, `chats/session-2026-11-20T09-00-${ID.slice(0, 8)}.jsonl`),
        lines(
          { sessionId: ID, projectHash: "h", startTime: at, lastUpdated: at, kind: "main" },
          { id: "u1", timestamp: at, type: "user", content: [{ text: "run it" }] },
          { id: "g1", timestamp: at, type: "gemini", content: "", model: "gemini-3", toolCalls: [call(text)] },
        ),
      );
    const file = await write(join(tmp, `tool-outputs/session-${ID}/call1.txt`), whole);
    const old = await write(join(tmp, "tool_output/call1_35.txt"), `${whole}!`);
    for (const [text, expected] of [
      [shown(file), whole],
      [`<tool_output_masked>\n${shown(file)}</tool_output_masked>`, whole],
      [shown(old), `${whole}!`],
    ] as const) {
      await log(text);
      const [read] = await readAll(toAdapter(gemini()));
      expect(results(read?.events ?? [])).toEqual([expected]);
      expect(read?.ref.companions).toContain(dirname(file));
    }
    await rm(tmp, { recursive: true });
    await log(shown(file));
    const [read] = await readAll(toAdapter(gemini()));
    expect(results(read?.events ?? [])).toEqual([
      expect.stringContaining("stored the whole output in call1.txt, which is gone"),
    ]);
  });

  it("are the result's text: Qwen Code", async () => {
    const file = await write(join(home, ".qwen/tmp/abc123/call1.output"), whole);
    const text = `Tool output was too large and has been truncated.\nThe full output has been saved to: ${file}\nTo read it, …\nhead of it`;
    const head = { sessionId: ID, timestamp: at, cwd: "/w/app" };
    const functionResponse = { id: "call1", name: "run_shell_command", response: { output: text } };
    await write(
      join(home, `.qwen/projects/-w-app/chats/${ID}.jsonl`),
      lines(
        { ...head, uuid: "u0", type: "user", message: { role: "user", parts: [{ text: "run it" }] } },
        { ...head, uuid: "u1", type: "tool_result", message: { role: "user", parts: [{ functionResponse }] } },
      ),
    );
    const [read] = await readAll(toAdapter(qwen()));
    expect(results(read?.events ?? [])).toEqual([whole]);
  });
});

describe("outputs in files of their own, in the archive", () => {
  it("are searched, checked for secrets, exported, and put back with the log", async () => {
    const dir = await makeTempDir();
    const said = { key: ID, cwd: dir, turns: 1 };
    const path = claudePath(dir, said);
    const file = join(dirname(path), ID, "tool-results/b1.txt");
    const token = `ghp_${"Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4eFg7h"}`;
    await write(file, `${whole}\nGITHUB_TOKEN=${token}\n`);
    await writeLog(path, [...claudeRows(said), ...claudeCall(preview(file))]);
    const t = await startIn(dir);
    await importAll(t);
    const found = await t.json<{ results: unknown[] }>("/api/search?q=%22needle%20at%20the%20end%22");
    expect(found.results).toHaveLength(1);
    const leaks = await t.json<LeakPage>("/api/security/leaks?whole=1");
    expect(leaks.totals.open + leaks.totals.possible).toBe(1);
    const exported = await (await t.fetch(`/api/sessions/claude-code:${ID}/export-redacted`)).text();
    expect(exported).toContain("needle at the end");
    expect(exported).not.toContain(token);
    await rm(dirname(file), { recursive: true });
    await rm(path);
    await t.send("POST", "/api/sync?wait=1");
    expect((await t.send("POST", "/api/rescue/restore", { sessions: [`claude-code:${ID}`] })).status).toBe(200);
    expect(await readFile(file, "utf8")).toContain("needle at the end");
  });
});
