import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import openhands from "../../plugins/openhands/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, tokens, writeDocument } from "./_store.ts";

useHome("openhands");

const ID = "5f1c0001-0000-4000-8000-000000000001";
const call = (n: number, id: string) => ({
  kind: "ActionEvent",
  thought: n === 1 ? [{ type: "text", text: "Looking." }] : [],
  reasoning_content: n === 1 ? "Hm." : "",
  tool_name: "terminal",
  tool_call_id: id,
  tool_call: { arguments: '{"command":"ls"}' },
  llm_response_id: `r${n}`,
});
const EVENTS: object[] = [
  { kind: "MessageEvent", source: "user", llm_message: { role: "user", content: [{ type: "text", text: "Go" }] } },
  call(1, "t1"),
  {
    kind: "ObservationEvent",
    tool_call_id: "t1",
    observation: { content: [{ type: "text", text: "no" }], exit_code: 2 },
  },
  call(2, "t2"),
  { kind: "UserRejectObservation", tool_call_id: "t2", rejection_reason: "Not so" },
  { kind: "Condensation", summary: "Short." },
  {
    kind: "MessageEvent",
    source: "agent",
    llm_message: { role: "assistant", content: [{ type: "text", text: "Done." }] },
    llm_response_id: "r3",
  },
];
const usage = (response_id: string, prompt_tokens: number, cache_read_tokens: number) => ({
  model: "m",
  response_id,
  prompt_tokens,
  completion_tokens: 10,
  cache_read_tokens,
  cache_write_tokens: 20,
});
const METRICS = {
  agent: { token_usages: [usage("r1", 100, 30)] },
  acp: { token_usages: [usage("r9", 5, 30)] },
  other: { model_name: "n", accumulated_token_usage: { prompt_tokens: 7 } },
};

async function write(folder: string, events: readonly object[]) {
  const own = join(folder, ID.replaceAll("-", ""));
  await writeDocument(join(own, "base_state.json"), {
    workspace: { working_dir: "/w" },
    stats: { usage_to_metrics: METRICS },
  });
  for (const [n, event] of events.entries())
    await writeDocument(join(own, "events", `event-0000${n}-x.json`), {
      id: `e${n}`,
      timestamp: `2026-08-01T10:00:0${n}.250000Z`,
      ...event,
    });
}
const fixtures = await fixtureFolder("openhands", (dir) => write(join(dir, ".openhands/conversations"), EVENTS));

describe("adapters: openhands", () =>
  testAdapter({
    plugin: (dir) => openhands({ dir }),
    fixtures,
    expect: {
      sessions: 1,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m: tokens(55, 20, 60, 40), n: tokens(7, 0) },
    },
  }));

describe("OpenHands", () => {
  const folder = () => join(home, ".openhands/conversations");

  it("reads a conversation's events in order; the prompt includes the cache, or is less than it", async () => {
    await write(folder(), EVENTS);
    const [one] = await readAll(openhands().adapter);
    expect(one?.ref.key).toBe(ID);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["thinking", "Hm."],
      ["assistant", "Looking."],
      ["tool_use", ""],
      ["tool_result", "no"],
      ["tool_use", ""],
      ["tool_result", "Not so"],
      ["note", "Short."],
      ["assistant", "Done."],
    ]);
    expect(one?.events.filter((event) => event.is_error)).toHaveLength(2);
    expect(one?.summary).toMatchObject({ cwd: "/w", usage: { m: tokens(55, 20, 60, 40), n: tokens(7, 0) } });
    expect(one?.summary.replies?.[0]).toMatchObject({ key: "r1", at: "2026-08-01T10:00:01.250000Z" });
  });

  it("follows a conversation whose events are new files", async () => {
    const { adapter } = openhands();
    await write(folder(), EVENTS.slice(0, 3));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await write(folder(), EVENTS);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.length]).toEqual([false, 4]);
  });

  testRing({ fixture: "openhands/self-made-1", plugin: (dir) => openhands({ dir }) });
});
