import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import kiro from "../../plugins/kiro/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, writeDocument, writeTables } from "./_store.ts";

useHome("kiro");

const T = 1_779_000_000_000;
const at = (n: number) => new Date(T + n * 1000).toISOString();
const turn = (content: object, assistant: object, n = 0) => ({
  user: { content, timestamp: at(n) },
  assistant,
  request_metadata: { model_id: "m", stream_end_timestamp_ms: T + n * 1000 + 500 },
});
const HISTORY = [
  turn(
    { Prompt: { prompt: "Go" } },
    {
      ToolUse: {
        message_id: "a1",
        content: "Looking.",
        tool_uses: [{ id: "t1", name: "fs_read", args: { path: "a" } }],
      },
    },
  ),
  turn(
    {
      ToolUseResults: {
        tool_use_results: [{ tool_use_id: "t1", content: [{ Text: "no" }, { Json: { a: 1 } }], status: "Error" }],
      },
    },
    { Response: { content: "Done." } },
    2,
  ),
];
const value = (history: object[], id = "c1") => JSON.stringify({ conversation_id: id, history });
const row = (history: object[], updated = T + 9000) => ({
  key: "/w/app",
  conversation_id: "c1",
  value: value(history),
  created_at: T,
  updated_at: updated,
});

const line = (kind: string, content: object[], n: number) =>
  `${JSON.stringify({ kind, data: { message_id: `m${n}`, content, meta: { timestamp: T / 1000 + n } } })}\n`;
const LOG = [
  line(
    "Prompt",
    [
      { kind: "text", data: "Go" },
      { kind: "image", data: {} },
    ],
    1,
  ),
  line(
    "AssistantMessage",
    [
      { kind: "text", data: "Looking." },
      { kind: "toolUse", data: { toolUseId: "t1", name: "execute_bash", input: { command: "ls" } } },
    ],
    2,
  ),
  line(
    "ToolResults",
    [{ kind: "toolResult", data: { toolUseId: "t1", content: [{ kind: "text", data: "a" }], status: "success" } }],
    3,
  ),
];

const fixtures = await fixtureFolder("kiro", async (dir) => {
  await writeTables(join(dir, ".local/share/kiro-cli/data.sqlite3"), { conversations_v2: [row(HISTORY)] });
  await writeDocument(join(dir, ".kiro/sessions/cli/s1.jsonl"), LOG.join(""));
  await writeDocument(join(dir, ".kiro/sessions/cli/s1.json"), {
    session_id: "s1",
    cwd: "/w",
    title: "Listing",
    created_at: at(0),
  });
});

describe("adapters: kiro", () =>
  testAdapter({
    plugin: (dir) => kiro({ dir }),
    fixtures,
    expect: { sessions: 2, kinds: ["user", "assistant", "tool_use", "tool_result", "note"] },
  }));

describe("Kiro and Amazon Q", () => {
  it("reads a conversation of the database; its log holds no tokens", async () => {
    await writeTables(join(home, ".local/share/kiro-cli/data.sqlite3"), { conversations_v2: [row(HISTORY)] });
    const [one] = await readAll(kiro().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["assistant", "Looking."],
      ["tool_use", ""],
      ["tool_result", 'no\n{"a":1}'],
      ["assistant", "Done."],
    ]);
    expect(one?.events[3]).toMatchObject({ tool_name: "fs_read", is_error: true });
    expect(one?.summary).toMatchObject({ cwd: "/w/app", usage: {}, startedAt: at(0), endedAt: at(9) });
  });

  it("takes the newest of several rows with one id, from the older table too", async () => {
    const path = join(home, "Library/Application Support/amazon-q/data.sqlite3");
    await writeTables(path, {
      conversations_v2: [row(HISTORY, T + 5000), row(HISTORY.slice(0, 1), T + 6000)],
      conversations: [
        { key: "/w/old", value: value(HISTORY) },
        { key: "/w/other", value: value([], "c0") },
        { key: "/w/bad", value: "no JSON" },
      ],
    });
    const all = await readAll(kiro({ variant: "amazon-q" }).adapter, { home, platform: "darwin", env: {} });
    expect(all.map(({ ref, events }) => [ref.tool, ref.key, ref.cwd, events.length])).toEqual([
      ["amazon-q", "c1", "/w/app", 3],
      ["amazon-q", "c0", "/w/other", 0],
    ]);
  });

  it("reads and follows a log, with the title beside it", async () => {
    const { adapter } = kiro();
    const path = join(home, ".kiro/sessions/cli/s1.jsonl");
    await writeDocument(path, LOG.slice(0, 2).join(""));
    await writeDocument(join(home, ".kiro/sessions/cli/s1.json"), { cwd: "/w", title: "Listing" });
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    expect(shape(first.events)).toEqual([
      ["user", "Go"],
      ["note", "[image]"],
      ["assistant", "Looking."],
      ["tool_use", ""],
    ]);
    await writeDocument(path, LOG.join(""));
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect(next.restarted).toBe(false);
    expect(next.events).toMatchObject([{ kind: "tool_result", tool_name: "execute_bash", text: "a", is_error: false }]);
    expect(next.summary).toMatchObject({ title: "Listing", cwd: "/w" });
  });

  testRing({
    fixture: "kiro/agentsview-standard",
    plugin: (dir) => kiro({ dir }),
    except: { replies: "without tokens no reply is counted" },
  });
});
