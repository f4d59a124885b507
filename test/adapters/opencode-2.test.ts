import { rm } from "node:fs/promises";
import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import opencode from "../../plugins/opencode/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, type Rows, tokens, writeTables } from "./_store.ts";

useHome("opencode-2");

const T = 1_791_000_000_000;
const paid = { input: 100, output: 10, reasoning: 5, cache: { read: 20, write: 3 } };
const model = { id: "m", providerID: "p" };
const session = { id: "ses_a", project_id: "p", parent_id: null, directory: "/w", title: "Lamp", revert: null };
const columns = {
  tokens_input: 150,
  tokens_output: 12,
  tokens_reasoning: 5,
  tokens_cache_read: 20,
  tokens_cache_write: 3,
};
const tool = (state: object) => ({ type: "tool", id: "c1", name: "shell", state, time: { created: T + 210 } });
const RAN = {
  status: "completed",
  input: { command: "ls" },
  content: [{ type: "text", text: "a" }],
  metadata: { exit: 1 },
};

const row = (seq: number, type: string, data: object, session_id = "ses_a", at = T + seq * 100) => ({
  id: `${session_id}_${seq}`,
  session_id,
  type,
  seq,
  time_created: at,
  time_updated: at,
  data: JSON.stringify({ time: { created: at }, ...data }),
});
const ask = row(1, "user", { text: "Go", files: [{ name: "a.png" }] });
const reply = (content: object[], more: object = { time: { created: T + 200, completed: T + 290 }, tokens: paid }) => ({
  ...row(2, "assistant", { model, content, ...more }),
  time_updated: T + 200 + content.length,
});

function tables(messages: Rows, more: Rows = []): Record<string, Rows> {
  const own = { ...session, fork_session_id: null, ...columns, time_created: T, time_updated: T + 900 };
  const old = { ...session, time_created: T, time_updated: T };
  // The one that was moved says the same in both.
  const said = (id: string) => ({ type: "text", text: id === "ses_a" ? "Go" : "old" });
  return {
    session_v2: [own, ...more.map((one) => ({ ...own, ...one }))],
    session_message: messages,
    session: [old, { ...old, id: "ses_left", title: "Left" }],
    message: ["ses_a", "ses_left"].map((id) => ({
      id: `m_${id}`,
      session_id: id,
      time_created: T + 1,
      time_updated: T + 1,
      data: JSON.stringify({ role: "user", time: { created: T + 1 } }),
    })),
    part: ["ses_a", "ses_left"].map((id) => ({
      id: `p_${id}`,
      message_id: `m_${id}`,
      session_id: id,
      time_created: T + 1,
      time_updated: T + 1,
      data: JSON.stringify(said(id)),
    })),
  };
}
const DONE = [ask, reply([{ type: "reasoning", text: "Hm." }, tool(RAN), { type: "text", text: "Done." }])];

const fixtures = await fixtureFolder("opencode-2", (dir) =>
  writeTables(join(dir, ".local/share/opencode/opencode.db"), tables(DONE)),
);

describe("adapters: opencode 2", () =>
  testAdapter({
    plugin: (dir) => opencode({ dir }),
    fixtures,
    expect: {
      sessions: 2,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m: tokens(100, 15, 20, 3) },
    },
  }));

describe("OpenCode 2", () => {
  const db = () => join(home, ".local/share/opencode/opencode.db");
  const put = (messages: Rows, more?: Rows) => writeTables(db(), tables(messages, more));

  it("reads a session of both versions from the new tables, and one that only the old tables have from those", async () => {
    await put(DONE);
    const [own, left] = await readAll(opencode().adapter);
    expect(shape(own?.events ?? [])).toEqual([
      ["user", "Go"],
      ["note", "[file] a.png"],
      ["thinking", "Hm."],
      ["tool_use", ""],
      ["tool_result", "a"],
      ["assistant", "Done."],
    ]);
    expect(own?.events[4]).toMatchObject({ tool_name: "shell", is_error: true });
    expect(left?.summary.title).toBe("Left");
    expect(shape(left?.events ?? [])).toEqual([["user", "old"]]);
  });

  it("keeps apart what the session's row counts and no message holds", async () => {
    await put(DONE);
    const [own] = await readAll(opencode().adapter);
    expect(own?.summary.usage).toEqual({ m: tokens(100, 15, 20, 3) });
    expect(own?.summary.unlogged).toEqual(tokens(50, 2));
  });

  it("counts the rows that a fork copied as inherited, and a compaction's own tokens", async () => {
    const fork = {
      id: "ses_f",
      fork_session_id: "ses_a",
      time_created: T + 1000,
      tokens_input: 100,
      tokens_output: 15,
    };
    await put(
      [
        ...DONE,
        row(2, "assistant", { model, content: [], tokens: paid }, "ses_f", T + 200),
        row(3, "compaction", { model, status: "completed", summary: "Short.", tokens: paid }, "ses_f", T + 1100),
      ],
      [fork],
    );
    const one = (await readAll(opencode().adapter)).find(({ ref }) => ref.key === "ses_f");
    expect(one?.summary).toMatchObject({
      forkedFrom: "ses_a",
      usage: { m: tokens(100, 15, 20, 3) },
      inheritedUsage: { m: tokens(100, 15, 20, 3) },
    });
    expect(shape(one?.events ?? [])).toEqual([["note", "Conversation compacted\n\nShort."]]);
  });

  it("follows a reply whose row changes in place", async () => {
    const { adapter } = opencode();
    const growing = (content: object[]) => [ask, reply(content, { time: { created: T + 200 } })];
    await put(growing([tool({ status: "streaming", input: '{"comm' })]));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    expect(first.events.at(-1)).toMatchObject({ kind: "tool_use", tool_input: '{"comm' });
    await rm(db());
    await put(DONE);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect(next.events.map((event) => event.kind)).toContain("tool_result");
    expect((await drainTail(adapter.tail(ref, next.cursor, env))).events).toEqual([]);
  });

  it("leaves out what MiMo imported from other assistants", async () => {
    const path = join(home, ".local/share/mimocode/mimocode.db");
    await writeTables(path, { ...tables([]), external_import: [{ session_id: "ses_left" }] });
    const found = await scan(opencode({ variant: "mimo" }).adapter);
    expect(found.map(({ tool, key }) => [tool, key])).toEqual([["mimo", "ses_a"]]);
    expect(opencode({ variant: "mimo" }).adapter.resume?.({ key: "ses_a", path })).toEqual([
      "mimo",
      "--session",
      "ses_a",
    ]);
  });

  testRing({
    fixture: "opencode2/self-made-1",
    plugin: (dir) => opencode({ dir: `${dir}/opencode` }),
    except: { replies: "a compaction's tokens are a reply of the ledger" },
  });
  testRing({ fixture: "kilo/generated-kilo-7.7.7", plugin: (dir) => opencode({ dir, variant: "kilo" }) });
});
