import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import warp from "../../playground/sessarc-adapter-warp/src/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { fixtureFolder, type Rows, tokens, writeTables } from "./_store.ts";

useHome("warp");

const query = (n: number, conversation: string, ...inputs: object[]) => ({
  exchange_id: `x${n}`,
  conversation_id: conversation,
  start_ts: `2026-08-20 10:00:0${n}.500000`,
  input: JSON.stringify(inputs),
  working_directory: "/w/app",
  model_id: "",
});
const prompt = (text: string) => ({ Query: { text, context: [] } });
const QUERIES: Rows = [
  query(1, "c1", prompt("List the files")),
  query(2, "c1", { ActionResult: { id: "a1" } }),
  query(3, "c2", prompt("Count them")),
  query(4, "passive", { AutoCodeDiffQuery: {} }),
];
const usage = {
  token_usage: [
    { model_id: "m", warp_tokens: 20, byok_tokens: 5 },
    { model_id: "n", warp_tokens: 7 },
  ],
};
const conversation = (id: string, data: object) => ({
  conversation_id: id,
  conversation_data: JSON.stringify(data),
  last_modified_at: "2026-08-20 10:05:00",
});
const tables = (queries = QUERIES) => ({
  ai_queries: queries,
  agent_conversations: [
    conversation("c1", { conversation_usage_metadata: usage }),
    conversation("c2", { parent_conversation_id: "c1" }),
  ],
});

const fixtures = await fixtureFolder("warp", (dir) => writeTables(join(dir, "warp.sqlite"), tables()));

describe("adapters: warp", () =>
  testAdapter({ plugin: (dir) => warp({ dir }), fixtures, expect: { sessions: 2, kinds: ["user"] } }));

describe("Warp", () => {
  const path = () => join(home, ".local/state/warp-terminal/warp.sqlite");

  it("reads prompts; a sum of tokens without parts is in no total", async () => {
    await writeTables(path(), tables());
    const [one, two] = await readAll(warp().adapter);
    expect(shape(one?.events ?? [])).toEqual([["user", "List the files"]]);
    expect(one?.summary).toMatchObject({
      cwd: "/w/app",
      usage: {},
      startedAt: "2026-08-20T10:00:01.500000Z",
      unlogged: tokens(32, 0),
      skipped: { lines: 0, unknown: { ActionResult: 1 } },
    });
    expect(two?.summary.parent).toBe("c1");
    expect(two?.summary.unlogged).toBeUndefined();
  });

  it("finds nothing in a database without its tables, and counts an input that is not JSON", async () => {
    await writeTables(path(), { blocks: [{ id: 1 }] });
    expect(await scan(warp().adapter)).toEqual([]);
    await writeTables(path(), tables([{ ...query(1, "c1"), input: '[{"Query": cut' }, query(2, "c1", prompt("Go"))]));
    const [one] = await readAll(warp().adapter);
    expect(one?.events).toHaveLength(1);
    expect(one?.summary.skipped?.lines).toBe(1);
  });

  it("reads the places of other systems", () => {
    expect(warp().adapter.roots({ home: "/h", platform: "darwin", env: {} })[0]).toMatch(/dev\.warp\.Warp-Stable/);
    expect(warp().adapter.roots({ ...env, env: { XDG_STATE_HOME: "/s" } })).toEqual(["/s/warp-terminal/warp.sqlite"]);
  });

  it("follows a conversation", async () => {
    const { adapter } = warp();
    await writeTables(path(), tables());
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await writeTables(path(), tables([...QUERIES, query(5, "c1", prompt("More"))]));
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.map((event) => event.text)]).toEqual([false, ["More"]]);
  });
});
