import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import continueDev from "../../plugins/continue/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, tokens, writeDocument } from "./_store.ts";

useHome("continue");

const usage = { model: "m", prompt_tokens: 80, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 30 } };
const call = (id: string) => ({ id, function: { name: "Bash", arguments: '{"command":"ls"}' } });
const HISTORY: object[] = [
  { message: { role: "system", content: "Be brief." } },
  { message: { role: "user", content: [{ type: "text", text: "Go" }, { type: "imageUrl" }] } },
  {
    message: { role: "assistant", content: "Running.", toolCalls: [call("t1"), call("t2")], usage },
    reasoning: { text: "Hm." },
    toolCallStates: [
      { toolCallId: "t1", status: "errored", output: [{ content: "no" }] },
      { toolCallId: "t2", status: "calling" },
    ],
  },
  { message: { role: "tool", content: "no" } },
];
async function write(folder: string, id: string, history: object[], dateCreated = "1795309541665") {
  await writeDocument(join(folder, `${id}.json`), { sessionId: id, title: "Listing", history });
  await writeDocument(join(folder, "sessions.json"), [
    { sessionId: id, dateCreated, workspaceDirectory: "file:///w/my%20app" },
  ]);
}
const fixtures = await fixtureFolder("continue", (dir) => write(join(dir, ".continue/sessions"), "s1", HISTORY));

describe("adapters: continue", () =>
  testAdapter({
    plugin: (dir) => continueDev({ dir }),
    fixtures,
    expect: {
      sessions: 1,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m: tokens(50, 10, 30) },
    },
  }));

describe("Continue", () => {
  const folder = () => join(home, ".continue/sessions");

  it("reads a session: results from the states of calls, its date and folder from the list", async () => {
    await write(folder(), "s1", HISTORY);
    const [one] = await readAll(continueDev().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["note", "Be brief."],
      ["user", "Go\n[image]"],
      ["thinking", "Hm."],
      ["assistant", "Running."],
      ["tool_use", ""],
      ["tool_result", "no"],
      ["tool_use", ""],
    ]);
    expect(one?.events[5]).toMatchObject({ tool_name: "Bash", tool_use_id: "t1", is_error: true });
    expect(one?.summary).toMatchObject({
      title: "Listing",
      cwd: "/w/my app",
      startedAt: "2026-11-22T01:05:41.665Z",
      usage: { m: tokens(50, 10, 30) },
    });
  });

  it("follows a session that is written whole again", async () => {
    const { adapter } = continueDev();
    await write(folder(), "s1", HISTORY.slice(0, 2));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await write(folder(), "s1", HISTORY);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events[0]?.text, next.events.length]).toEqual([false, "Hm.", 5]);
  });

  it("knows the replies of a fork again, which has no ids, from the first call on", async () => {
    const later = { message: { role: "assistant", content: "Two files.", usage } };
    const other = { message: { role: "assistant", content: "Another way.", usage } };
    const early = { message: { role: "assistant", content: "Yes?", usage } };
    await write(folder(), "s1", [early, ...HISTORY, later, later]);
    await write(folder(), "s2", [early, ...HISTORY, later, other]);
    const [one, two] = await readAll(continueDev().adapter);
    const keys = (replies: readonly { key?: string | undefined }[] = []) => replies.map(({ key }) => key);
    const [mine, theirs] = [keys(one?.summary.replies), keys(two?.summary.replies)];
    expect(new Set(mine).size).toBe(4);
    expect(mine.map((key, index) => key === theirs[index])).toEqual([false, true, true, false]);
  });

  testRing({ fixture: "continue/generated-continue-cli-1.5.47", plugin: (dir) => continueDev({ dir }) });
});
