import { appendFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import antigravity from "../../plugins/antigravity/index.ts";
import { readProto } from "../../plugins/antigravity/protobuf.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { fixtureFolder, tokens, writeDocument, writeTables } from "./_store.ts";

useHome("antigravity");

/** A protocol-buffer message of these fields: numbers, texts, messages, and lists of numbers. */
function proto(...fields: [field: number, value: number | string | Buffer | number[]][]): Buffer {
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n % 128) + 128, ...varint(Math.floor(n / 128))]);
  return Buffer.concat(
    fields.map(([field, value]) => {
      if (typeof value === "number") return Buffer.from([...varint(field * 8), ...varint(value)]);
      const bytes = Array.isArray(value) ? Buffer.from(value.flatMap(varint)) : Buffer.from(value as string);
      return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
    }),
  );
}

const T = 1_790_000_000;
const step = (idx: number, step_type: number, payload: Buffer, status = 3) => ({
  idx,
  step_type,
  status,
  metadata: proto([1, proto([1, T + idx], [2, 500_000_000])]),
  step_payload: payload,
});
const call = proto([1, "c1"], [2, "run_command"], [3, '{"CommandLine":"ls"}']);
const STEPS = [
  step(0, 14, proto([19, proto([2, "List it"])])),
  step(1, 15, proto([20, proto([1, "Listing."], [3, "Hm."], [7, call])])),
  step(2, 132, proto([140, proto([2, proto([1, "a.txt"])])]), 7),
  step(3, 23, proto([1, 23])),
];
const usage = proto([2, 100], [3, 10], [5, 30], [11, "r1"]);
const GENERATIONS = [
  { idx: 0, data: proto([1, proto([4, usage], [19, "gemini-x"], [21, "Gemini X"])], [2, [1, 2]]) },
  { idx: 1, data: proto([1, proto([4, proto([2, 0])], [19, "gemini-x"])]) },
];
const place = [{ id: "main", data: proto([1, proto([1, "file:///w/my%20app"])]) }];
const TABLES = { steps: STEPS, gen_metadata: GENERATIONS, trajectory_metadata_blob: place };

const ROWS = [
  {
    step_index: 0,
    source: "USER_EXPLICIT",
    type: "USER_INPUT",
    created_at: "2026-09-01T10:00:00Z",
    content: "<USER_REQUEST>\nGo\n</USER_REQUEST>\n<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>",
  },
  {
    step_index: 1,
    source: "MODEL",
    type: "PLANNER_RESPONSE",
    created_at: "2026-09-01T10:00:01Z",
    thinking: "Hm.",
    content: "Looking.",
    tool_calls: [{ name: "list_dir", args: { DirectoryPath: "/w" } }],
  },
  { step_index: 2, source: "MODEL", type: "LIST_DIRECTORY", created_at: "2026-09-01T10:00:02Z", content: "a.txt" },
  { step_index: 3, source: "SYSTEM", type: "SYSTEM_MESSAGE", created_at: "2026-09-01T10:00:03Z", content: "Be brief." },
];
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const toLog = (folder: string, id: string) =>
  join(folder, "brain", id, ".system_generated", "logs", "transcript.jsonl");

const fixtures = await fixtureFolder("antigravity", async (dir) => {
  const cli = join(dir, ".gemini", "antigravity-cli");
  await writeTables(join(cli, "conversations", "one.db"), TABLES);
  await writeTables(join(cli, "conversation_summaries.db"), {
    conversation_summaries: [{ conversation_id: "one", title: "Lamps" }],
  });
  await writeDocument(toLog(join(dir, ".gemini", "antigravity"), "two"), lines(ROWS));
});

describe("adapters: antigravity", () =>
  testAdapter({
    plugin: (dir) => antigravity({ dir }),
    fixtures,
    expect: {
      sessions: 2,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { "gemini-x": tokens(100, 10, 30) },
    },
  }));

