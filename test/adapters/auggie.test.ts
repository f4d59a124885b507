/** Auggie: documents that are rewritten whole, with calls that are no replies and sessions that came from the server. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolCall } from "sessarc/adapter";
import auggie from "sessarc/plugins/auggie";
import { describe, expect, it } from "vitest";
import { testAdapter } from "../adapter.ts";
import { home, readAll, shape, useHome } from "./_home.ts";

useHome("auggie");

const fixtures = fileURLToPath(new URL("../fixtures/auggie", import.meta.url));
const tokens = (input: number, output: number, cacheRead: number, cacheWrite5m: number) => ({
  input,
  output,
  cacheWrite5m,
  cacheWrite1h: 0,
  cacheRead,
});

describe("adapters: auggie", () =>
  testAdapter({
    plugin: (dir) => auggie({ dir }),
    fixtures,
    expect: {
      sessions: 2,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: {
        "acme-large": tokens(100 + 50 + 30 + 70 + 11, 37, 113, 5),
        "acme-small": tokens(200, 30, 0, 0),
        unknown: tokens(5, 1, 0, 0),
      },
    },
  }));

describe("Auggie's documents", () => {
  it("show each exchange once, summaries as notes, and prompts that wait at the end", async () => {
    await cp(fixtures, join(home, ".augment"), { recursive: true });
    const [one] = await readAll(auggie().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Make the till round up"],
      ["thinking", "Look at the till first"],
      ["assistant", "I read the till."],
      ["tool_use", ""],
      ["tool_result", "export const till = 1;"],
      ["assistant", "Done."],
      ["note", "Summary: the till was read."],
      ["note", "The till was read."],
      ["user", "Now round down"],
      ["assistant", "Rounded down."],
      ["user", "And a test"],
    ]);
    expect(one?.summary).toMatchObject({
      title: "Round the till up",
      cwd: "/home/ana/shop",
      startedAt: "2026-07-20T09:00:00.000Z",
      endedAt: "2026-07-20T09:00:05.000Z",
      evidence: { requests: 6 },
    });
    expect(one?.events[4]).toMatchObject({ at: "2026-07-20T09:00:01.200Z", tool_name: "view", is_error: false });
  });

  it("have the time of the answer, not of the download, where they came from the server", async () => {
    await cp(fixtures, join(home, ".augment"), { recursive: true });
    const [, remote] = await readAll(auggie().adapter);
    expect(remote?.summary).toMatchObject({
      startedAt: "2026-07-20T09:00:01.000Z",
      endedAt: "2026-07-20T09:00:01.000Z",
    });
  });

  it("have edits as lists, and new files with their content", () => {
    const entry = { old_str: "a", new_str: "b", old_str_start_line_number: 1 };
    expect(toolCall({ command: "str_replace", path: "till.ts", str_replace_entries: [entry] })).toMatchObject({
      path: "till.ts",
      edits: [{ before: "a", after: "b" }],
    });
    expect(toolCall({ path: "new.ts", file_content: "x" })).toMatchObject({ path: "new.ts", content: "x" });
  });

  it("may hold anything", async () => {
    const write = async (name: string, value: unknown) =>
      writeFile(join(home, ".augment/sessions", name), typeof value === "string" ? value : JSON.stringify(value));
    await mkdir(join(home, ".augment/sessions"), { recursive: true });
    await mkdir(join(home, ".augment/sessions/folder.json"));
    await write("list.json", []);
    await write(
      "cut.json",
      '{"sessionId":"cut","chatHistory":[{"exchange":{"request_message":"whole"},"finishedAt":"2026-07-20T09:00:00.000Z"},{"exch',
    );
    await write("odd.json", {
      chatHistory: [
        null,
        7,
        { exchange: null, finishedAt: {} },
        {
          exchange: {
            request_id: 5,
            request_message: ["no"],
            response_text: 9,
            request_nodes: [
              null,
              { type: "x" },
              { type: 1 },
              { type: 0, text_node: 3 },
              { type: 4, ide_state_node: [] },
              { type: 99 },
            ],
            response_nodes: [
              { type: 5, tool_use: "no" },
              { type: 8, thinking: [] },
              { type: 10, token_usage: { input_tokens: -5, output_tokens: 1e30, cache_read_input_tokens: "7" } },
              { type: 9, billing_metadata: { cost_usd: "much", effective_model_name: 3 } },
              { type: 77 },
            ],
          },
        },
      ],
      summarizations: {},
      subAgents: [{ chatHistory: "no" }],
      queue: [],
    });
    const all = await readAll(auggie().adapter);
    const of = (key: string) => all.find(({ ref }) => ref.key === key);
    expect(all.map(({ ref }) => ref.key).sort()).toEqual(["cut", "list", "odd"]);
    expect(shape(of("cut")?.events ?? [])).toEqual([["user", "whole"]]);
    expect(of("cut")?.summary.skipped?.lines).toBe(1);
    expect(of("odd")?.summary).toMatchObject({
      usage: { unknown: { cacheRead: 7, output: 0 } },
      skipped: { unknown: { "request node 99": 1, "answer node 77": 1 } },
    });
  });
});
