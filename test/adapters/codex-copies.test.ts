/** Codex: which turns of a fork or a sub-agent are copies of its parent's, whatever their ids look like and however quick the replies are. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter } from "sessarc/adapter";
import codex from "sessarc/plugins/codex";
import { describe, expect, it } from "vitest";
import { drain, drainTail, env, home, readAll, useHome } from "./_home.ts";

const PARENT = "01a1f82f-1e80-7000-8000-000000000001";
const CHILD = "01a1f866-0d00-7000-8000-000000000002";
const SIBLING = "01a1f866-0d00-7000-8000-000000000003";
const EARLY = "2026-11-20T09:00:00.000Z";
const LATE = "2026-11-20T10:00:00.000Z";

const adapter = (): Adapter => {
  const { adapter: made } = codex() as { adapter?: Adapter };
  if (!made) throw new Error("no adapter");
  return made;
};
const later = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString();
const row = (timestamp: string, type: string, payload: object) => ({ timestamp, type, payload });
const count = (timestamp: string, total: number, last: number) => {
  const usage = (n: number) => ({ input_tokens: n * 10, cached_input_tokens: n * 4, output_tokens: n });
  const info = { total_token_usage: usage(total), last_token_usage: usage(last) };
  return row(timestamp, "event_msg", { type: "token_count", info });
};
const said = (timestamp: string, role: string, text: string) =>
  row(timestamp, "response_item", {
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  });

interface Turn {
  id?: string | undefined;
  at: string;
  text: string;
  total: number;
  started?: boolean;
  model?: string;
}
/** A turn; `written`: all of its rows have this time, as those of a copy have. */
function turn({ id, at, text, total, started, model = "gpt-5.4" }: Turn, written?: string) {
  const time = (ms: number) => written ?? later(at, ms);
  return [
    ...(started
      ? [
          row(time(0), "event_msg", {
            type: "task_started",
            turn_id: id,
            started_at: Math.floor(Date.parse(at) / 1000),
          }),
        ]
      : []),
    row(time(0), "turn_context", { ...(id && { turn_id: id }), cwd: "/w/app", model }),
    said(time(10), "user", `question ${text}`),
    said(time(400), "assistant", `answer ${text}`),
    count(time(410), total, 10),
  ];
}
const meta = (id: string, at: string, more: object = {}) =>
  row(at, "session_meta", { id, timestamp: at, cwd: "/w/app", source: "cli", ...more });
const spawned = { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } };
const toPath = (id: string, at: string) =>
  join(home, ".codex/sessions/2026/11/20", `rollout-${at.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`);
