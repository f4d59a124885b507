/** Nothing archived is ever replaced by less. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  answered,
  at,
  chats,
  type Detail,
  geminiId,
  head,
  type Page,
  read,
  said,
  start,
  sync,
  write,
} from "./keep-logs.ts";

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
  const { tools, files } = await t.kernel.inject("archive").facts(geminiId);
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

it("a log that was replaced by one that names no folder keeps its session's, also as it grows, and as it is recounted", async () => {
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
      imported_at: _importedAt,
      generation: _generation,
      parts: _parts,
      // Parts of a log that grew are fewer where it was read as a whole.
      transcript_bytes: _transcriptBytes,
      ...rest
    } = await t.kernel.inject("archive/open").row(id);
    return { ...rest, facts: await t.kernel.inject("archive").facts(id) };
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
