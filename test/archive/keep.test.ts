/** Nothing archived is ever replaced by less. */
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { expect, it } from "vitest";
import archive, { type EarlierText, type Session } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";

const start = () => createTestKernel({ plugins: [archive(), claude(), codex(), gemini()] });
const sync = (t: TestKernel) => t.send("POST", "/api/import", { all: true });
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

let clock = Date.now() / 1000 - 86_400;
/** Times grow with every write: sizes may be equal. */
function write(path: string, rows: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines(rows));
  utimesSync(path, ++clock, clock);
}

interface Detail {
  session: Session;
  earlier: EarlierText[];
}
interface Page {
  total: number;
  messages: { text: string; seq: number }[];
}
const sumOf = (usage: SessionUsage) =>
  Object.values(usage).reduce((sum, tokens) => sum + Object.values(tokens).reduce((a, b) => a + b, 0), 0);

const at = (n: number) => new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString();

/** Gemini CLI's own records. */
const head = { sessionId: "0f9e1d2c-0000-4000-8000-000000000001", projectHash: "f".repeat(64), startTime: at(0) };
const said = (n: number, text: string) => ({ id: `u${n}`, timestamp: at(n), type: "user", content: [{ text }] });
const answered = (n: number, text: string, toolCalls?: object[]) => ({
  id: `g${n}`,
  timestamp: at(n),
  type: "gemini",
  content: text,
  model: "gemini-2.5-pro",
  tokens: { input: 100, output: 20, cached: 10, thoughts: 1, tool: 0, total: 121 },
  ...(toolCalls && { toolCalls }),
});
const read = (n: number) => ({
  id: `call-${n}`,
  name: "read_file",
  args: { file_path: `/w/app/${n}.ts` },
  status: "success",
});
const geminiId = `gemini-cli:${head.sessionId}`;
const chats = (home: string, name: string) => join(home, ".gemini/tmp/app/chats", name);

it("a stub that a resume left takes nothing from the chat that the tool's own clean-up removed", async () => {
  const t = await start();
  const chat = chats(t.home, "session-2026-11-20T10-00-0f9e1d2c.jsonl");
  const stub = chats(t.home, "session-2026-11-20T11-00-0f9e1d2c.jsonl");
  write(chat, [
    head,
    said(1, "find the needle"),
    answered(2, "found it", [read(1)]),
    said(3, "again"),
    answered(4, "done"),
  ]);
  write(stub, [head, { id: "s1", timestamp: at(60), type: "info", content: "Resumed session" }]);
  await sync(t);
  const before = await t.json<Detail>(`/api/sessions/${geminiId}`);
  expect((await t.json<{ total: number }>("/api/sessions")).total).toBe(1); // the stub is no session of its own
  rmSync(chat);
  await sync(t);
  const after = await t.json<Detail>(`/api/sessions/${geminiId}`);
  expect(after.session.messageCount).toBeGreaterThanOrEqual(before.session.messageCount);
  expect(after.session.usage).toEqual(before.session.usage);
  expect((await t.json<{ total: number }>("/api/sessions")).total).toBe(1);
  expect((await t.json<{ results: object[] }>("/api/search?q=needle")).results).toHaveLength(1);
});

it("of two chats of one session each keeps its id when the other goes, comes back or comes first; nothing counts twice", async () => {
  const t = await start();
  const first = chats(t.home, "session-2026-11-20T10-00-0f9e1d2c.jsonl");
  const second = chats(t.home, "session-2026-11-20T11-00-0f9e1d2c.jsonl");
  const turns = (n: number) => [head, said(n, `asked ${n}`), answered(n + 1, `answered ${n}`)];
  const texts = async () => {
    await sync(t);
    const { sessions } = await t.json<{ sessions: Detail["session"][] }>("/api/sessions?sort=oldest");
    const all = await Promise.all(
      sessions.map(async ({ id, source }) => {
        const { messages } = await t.json<Page>(`/api/sessions/${id}/messages?kinds=user,assistant`);
        return [messages.map(({ text }) => text).join(), source.missing];
      }),
    );
    const { sessions: found } = await t.json<{ sessions: number }>("/api/search/total?q=answered");
    return { all, found };
  };
  const [one, other] = ["asked 1,answered 1", "asked 10,answered 10"];
  write(second, turns(10));
  expect(await texts()).toEqual({ all: [[other, false]], found: 1 });
  write(first, turns(1));
  const both = {
    all: [
      [one, false],
      [other, false],
    ],
    found: 2,
  };
  expect(await texts()).toEqual(both);
  rmSync(second);
  expect(await texts()).toEqual({
    all: [
      [one, false],
      [other, true],
    ],
    found: 2,
  });
  write(second, turns(10));
  expect(await texts()).toEqual(both);
  rmSync(first);
  expect(await texts()).toEqual({
    all: [
      [one, true],
      [other, false],
    ],
    found: 2,
  });
});

