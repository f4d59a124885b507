/** Random histories with rows that share a line, rows that cannot be, and outputs in files of their own: no token differs from what was written. */
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { Plugin, SessionSummary } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import qwen from "sessarc/plugins/qwen";
import { describe, expect, it } from "vitest";
import { rounds } from "../rounds.ts";
import { drain, drainTail, env, home, scan, useHome } from "./_home.ts";

const ID = "5e550000-0000-4000-8000-000000000001";
const now = "2026-11-20T09:00:00.000Z";
const LATE = "2036-01-02T03:04:05.000Z";

interface Reply {
  input: number;
  output: number;
  text: string;
  /** What is wrong with its row. */
  row: "good" | "late" | "absurd";
  /** What stands between the row before and this one, instead of a line end alone. */
  before: "line end" | "nothing" | "zero bytes" | "zero bytes on a line" | "cut row" | "cut row and zero bytes";
  /** Where the cut row is cut, of its length. */
  at: number;
  /** Its output is in a file, which may be gone. */
  stored: "no" | "there" | "gone";
}

const LOGS: Record<
  string,
  { plugin: () => Plugin; path: string; head: object[]; rows: (n: number, reply: Reply) => object[] }
> = {
  "claude-code": {
    plugin: claudeCode,
    path: `.claude/projects/-w-app/${ID}.jsonl`,
    head: [],
    rows(n, { input, output, text, row, stored }) {
      const base = { parentUuid: n === 0 ? null : `u${n - 1}`, isSidechain: false, sessionId: ID, cwd: "/w/app" };
      const at = row === "late" ? LATE : now;
      const shown = `<persisted-output>\nOutput too large (9KB). Full output saved to: /x/${ID}/tool-results/${n}.txt\n\n${text}`;
      const content = [{ type: "tool_result", tool_use_id: `t${n}`, content: shown }];
      const usage = { input_tokens: input, output_tokens: row === "absurd" ? 1e18 : output };
      const said = [{ type: "text", text }];
      const message = { id: `m${n}`, role: "assistant", model: "m", content: said, stop_reason: "end_turn", usage };
      return [
        ...(stored === "no"
          ? []
          : [{ ...base, type: "user", uuid: `r${n}`, timestamp: now, message: { role: "user", content } }]),
        { ...base, type: "assistant", uuid: `u${n}`, timestamp: at, requestId: `q${n}`, message },
      ];
    },
  },
  codex: {
    plugin: codex,
    path: `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${ID}.jsonl`,
    head: [
      { timestamp: now, type: "session_meta", payload: { id: ID, timestamp: now, cwd: "/w/app" } },
      { timestamp: now, type: "turn_context", payload: { turn_id: "t", model: "m" } },
    ],
    rows(n, { input, output, text, row }) {
      const usage = { input_tokens: input, output_tokens: row === "absurd" ? 1e18 : output };
      const content = [{ type: "output_text", text }];
      return [
        { timestamp: now, type: "response_item", payload: { type: "message", role: "assistant", content } },
        {
          timestamp: row === "late" ? LATE : now,
          type: "token_usage_record",
          payload: { thread_id: ID, response_id: `r${n}`, usage },
        },
      ];
    },
  },
  qwen: {
    plugin: qwen,
    path: `.qwen/projects/-w-app/chats/${ID}.jsonl`,
    head: [],
    rows(n, { input, output, text, row }) {
      const usageMetadata = { promptTokenCount: input, candidatesTokenCount: row === "absurd" ? 1e18 : output };
      const message = { role: "model", parts: [{ text }] };
      const base = {
        uuid: `u${n}`,
        parentUuid: n === 0 ? null : `u${n - 1}`,
        sessionId: ID,
        timestamp: row === "late" ? LATE : now,
      };
      return [{ ...base, cwd: "/w/app", type: "assistant", model: "m", message, usageMetadata }];
    },
  },
};

const replies = fc.array(
  fc.record<Reply>({
    input: fc.integer({ min: 1, max: 100_000 }),
    output: fc.integer({ min: 1, max: 10_000 }),
    text: fc
      .oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom('{"', '{"a":1}', "\\", '"', "é\u2028🚀", "}{"))
      .filter((text) => text.trim() !== ""),
    row: fc.constantFrom("good", "good", "good", "late", "absurd"),
    before: fc.constantFrom(
      "line end",
      "line end",
      "nothing",
      "zero bytes",
      "zero bytes on a line",
      "cut row",
      "cut row and zero bytes",
    ),
    at: fc.double({ min: 0.02, max: 0.98, noNaN: true }),
    stored: fc.constantFrom("no", "there", "gone"),
  }),
  { minLength: 1, maxLength: 12 },
);

