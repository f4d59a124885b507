/** CodeBuddy and WorkBuddy: flat rows in the folders of Claude Code's log, and Claude Code's own format there. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import claudeCode from "sessarc/plugins/claude-code";
import { describe, expect, it } from "vitest";
import { testAdapter } from "../adapter.ts";
import { runCommand } from "../command.ts";
import { env, home, readAll, shape, useHome } from "./_home.ts";

useHome("codebuddy");

const fixtures = fileURLToPath(new URL("../fixtures/codebuddy", import.meta.url));
const A = "0199a100-0000-4000-8000-000000000001";
const B = "0199a100-0000-4000-8000-000000000002";

const tokens = (input: number, output: number, cacheRead: number, cacheWrite5m = 0) => ({
  input,
  output,
  cacheWrite5m,
  cacheWrite1h: 0,
  cacheRead,
});

describe("adapters: codebuddy", () =>
  testAdapter({
    plugin: (dir) => claudeCode({ variant: "codebuddy", dir }),
    fixtures,
    expect: {
      sessions: 3,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { "acme-large": tokens(310, 44, 270, 10) },
    },
  }));

const log = async (id: string, rows: readonly unknown[], folder = ".codebuddy") => {
  const path = join(home, folder, "projects", "w", `${id}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""));
};
const codebuddy = () => claudeCode({ variant: "codebuddy" }).adapter;

describe("CodeBuddy's own log", () => {
  it("has the person's words, the calls with their failures, and each reply's tokens once", async () => {
    await cp(fixtures, join(home, ".codebuddy"), { recursive: true });
    const all = await readAll(codebuddy());
    const of = (key: string) => all.find(({ ref }) => ref.key === key);
    const main = of(A);
    expect(main?.summary).toMatchObject({
      title: "Round the till up",
      cwd: "/home/ana/shop",
      startedAt: "2026-07-20T09:00:01.000Z",
      endedAt: "2026-07-20T09:00:12.000Z",
      usage: { "acme-large": tokens(50 + 80 + 80, 32, 210, 10) },
      evidence: { requests: 3 },
      skipped: { unknown: {} },
    });
    expect(shape(main?.events ?? []).filter(([kind]) => kind === "user")).toEqual([["user", "Make the till round up"]]);
    expect(
      main?.events.filter(({ kind }) => kind === "tool_result").map(({ is_error, text }) => [is_error, text]),
    ).toEqual([
      [false, "export const till = 1;"],
      [true, "1 failed"],
    ]);
    expect(of(`${A}:agent-56c2e7f4`)?.summary).toMatchObject({
      parent: A,
      usage: { "acme-large": tokens(40, 9, 20) },
    });
    expect(codebuddy().resume?.({ key: A, path: "" })).toEqual(["codebuddy", "--resume", A]);
    expect(codebuddy().resume?.({ key: `${A}:agent-56c2e7f4`, path: "" })).toBeUndefined();
  });

  it("counts what a fork repeats as its parent's", async () => {
    await cp(fixtures, join(home, ".codebuddy"), { recursive: true });
    const fork = (await readAll(codebuddy())).find(({ ref }) => ref.key === B);
    expect(fork?.summary).toMatchObject({
      forkedFrom: A,
      usage: { "acme-large": tokens(60, 3, 40) },
      inheritedUsage: { "acme-large": tokens(130, 25, 210, 10) },
    });
    const usage = await runCommand(["usage", "--json"], home);
    expect(usage.code).toBe(0);
  });

  it("goes on after any row, whichever format the log has", async () => {
    const claude = claudeCode({ dir: fileURLToPath(new URL("../fixtures/claude-code", import.meta.url)) }).adapter;
    const own = await readAll(claude);
    await cp(fileURLToPath(new URL("../fixtures/claude-code", import.meta.url)), join(home, ".codebuddy"), {
      recursive: true,
    });
    const all = await readAll(codebuddy());
    expect(all.map(({ events }) => events)).toEqual(own.map(({ events }) => events));
    expect(all.map(({ summary }) => summary.usage)).toEqual(own.map(({ summary }) => summary.usage));
  });

  it("reads rows of early versions, and leaves out invalid rows", async () => {
    const usage = { input_tokens: 29_254, output_tokens: 116, total_tokens: 29_370 };
    const said = { type: "message", role: "assistant", sessionId: A, timestamp: 1_776_418_031_000 };
    await log(A, [
      '{"type":"message","role":"user","content":[{"type":"inp',
      { type: "message", role: "user", sessionId: A, timestamp: 1_776_418_025_188, content: "first" },
      { ...said, id: "x", providerData: { model: "auto", usage }, content: [{ type: "output_text", text: "one" }] },
      { ...said, id: "y", providerData: { model: "auto", usage: "many" }, content: { text: 7 } },
      {
        ...said,
        id: "z",
        providerData: {
          model: "auto",
          messageId: "m",
          usage: { inputTokens: 10, outputTokens: 2, inputTokensDetails: [null, { cached_tokens: 40 }] },
        },
      },
      { type: "function_call", callId: 5, name: null, arguments: "{not json", providerData: null },
      { type: "function_call_result", callId: {}, output: [{ type: "image_ref" }, 3], providerData: [] },
      { type: "reasoning", rawContent: "thought", content: 9 },
      { type: "ai-title", aiTitle: ["no"] },
      { type: "custom-title", customTitle: "Mine" },
      { type: "ai-title", aiTitle: "Theirs" },
      { type: "of a later version" },
      [1],
      null,
    ]);
    const [one, ...others] = await readAll(codebuddy());
    expect(others).toEqual([]);
    expect(one?.summary).toMatchObject({
      title: "Mine",
      usage: { auto: tokens(29_254, 118, 40) },
      skipped: { unknown: { "of a later version": 1 } },
    });
    expect(shape(one?.events ?? [])[0]).toEqual(["user", "first"]);
  });

  it("has the whole of a large output, of a sub-agent, too", async () => {
    const shown = (path: string) =>
      `<persisted-output>\nOutput too large (164.9KB). Full output saved to: ${path}\n\nPreview (first 2048 bytes):\n1\n</persisted-output>`;
    const result = (path: string) => ({
      type: "function_call_result",
      callId: "c",
      output: { type: "text", text: shown(path) },
    });
    for (const [id, folder] of [
      [A, A],
      [`${A}/subagents/agent-1`, `${A}/subagents/agent-1`],
    ] as const) {
      const file = join(home, ".codebuddy/projects/w", folder, "tool-results", "call_1.txt");
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `whole of ${folder}`);
      await log(id, [result(`/elsewhere/.codebuddy/projects/w/${folder}/tool-results/call_1.txt`)]);
    }
    const all = await readAll(codebuddy());
    expect(all.map(({ events }) => events[0]?.text)).toEqual([`whole of ${A}`, `whole of ${A}/subagents/agent-1`]);
  });

  it("follows CODEBUDDY_CONFIG_DIR", () => {
    const at = { ...env, env: { CODEBUDDY_CONFIG_DIR: "/elsewhere" } };
    expect(codebuddy().roots(at)).toEqual([join("/elsewhere", "projects")]);
  });
});

it("reads WorkBuddy of both homes, each session once, and says that it is unproved", async () => {
  await cp(fixtures, join(home, ".workbuddy"), { recursive: true });
  await cp(fixtures, join(home, ".workbuddy-ai"), { recursive: true });
  const { adapter } = claudeCode({ variant: "workbuddy" });
  expect(adapter.roots(env)).toEqual([join(home, ".workbuddy-ai/projects"), join(home, ".workbuddy/projects")]);
  const doctor = await runCommand(["doctor", "--all"], home);
  expect(doctor.stdout).toMatch(/WorkBuddy.*unproved/s);
  const { stdout } = await runCommand(["import", "--json"], home);
  expect(stdout).toContain('"imported":3,');
});
