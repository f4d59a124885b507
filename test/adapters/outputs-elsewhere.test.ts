/** Outputs that OpenCode, Copilot and pi store in files of their own are the result's text. */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import pi from "sessarc/plugins/pi";
import { describe, expect, it, onTestFinished } from "vitest";
import opencode from "../../plugins/opencode/index.ts";
import { makeTempDir } from "../_setup.ts";
import { importAll, startIn } from "../rescue/_logs.ts";
import { cli, create, find, put, read, row } from "./_copilot.ts";
import { drainTail, env, home, readAll, useHome } from "./_home.ts";
import { type Rows, writeDocument, writeTables } from "./_store.ts";

useHome("outputs-elsewhere");

const whole = `head of it\n${"a line\n".repeat(9_000)}needle at the end`;
const GONE = "which is gone]";
const put0 = async (path: string, text: string) => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
};

describe("OpenCode", () => {
  const T = 1_795_165_200_000;
  const data = (...path: string[]) => join(home, ".local/share/opencode", ...path);
  const session = { id: "ses_a", project_id: "p", directory: "/w", title: "T", time_created: T, time_updated: T };
  const times = { time_created: T + 1, time_updated: T + 1 };
  const tables1 = (state: object): Record<string, Rows> => ({
    session: [session],
    message: [{ id: "m1", session_id: "ses_a", ...times, data: JSON.stringify({ role: "assistant", modelID: "m" }) }],
    part: [
      {
        ...{ id: "p1", message_id: "m1", session_id: "ses_a", ...times },
        data: JSON.stringify({ type: "tool", tool: "bash", callID: "c1", state: { status: "completed", ...state } }),
      },
    ],
  });
  const tables2 = (state: object): Record<string, Rows> => ({
    session_v2: [{ ...session, fork_session_id: null }],
    session_message: [
      {
        ...{ id: "m1", session_id: "ses_a", type: "assistant", seq: 1, ...times },
        data: JSON.stringify({
          model: { id: "m" },
          content: [{ type: "tool", id: "c1", name: "shell", state: { status: "completed", ...state } }],
        }),
      },
    ],
  });
  const result = async (tables: Record<string, Rows>) => {
    await writeTables(data("opencode.db"), tables);
    const [one] = await readAll(opencode().adapter);
    return one?.events.find(({ kind }) => kind === "tool_result")?.text;
  };
  const shown = (path: string) =>
    `...4 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: ${path}\nUse Grep to search the full content.\n\nhead of it`;

  it("is read from `tool-output`, named beside the text or in it, in both versions", async () => {
    const file = await put0(data("tool-output/tool_1"), whole);
    expect(await result(tables1({ output: shown(file) }))).toBe(whole);
    expect(await result(tables1({ output: "head", metadata: { truncated: true, outputPath: file } }))).toBe(whole);
    expect(await result(tables1({ output: `C:\n${shown("C:\\x\\opencode\\tool-output\\tool_1")}` }))).toBe(whole);
    await rm(data("opencode.db"));
    expect(await result(tables2({ content: [{ type: "text", text: "head" }], outputPaths: [file] }))).toBe(whole);
    const text = `... output truncated; full content saved to ${file} ...`;
    expect(await result(tables2({ content: [{ type: "text", text }] }))).toBe(whole);
  });

  it("is read beside the older files, too", async () => {
    const file = await put0(data("tool-output/tool_1"), whole);
    const storage = (name: string, content: object) => writeDocument(data("storage", name), content);
    await storage("session/p/ses_a.json", { id: "ses_a", directory: "/w", time: { created: T } });
    await storage("message/ses_a/m1.json", { role: "assistant", time: { created: T } });
    const state = { status: "completed", output: shown(file) };
    await storage("part/m1/p1.json", { type: "tool", tool: "bash", callID: "c1", state });
    const [one] = await readAll(opencode().adapter);
    expect(one?.events.at(-1)?.text).toBe(whole);
  });

  it("is named where it is gone, and is never a file elsewhere", async () => {
    const secret = await put0(join(home, "secret.txt"), "not of this session");
    await mkdir(data("tool-output"), { recursive: true });
    await symlink(secret, data("tool-output/link"));
    for (const named of [data("tool-output/tool_1"), data("tool-output/link"), "/etc/tool-output/../passwd"]) {
      const text = await result(tables1({ output: shown(named) }));
      expect(text).toContain("head of it");
      expect(text).not.toContain("not of this session");
    }
    expect(await result(tables1({ output: shown(data("tool-output/tool_1")) }))).toContain(GONE);
    for (const output of [shown(secret), "See Full output saved to: here", "plain"])
      expect(await result(tables1({ output }))).toBe(output);
    const whatever = { output: "whole", metadata: { truncated: false, outputPath: data("tool-output/tool_1") } };
    expect(await result(tables1(whatever))).toBe("whole");
  });

  it("is found by a search, and stays in the archive when OpenCode deleted the file", async () => {
    const dir = await makeTempDir();
    const at = (name: string) => join(dir, ".local/share/opencode", name);
    const file = await put0(at("tool-output/tool_1"), whole);
    await writeTables(at("opencode.db"), tables1({ output: shown(file) }));
    const t = await startIn(dir);
    onTestFinished(() => t.close());
    await importAll(t);
    const hits = async () =>
      (await t.json<{ results: unknown[] }>("/api/search?q=%22needle%20at%20the%20end%22")).results.length;
    expect(await hits()).toBe(1);
    await rm(file);
    const { message = [], ...others } = tables1({ output: shown(file) });
    const later = message.map((one) => ({ ...one, time_updated: T + 9 }));
    await writeTables(at("opencode.db"), { ...others, message: later });
    await importAll(t);
    expect(await hits()).toBe(1);
  });
});