function between({ before, at }: Reply, row: string): Buffer {
  const bytes = Buffer.from(row);
  const cut = bytes.subarray(0, Math.max(1, Math.floor(bytes.length * at)));
  const zeros = Buffer.alloc(1 + Math.floor(at * 300));
  if (before === "nothing") return Buffer.alloc(0);
  if (before === "zero bytes") return Buffer.concat([Buffer.from("\n"), zeros]);
  if (before === "zero bytes on a line") return Buffer.concat([Buffer.from("\n"), zeros, Buffer.from("\n")]);
  if (before === "cut row") return Buffer.concat([Buffer.from("\n"), cut]);
  if (before === "cut row and zero bytes") return Buffer.concat([Buffer.from("\n"), cut, zeros]);
  return Buffer.from("\n");
}

describe.each(Object.entries(LOGS))("faults in the logs of %s", (_, { plugin, path, head, rows }) => {
  useHome("faults");

  it("change no token: read whole, followed from any place, and counted without an archive", async () => {
    const { adapter } = plugin() as { adapter?: Adapter };
    if (!adapter) throw new Error("no adapter");
    await fc.assert(
      fc.asyncProperty(replies, fc.double({ min: 0, max: 1, noNaN: true }), async (all, from) => {
        const file = join(home, path);
        await rm(dirname(file), { recursive: true, force: true });
        await mkdir(join(dirname(file), ID, "tool-results"), { recursive: true });
        const parts: Buffer[] = head.map((row, n) => Buffer.from(`${n === 0 ? "" : "\n"}${JSON.stringify(row)}`));
        for (const [n, reply] of all.entries()) {
          if (reply.stored === "there")
            await writeFile(join(dirname(file), ID, "tool-results", `${n}.txt`), `${reply.text} whole`);
          // The row that was cut is one of a reply that is in the log nowhere else.
          const lost = JSON.stringify(rows(900 + n, { ...reply, stored: "no" }).at(-1));
          const written = rows(n, reply)
            .map((row) => JSON.stringify(row))
            .join("\n");
          if (parts.length > 0 || reply.before.startsWith("cut")) parts.push(between(reply, lost));
          parts.push(Buffer.from(written));
        }
        const log = Buffer.concat([...parts, Buffer.from("\n")]);
        const counted = all.filter(({ row }) => row !== "late");
        const expected = {
          input: counted.reduce((sum, { input }) => sum + input, 0),
          output: counted.reduce((sum, { output, row }) => sum + (row === "absurd" ? 0 : output), 0),
        };
        const sums = ({ usage }: Pick<SessionSummary, "usage">) => ({
          input: usage.m?.input ?? 0,
          output: usage.m?.output ?? 0,
        });
        await writeFile(file, log);
        const [ref] = await scan(adapter);
        if (!ref) throw new Error("not found");
        const whole = await drain(adapter.read(ref, env));
        expect(sums(whole.summary)).toEqual(expected);
        const late = all.length - counted.length;
        expect(whole.summary.leftOut?.late?.replies ?? 0).toBe(late);
        const quick = await adapter.usage?.(ref, env);
        if (quick) expect(sums(quick)).toEqual(expected);
        const cut = Math.floor(log.length * from);
        await writeFile(file, log.subarray(0, cut));
        const begun = await drainTail(adapter.tail(ref, undefined, env));
        await appendFile(file, log.subarray(cut));
        const added = await drainTail(adapter.tail(ref, begun.cursor, env));
        expect(sums(added.summary)).toEqual(expected);
        expect([...begun.events, ...added.events]).toEqual(whole.events);
        if (all.some(({ stored }) => stored === "there") && path.includes("claude"))
          expect(
            whole.events.filter(({ kind, text }) => kind === "tool_result" && text.endsWith(" whole")).length,
          ).toBe(all.filter(({ stored }) => stored === "there").length);
      }),
      { numRuns: rounds(100), endOnFailure: true },
    );
  });
});
