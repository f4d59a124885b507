import { join } from "node:path";
import { readList } from "sessarc/adapter";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import chatExport from "../../plugins/chat-export/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { fixtureFolder, writeDocument } from "./_store.ts";

useHome("chat-export");

const T = 1_780_000_000;
const node = (id: string, parent: string | null, role: string, content: object, more: object = {}) => ({
  id,
  parent,
  message: {
    id,
    author: { role, name: role === "tool" ? "python" : null },
    create_time: T + id.length,
    content,
    metadata: { model_slug: "gpt-x" },
    ...more,
  },
});
const text = (...parts: unknown[]) => ({ content_type: "text", parts });
const NODES = [
  { id: "0", parent: null, message: null },
  node("s", "0", "system", text("hidden"), { metadata: { is_visually_hidden_from_conversation: true } }),
  node("u1", "s", "user", {
    content_type: "multimodal_text",
    parts: ["Go", { content_type: "image_asset_pointer", asset_pointer: "file:x" }],
  }),
  node("old", "u1", "assistant", text("another answer")),
  node("a11", "u1", "assistant", { content_type: "thoughts", thoughts: [{ summary: "s", content: "Hm." }] }),
  node("a111", "a11", "assistant", { content_type: "code", text: "print(1)" }, { recipient: "python" }),
  node("a1111", "a111", "tool", { content_type: "execution_output", text: "1" }),
  node("a11111", "a1111", "assistant", text('Done {]"')),
];
const chat = (conversation_id: string) => ({
  conversation_id,
  title: "Lamps",
  create_time: T,
  update_time: T + 9,
  current_node: "a11111",
  mapping: Object.fromEntries(NODES.map((one) => [one.id, one])),
});
const CLAUDE = {
  uuid: "c1",
  name: "Lamps",
  created_at: "2026-06-01T10:00:00.000000Z",
  updated_at: "2026-06-01T10:00:09.000000Z",
  chat_messages: [
    {
      uuid: "m1",
      sender: "human",
      text: "Go",
      content: [],
      created_at: "2026-06-01T10:00:01.000000Z",
      attachments: [{ file_name: "a.txt", extracted_content: "x" }],
    },
    {
      uuid: "m2",
      sender: "assistant",
      text: "Done.",
      created_at: "2026-06-01T10:00:02.000000Z",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "tool_use", id: "t1", name: "web_search", input: { query: "lamps" } },
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "found" }], is_error: false },
        { type: "token_budget" },
        { type: "text", text: "Done." },
      ],
    },
  ],
};

const fixtures = await fixtureFolder("chat-export", async (dir) => {
  await writeDocument(join(dir, "conversations-000.json"), [chat("g1"), chat("g2")]);
  await writeDocument(join(dir, "conversations-001.json"), [chat("g3"), CLAUDE]);
});

describe("adapters: chatgpt", () =>
  testAdapter({
    plugin: (dir) => chatExport({ dir }),
    fixtures,
    expect: { sessions: 3, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"], usage: {} },
  }));

describe("Chat exports", () => {
  const file = () => join(home, "conversations.json");

  it("reads the path that the person sees of a ChatGPT conversation, without tokens", async () => {
    await writeDocument(file(), [chat("g1")]);
    const [one] = await readAll(chatExport({ dir: home }).adapter);
    expect(shape(one?.events ?? [])).toEqual([
      ["note", "hidden"],
      ["user", "Go\n[image]"],
      ["thinking", "Hm."],
      ["tool_use", ""],
      ["tool_result", "1"],
      ["assistant", 'Done {]"'],
    ]);
    expect(one?.events[3]).toMatchObject({ tool_name: "python", tool_input: "print(1)", model: "gpt-x" });
    expect(one?.summary).toMatchObject({ title: "Lamps", usage: {}, virtualProject: { key: "chatgpt" } });
  });

  it("reads a Claude.ai conversation, from its blocks or its text", async () => {
    await writeDocument(file(), [CLAUDE]);
    const [one] = await readAll(chatExport({ dir: home, variant: "claude-ai" }).adapter);
    expect(one?.ref.tool).toBe("claude-ai");
    expect(shape(one?.events ?? [])).toEqual([
      ["user", "Go"],
      ["note", "[file] a.txt\nx"],
      ["thinking", "Hm."],
      ["tool_use", ""],
      ["tool_result", "found"],
      ["assistant", "Done."],
    ]);
    expect(await scan(chatExport({ dir: home }).adapter)).toEqual([]);
    expect(chatExport().adapter.roots(env)).toEqual([]);
  });

  it("gives the changed conversation of a later export another version, and reads what is whole of one that is cut", async () => {
    const { adapter } = chatExport({ dir: home });
    const whole = JSON.stringify([chat("g1"), { ...chat("g2"), update_time: T + 99 }]);
    await writeDocument(file(), [chat("g1"), chat("g2")]);
    const before = await scan(adapter);
    await writeDocument(file(), whole);
    const after = await scan(adapter);
    expect(after.map((ref, n) => ref.version === before[n]?.version)).toEqual([true, false]);
    await writeDocument(file(), whole.slice(0, -40));
    expect((await scan(adapter)).map((ref) => ref.key)).toEqual(["g1"]);
    const [ref] = after;
    if (ref) expect((await drainTail(adapter.tail(ref, undefined, env))).events).toHaveLength(6);
  });

  it("cuts a list into its objects wherever the file is read in parts", async () => {
    const list = Array.from({ length: 40 }, (_, n) => ({
      n,
      text: `ä"\\{[${"x".repeat(n * 3000)}`,
      inner: [{ a: [] }],
    }));
    await writeDocument(file(), JSON.stringify(list, null, 1));
    const found: unknown[] = [];
    for await (const { value } of readList(file())) found.push(value);
    expect(found).toEqual(list);
  });
});