describe("Copilot CLI", () => {
  const shown = (path: string) =>
    `Output too large to read at once (63.5 KB). Saved to: ${path}\nConsider using tools like rg (for searching).\n\nPreview (first 500 chars):\nhead of it`;
  const result = async (text: string) => {
    const data = { toolCallId: "t1", success: true, result: { content: text } };
    return (await cli([row("tool.execution_complete", data)])).events[0]?.text;
  };

  it("is read from the folder that the log names, or that of this machine, whichever system's the path is", async () => {
    const names = ["1787999724686-copilot-tool-output-646b6feee59e.txt", "copilot-tool-output-1787999730383-2.txt"];
    for (const name of names) {
      const file = await put0(join(home, "tmp", name), whole);
      expect(await result(shown(file))).toBe(whole);
      expect(await result(shown(`C:\\Users\\me\\AppData\\Local\\Temp\\${name}`))).toContain(GONE);
      const data = { toolCallId: "t1", result: { content: shown(`C:\\Temp\\${name}`) } };
      await put(".copilot/session-state/s/events.jsonl", [row("tool.execution_complete", data)]);
      const adapter = create();
      const there = { ...(await find(adapter, "s")) };
      const on = { home, platform: "linux" as const, env: { TMPDIR: join(home, "tmp") } };
      let text: string | undefined;
      for await (const batch of adapter.read(there, on)) text ??= batch[0]?.text;
      expect(text).toBe(whole);
    }
  });

  it("is read while Copilot runs, which deletes the file when it ends", async () => {
    const file = await put0(join(home, "tmp/1787999724686-copilot-tool-output-4-a.txt"), whole);
    const log = [row("tool.execution_complete", { toolCallId: "t1", result: { content: shown(file) } })];
    await put(".copilot/session-state/s/events.jsonl", log);
    const adapter = create();
    const ref = await find(adapter, "s");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    expect(first.events[0]?.text).toBe(whole);
    await rm(file);
    await put(".copilot/session-state/s/events.jsonl", [...log, row("user.message", { content: "Thanks" })]);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.map(({ text }) => text)]).toEqual([false, ["Thanks"]]);
  });

  it("is named where it is gone, and is never a file of another name, or a link", async () => {
    const secret = await put0(join(home, "secret.txt"), "not of this session");
    const link = join(home, "tmp/copilot-tool-output-1787999730383-9.txt");
    await mkdir(dirname(link), { recursive: true });
    await symlink(secret, link);
    expect(await result(shown(join(home, "tmp/copilot-tool-output-1787999730383-1.txt")))).toContain(GONE);
    expect(await result(shown(link))).toContain(GONE);
    expect(await result(shown(secret))).toBe(shown(secret));
    expect(await result(`quoted: ${shown(link)}`)).toBe(`quoted: ${shown(link)}`);
    expect((await read(create(), await find(create(), "s"))).events).toHaveLength(1);
  });
});

