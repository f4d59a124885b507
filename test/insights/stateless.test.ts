import { existsSync } from "node:fs";
import { appendFile, cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionSummary, SessionUsage } from "sessarc";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import type { UsageReport } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";
import opencode from "../../plugins/opencode/index.ts";

const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));
const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const start = () =>
  createTestKernel({ plugins: [archive(), insights(), claude(), codex(), gemini(), copilot(), opencode()] });

/** Tokens alone of every log against what the full read says; how many took the short way. */
async function compareLogs(t: TestKernel): Promise<{ quick: number; all: number }> {
  const { found } = await t.kernel.inject("importer").scan();
  let quick = 0;
  for (const { adapter, ref } of found.values()) {
    const tokens = await adapter.usage?.(ref, t.kernel.env);
    if (!tokens) continue;
    quick++;
    const read = adapter.read(ref, t.kernel.env);
    let summary: SessionSummary | undefined;
    while (!summary) {
      const step = await read.next();
      if (step.done) summary = step.value;
    }
    const { usage, replies, evidence, parent } = summary;
    expect({ ref: ref.path, ...tokens }).toEqual({ ref: ref.path, usage, replies, evidence, parent });
  }
  return { quick, all: found.size };
}

async function compareReports(t: TestKernel): Promise<void> {
  await t.send("POST", "/api/import", { all: true });
  for (const by of ["day", "week", "month", "session", "model", "tool"] as const) {
    const stateless = await t.kernel.inject("insights").stateless({ by, tz: "Asia/Kathmandu" });
    const stored = await t.json<UsageReport>(`/api/usage?by=${by}&tz=Asia/Kathmandu`);
    expect(stateless.failed).toEqual([]);
    expect([by, figures(stateless)]).toEqual([by, figures(stored)]);
    // A day without tokens, which only messages tell, is no row of a log's tokens.
    // Nor is a session without any; the archive lists it.
    const counts = (row: UsageReport["rows"][number]) => by !== "session" || Object.keys(row.usage).length > 0;
    const keys = ({ rows }: UsageReport) =>
      rows
        .filter(counts)
        .map(({ key, sessions }) => [key, sessions])
        .sort();
    if (by === "session") expect(stateless.rows.every(counts)).toBe(true);
    if (!["day", "week", "month"].includes(by)) expect([by, keys(stateless)]).toEqual([by, keys(stored)]);
  }
}

function figures({ rows, totals, evidence }: UsageReport) {
  const used = rows.flatMap((row) => {
    const usage = nonZero(row.usage);
    return Object.keys(usage).length > 0 ? [[row.key, { usage, cost: row.cost }]] : [];
  });
  return { rows: Object.fromEntries(used), usage: nonZero(totals.usage), cost: totals.cost, evidence };
}

const nonZero = (usage: SessionUsage) =>
  Object.fromEntries(Object.entries(usage).filter(([, tokens]) => Object.values(tokens).some((n) => n > 0)));

describe("usage without an archive", () => {
  it("equals the archive's over sample data of the tools", async () => {
    const t = await start();
    await writeDemo({ home: t.home });
    expect((await compareLogs(t)).quick).toBeGreaterThan(0);
    await compareReports(t);
  });

  it("equals the archive's over the adapters' fixtures", async () => {
    const t = await start();
    await cp(join(fixtures, "claude-code"), join(t.home, ".claude"), { recursive: true });
    await cp(join(fixtures, "codex"), join(t.home, ".codex"), { recursive: true });
    expect((await compareLogs(t)).quick).toBeGreaterThan(4);
    await compareReports(t);
  });

  it.skipIf(!existsSync(shared))("equals the full read over logs of the real tools (SESSARC_FIXTURES)", async () => {
    for (const [tool, place] of [
      ["claude", ".claude/projects"],
      ["codex", ".codex/sessions"],
    ] as const) {
      for (const capture of await readdir(join(shared, tool))) {
        const t = await start();
        await cp(join(shared, tool, capture), join(t.home, place, capture), { recursive: true });
        await compareLogs(t);
        await t.close();
      }
    }
  });

  it("is not misled by usage, content and stop reasons inside messages and calls", async () => {
    const t = await start();
    const path = join(t.home, ".claude/projects/-w-app/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl");
    await mkdir(join(path, ".."), { recursive: true });
    const usage = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3 };
    const trap = {
      usage: { input_tokens: 999, output_tokens: 999 },
      id: "x",
      content: [{ model: "other" }],
      stop_reason: "no",
    };
    const text = 'a "usage" and ],"stop_reason":"end" and "content":[ in text';
    const message = (id: string, content: unknown, more: object = {}) => ({
      model: "claude-haiku-4-5",
      id,
      type: "message",
      role: "assistant",
      content,
      stop_reason: null,
      usage,
      ...more,
    });
    const rows = [
      {
        type: "assistant",
        timestamp: "2026-11-01T10:00:00Z",
        requestId: "1",
        message: message("a", [{ type: "text", text }]),
      },
      {
        message: message("b", [{ type: "tool_use", name: "X", input: trap }]),
        type: "assistant",
        timestamp: "2026-11-01T10:00:01Z",
      },
      {
        type: "assistant",
        timestamp: "2026-11-01T10:00:02Z",
        toolUseResult: { content: [trap], stop_reason: 1 },
        message: message("c", [text]),
      },
      {
        type: "assistant",
        timestamp: "2026-11-01T10:00:03Z",
        message: message("d", "plain"),
        after: { list: [1], stop_reason: trap },
      },
      {
        type: "assistant",
        timestamp: "2026-11-01T10:00:04Z",
        cwd: "/w/{app}[1]",
        message: message("e", [], { content: [trap], usage }),
      },
      { type: "user", timestamp: "2026-11-01T10:00:05Z", message: { role: "user", content: [trap] } },
      {
        type: "assistant",
        timestamp: "2026-11-01T10:00:06Z",
        message: { usage, stop_reason: "x", content: [{ type: "text", text }], id: "f", model: "claude-haiku-4-5" },
      },
      { timestamp: "2026-11-01T10:00:07Z", usage, model: "early", requestId: "9" },
    ];
    await writeFile(path, `\uFEFF${rows.map((row) => `${JSON.stringify(row)}\n`).join("")}{"broken "usage"\n`);
    await appendFile(path, JSON.stringify(rows[0]).replace('"a"', '"g"').slice(0, -3));
    expect(await compareLogs(t)).toEqual({ quick: 1, all: 1 });
    const report = await t.kernel.inject("insights").stateless({ by: "model", tz: "UTC" });
    expect(report.evidence.requests).toBe(7);
    expect(report.totals).toMatchObject({ sessions: 1, messages: null, tokens: { output: 14 } });
  });

  it("goes by the range asked for, and refuses an invalid one", async () => {
    const t = await start();
    await cp(join(fixtures, "codex"), join(t.home, ".codex"), { recursive: true });
    const { stateless } = t.kernel.inject("insights");
    const none = await stateless({ by: "day", from: "2031-01-01" });
    expect(none.rows).toEqual([]);
    await expect(stateless({ by: "day", from: "2026-11-02", to: "2026-11-01" })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});