async function write(id: string, at: string, rows: readonly object[]): Promise<string> {
  const path = toPath(id, at);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

const IDS = {
  "version 7": [
    "01a1f82f-2268-7000-8000-000000000101",
    "01a1f82f-2650-7000-8000-000000000102",
    "01a1f866-0d3c-7000-8000-000000000009",
  ],
  "version 4": [
    "bba37251-227f-4546-9246-000000000001",
    "bba37251-227f-4546-9246-000000000002",
    "bba37251-227f-4546-9246-000000000003",
  ],
  "version 7, the own one of another form": [
    "01a1f82f-2268-7000-8000-000000000101",
    "01a1f82f-2650-7000-8000-000000000102",
    "child-owned-turn",
  ],
  "version 4, the own one of version 7": [
    "bba37251-227f-4546-9246-000000000001",
    "bba37251-227f-4546-9246-000000000002",
    "01a1f866-0d3c-7000-8000-000000000009",
  ],
  "version 7, the own one older than its thread": [
    "01a1f82f-2268-7000-8000-000000000101",
    "01a1f82f-2650-7000-8000-000000000102",
    "01a1f82f-2900-7000-8000-000000000103",
  ],
  none: [undefined, undefined, undefined],
} as const;

const HEADS = {
  "a fork": [{ forked_from_id: PARENT }, true],
  "a sub-agent with its parent's head": [{ source: spawned, forked_from_id: PARENT }, true],
  "a sub-agent that does not name its origin": [{ source: spawned }, false],
  "a sub-agent that names no parent at all": [{ source: { subagent: "review" } }, false],
} as const;

const own = { "gpt-5.5": { input: 60, output: 10, cacheRead: 40, cacheWrite5m: 0, cacheWrite1h: 0 } };
const copied = { "gpt-5.4": { input: 120, output: 20, cacheRead: 80, cacheWrite5m: 0, cacheWrite1h: 0 } };

describe("copies in rollouts of Codex", () => {
  useHome("codex-copies");

  async function family(ids: readonly (string | undefined)[], head: object, named: boolean, started = false) {
    const turns = [
      { id: ids[0], at: later(EARLY, 1_000), text: "one", total: 10, started },
      { id: ids[1], at: later(EARLY, 8_000), text: "two", total: 20, started },
    ];
    await write(PARENT, EARLY, [
      meta(PARENT, EARLY),
      ...turns.flatMap((one) => turn(one)),
      ...turn({ id: "later", at: later(LATE, 60_000), text: "three", total: 30, started }),
    ]);
    const mine = { id: ids[2], at: later(LATE, 50), text: "of the child", total: 30, started, model: "gpt-5.5" };
    const rows = [
      meta(CHILD, LATE, head),
      ...(named ? [row(LATE, "session_meta", { id: PARENT, timestamp: EARLY, cwd: "/w/app" })] : []),
      ...turns.flatMap((one) => turn(one, LATE)),
      ...turn(mine),
    ];
    return { rows, path: await write(CHILD, LATE, rows) };
  }
  const child = async () => {
    const found = (await readAll(adapter())).find(({ ref }) => ref.key === CHILD);
    if (!found) throw new Error("no child");
    return {
      usage: found.summary.usage,
      inherited: found.summary.inheritedUsage,
      said: found.events.map((event) => event.text),
    };
  };
  const expected = { usage: own, inherited: copied, said: ["question of the child", "answer of the child"] };

  describe.each(Object.keys(HEADS) as (keyof typeof HEADS)[])("%s", (kind) => {
    const [head, named] = HEADS[kind];
    it.each(Object.keys(IDS) as (keyof typeof IDS)[])(
      "takes the parent's turns for copies, ids of %s",
      async (form) => {
        await family(IDS[form], head, named);
        expect(await child()).toEqual(expected);
      },
    );

    it("finds the parent among the archived rollouts, and reads the same when it follows the log", async () => {
      const { rows, path } = await family(IDS["version 4"], head, named);
      await mkdir(join(home, ".codex/archived_sessions"), { recursive: true });
      const parent = toPath(PARENT, EARLY);
      const text = await readFile(parent);
      await rm(parent);
      await writeFile(parent.replace("sessions/2026/11/20", "archived_sessions"), text);
      expect(await child()).toEqual(expected);
      const ref = { tool: "codex", key: CHILD, path };
      for (let cut = 1; cut < rows.length; cut++) {
        const write = (some: readonly object[]) =>
          writeFile(path, some.map((one) => `${JSON.stringify(one)}\n`).join(""));
        await write(rows.slice(0, cut));
        const begun = await drainTail(adapter().tail(ref, undefined, env));
        await write(rows);
        const added = await drainTail(adapter().tail(ref, begun.cursor, env));
        const all = [...begun.events, ...added.events].map((event) => event.text);
        // What a sub-agent repeats unmarked shows once a turn or a count is there.
        if (!named && cut < 5) continue;
        expect({ cut, all, usage: added.summary.usage }).toEqual({ cut, all: expected.said, usage: own });
      }
    });
  });

  it("goes by when turns began where the parent is gone", async () => {
    await family(IDS["version 4"], HEADS["a fork"][0], true, true);
    await rm(toPath(PARENT, EARLY));
    expect(await child()).toEqual(expected);
  });

  it("goes by another copy of the parent where that is gone", async () => {
    const { rows } = await family(IDS["version 7, the own one of another form"], HEADS["a fork"][0], true);
    await rm(toPath(PARENT, EARLY));
    const sibling = rows.slice(1, -5);
    await write(SIBLING, LATE, [
      meta(SIBLING, LATE, HEADS["a fork"][0]),
      ...sibling,
      ...turn({ id: "sibling-turn", at: later(LATE, 90), text: "of the sibling", total: 30 }),
    ]);
    expect(await child()).toEqual(expected);
  });

  it("leaves a sub-agent alone that repeats nothing, and a fork of a fork has what both copied", async () => {
    await family(IDS["version 4"], HEADS["a fork"][0], true);
    const third = "01a1f866-0d00-7000-8000-000000000004";
    await write(third, LATE, [
      meta(third, LATE, { source: spawned }),
      ...turn({ id: "third", at: later(LATE, 20), text: "alone", total: 10, model: "gpt-5.5" }),
    ]);
    const all = await readAll(adapter());
    const alone = all.find(({ ref }) => ref.key === third);
    expect(alone?.events.map((event) => event.text)).toEqual(["question alone", "answer alone"]);
    expect([alone?.summary.usage, alone?.summary.inheritedUsage]).toEqual([own, undefined]);
    const fourth = "01a1f866-0d00-7000-8000-000000000005";
    const childRows = all.find(({ ref }) => ref.key === CHILD);
    expect(childRows?.summary.forkedFrom).toBe(PARENT);
    await write(fourth, later(LATE, 600_000), [
      meta(fourth, later(LATE, 600_000), { forked_from_id: CHILD }),
      ...turn({ id: IDS["version 4"][0], at: EARLY, text: "one", total: 10 }, later(LATE, 600_000)),
      ...turn({ id: IDS["version 4"][2], at: LATE, text: "of the child", total: 30 }, later(LATE, 600_000)),
      ...turn({ id: "fourth", at: later(LATE, 600_010), text: "fourth", total: 40, model: "gpt-5.5" }),
    ]);
    const last = (await readAll(adapter())).find(({ ref }) => ref.key === fourth);
    expect(last?.events.map((event) => event.text)).toEqual(["question fourth", "answer fourth"]);
    expect(last?.summary.usage).toEqual(own);
  });

  it("gives stateless figures that are those of the full read", async () => {
    for (const [head, named] of Object.values(HEADS)) {
      const { path } = await family(IDS["version 4"], head, named);
      const ref = { tool: "codex", key: CHILD, path };
      const quick = await adapter().usage?.(ref, env);
      const { summary } = await drain(adapter().read(ref, env));
      expect(quick?.usage ?? summary.usage).toEqual(own);
    }
  });
});

describe("calls of tool servers and the tier in rollouts of Codex", () => {
  useHome("codex-events");
  const invocation = { server: "tracker", tool: "get_issue", arguments: { key: "AB-12" } };
  const begin = row(EARLY, "event_msg", { type: "mcp_tool_call_begin", call_id: "c1", invocation });
  const end = (result: object) =>
    row(EARLY, "event_msg", { type: "mcp_tool_call_end", call_id: "c1", invocation, result });
  const ok = end({ Ok: { content: [{ type: "text", text: "the ticket" }], isError: false } });
  const item = row(EARLY, "response_item", {
    type: "function_call",
    call_id: "c1",
    name: "tracker__get_issue",
    arguments: '{"key":"AB-12"}',
  });
  const output = row(EARLY, "response_item", { type: "function_call_output", call_id: "c1", output: "the ticket" });
  const read = async (...rows: object[]) => {
    await write(PARENT, EARLY, [meta(PARENT, EARLY), ...rows]);
    const [one] = await readAll(adapter());
    return (one?.events ?? []).map(({ kind, tool_name, tool_use_id, text, is_error }) => [
      kind,
      tool_name,
      tool_use_id,
      text,
      is_error,
    ]);
  };
  const call = ["tool_use", "tracker__get_issue", "c1", "", undefined];
  const result = (text: string, failed: boolean) => ["tool_result", "tracker__get_issue", "c1", text, failed];

  it("are a call and its result where events alone have them", async () => {
    expect(await read(begin, ok)).toEqual([call, result("the ticket", false)]);
    expect(await read(ok)).toEqual([call, result("the ticket", false)]);
    expect(await read(begin)).toEqual([call]);
    expect(await read(begin, end({ Err: "no connection" }))).toEqual([call, result("no connection", true)]);
    expect(await read(begin, end({ Ok: { content: [{ type: "text", text: "no" }], isError: true } }))).toEqual([
      call,
      result("no", true),
    ]);
  });

  it("are given once where items have them, too, in any order", async () => {
    for (const rows of [
      [item, begin, ok, output],
      [begin, item, ok, output],
      [item, output, begin, ok],
      [begin, ok, item, output],
    ]) {
      const kinds = (await read(...rows)).map(([kind, , , text]) => [kind, text]);
      expect(kinds).toEqual([
        ["tool_use", ""],
        ["tool_result", "the ticket"],
      ]);
    }
  });

  it("has the tier that the thread's settings name, until they change", async () => {
    const settings = (service_tier: unknown, thread_id: string = PARENT) =>
      row(EARLY, "event_msg", {
        type: "thread_settings_applied",
        thread_id,
        thread_settings: { model: "m", service_tier },
      });
    const one = (n: number, tier?: string) => [
      row(EARLY, "turn_context", { turn_id: `t${n}`, model: "m", ...(tier && { service_tier: tier }) }),
      count(EARLY, n * 10, 10),
    ];
    await write(PARENT, EARLY, [
      meta(PARENT, EARLY),
      settings("priority"),
      ...one(1),
      ...one(2),
      settings("flex", SIBLING),
      ...one(3),
      settings("default"),
      ...one(4),
      ...one(5, "priority"),
      ...one(6),
      settings("priority"),
      settings(null),
      ...one(7),
    ]);
    const [read] = await readAll(adapter());
    expect(read?.summary.replies?.map((reply) => reply.priceClass)).toEqual([
      "priority",
      "priority",
      "priority",
      undefined,
      "priority",
      undefined,
      undefined,
    ]);
    const [ref] = [{ tool: "codex", key: PARENT, path: toPath(PARENT, EARLY) }];
    expect((await adapter().usage?.(ref, env))?.replies).toEqual(read?.summary.replies);
  });
});
