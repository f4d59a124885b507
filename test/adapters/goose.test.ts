import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import goose from "../../plugins/goose/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, type Rows, tokens, writeDocument, writeTables } from "./_store.ts";

useHome("goose");

const T = 1_785_924_000;
const session = {
  id: "20260805_1",
  name: "Tests",
  working_dir: "/w",
  created_at: "2026-08-05 10:00:00",
  updated_at: "2026-08-05 10:00:09",
  input_tokens: 999,
  accumulated_input_tokens: 150,
  accumulated_output_tokens: 10,
  model_config_json: '{"model_name":"m"}',
};
const call = {
  type: "toolRequest",
  id: "t1",
  toolCall: { status: "success", value: { name: "developer__shell", arguments: { command: "ls" } } },
};
const ended = (toolResult: object) => ({ type: "toolResponse", id: "t1", toolResult });
const OK = ended({ status: "success", value: { content: [{ type: "text", text: "a" }], isError: false } });
const CONTENTS: [role: string, content: object[], visible?: boolean][] = [
  ["user", [{ type: "text", text: "Go" }]],
  ["assistant", [{ type: "thinking", thinking: "Hm." }, { type: "text", text: "Running." }, call]],
  ["user", [OK]],
  ["user", [{ type: "text", text: "for the model" }], false],
];
const messages = (contents = CONTENTS): Rows =>
  contents.map(([role, content, visible = true], n) => ({
    id: n + 1,
    message_id: `m${n}`,
    session_id: session.id,
    role,
    content_json: JSON.stringify(content),
    created_timestamp: n % 2 ? (T + n) * 1000 : T + n,
    metadata_json: JSON.stringify({ userVisible: visible }),
  }));
const LEDGER = [
  {
    id: 1,
    session_id: session.id,
    created_timestamp: T + 1,
    model: "m2",
    input_tokens: 150,
    output_tokens: 10,
    cache_read_tokens: 80,
    cache_write_tokens: 20,
  },
];
const HEADER = { working_dir: "/old", description: "Old", created_at: "2025-07-24T10:00:00Z" };
const log = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const OLD = [HEADER, ...CONTENTS.map(([role, content], n) => ({ id: `m${n}`, role, created: T + n, content }))];

const fixtures = await fixtureFolder("goose", async (dir) => {
  const folder = join(dir, ".local/share/goose/sessions");
  await writeTables(join(folder, "sessions.db"), { sessions: [session], messages: messages(), usage_ledger: LEDGER });
  await writeDocument(join(folder, "20250724_1.jsonl"), log(OLD));
  await writeDocument(join(folder, "20260805_1.jsonl"), log(OLD));
});

describe("adapters: goose", () =>
  testAdapter({
    plugin: (dir) => goose({ dir }),
    fixtures,
    expect: {
      sessions: 2,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { m2: tokens(50, 10, 80, 20) },
    },
  }));

describe("Goose", () => {
  const db = () => join(home, ".local/share/goose/sessions/sessions.db");

  it("reads a session; the cache is inside the input; what the person does not see is a note", async () => {
    await writeTables(db(), { sessions: [session], messages: messages(), usage_ledger: LEDGER });
    const [one] = await readAll(goose().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["thinking", "Hm."],
      ["assistant", "Running."],
      ["tool_use", ""],
      ["tool_result", "a"],
      ["note", "for the model"],
    ]);
    expect(one?.events[4]).toMatchObject({
      tool_name: "developer__shell",
      is_error: false,
      at: new Date((T + 2) * 1000).toISOString(),
    });
    expect(one?.summary).toMatchObject({
      title: "Tests",
      cwd: "/w",
      startedAt: "2026-08-05T10:00:00.000Z",
      endedAt: "2026-08-05T10:00:09.000Z",
      usage: { m2: tokens(50, 10, 80, 20) },
    });
  });

  it("takes the session's sums where there is no ledger, and failed results", async () => {
    const failed: [string, object[]][] = [
      ["user", [ended({ status: "error", error: "denied" })]],
      ["user", [ended({ status: "success", value: [{ type: "text", text: "x" }] })]],
    ];
    await writeTables(db(), { sessions: [session], messages: messages(failed) });
    const [one] = await readAll(goose().adapter);
    expect(one?.summary.usage).toEqual({ m: tokens(150, 10) });
    expect(one?.events.map(({ text, is_error }) => [text, is_error])).toEqual([
      ["denied", true],
      ["x", false],
    ]);
  });

  it("follows a session of the database", async () => {
    const { adapter } = goose();
    await writeTables(db(), { sessions: [session], messages: messages(CONTENTS.slice(0, 2)) });
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await writeTables(db(), { sessions: [session], messages: messages() });
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.map((event) => event.kind)]).toEqual([false, ["tool_result", "note"]]);
  });

  testRing({ fixture: "goose/deja-vu-jsonl", plugin: (dir) => goose({ dir }) });
  testRing({ fixture: "goose/self-made-1", plugin: (dir) => goose({ dir }) });
});