it("an earlier text is counted once, read, searched and deleted with its session", async () => {
  const t = await start();
  const chat = chats(t.home, "session-2026-11-20T10-00-0f9e1d2c.jsonl");
  const rows = [said(1, "find the needle"), answered(2, "found it", [read(1)]), said(3, "again"), answered(4, "done")];
  write(chat, [head, ...rows]);
  await sync(t);
  const before = await t.json<Detail>(`/api/sessions/${geminiId}`);
  expect(before).toMatchObject({ earlier: [], session: { messageCount: 5, earlierTexts: 0 } });
  // Compressed: a summary stands for the first turns, then it goes on.
  write(chat, [
    head,
    ...rows,
    { $set: { messages: [said(9, "summary of all"), answered(4, "done")] } },
    said(10, "go on"),
  ]);
  await sync(t);
  const after = await t.json<Detail>(`/api/sessions/${geminiId}`);
  expect(after.session).toMatchObject({
    messageCount: 7,
    earlierTexts: 1,
    usage: before.session.usage,
    firstPrompt: "find the needle",
  });
  expect(after.earlier).toMatchObject([{ messages: 5, ownMessages: 4 }]);
  const now = await t.json<Page>(`/api/sessions/${geminiId}/messages`);
  expect(now.messages.map((one) => one.text)).toEqual(["summary of all", "done", "go on"]);
  const version = after.earlier[0]?.version;
  const old = await t.json<Page>(`/api/sessions/${geminiId}/messages?version=${version}`);
  expect(old.total).toBe(5);
  expect(old.messages.map((one) => one.text).filter(Boolean)).toEqual(["find the needle", "found it", "again", "done"]);
  expect((await t.send("GET", `/api/sessions/${geminiId}/messages?version=77`)).status).toBe(400);
  interface Found {
    results: { matchCount: number; matches: { seq: number; version?: number }[] }[];
  }
  const needle = await t.json<Found>("/api/search?q=needle");
  expect(needle.results).toMatchObject([{ matchCount: 1, matches: [{ seq: 0, version }] }]);
  // What both have is found once, where it stands now.
  const done = await t.json<Found>("/api/search?q=done");
  expect(done.results).toMatchObject([{ matchCount: 1, matches: [{ seq: 1 }] }]);
  expect(done.results[0]?.matches[0]).not.toHaveProperty("version");
  const { tools, files } = JSON.parse((await t.kernel.inject("archive").row(geminiId)).facts);
  expect({ tools, files }).toEqual({ tools: { read_file: [1, 0] }, files: { "/w/app/1.ts": [1, 0] } });
  await t.send("DELETE", `/api/sessions/${geminiId}`);
  expect(await t.kernel.storage.transcripts.keys()).toEqual([]);
  expect(await t.kernel.storage.db.all("select * from earlier")).toEqual([]);
});

