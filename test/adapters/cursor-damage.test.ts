import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  ask,
  composer,
  sha,
  TRANSCRIPT,
  writeChat,
  writeGlobal,
  writeTranscript,
  writeWorkspace,
} from "../fixtures/cursor/build.ts";
import { create, dot, globalDb, useCursor, user } from "./_cursor.ts";
import { drainTail, env, home, readAll, scan, shape } from "./_home.ts";

useCursor();

describe("Cursor: damage", () => {
  it("counts hostile rows and never throws", async () => {
    await writeGlobal(
      user,
      [
        ...composer(
          "odd",
          [
            ask("fine"),
            { type: 9, text: "?" },
            {
              type: 2,
              text: 7,
              thinking: [],
              toolFormerData: { tool: "x", rawArgs: 5, result: { a: 1 }, status: 3 },
              createdAt: "never",
              timingInfo: { clientStartTime: -1 },
              tokenCount: { inputTokens: "12", outputTokens: -4 },
            },
            { type: 2, toolFormerData: "x", toolResults: [1, null], richText: "{", tokenCount: 3 },
          ],
          {
            createdAt: "x",
            modelConfig: 4,
            workspaceIdentifier: { uri: 7 },
            subagentInfo: "no",
            capabilities: [{ type: 15, data: { bubbleDataMap: "{" } }, 3],
            fullConversationHeadersOnly: [
              { bubbleId: "b1" },
              { bubbleId: "b1" },
              { bubbleId: "b2" },
              { bubbleId: "b3" },
              { bubbleId: "b4" },
              { bubbleId: "missing" },
              { bubbleId: "null" },
              { bubbleId: "bad" },
              { bubbleId: "list" },
              5,
              {},
            ],
          },
        ),
        ["bubbleId:odd:null", null],
        ["bubbleId:odd:bad", "{"],
        ["bubbleId:odd:list", "[1]"],
        ["composerData:bad", "{"],
        ["composerData:list", "[]"],
        ["composerData:", {}],
        [null, "x"],
        ["composerData:bytes", new Uint8Array([255, 0, 1])],
      ],
      [{ id: "odd", value: "{" }],
    );
    const all = await readAll(create());
    expect(all.map(({ ref }) => ref.key)).toEqual(["odd"]);
    expect(shape(all[0]?.events ?? [])).toEqual([
      ["user", "fine"],
      ["tool_use", ""],
      ["tool_result", '{"a":1}'],
    ]);
    expect(all[0]?.summary.skipped).toEqual({ lines: 4, unknown: { "bubble:9": 1, "bubble:missing": 2 } });
    expect(all[0]?.summary.usage).toEqual({
      unknown: { input: 12, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    });
  });

  it("survives chats that refer to themselves, to nothing, or are no chats", async () => {
    const at = (id: string) => join(dot, "chats", "b", id, "store.db");
    const hello = Buffer.from(JSON.stringify({ role: "user", content: "hello" }));
    await writeChat(at("missing"), {
      messages: [{ role: "user", content: "hello" }],
      refs: [sha(hello), "ab".repeat(32)],
    });
    await writeChat(at("bad"), {
      messages: ["{", "\u0001", { role: "assistant", content: [5, { type: "hologram" }, { type: "text" }] }],
    });
    await writeChat(at("meta"), { messages: [], meta: "not hex" });
    await mkdir(join(dot, "chats", "b", "void"), { recursive: true });
    await writeFile(at("void"), "");
    const all = await readAll(create());
    expect(
      Object.fromEntries(all.map(({ ref, events, summary }) => [ref.key, [shape(events), summary.skipped]])),
    ).toEqual({
      missing: [[["user", "hello"]], { lines: 0, unknown: { "blob:missing": 1 } }],
      bad: [[], { lines: 2, unknown: { blob: 1, "chat:hologram": 1 } }],
    });
  });

  it("keeps a broken database from hiding the others", async () => {
    await writeWorkspace(user, "w2", { folder: "file:///x" }, [
      [
        "workbench.panel.aichat.view.aichat.chatdata",
        { tabs: [{ tabId: "t", bubbles: [{ type: "user", text: "hi" }] }] },
      ],
    ]);
    await mkdir(join(user, "workspaceStorage", "w1"), { recursive: true });
    await writeFile(
      join(user, "workspaceStorage", "w1", "state.vscdb"),
      "no database at all, but long enough to be checked".repeat(50),
    );
    await mkdir(join(user, "globalStorage"), { recursive: true });
    await writeFile(globalDb(), "no database at all, but long enough to be checked".repeat(50));
    await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT);
    const adapter = create();
    const outcome: [string, string[], string | undefined][] = [];
    for (const root of adapter.roots(env)) {
      const keys: string[] = [];
      let code: string | undefined;
      try {
        for await (const ref of adapter.scan(root, env)) keys.push(ref.key);
      } catch (error) {
        code = (error as { code?: string }).code;
      }
      outcome.push([root.slice(home.length), keys, code]);
    }
    expect(outcome.map(([, keys, code]) => [keys, code])).toEqual([
      [[], "SOURCE_DAMAGED"],
      [["t"], "SOURCE_DAMAGED"],
      [["t1"], undefined],
      [[], undefined],
    ]);
  });

  it("P7: a global database past the limit is reported, not copied, and the rest goes on", async () => {
    await mkdir(join(user, "globalStorage"), { recursive: true });
    await writeFile(globalDb(), "");
    await truncate(globalDb(), 600 * 2 ** 20); // a hole, no bytes on the disk
    await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT);
    const adapter = create();
    const [global, ...others] = adapter.roots(env);
    const first = adapter
      .scan(global ?? "", env)
      [Symbol.asyncIterator]()
      .next();
    await expect(first).rejects.toMatchObject({ code: "SOURCE_TOO_LARGE", status: 422 });
    const keys: string[] = [];
    for (const root of others) for await (const ref of adapter.scan(root, env)) keys.push(ref.key);
    expect(keys).toEqual(["t1"]);
  });

  it("never lets a secret of another key or table out", async () => {
    await writeGlobal(user, composer("c1", [ask("a")]), [{ id: "c1" }]);
    await writeWorkspace(user, "w1", { folder: "file:///x" }, [
      [
        "workbench.panel.aichat.view.aichat.chatdata",
        { tabs: [{ tabId: "t", bubbles: [{ type: "user", text: "hi" }] }] },
      ],
    ]);
    expect((await readFile(globalDb())).includes("TRAP-SECRET")).toBe(true);
    const adapter = create();
    const refs = await scan(adapter);
    const tails = await Promise.all(refs.map((ref) => drainTail(adapter.tail(ref, undefined, env))));
    expect(refs).toHaveLength(2);
    expect(JSON.stringify([refs, await readAll(adapter), tails])).not.toContain("TRAP-SECRET");
  });
});
