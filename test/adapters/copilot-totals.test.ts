/** Copilot's tokens: totals that start from zero or go on, and the database of requests. */
import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionUsage } from "sessarc";
import type { Cursor } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { cli, create, find, put, read, tokens } from "./_copilot.ts";
import { drainTail, env, home, useHome } from "./_home.ts";
import { type Rows, writeTables } from "./_store.ts";

useHome("copilot-totals");

let serial = 0;
const row = (second: number, type: string, data: object) => ({
  type,
  data,
  id: `e${serial++}`,
  timestamp: new Date(Date.parse("2026-08-20T09:00:00Z") + second * 1000).toISOString(),
});
const start = (second: number) => row(second, "session.start", { sessionId: "s" });
const resume = (second: number) => row(second, "session.resume", {});
const said = (second: number, outputTokens?: number, model = "m") =>
  row(second, "assistant.message", { content: "a", model, ...(outputTokens !== undefined && { outputTokens }) });
const compacted = (second: number) => row(second, "session.compaction_complete", { success: true });
const total = (second: number, output: number, model = "m") =>
  row(second, "session.shutdown", {
    modelMetrics: {
      [model]: { usage: { inputTokens: output * 10, outputTokens: output, cacheReadTokens: output } },
    },
  });
/** What a total of these outputs counts. */
const of = (output: number, more = 0) => tokens(output * 9, output + more, output);

describe("totals of Copilot CLI", () => {
  it.each<[what: string, rows: object[], usage: SessionUsage]>([
    [
      "start from zero with each run, larger than before",
      [said(1, 100), total(2, 100), resume(3), said(4, 250), total(5, 250)],
      { m: of(350) },
    ],
    ["go on over resumes", [said(1, 100), total(2, 100), resume(3), said(4, 250), total(5, 350)], { m: of(350) }],
    [
      "start from zero three times",
      [said(1, 24), total(2, 24), resume(3), said(4, 6), total(5, 6), resume(6), said(7, 174), total(8, 174)],
      { m: of(204) },
    ],
    [
      "go on, with calls that no message names",
      [said(1, 100), total(2, 130), resume(3), said(4, 50), total(5, 190)],
      { m: of(190) },
    ],
    [
      "fall back at a compaction: messages before it count by their output",
      [said(1, 100), compacted(2), said(3, 40), total(4, 40)],
      { m: of(40, 100) },
    ],
    [
      "fall back at a compaction of a later run, and go on from there",
      [
        ...[said(1, 100), total(2, 100), resume(3), said(4, 30), compacted(5), said(6, 20), total(7, 20)],
        ...[resume(8), said(9, 70), total(10, 90)],
      ],
      { m: of(190, 30) },
    ],
    ["do not fall at a compaction", [said(1, 100), compacted(2), said(3, 40), total(4, 140)], { m: of(140) }],
    [
      "start from zero without messages that name their output",
      [said(1), total(2, 100), resume(3), said(4), total(5, 50)],
      { m: of(150) },
    ],
    [
      "go on without messages that name their output",
      [said(1), total(2, 100), resume(3), said(4), total(5, 150)],
      { m: of(150) },
    ],
    [
      "name the model in another way than messages",
      [said(1, 100, "x"), total(2, 100), resume(3), said(4, 250, "x"), total(5, 250)],
      { m: of(350) },
    ],
    [
      "are of each model alone",
      [said(1, 100), said(1, 5, "n"), total(2, 100), total(2, 5, "n"), resume(3), said(4, 9, "n"), total(5, 9, "n")],
      { m: of(100), n: of(14) },
    ],
  ])("%s", async (_, rows, usage) => {
    expect((await cli([start(0), ...rows])).summary.usage).toEqual(usage);
  });

  it("do not have the call of a compaction, which counts beside them", async () => {
    // As the real version 1.0.80 writes it.
    const compactionTokensUsed = { inputTokens: 1050, outputTokens: 56, cacheReadTokens: 632, model: "m" };
    const { summary } = await cli([
      ...[start(0), said(1, 53), total(2, 53), resume(3)],
      row(4, "session.compaction_complete", { success: true, compactionTokensUsed }),
      ...[total(5, 53), resume(6), said(7, 59), total(8, 112)],
    ]);
    expect(summary.usage).toEqual({ m: tokens(112 * 9 + 418, 112 + 56, 112 + 632) });
    expect(summary.replies).toHaveLength(3);
  });

  it("are the same when the log is followed row by row", async () => {
    const rows = [
      start(0),
      said(1, 100),
      total(2, 100),
      resume(3),
      said(4, 30),
      compacted(5),
      said(6, 250),
      total(7, 250),
    ];
    const whole = (await cli(rows)).summary;
    const path = await put(".copilot/session-state/s/events.jsonl", "");
    const adapter = create();
    const ref = await find(adapter, "s");
    let cursor: Cursor | undefined;
    let usage: SessionUsage | undefined;
    for (const one of rows) {
      await appendFile(path, `${JSON.stringify(one)}\n`);
      const tail = await drainTail(adapter.tail(ref, cursor, env));
      cursor = JSON.parse(JSON.stringify(tail.cursor));
      usage = tail.summary.usage;
    }
    expect(usage).toEqual(whole.usage);
    expect(usage).toEqual({ m: of(350, 30) });
  });
});

