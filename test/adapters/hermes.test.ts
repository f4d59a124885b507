import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import hermes from "../../plugins/hermes/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, type Rows, tokens, writeTables } from "./_store.ts";

useHome("hermes");

const T = 1_785_015_600.25;
const calls = JSON.stringify([{ id: "t1", function: { name: "terminal", arguments: '{"command":"ls"}' } }]);
const message = (id: number, role: string, content: string | null, more: Record<string, string | null> = {}) => ({
  id,
  session_id: "s1",
  role,
  content,
  tool_call_id: null,
  tool_calls: null,
  reasoning: null,
  timestamp: T + id,
  ...more,
});
const MESSAGES: Rows = [
  message(1, "user", "Go"),
  message(2, "assistant", "Running.", { tool_calls: calls, reasoning: "Hm." }),
  message(3, "tool", "a", { tool_call_id: "t1" }),
  message(4, "user", '[SYSTEM: The user has invoked the "x" skill]'),
];
const session = {
  id: "s1",
  model: "m",
  title: "Listing",
  started_at: T,
  parent_session_id: null,
  input_tokens: 50,
  output_tokens: 10,
  cache_read_tokens: 30,
  cache_write_tokens: 20,
  reasoning_tokens: 5,
};

const fixtures = await fixtureFolder("hermes", async (dir) => {
  await writeTables(join(dir, ".hermes/state.db"), { sessions: [session], messages: MESSAGES });
  const other = MESSAGES.map((row) => ({ ...row, session_id: "s2" }));
  await writeTables(join(dir, ".hermes/profiles/p/state.db"), { messages: [...MESSAGES, ...other] });
});

describe("adapters: hermes", () =>
  testAdapter({
    plugin: (dir) => hermes({ dir }),
    fixtures,
    expect: {
      sessions: 2,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m: tokens(50, 10, 30, 20) },
    },
  }));

describe("Hermes", () => {
  const db = () => join(home, ".hermes/state.db");

  it("reads a session with its sums of tokens, in a project of its own", async () => {
    await writeTables(db(), { sessions: [session], messages: MESSAGES });
    const [one] = await readAll(hermes().adapter);
    expect(shape(one?.events ?? []).map(([kind, text]) => [kind, text])).toEqual([
      ["user", "Go"],
      ["thinking", "Hm."],
      ["assistant", "Running."],
      ["tool_use", ""],
      ["tool_result", "a"],
      ["note", '[SYSTEM: The user has invoked the "x" skill]'],
    ]);
    expect(one?.summary).toMatchObject({
      title: "Listing",
      virtualProject: { name: "Hermes" },
      usage: { m: tokens(50, 10, 30, 20) },
    });
  });

  it("follows a session", async () => {
    const { adapter } = hermes();
    await writeTables(db(), { messages: MESSAGES.slice(0, 2) });
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await writeTables(db(), { messages: MESSAGES });
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.map((event) => event.kind)]).toEqual([false, ["tool_result", "note"]]);
    expect(next.summary.usage).toEqual({});
  });

  testRing({ fixture: "hermes/deja-vu", plugin: (dir) => hermes({ dir }) });
});