describe("Antigravity", () => {
  const cli = () => join(home, ".gemini", "antigravity-cli");
  const db = () => join(cli(), "conversations", "one.db");

  it("reads the steps of a database, its folder and its title; empty calls of a model make no row", async () => {
    await writeTables(db(), TABLES);
    await writeTables(join(cli(), "conversation_summaries.db"), {
      conversation_summaries: [{ conversation_id: "one", title: "Lamps" }],
    });
    const [one] = await readAll(antigravity().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "List it"],
      ["thinking", "Hm."],
      ["assistant", "Listing."],
      ["tool_use", ""],
      ["tool_result", "a.txt"],
    ]);
    expect(one?.events[4]).toMatchObject({ tool_name: "run_command", tool_use_id: "c1", is_error: true });
    expect(one?.summary).toMatchObject({
      title: "Lamps",
      cwd: "/w/my app",
      usage: { "gemini-x": tokens(100, 10, 30) },
      startedAt: new Date(T * 1000 + 500).toISOString(),
    });
    expect(one?.summary.replies).toMatchObject([{ key: "r1", at: new Date((T + 1) * 1000 + 500).toISOString() }]);
  });

  it("takes the events from the transcript where the database has no steps, and the folder from the list of prompts", async () => {
    await writeTables(db(), { gen_metadata: GENERATIONS });
    await writeDocument(toLog(cli(), "one"), lines(ROWS));
    await writeDocument(join(cli(), "history.jsonl"), lines([{ conversationId: "one", workspace: "/w/app" }]));
    const [one] = await readAll(antigravity().adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["thinking", "Hm."],
      ["assistant", "Looking."],
      ["tool_use", ""],
      ["tool_result", "a.txt"],
      ["note", "Be brief."],
    ]);
    expect(one?.summary).toMatchObject({ cwd: "/w/app", usage: { "gemini-x": tokens(100, 10, 30) } });
  });

  it("follows a conversation and goes on where it was", async () => {
    const { adapter } = antigravity();
    await writeDocument(toLog(cli(), "two"), lines(ROWS.slice(0, 2)));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const one = await drainTail(adapter.tail(ref, undefined, env));
    await appendFile(ref.path, lines(ROWS.slice(2)));
    const next = await drainTail(adapter.tail(ref, one.cursor, env));
    expect([next.restarted, next.events.map((event) => event.kind)]).toEqual([false, ["tool_result", "note"]]);
    expect(adapter.resume?.(ref)).toEqual(["agy", "--conversation", "two"]);
  });

  it("lists nothing where the logs are sealed", async () => {
    await mkdir(join(cli(), "conversations"), { recursive: true });
    await writeDocument(join(cli(), "conversations", "old.pb"), "sealed");
    expect(await scan(antigravity().adapter)).toEqual([]);
    await rm(cli(), { recursive: true });
    expect(await scan(antigravity().adapter)).toEqual([]);
  });

  testRing({ fixture: "antigravity/codeburn", plugin: (dir) => antigravity({ dir }) });
  testRing({ fixture: "antigravity/self-made-db-1", plugin: (dir) => antigravity({ dir }) });
});

describe("protocol buffers", () => {
  const shape = {
    number: [1, "number"],
    text: [2, "text"],
    inner: [3, { text: [1, "text"] }],
    bytes: [4, "bytes"],
  } as const;

  it("reads fields by their map, several values of one in order, and passes over the others", () => {
    const bytes = proto([9, "other"], [1, 300], [1, [1, 2]], [2, "ä"], [3, proto([1, "in"], [2, "x"])], [4, "b"]);
    expect(readProto(bytes, shape)).toEqual({
      number: [300, 1, 2],
      text: ["ä"],
      inner: [{ text: ["in"] }],
      bytes: [Buffer.from("b")],
    });
  });

  it("ends at damaged bytes and never throws", () => {
    const bytes = proto([2, "whole"], [2, "cut off here"]);
    for (let end = 0; end <= bytes.length; end++) {
      const { text = [] } = readProto(bytes.subarray(0, end), shape);
      expect(text).toEqual(["whole", "cut off here"].slice(0, text.length));
    }
    expect(readProto(Buffer.from([0xff, 0xff, 0xff]), shape)).toEqual({});
    expect(readProto("text", shape)).toEqual({});
  });
});
