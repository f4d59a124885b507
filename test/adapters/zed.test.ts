import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import zed from "../../plugins/zed/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, tokens, writeTables } from "./_store.ts";

useHome("zed");

const CALL = { ToolUse: { id: "t1", name: "terminal", input: { command: "ls" } } };
const THREAD = {
  version: "0.3.0",
  model: { provider: "p", model: "m" },
  messages: [
    { User: { content: [{ Text: "Go" }, { Mention: { uri: { File: "a" }, content: "x" } }, { Image: {} }] } },
    {
      Agent: {
        content: [{ Thinking: { text: "Hm." } }, { Text: "Looking." }, CALL],
        tool_results: { t1: { is_error: true, content: [{ Text: "no" }] } },
      },
    },
    "Resume",
  ],
  cumulative_token_usage: { input_tokens: 50, output_tokens: 10, cache_read_input_tokens: 30 },
  request_token_usage: { x: { input_tokens: 1 } },
};
const OLD = {
  version: "0.2.0",
  messages: [
    { role: "user", segments: [{ type: "text", text: "Old" }] },
    {
      role: "assistant",
      segments: [{ type: "thinking", text: "Hm." }],
      tool_uses: [{ id: "t", name: "grep", input: {} }],
    },
    { role: "user", segments: [], tool_results: [{ tool_use_id: "t", is_error: false, content: "found" }] },
  ],
};
/** A zstandard frame of one raw block. */
function frame(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(11);
  head.writeUInt32LE(0xfd2fb528, 0);
  head[4] = 0xa0; // one segment, its size in four bytes
  head.writeUInt32LE(bytes.length, 5);
  const block = bytes.length * 8 + 1;
  return Buffer.concat([head.subarray(0, 9), Buffer.from([block & 255, (block >> 8) & 255, block >> 16]), bytes]);
}
const row = (id: string, thread: object, more: Record<string, string | Uint8Array | null> = {}) => ({
  id,
  summary: `About ${id}`,
  updated_at: "2026-07-19T08:00:02+00:00",
  data_type: "json",
  data: JSON.stringify(thread),
  parent_id: null,
  folder_paths: "/a\n/b",
  folder_paths_order: "1,0",
  created_at: "2026-07-19T08:00:00+00:00",
  ...more,
});

const fixtures = await fixtureFolder("zed", (dir) =>
  writeTables(join(dir, ".local/share/zed/threads/threads.db"), { threads: [row("new", THREAD), row("old", OLD)] }),
);

describe("adapters: zed", () =>
  testAdapter({
    plugin: (dir) => zed({ dir }),
    fixtures,
    expect: {
      sessions: 2,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m: tokens(50, 10, 30) },
    },
  }));

describe("Zed", () => {
  const db = () => join(home, ".local/share/zed/threads/threads.db");

  it("reads a compressed thread; its sum of tokens counts", async () => {
    const data = frame(JSON.stringify(THREAD));
    await writeTables(db(), { threads: [row("new", THREAD, { data_type: "zstd", data, parent_id: "p" })] });
    const [one] = await readAll(zed().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["note", '{"File":"a"}\nx'],
      ["note", "[image]"],
      ["thinking", "Hm."],
      ["assistant", "Looking."],
      ["tool_use", ""],
      ["tool_result", "no"],
    ]);
    expect(one?.events[6]).toMatchObject({ tool_name: "terminal", is_error: true });
    expect(one?.summary).toMatchObject({
      title: "About new",
      cwd: "/b",
      parent: "p",
      startedAt: "2026-07-19T08:00:00.000Z",
      usage: { m: tokens(50, 10, 30) },
    });
  });

  it("reads the older shape; without tokens no usage is made up", async () => {
    await writeTables(db(), { threads: [row("old", OLD)] });
    const [one] = await readAll(zed().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Old"],
      ["thinking", "Hm."],
      ["tool_use", ""],
      ["tool_result", "found"],
    ]);
    expect(one?.summary.usage).toEqual({});
  });

  it("counts a damaged thread, and follows one that is written again", async () => {
    const { adapter } = zed();
    await writeTables(db(), { threads: [row("a", {}, { data_type: "zstd", data: Buffer.from("damaged") })] });
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    expect(first.summary.skipped?.lines).toBe(1);
    await writeTables(db(), { threads: [row("a", THREAD)] });
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect(next.events).toHaveLength(7);
  });

  testRing({ fixture: "zed/deja-vu", plugin: (dir) => zed({ dir }) });
});
