/** Assistants whose formats are known from public code: relatives of pi and Claude Code, and small adapters. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import claudeCode from "../../plugins/claude-code/index.ts";
import pi from "../../plugins/pi/index.ts";
import { runCommand } from "../command.ts";
import { home, readAll, useHome } from "./_home.ts";

useHome("newcomers");

const fixtures = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

describe("assistants that write the log of another", () => {
  it.each([
    ["omo", ".omo/agent/sessions"],
    ["senpi", ".senpi/agent/sessions"],
    ["stepcode", ".stepcode/agent/sessions"],
    ["gjc", ".gjc/agent/sessions"],
    ["kimchi", ".config/kimchi/harness/sessions"],
  ] as const)("%s writes pi's", async (variant, folder) => {
    const path = join(home, folder, "--w--", "2026-07-20T09-00-00-000Z_01a05df9-5014-78b2-99f3-9fc132859761.jsonl");
    await mkdir(dirname(path), { recursive: true });
    const usage = { input: 50, output: 10, cacheRead: 30, cacheWrite: 20 };
    const rows = [
      { type: "session", id: "01a05df9-5014-78b2-99f3-9fc132859761", timestamp: "2026-07-20T09:00:00.000Z", cwd: "/w" },
      {
        type: "message",
        id: "a1",
        timestamp: "2026-07-20T09:00:01.000Z",
        message: { role: "assistant", model: "m", content: "one", usage },
      },
      { type: "of a later version" },
    ];
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const { adapter } = pi({ variant });
    const [one, ...others] = await readAll(adapter);
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ tool: variant, key: "01a05df9-5014-78b2-99f3-9fc132859761" });
    expect(one?.summary).toMatchObject({
      cwd: "/w",
      usage: { m: { input: 50, output: 10, cacheRead: 30, cacheWrite5m: 20, cacheWrite1h: 0 } },
      skipped: { unknown: { "of a later version": 1 } },
    });
    const doctor = await runCommand(["doctor", "--all"], home);
    expect(doctor.stdout).toContain(`1 sessions in ${join(home, folder)}; unproved`);
    expect((await readAll(pi({ variant, dir: home }).adapter)).map(({ ref }) => ref.key)).toEqual([one?.ref.key]);
  });

  it.each([
    ["cherry-studio", ".config/CherryStudio/Data/Agents/.claude"],
    ["cherry-studio", ".config/CherryStudio/.claude"],
    ["qoder", ".qoder"],
    ["qoderwork", ".qoderwork"],
  ] as const)("%s writes Claude Code's in %s", async (variant, folder) => {
    const own = await readAll(claudeCode({ dir: fixtures("claude-code") }).adapter);
    await cp(fixtures("claude-code"), join(home, folder), { recursive: true });
    const { adapter } = claudeCode({ variant });
    const all = await readAll(adapter);
    expect(all.map(({ events }) => events)).toEqual(own.map(({ events }) => events));
    expect(all.map(({ summary }) => summary.usage)).toEqual(own.map(({ summary }) => summary.usage));
    expect([adapter.unproved, all[0]?.ref.tool]).toEqual([true, variant]);
  });

  it("has the title that Qoder writes beside a log", async () => {
    await cp(fixtures("claude-code"), join(home, ".qoder"), { recursive: true });
    const [first] = await readAll(claudeCode({ variant: "qoder" }).adapter);
    if (!first) throw new Error("no session");
    await writeFile(first.ref.path.replace(/\.jsonl$/, "-session.json"), '{"title":"Sort the receipts"}');
    const [again] = await readAll(claudeCode({ variant: "qoder" }).adapter);
    expect(again?.summary.title).toBe("Sort the receipts");
  });
});

describe("Letta Code", () => {
  const at = "2026-07-20T09:00:00.000Z";
  const put = async (path: string, rows: readonly unknown[]) => {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  };
  const folder = (name: string) => `.letta/lc-local-backend/conversations/${Buffer.from(name).toString("base64url")}`;
  const usage = { input: 50, output: 10, cacheRead: 30, cacheWrite: 20, cost: { total: 0.5 } };
  const entry = (id: string, message: object) => ({ type: "message", id, parentId: null, timestamp: at, message });
  const call = { type: "toolCall", id: "c1", name: "Bash", arguments: { command: "ls" } };
  const local = [
    { type: "session", version: 3, id: "local-conv-1", timestamp: at, cwd: "/w" },
    entry("e1", { id: "ui-msg-1", role: "user", content: "<system-reminder>Mon</system-reminder>", timestamp: 1 }),
    entry("e2", { id: "ui-msg-2", role: "user", content: [{ type: "text", text: "List them" }], timestamp: 2 }),
    entry("e3", { id: "ui-msg-3", role: "assistant", content: [{ type: "text", text: "I look" }], timestamp: 3 }),
    entry("e4", {
      ...{ id: "ui-msg-3", role: "assistant", model: "m", usage, timestamp: 3, responseId: "r1" },
      content: [{ type: "text", text: "I look" }, call],
    }),
    entry("e5", {
      id: "ui-msg-4",
      role: "toolResult",
      toolCallId: "c1",
      toolName: "Bash",
      content: [{ type: "text", text: "a" }],
    }),
    entry("e6", {
      id: "ui-msg-4",
      role: "toolResult",
      toolCallId: "c1",
      toolName: "Bash",
      content: [{ type: "text", text: "a" }],
    }),
    entry("e7", {
      ...{ id: "ui-msg-3", role: "assistant", model: "m", usage, timestamp: 3, responseId: "r1" },
      content: [{ type: "text", text: "I look" }, call],
    }),
  ];
  const said = (kind: string, text: string) => ({ kind, text, captured_at: at, source_line_id: `l-${text}` });
  const tool = {
    kind: "tool_call",
    name: "Bash",
    argsText: '{"command":"ls"}',
    resultText: "b",
    resultOk: false,
    captured_at: at,
  };

  it("shows a message that is written again once, and counts its tokens once", async () => {
    await put(`${folder("conversation:local-conv-1")}/messages.jsonl`, local);
    await writeFile(join(home, folder("conversation:local-conv-1"), "conversation.json"), '{"summary":"Files"}');
    const { adapter } = pi({ variant: "letta" });
    const [one, ...others] = await readAll(adapter);
    expect(others).toEqual([]);
    expect(one?.events.map(({ kind, text }) => [kind, text])).toEqual([
      ["note", "<system-reminder>Mon</system-reminder>"],
      ["user", "List them"],
      ["assistant", "I look"],
      ["tool_use", ""],
      ["tool_result", "a"],
    ]);
    expect(one?.ref.key).toBe("local-conv-1");
    expect(one?.summary).toMatchObject({
      title: "Files",
      cwd: "/w",
      usage: { m: { input: 50, output: 10, cacheRead: 30, cacheWrite5m: 20, cacheWrite1h: 0 } },
      evidence: { requests: 1 },
    });
    expect(adapter.unproved).toBe(true);
  });

  it("reads what the client collected of a conversation that the server has, and not of one that is here", async () => {
    await put(`${folder("conversation:local-conv-1")}/messages.jsonl`, local);
    await put(`${folder("default:agent-1")}/messages.jsonl`, local);
    for (const path of ["agent-1/local-conv-1", "agent-1/default", "agent-2/default", "agent-2/conv-9"])
      await put(`.letta/transcripts/${path}/transcript.jsonl`, [
        said("user", "List"),
        said("reasoning", "Hm"),
        tool,
        said("assistant", "b"),
        said("error", "cut"),
        { kind: "of a later version" },
        3,
      ]);
    const all = await readAll(pi({ variant: "letta" }).adapter);
    expect(all.map(({ ref }) => ref.key).sort()).toEqual([
      "conv-9",
      "default-agent-1",
      "default-agent-2",
      "local-conv-1",
    ]);
    const collected = all.find(({ ref }) => ref.key === "conv-9");
    expect(collected?.events.map(({ kind, text }) => [kind, text])).toEqual([
      ["user", "List"],
      ["thinking", "Hm"],
      ["tool_use", ""],
      ["tool_result", "b"],
      ["assistant", "b"],
      ["note", "cut"],
    ]);
    expect(collected?.events[3]?.is_error).toBe(true);
    expect(collected?.summary).toMatchObject({ usage: {}, skipped: { unknown: { "of a later version": 1 } } });
  });
});

it("counts a session of Claude Code once that is in Cherry Studio's folder, too", async () => {
  type Totals = { totals: { tokens: object; requests?: number; cost: object }; usage?: object };
  const figures = async (...flags: string[]) =>
    (JSON.parse((await runCommand(["usage", "--json", ...flags], home)).stdout) as Totals).totals;
  await cp(fixtures("claude-code"), join(home, ".claude"), { recursive: true });
  const alone = [await figures("--stateless"), await figures()];
  await cp(fixtures("claude-code"), join(home, ".config/CherryStudio/.claude"), { recursive: true });
  await cp(fixtures("claude-code"), join(home, ".config/CherryStudio/Data/Agents/.claude"), { recursive: true });
  await runCommand(["import"], home);
  expect((await figures("--stateless")).tokens).toEqual(alone[0]?.tokens);
  expect((await figures()).tokens).toEqual(alone[1]?.tokens);
  expect((await figures()).cost).toEqual(alone[1]?.cost);
});
