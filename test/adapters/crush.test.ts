import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import crush from "../../plugins/crush/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, type Rows, writeDocument, writeTables } from "./_store.ts";

useHome("crush");

const T = 1_786_001_000;
const message = (n: number, role: string, parts: object[], more: Record<string, string | number> = {}) => ({
  id: `m${n}`,
  session_id: "s1",
  role,
  parts: JSON.stringify(parts),
  model: "m",
  created_at: T + n,
  updated_at: T + n,
  is_summary_message: 0,
  ...more,
});
const part = (type: string, data: object) => ({ type, data });
const MESSAGES: Rows = [
  message(1, "user", [part("text", { text: "Go" }), part("binary", { path: "a.png" })]),
  message(2, "assistant", [
    part("reasoning", { thinking: "Hm." }),
    part("text", { text: "Running." }),
    part("tool_call", { id: "t1", name: "bash", input: '{"command":"ls"}', finished: true }),
    part("finish", { reason: "tool_use" }),
  ]),
  message(3, "tool", [part("tool_result", { tool_call_id: "t1", content: "no", is_error: true })]),
  message(4, "user", [part("shell_command", { command: "pwd", output: "/w" })]),
  message(5, "assistant", [part("text", { text: "So far." })], { is_summary_message: 1 }),
];
const session = {
  id: "s1",
  parent_session_id: null,
  title: "Listing",
  prompt_tokens: 2311,
  completion_tokens: 64,
  cost: 0.5,
  created_at: T,
  updated_at: T + 9,
};
const tables = (messages = MESSAGES) => ({ sessions: [session], messages });

const fixtures = await fixtureFolder("crush", (dir) => writeTables(join(dir, "app/.crush/crush.db"), tables()));

describe("adapters: crush", () =>
  testAdapter({
    plugin: (dir) => crush({ dir }),
    fixtures,
    expect: { sessions: 1, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] },
  }));

describe("Crush", () => {
  const data = () => join(home, "elsewhere");
  const project = async () => {
    const projects = [{ path: "/w/app", data_dir: data() }, { path: "/w/gone" }];
    await writeDocument(join(home, ".local/share/crush/projects.json"), { projects });
  };

  it("reads the databases of the listed projects; tokens are not logged, the cost is", async () => {
    await project();
    await writeTables(join(data(), "crush.db"), tables());
    const [one] = await readAll(crush().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["note", "[file] a.png"],
      ["thinking", "Hm."],
      ["assistant", "Running."],
      ["tool_use", ""],
      ["tool_result", "no"],
      ["note", "! pwd\n/w"],
      ["note", "So far."],
    ]);
    expect(one?.events[5]).toMatchObject({ tool_name: "bash", is_error: true });
    expect(one?.summary).toMatchObject({ title: "Listing", cwd: "/w/app", usage: {}, costUSD: 0.5 });
    expect(one?.summary.endedAt).toBe(new Date((T + 5) * 1000).toISOString());
  });

  it("finds nothing without the list of projects, or with a damaged one", async () => {
    expect(crush().adapter.roots(env)).toEqual([]);
    await writeDocument(join(home, ".local/share/crush/projects.json"), "no JSON");
    expect(crush().adapter.roots(env)).toEqual([]);
  });

  it("follows a session", async () => {
    const { adapter } = crush();
    await project();
    await writeTables(join(data(), "crush.db"), tables(MESSAGES.slice(0, 2)));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await writeTables(join(data(), "crush.db"), tables());
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.map((event) => event.kind)]).toEqual([false, ["tool_result", "note", "note"]]);
  });

  testRing({
    fixture: "crush/self-made-1",
    plugin: (dir) => crush({ dir }),
    except: { cwd: "the expectation names it in words" },
  });
});
