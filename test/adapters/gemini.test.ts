import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, cp, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionRef } from "sessarc";
import type { Cursor } from "sessarc/adapter";
import { testAdapter } from "sessarc/test";
import { describe, expect, it } from "vitest";
import { createFold } from "../../plugins/gemini-cli/fold.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import { answered, chat, create, header, kinds, lines, one, own, paid, read, said, scan, texts } from "./_gemini.ts";
import { drainTail, env, home, useHome } from "./_home.ts";
import { serversIn } from "./mcp-servers.ts";

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

useHome("gemini");

describe("adapters: gemini-cli", () => {
  testAdapter({
    plugin: (dir) => gemini({ dir }),
    fixtures: own,
    expect: { sessions: 3, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] },
  });

  it("finds documents, logs and sub-agents, each with its folder", async () => {
    const adapter = create(own);
    const refs = await scan(adapter);
    expect(refs.map(({ key, cwd, parent }) => ({ key, cwd, parent }))).toEqual([
      { key: "01dc0de0-0000-4000-8000-000000000002", cwd: undefined, parent: undefined },
      { key: "0b1e55ed-0000-4000-8000-000000000001", cwd: "/home/dev/demo", parent: undefined },
      {
        key: "0b1e55ed-0000-4000-8000-000000000001.codebase_investigator-7f",
        cwd: "/home/dev/demo",
        parent: "0b1e55ed-0000-4000-8000-000000000001",
      },
    ]);
    expect(refs[1]?.companions?.map((path) => basename(path))).toEqual(["0b1e55ed-0000-4000-8000-000000000001"]);
    expect(await Promise.all(refs.map((ref) => adapter.peek?.(ref, env)))).toEqual([
      {
        title: "list the files",
        cwd: undefined,
        startedAt: "2026-01-02T03:04:05.000Z",
        virtualProject: { key: "cccccccc", name: "Gemini CLI cccccccc" },
      },
      { title: "Change a constant", cwd: "/home/dev/demo", startedAt: "2026-10-05T09:00:00.000Z" },
      { title: "look around", cwd: "/home/dev/demo", startedAt: "2026-10-05T09:00:20.000Z" },
    ]);
  });

  it("reads a log: what was typed, thoughts, calls and results, notes", async () => {
    const adapter = create(own);
    const ref = (await scan(adapter))[1];
    const { events, summary } = await read(adapter, ref as SessionRef);
    expect(kinds(events)).toEqual([
      "note",
      "user",
      "thinking",
      "assistant",
      "tool_use",
      "tool_result",
      "assistant",
      "note",
    ]);
    expect(events[1]?.text).toBe("change @a.ts");
    expect(events[4]).toMatchObject({
      tool_name: "replace",
      tool_use_id: "replace__1",
      tool_input: { new_string: "2" },
    });
    expect(events[5]).toMatchObject({ text: "Successfully modified file: a.ts", is_error: false });
    expect(summary).toMatchObject({
      title: "Change a constant",
      cwd: "/home/dev/demo",
      startedAt: "2026-10-05T09:00:00.000Z",
      endedAt: "2026-10-05T09:00:10.000Z",
      usage: { "gemini-2.5-pro": { input: 900, output: 80, cacheRead: 1300, cacheWrite5m: 0, cacheWrite1h: 0 } },
      evidence: { records: 3, requests: 2, duplicatesFolded: 1, inheritedExcluded: 0 },
    });
  });

  it("reads an old document; its hash alone makes a virtual project", async () => {
    const adapter = create(own);
    const { events, summary } = await read(adapter, (await scan(adapter))[0] as SessionRef);
    expect(kinds(events)).toEqual(["user", "tool_use", "tool_result", "assistant"]);
    expect(events[2]).toMatchObject({ text: "no such folder", is_error: true });
    expect(summary.usage["gemini-2.5-pro"]).toMatchObject({ input: 1350, output: 44, cacheRead: 500 });
    expect(summary.virtualProject).toEqual({ key: "cccccccc", name: "Gemini CLI cccccccc" });
  });

  it("replaces a message in place when its id comes again", async () => {
    const { events } = await one([
      header("s"),
      said("u1", "a"),
      answered("g1", "x"),
      said("u2", "b"),
      answered("g1", "y"),
    ]);
    expect(texts(events)).toEqual(["a", "y", "b"]);
  });

  it("drops rewound messages and keeps what they cost; an unknown id clears all", async () => {
    const rows = [
      header("s"),
      said("u1", "a"),
      answered("g1", "x", paid(5)),
      said("u2", "b"),
      answered("g2", "y", paid(7)),
    ];
    const back = await one([...rows, { $rewindTo: "u2" }]);
    expect(texts(back.events)).toEqual(["a", "x"]);
    expect(back.summary.usage["gemini-2.5-pro"]).toMatchObject({ input: 12, output: 14, cacheRead: 8 });
    const cleared = await one([...rows, { $rewindTo: "nobody" }]);
    expect(cleared.events).toEqual([]);
    expect(cleared.summary.usage).toEqual(back.summary.usage);
  });

  it("takes the history of $set.messages and keeps what the former one cost", async () => {
    const snapshot = { ...said("n1", "<state_snapshot>so far</state_snapshot>") };
    const { events, summary } = await one([
      header("s"),
      said("u1", "a"),
      answered("g1", "x", paid(5)),
      { $set: { messages: [snapshot, answered("g1", "x", null)] } },
      said("u2", "b"),
    ]);
    expect(events.map(({ kind, text }) => [kind, text])).toEqual([
      ["note", "<state_snapshot>so far</state_snapshot>"],
      ["assistant", "x"],
      ["user", "b"],
    ]);
    expect(summary.usage["gemini-2.5-pro"]).toMatchObject({ input: 6, output: 6, cacheRead: 4 });
  });

  it("counts the last tokens of an id, a later null does not take them back; no model is `unknown`", async () => {
    const { model: _, ...nameless } = answered("g1", "x", paid(5));
    const { summary } = await one([
      header("s"),
      nameless,
      { ...nameless, tokens: paid(9) },
      { ...nameless, tokens: null },
    ]);
    expect(summary.usage).toEqual({
      unknown: { input: 6, output: 10, cacheRead: 4, cacheWrite5m: 0, cacheWrite1h: 0 },
    });
  });

  it("D3: two files of one minute and eight characters are two sessions; two of one id as well", async () => {
    await chat("a", "session-2026-10-01T10-00-aaaaaaaa.jsonl", [header("aaaaaaaa-1")]);
    await chat("b", "session-2026-10-01T10-00-aaaaaaaa.jsonl", [header("aaaaaaaa-2")]);
    await chat("b", "session-2026-10-01T11-00-aaaaaaaa.jsonl", [header("aaaaaaaa-2")]);
    await chat("b", "session-2026-10-01T12-00-bbbbbbbb.jsonl", "no header\n");
    expect((await scan(create())).map((ref) => ref.key)).toEqual([
      "aaaaaaaa-1",
      "aaaaaaaa-2",
      "aaaaaaaa-2.session-2026-10-01T11-00-aaaaaaaa",
      "session-2026-10-01T12-00-bbbbbbbb",
    ]);
  });

  it("a resume in a later minute leaves a stub with the start-up context alone: it is no session", async () => {
    const context = said("c1", "<session_context>\nThis is the Gemini CLI.\n</session_context>");
    const log = await chat("a", "session-2026-10-01T10-00-aaaaaaaa.jsonl", [
      header("aaaaaaaa-1"),
      { $set: { messages: [context] } },
      said("u1", "first"),
      said("u2", "second"),
    ]);
    const stub = [header("aaaaaaaa-1"), { $set: { messages: [context] } }];
    const beside = await chat("a", "session-2026-10-01T10-01-aaaaaaaa.jsonl", stub);
    const refs = await scan(create());
    expect(refs).toHaveLength(1);
    expect(refs[0]).toMatchObject({ key: "aaaaaaaa-1", path: log, companions: [beside] });
  });

  it("D3: a document that was moved to a log is one session, read from the log", async () => {
    const log = await chat("a", "session-x.jsonl", [header("s"), said("u1", "new")]);
    const old = await chat("a", "session-x.json", JSON.stringify({ ...header("s"), messages: [said("u1", "old")] }));
    await chat("a", "session-x.jsonl.unreadable-17", "?");
    await chat("a", "session-x.tmp-99", "?");
    const refs = await scan(create());
    expect(refs).toHaveLength(1);
    expect(refs[0]).toMatchObject({ key: "s", path: log, companions: [old] });
  });

  it("finds the folder by marker, by projects.json, by hash, by the start-up context, in this order", async () => {
    const path = "/home/dev/known";
    const hash = createHash("sha256").update(path).digest("hex");
    const context = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/named\n</session_context>";
    await chat("marked", "session-1.jsonl", [header("1")]);
    await writeFile(join(home, ".gemini", "tmp", "marked", ".project_root"), "/home/dev/marked\n");
    await chat("slug", "session-2.jsonl", [header("2")]);
    await chat(hash, "session-3.jsonl", [header("3")]);
    await chat("moved", "session-4.jsonl", [header("4", { projectHash: hash })]);
    await chat("lost", "session-5.jsonl", [header("5"), said("u", context)]);
    await chat("gone", "session-6.jsonl", [header("6")]);
    await writeFile(join(home, ".gemini", "projects.json"), JSON.stringify({ projects: { [path]: "slug" } }));
    const adapter = create();
    const found = await Promise.all((await scan(adapter)).map(async (ref) => (await read(adapter, ref)).summary));
    expect(found.map((summary) => summary.cwd)).toEqual([
      "/home/dev/marked",
      path,
      path,
      path,
      "/home/dev/named",
      undefined,
    ]);
    expect(found.at(-1)?.virtualProject).toEqual({ key: "dddddddd", name: "Gemini CLI dddddddd" });
  });

  it("tails: new events only while the earlier ones stay, all of them when one changed", async () => {
    const path = await chat("demo", "session-1.jsonl", [header("s"), said("u1", "a")]);
    const adapter = create();
    const [ref] = (await scan(adapter)) as [SessionRef];
    const tail = async (cursor?: Cursor) => {
      if (!adapter.tail) throw new Error("no tail");
      return drainTail(adapter.tail(ref, cursor, env));
    };
    const first = await tail();
    expect(texts(first.events)).toEqual(["a"]);
    await appendFile(path, lines([answered("g1", "x", null)]));
    const second = await tail(JSON.parse(JSON.stringify(first.cursor)));
    expect([texts(second.events), second.events[0]?.seq, second.restarted]).toEqual([["x"], 1, false]);
    const idle = await tail(second.cursor);
    expect([idle.events, idle.bytesRead, idle.summary]).toEqual([[], 0, JSON.parse(JSON.stringify(second.summary))]);
    await appendFile(path, lines([answered("g1", "x!", paid(3))]));
    const third = await tail(second.cursor);
    expect([texts(third.events), third.restarted]).toEqual([["a", "x!"], true]);
    expect(third.summary.usage["gemini-2.5-pro"]?.output).toBe(4);
    await appendFile(path, lines([{ $rewindTo: "g1" }]));
    const fourth = await tail(third.cursor);
    expect([texts(fourth.events), fourth.restarted, fourth.cursor.seq]).toEqual([["a"], true, 1]);
  });

  it("reads a replaced file again", async () => {
    const path = await chat("demo", "session-1.jsonl", [header("first"), said("u1", "a")]);
    const adapter = create();
    expect((await scan(adapter))[0]?.key).toBe("first");
    await rename(path, `${path}.old`);
    await writeFile(path, lines([header("second"), said("u1", "a longer one")]));
    expect((await scan(adapter))[0]?.key).toBe("second");
  });

  it("takes GEMINI_CLI_HOME for the home, and a folder of chats for `dir`", async () => {
    const path = await chat("demo", "session-1.jsonl", [header("s")]);
    expect(create().roots({ home: "/x", platform: "linux", env: { GEMINI_CLI_HOME: home } })).toEqual([
      join(home, ".gemini", "tmp"),
    ]);
    await writeFile(join(dirname(path), "other.json"), '{"a":1}');
    expect((await scan(create(dirname(path)))).map((ref) => ref.key)).toEqual(["s"]);
    expect((await scan(create(join(home, ".gemini")))).map((ref) => ref.key)).toContain("s");
  });

  it("reads servers and marks excluded ones", () => {
    const settings = {
      mcp: { excluded: ["b"] },
      mcpServers: {
        a: { command: "npx", args: ["x", 1], env: { K: "v" }, cwd: "/w" },
        b: { httpUrl: "https://b.example/mcp", headers: { h: "1" } },
        c: { url: "https://c.example/sse" },
        d: { url: "https://d.example", type: "http" },
        e: {},
      },
    };
    const path = (name: string) => ({ name, path: ["mcpServers", name] });
    expect(serversIn(create().mcp, settings)).toEqual([
      { ...path("a"), transport: "stdio", command: "npx", args: ["x", "1"], env: { K: "v" }, cwd: "/w" },
      { ...path("b"), transport: "http", url: "https://b.example/mcp", headers: { h: "1" }, disabled: true },
      { ...path("c"), transport: "sse", url: "https://c.example/sse" },
      { ...path("d"), transport: "http", url: "https://d.example" },
    ]);
  });

  it("reports how long chats are kept", async () => {
    const file = join(home, ".gemini", "settings.json");
    const keep = (sessionRetention: unknown) => writeFile(file, JSON.stringify({ general: { sessionRetention } }));
    expect(await create().retention?.(env)).toBeUndefined();
    await mkdir(dirname(file));
    expect(await create().retention?.(env)).toEqual({ days: 30, source: "Gemini CLI's default" });
    await keep({ enabled: true, maxAge: "2w" });
    expect(await create().retention?.(env)).toEqual({ days: 14, source: file });
    await keep({ enabled: false, maxAge: "2w" });
    expect(await create().retention?.(env)).toBeUndefined();
    await keep({ enabled: true, maxCount: 5 });
    expect(await create().retention?.(env)).toBeUndefined();
  });
});

