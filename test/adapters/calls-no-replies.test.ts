/** Model calls that are no replies: summaries, warmed caches, tools that ask a model, attempts that failed, interrupted streams. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import dsh from "sessarc/plugins/dsh";
import pi from "sessarc/plugins/pi";
import { describe, expect, it } from "vitest";
import { home, readAll, scan, shape, useHome } from "./_home.ts";

useHome("no-replies");

async function write(path: string, rows: readonly object[] | string): Promise<void> {
  const file = join(home, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, typeof rows === "string" ? rows : rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
const tokens = (input: number, output: number, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
});

describe("pi", () => {
  const header = { type: "session", version: 3, id: "s1", timestamp: "2026-11-20T09:00:00.000Z", cwd: "/w" };
  const row = (n: number, type: string, fields: object) => ({
    type,
    id: `e${n}`,
    timestamp: `2026-11-20T09:00:${String(n).padStart(2, "0")}.000Z`,
    ...fields,
  });
  const reply = (n: number, usage: object) =>
    row(n, "message", { message: { role: "assistant", model: "m", content: "Yes.", usage } });
  const findUsage = async (variant: "pi" | "omp", rows: object[]) => {
    await write(variant === "pi" ? ".pi/agent/sessions/--w--/s1.jsonl" : ".omp/agent/sessions/--w--/s1.jsonl", rows);
    const [one] = await readAll(pi({ variant, dir: home }).adapter);
    return one?.summary;
  };
  const model = row(1, "model_change", { modelId: "m", provider: "p" });

  it("counts the calls of compactions and branch summaries under the model of that time", async () => {
    const summary = await findUsage("pi", [
      header,
      model,
      row(2, "compaction", { summary: "Short.", usage: { input: 10, output: 5, cacheRead: 7, cacheWrite: 3 } }),
      row(3, "model_change", { modelId: "n" }),
      row(4, "branch_summary", { summary: "The other way.", usage: { input: 20, output: 1 } }),
      row(5, "compaction", { summary: "By an extension." }),
    ]);
    expect(summary?.usage).toEqual({ m: tokens(10, 5, 7, 3), n: tokens(20, 1) });
  });

  it("splits what was written to the cache by how long it is kept", async () => {
    const summary = await findUsage("pi", [
      header,
      model,
      reply(2, { input: 1, output: 1, cacheWrite: 50, cacheWrite1h: 15 }),
      reply(3, { input: 1, output: 1, cacheWrite: 5, cacheWrite1h: 9 }),
      reply(4, { input: 1, output: 1, cacheWrite1h: -3, cacheWrite: "6" }),
    ]);
    expect(summary?.usage).toEqual({ m: tokens(3, 3, 0, 41, 20) });
  });

  it("counts what is logged as usage of any kind, and of tools that asked a model, once", async () => {
    const warm = row(2, "usage", { kind: "cache_warm", model: "w", usage: { cacheRead: 500, cost: { total: 0.5 } } });
    const tool = { role: "toolResult", toolCallId: "t", toolName: "oracle", content: "Yes.", usage: { input: 9 } };
    const rows = [header, model, warm, warm, row(3, "usage", { kind: "?", usage: { output: 2 } })];
    const summary = await findUsage("omp", [...rows, row(4, "message", { message: tool })]);
    expect(summary).toMatchObject({ usage: { w: tokens(0, 0, 500), m: tokens(9, 2) }, skipped: { unknown: {} } });
    expect(summary?.replies).toHaveLength(3);
  });

  it("leaves the calls that a fork copied to the session that paid for them", async () => {
    const summary = await findUsage("pi", [
      { ...header, parentSession: "/x/2026_s0.jsonl", timestamp: "2026-11-20T09:00:03.000Z" },
      model,
      row(2, "compaction", { summary: "Short.", usage: { input: 10 } }),
      row(5, "compaction", { summary: "Short again.", usage: { input: 11 } }),
    ]);
    expect(summary?.usage).toEqual({ m: tokens(11, 0) });
    expect(summary?.inheritedUsage).toEqual({ m: tokens(10, 0) });
  });
});

describe("DeepSeek Harness", () => {
  const T = 1_795_165_200_000;
  const header = { type: "session", version: 4, id: "session-1", createdAt: T, cwd: "/w" };
  const event = (seq: number, type: string, data: object) => ({ type, seq, time: T + seq, data });
  const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
  const chunk = (figures: object) => ({ type: "chunk", chunk: { type: "usage", usage: figures } });
  const model = event(0, "request/header", { header: { config: { model: "m" } } });
  const message = (seq: number, more: object) =>
    event(seq, "assistant/message", { message: { content: [{ type: "text", text: "Yes." }], source: {} }, ...more });
  const read = async (rows: object[], name = "session.v4.jsonl") => {
    await write(`.dsh/sessions/--w--/session-1/${name}`, rows);
    const [one] = await readAll(dsh({ dir: home }).adapter);
    if (!one) throw new Error("no session");
    return one;
  };

  it("counts the calls of summaries and of attempts without a message", async () => {
    const { summary, events } = await read([
      header,
      model,
      event(1, "assistant/attempt", { turn: 1, step: 1, stream: [chunk(usage(5, 1)), chunk(usage(10, 2))] }),
      message(2, { usage: usage(20, 4) }),
      event(3, "compaction/start", { compactionId: "k" }),
      event(4, "compaction/summary", { summary: [{ type: "text", text: "Short." }], model: "n", usage: usage(40, 8) }),
      event(5, "assistant/attempt", { turn: 2, step: 1, stream: [{ type: "text-chunks", texts: ["x"] }] }),
    ]);
    expect(summary.usage).toEqual({ m: tokens(30, 6), n: tokens(40, 8) });
    expect(summary.skipped?.unknown).toEqual({});
    expect(shape(events)).toEqual([
      ["assistant", "Yes."],
      ["note", "Short."],
    ]);
  });

  it("takes the figures of an interrupted message from its stream", async () => {
    const stream = [chunk(usage(5, 1)), chunk({ ...usage(5, 7), cacheReadTokens: 3 })];
    const { summary } = await read([header, model, message(1, { interrupted: true, stream })]);
    expect(summary.usage).toEqual({ m: tokens(5, 7, 3) });
  });

  it("takes the figures of a step without a message from its last chunks, and no step's twice", async () => {
    const part = (seq: number, figures: object) =>
      event(seq, "assistant/chunk", { turn: 1, step: 1, chunk: { type: "usage", usage: figures } });
    const rows = [
      header,
      model,
      part(1, usage(5, 1)),
      part(2, usage(5, 3)),
      event(3, "llm/retry", {}),
      part(4, usage(6, 4)),
      message(5, { usage: usage(6, 4) }),
      event(6, "step/end", {}),
      part(7, usage(7, 1)),
      event(8, "turn/end", { reason: { kind: "aborted" } }),
    ];
    expect((await read(rows, "session.jsonl")).summary.usage).toEqual({ m: tokens(18, 8) });
  });

  it("leaves the calls that a fork copied to the session that paid for them", async () => {
    const { summary } = await read([
      { ...header, isSeeded: true, parentSession: "session-0", createdAt: T + 3 },
      event(1, "compaction/summary", { summary: [], model: "m", usage: usage(10, 1) }),
      message(2, { message: { content: [], source: { model: "m" } }, usage: usage(20, 2) }),
      event(3, "session/end-seed", { inherited: true }),
      message(4, { message: { content: [], source: { model: "m" } }, usage: usage(40, 4) }),
    ]);
    expect(summary).toMatchObject({ usage: { m: tokens(40, 4) }, inheritedUsage: { m: tokens(30, 3) } });
  });

  it("reads the log of the highest generation, compressed or not, and no empty one", async () => {
    const rows = (input: number) => [header, model, message(1, { usage: usage(input, 1) })];
    await write(".dsh/sessions/--w--/session-1/session.jsonl", rows(1));
    await write(".dsh/sessions/--w--/session-1/session.v3.jsonl", rows(3));
    await write(".dsh/sessions/--w--/session-1/session.v10.jsonl", rows(10));
    await write(".dsh/sessions/--w--/session-1/session.v11.jsonl", "");
    await write(".dsh/sessions/--w--/session-1/session.v12.jsonl.tmp", rows(12));
    await write(".dsh/sessions/--w--/2/session.v3.jsonl", rows(3));
    const all = await readAll(dsh({ dir: home }).adapter);
    expect(all.map(({ ref, summary }) => [ref.key, summary.usage.m?.input])).toEqual([
      ["2", 3],
      ["session-1", 10],
    ]);
    const [, one] = await scan(dsh({ dir: home }).adapter);
    expect(one?.companions?.map((path) => path.split("/").at(-1))).toEqual([
      "session.v3.jsonl",
      "session.jsonl",
      "session.v11.jsonl",
    ]);
  });
});