it("what comes back whole leaves no earlier text behind", async () => {
  const t = await start();
  const path = join(t.home, ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
  const rows = [1, 2, 3].map((n) => ({
    type: "user",
    uuid: `u${n}`,
    timestamp: at(n),
    message: { role: "user", content: `text ${n}` },
  }));
  const id = "claude-code:aaaaaaaa-0000-4000-8000-000000000001";
  write(path, rows);
  await sync(t);
  write(path, rows.slice(1, 2));
  await sync(t);
  expect((await t.json<Detail>(`/api/sessions/${id}`)).session).toMatchObject({ messageCount: 3, earlierTexts: 1 });
  write(path, rows);
  await sync(t);
  expect((await t.json<Detail>(`/api/sessions/${id}`)).session).toMatchObject({ messageCount: 3, earlierTexts: 0 });
  const keys = await t.kernel.storage.transcripts.keys();
  expect(keys.filter((key) => !key.endsWith(".cursor"))).toHaveLength(1);
});

interface Source {
  id: string;
  path: string;
  head: object[];
  /** Records of one turn. */
  turn(n: number): object[];
}

const SOURCES: readonly Source[] = [
  {
    id: "claude-code:aaaaaaaa-0000-4000-8000-000000000001",
    path: ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
    head: [],
    turn: (n: number) => [
      { type: "user", uuid: `u${n}`, timestamp: at(n), cwd: "/w/app", message: { role: "user", content: `word${n}` } },
      {
        type: "assistant",
        uuid: `a${n}`,
        timestamp: at(n),
        requestId: `r${n}`,
        message: {
          id: `m${n}`,
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [{ type: "tool_use", id: `t${n}`, name: "Read", input: { file_path: `/w/app/${n}.ts` } }],
          usage: { input_tokens: 10, output_tokens: n },
        },
      },
      {
        type: "user",
        uuid: `x${n}`,
        timestamp: at(n),
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${n}`, content: "no", is_error: n % 2 === 1 }],
        },
      },
    ],
  },
  {
    id: "codex:bbbbbbbb-0000-4000-8000-000000000001",
    path: ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-bbbbbbbb-0000-4000-8000-000000000001.jsonl",
    head: [
      {
        timestamp: at(0),
        type: "session_meta",
        payload: { id: "bbbbbbbb-0000-4000-8000-000000000001", timestamp: at(0), cwd: "/w/app" },
      },
    ],
    turn: (n: number) => [
      {
        timestamp: at(n),
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: `word${n}` }] },
      },
      {
        timestamp: at(n),
        type: "token_usage_record",
        payload: { response_id: `r${n}`, usage: { input_tokens: 10, output_tokens: n } },
      },
    ],
  },
  {
    id: geminiId,
    path: ".gemini/tmp/app/chats/session-2026-11-20T10-00-0f9e1d2c.jsonl",
    head: [head],
    turn: (n: number) => [said(n, `word${n}`), answered(n, `answer ${n}`, [read(n)])],
  },
];

const source = fc.nat(SOURCES.length - 1);
const turns = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 6 });
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("append" as const), source, turns }),
    fc.record({ do: fc.constant("rewrite" as const), source, turns }),
    fc.record({
      do: fc.constantFrom("vanish" as const, "return" as const, "stub" as const, "empty" as const),
      source,
      turns: fc.constant([]),
    }),
  ),
  { minLength: 2, maxLength: 12 },
);

it("whatever shrinks, vanishes, is replaced by a stub or comes back, nothing archived is lost and no total falls", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const t = await createTestKernel({ plugins: [archive(), claude(), codex(), gemini()] });
      const logs = SOURCES.map(({ head, turn }) => [...head, ...turn(1), ...turn(2)]);
      const words = SOURCES.map(() => new Set<number>([1, 2]));
      const pathOf = (n: number) => join(t.home, SOURCES[n]?.path ?? "");
      const save = (n: number) => write(pathOf(n), logs[n] ?? []);
      SOURCES.forEach((_, n) => {
        save(n);
      });
      await sync(t);
      let totals = await totalsOf(t);
      for (const step of list) {
        const { id, head, turn } = SOURCES[step.source] as Source;
        const rows = step.turns.flatMap(turn);
        const hidden = `${pathOf(step.source)}.away`;
        if (step.do === "vanish") {
          if (existsSync(pathOf(step.source))) renameSync(pathOf(step.source), hidden);
        } else if (step.do === "return") {
          if (existsSync(hidden)) renameSync(hidden, pathOf(step.source));
        } else {
          const log = logs[step.source] ?? [];
          if (step.do === "append") log.push(...(log.length > 0 ? [] : head), ...rows);
          else logs[step.source] = step.do === "empty" ? [] : [...head, ...(step.do === "rewrite" ? rows : [])];
          save(step.source);
          if (step.do === "append" || (step.do === "rewrite" && rows.length > 0))
            for (const n of step.turns) words[step.source]?.add(n);
        }
        await sync(t);
        const now = await totalsOf(t);
        for (const [name, value] of Object.entries(totals))
          expect(`${name} ${now[name]}`).toBe(`${name} ${Math.max(value, now[name] ?? 0)}`);
        totals = now;
        const said = words[step.source] ?? new Set();
        expect([...(await wordsOf(t, id))].filter((word) => said.has(word)).sort()).toEqual([...said].sort());
        for (const n of said) {
          const found = await t.json<{ results: { session: { id: string } }[] }>(`/api/search?q=word${n}`);
          expect(found.results.map((one) => one.session.id)).toContain(id);
        }
        // Each message once, in however many texts it stands.
        const turnsOf = (await t.json<Detail>(`/api/sessions/${id}`)).session;
        expect(turnsOf.usage[Object.keys(turnsOf.usage)[0] ?? ""]?.output).toBe(outputOf(step.source, said));
      }
      await t.close();
    }),
    { numRuns: rounds(25, 6), endOnFailure: true },
  );
});

const outputOf = (n: number, said: ReadonlySet<number>) =>
  [...said].reduce((sum, turn) => sum + (SOURCES[n]?.id === geminiId ? 21 : turn), 0);

/** All figures of the archive that may only grow. */
async function totalsOf(t: TestKernel): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  const { sessions } = await t.json<{ sessions: Session[] }>("/api/sessions");
  for (const { id, messageCount, errorCount, activeMs, usage, evidence } of sessions) {
    Object.assign(totals, {
      [`messages ${id}`]: messageCount,
      [`errors ${id}`]: errorCount,
      [`active ${id}`]: activeMs,
      [`tokens ${id}`]: sumOf(usage),
      [`requests ${id}`]: evidence?.requests ?? 0,
    });
    const facts = JSON.parse((await t.kernel.inject("archive").row(id)).facts);
    for (const group of ["tools", "files"])
      for (const [name, [a, b]] of Object.entries<[number, number]>(facts[group]))
        totals[`${group} ${name} ${id}`] = a * 1000 + b;
  }
  totals.sessions = sessions.length;
  return totals;
}

async function wordsOf(t: TestKernel, id: string): Promise<Set<number>> {
  const { earlier } = await t.json<Detail>(`/api/sessions/${id}`);
  const words = new Set<number>();
  for (const version of [undefined, ...earlier.map((text) => text.version)]) {
    const query = version === undefined ? "" : `?version=${version}`;
    const { messages } = await t.json<Page>(`/api/sessions/${id}/messages${query}`);
    for (const { text } of messages) {
      const word = /^word(\d)$/.exec(text);
      if (word) words.add(Number(word[1]));
    }
  }
  return words;
}

it("a log that was replaced by one that names no folder keeps its session's, also as it grows, and as it is counted anew", async () => {
  const t = await start();
  const key = "0f9e1d2c-0000-4000-8000-000000000009";
  const id = `claude-code:${key}`;
  const path = join(t.home, ".claude/projects/-w-app", `${key}.jsonl`);
  const row = (n: number, more: object = {}) => ({
    type: "user",
    uuid: `u${n}`,
    timestamp: at(n),
    message: { role: "user", content: `word${n}` },
    ...more,
  });
  const stored = async () => {
    const {
      facts,
      imported_at: _,
      generation: __,
      parts: ___,
      has_cursor: ____,
      ...rest
    } = await t.kernel.inject("archive").row(id);
    return { ...rest, facts: JSON.parse(facts) as object };
  };
  const message = {
    id: "m1",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "answer" }],
    usage: { input_tokens: 10, output_tokens: 20 },
  };
  const reply = { type: "assistant", uuid: "a1", requestId: "r1", timestamp: at(1), message };
  const title = { type: "summary", summary: "A title", leafUuid: "u1" };
  write(path, [title, row(1, { cwd: "/w/app", gitBranch: "topic" }), reply]);
  await sync(t);
  const { project_id, usage } = await stored();
  write(path, [row(2)]);
  await sync(t);
  expect(await stored()).toMatchObject({ project_id, cwd: "/w/app", git_branch: "topic", message_count: 3, usage });
  write(path, [row(2), row(3)]);
  await sync(t);
  const grown = await stored();
  expect(grown).toMatchObject({
    project_id,
    cwd: "/w/app",
    git_branch: "topic",
    title: "A title",
    message_count: 4,
    usage,
  });
  await t.kernel.storage.db.run("update session set format = 0");
  await sync(t);
  expect(await stored()).toEqual(grown);
});