describe("pi", () => {
  const result = async (message: object) => {
    const header = { type: "session", version: 3, id: "s1", timestamp: "2026-11-20T09:00:00.000Z", cwd: "/w" };
    const rows = [header, { type: "message", id: "e1", timestamp: "2026-11-20T09:00:01.000Z", message }];
    await put(".pi/agent/sessions/--w--/s1.jsonl", rows);
    const [one] = await readAll(pi({ dir: home }).adapter);
    return one?.events[0]?.text;
  };
  const bash = (fullOutputPath: string) => ({
    role: "toolResult",
    toolCallId: "t",
    toolName: "bash",
    content: [{ type: "text", text: "tail of it" }],
    details: { fullOutputPath },
  });

  it("is read from the file that the row names, of calls and of the person's own commands", async () => {
    const file = await put0(join(home, "tmp/pi-bash-0a1b2c.log"), whole);
    expect(await result(bash(file))).toBe(whole);
    const command = { role: "bashExecution", command: "make", output: "tail", truncated: true, fullOutputPath: file };
    expect(await result(command)).toBe(`! make\n${whole}`);
  });

  it("is not looked for where the rows are those of another machine", async () => {
    const file = await put0(join(home, "tmp/pi-bash-0a1b2c.log"), whole);
    const rows = [
      { type: "session", version: 3, id: "s1", timestamp: "2026-11-20T09:00:00.000Z", cwd: "/w" },
      { type: "message", id: "e1", timestamp: "2026-11-20T09:00:01.000Z", message: bash(file) },
    ];
    const { adapter } = pi({ dir: home });
    async function* lines() {
      yield rows.map((one, offset) => ({ offset, text: JSON.stringify(one) }));
    }
    const batches = adapter.parseLines?.({ tool: "pi", key: "s1", path: join(home, "no/s1.jsonl") }, lines(), env);
    const first = await batches?.next();
    expect(first?.value).toMatchObject([{ text: "tail of it" }]);
    const data = {
      toolCallId: "t1",
      result: { content: `Output too large to read at once (1 KB). Saved to: ${home}/tmp/copilot-tool-output-1.txt\n` },
    };
    await put0(join(home, "tmp/copilot-tool-output-1.txt"), whole);
    async function* copilotLines() {
      yield [{ offset: 0, text: JSON.stringify(row("tool.execution_complete", data)) }];
    }
    const ref = { tool: "copilot", key: "s1", path: join(home, "no/s1/events.jsonl") };
    const other = await create().parseLines?.(ref, copilotLines(), env).next();
    expect(other?.value).toMatchObject([{ text: data.result.content }]);
  });

  it("is named where it is gone, and is never a file of another name", async () => {
    const secret = await put0(join(home, "secret.log"), "not of this session");
    expect(await result(bash(join(home, "tmp/pi-bash-gone.log")))).toContain(GONE);
    expect(await result(bash(secret))).toBe("tail of it");
  });
});