describe("the database of Copilot's requests", () => {
  const database = () => join(home, ".copilot/session-store.db");
  const request = (id: number, second: number, output: number, more: Record<string, string | number | null> = {}) => ({
    id,
    session_id: "s",
    agent_id: null,
    model: "m",
    input_tokens: output * 10,
    output_tokens: output,
    cache_read_tokens: output,
    cache_write_tokens: 0,
    reasoning_tokens: 3,
    created_at: new Date(Date.parse("2026-08-20T09:00:00Z") + second * 1000).toISOString(),
    ...more,
  });
  const store = (rows: Rows) => writeTables(database(), { assistant_usage_events: rows });

  it("counts a run that was killed, its sub-agents and compactions included", async () => {
    await store([request(1, 1, 7), request(2, 2, 5, { agent_id: "a" }), request(3, 3, 4, { session_id: "other" })]);
    const { summary } = await cli([start(0), said(1, 7), said(2)]);
    expect(summary.usage).toEqual({ m: of(12) });
    expect(summary.replies).toHaveLength(2);
  });

  it("counts the runs it has, and the log those from before", async () => {
    await store([request(1, 11, 250)]);
    const { summary } = await cli([start(0), said(1, 100), total(2, 100), resume(10), said(11, 250), total(12, 350)]);
    expect(summary.usage).toEqual({ m: of(350) });
    await store([request(1, 11, 300)]);
    expect((await read(create(), await find(create(), "s"))).summary.usage).toEqual({ m: of(400) });
  });

  it("goes before records of the log only where it has more requests", async () => {
    const record = (second: number, sequence: number) =>
      row(second, "session.usage_record", {
        usage: { model: "m", inputTokens: 10, outputTokens: 1, accounting: { sourceSessionId: "s", sequence } },
      });
    const log = [start(0), record(1, 1), record(2, 2)];
    await store([request(1, 1, 1)]);
    expect((await cli(log)).summary.usage).toEqual({ m: tokens(20, 2) });
    await store([request(1, 1, 1), request(2, 2, 1), request(3, 3, 1)]);
    expect((await cli(log)).summary.usage).toEqual({ m: of(3) });
  });

  it("is read when it was written after the log, and is not missed when it is gone or damaged", async () => {
    await cli([start(0), said(1, 7)]);
    const adapter = create();
    const before = await find(adapter, "s");
    await store([request(1, 1, 7)]);
    const after = await find(adapter, "s");
    expect(after.version).not.toBe(before.version);
    expect((await read(adapter, after)).summary.usage).toEqual({ m: of(7) });
    await writeFile(database(), "no database");
    expect((await read(create(), await find(create(), "s"))).summary.usage).toEqual({ m: tokens(0, 7) });
    await rm(database());
    expect((await read(adapter, await find(adapter, "s"))).summary.usage).toEqual({ m: tokens(0, 7) });
    await writeTables(database(), { assistant_usage_events: [{ id: 1, other: "x" }] });
    expect((await read(create(), await find(create(), "s"))).summary.usage).toEqual({ m: tokens(0, 7) });
  });
});
