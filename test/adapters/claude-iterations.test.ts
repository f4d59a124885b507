/** Claude Code: calls that a reply's own sums leave out, in `usage.iterations`. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import { describe, expect, it } from "vitest";
import { env, home, readAll, useHome } from "./_home.ts";

const ID = "5e550000-0000-4000-8000-000000000001";
const counts = (input: number, output: number, cacheWrite1h = 0) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h,
});
const message = { type: "message", input_tokens: 2, output_tokens: 10 };
const advisor = { type: "advisor_message", model: "advisor", input_tokens: 100, output_tokens: 40 };
const compaction = {
  type: "compaction",
  input_tokens: 900,
  output_tokens: 30,
  cache_creation_input_tokens: 7,
  cache_creation: { ephemeral_1h_input_tokens: 7 },
};

describe("calls beside a reply of Claude Code", () => {
  useHome("iterations");
  /** One record for each entry, all of one reply unless `ids` says otherwise. */
  async function usage(records: readonly { iterations?: unknown; output?: number; id?: string }[]) {
    const path = join(home, `.claude/projects/-w-app/${ID}.jsonl`);
    await mkdir(dirname(path), { recursive: true });
    const rows = records.map(({ iterations, output = 10, id = "m1" }, n) => ({
      type: "assistant",
      uuid: `u${n}`,
      sessionId: ID,
      timestamp: "2026-11-20T09:00:00.000Z",
      requestId: `r-${id}`,
      message: {
        id,
        role: "assistant",
        model: "main",
        content: [{ type: "text", text: `part ${n}` }],
        stop_reason: "end_turn",
        usage: { input_tokens: 2, output_tokens: output, iterations },
      },
    }));
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const { adapter } = claudeCode() as { adapter?: Adapter };
    if (!adapter) throw new Error("no adapter");
    const [one] = await readAll(adapter);
    expect((await adapter.usage?.({ tool: "claude-code", key: ID, path }, env))?.usage).toEqual(one?.summary.usage);
    return one?.summary.usage;
  }

  it("count once per reply, for the advisor's model and for the reply's own", async () => {
    const iterations = [message, advisor, compaction];
    expect(await usage([{ iterations }])).toEqual({ main: counts(902, 40, 7), advisor: counts(100, 40) });
    expect(await usage([{ iterations }, { iterations }, { iterations }])).toEqual({
      main: counts(902, 40, 7),
      advisor: counts(100, 40),
    });
  });

  it("count with the record that has most of them, and add up within one", async () => {
    expect(
      await usage([{ output: 1 }, { iterations: [advisor], output: 5 }, { iterations: [advisor, message, advisor] }]),
    ).toEqual({ main: counts(2, 10), advisor: counts(200, 80) });
    const other = { ...advisor, model: "other" };
    expect(await usage([{ iterations: [advisor, other] }])).toEqual({
      main: counts(2, 10),
      advisor: counts(100, 40),
      other: counts(100, 40),
    });
  });

  it("count for each reply that has them", async () => {
    expect(await usage([{ iterations: [advisor] }, { id: "m2", iterations: [advisor] }])).toEqual({
      main: counts(4, 20),
      advisor: counts(200, 80),
    });
  });

  it("are left out where they are the reply's own calls or nothing that can be read", async () => {
    for (const iterations of [
      [],
      [message],
      [message, message],
      null,
      "x",
      [null, 3, { type: 4 }, { type: "fallback_message" }],
    ])
      expect(await usage([{ iterations }])).toEqual({ main: counts(2, 10) });
    expect(await usage([{ iterations: [{ ...advisor, model: undefined, output_tokens: -4 }] }])).toEqual({
      main: counts(102, 10),
    });
  });
});