describe.skipIf(!existsSync(join(shared, "gemini")))("gemini-cli: files the real tool wrote (SESSARC_FIXTURES)", () => {
  it.each(["agentsview", "generated-gemini-cli-0.61.0", "self-made-1"])(
    "%s: figures and live messages are as expected",
    async (folder) => {
      const expected = JSON.parse(await readFile(join(shared, "EXPECTED.json"), "utf8"));
      await cp(join(shared, "gemini", folder), join(home, "copy"), { recursive: true });
      const adapter = create(join(home, "copy"));
      const refs = await scan(adapter);
      const rows = Object.keys(expected).filter((path) => path.startsWith(`gemini/${folder}/`));
      expect(refs).toHaveLength(rows.length);
      for (const ref of refs) {
        const row = expected[rows.find((path) => basename(path) === basename(ref.path)) ?? ""];
        const { events, summary } = await read(adapter, ref);
        expect(ref.key).toBe(row.meta.sessionId);
        expect(summary.usage).toEqual(row.usage);
        expect(summary.startedAt).toBe(row.meta.startTime);
        expect(summary.skipped).toEqual({ lines: 0, unknown: {} });
        expect(events.filter((event) => event.kind === "tool_use")).toHaveLength(row.tool_calls);
        const fold = createFold();
        const text = await readFile(ref.path, "utf8");
        if (ref.path.endsWith(".json")) fold.row({ $set: JSON.parse(text) });
        else for (const line of text.trimEnd().split("\n")) fold.row(JSON.parse(line));
        const messages = [...fold.result().messages.values()];
        expect(messages).toHaveLength(row.live_messages);
        for (const [type, number] of Object.entries(row.types)) {
          expect(messages.filter((message) => message.type === type)).toHaveLength(Number(number));
        }
      }
      if (folder === "generated-gemini-cli-0.61.0")
        expect(refs[0]?.cwd).toBe(
          await readFile(join(shared, "gemini", folder, "tmp", "demo", ".project_root"), "utf8"),
        );
    },
  );
});
