/** What a log states beside its messages: links, tags, a cost of its own; and figures that cannot be true. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type SessionSummary, toRecord, toText } from "sessarc";
import { defineAdapter } from "sessarc/adapter";
import type { Session } from "sessarc/plugins";
import { describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { createTestKernel } from "../kernel.ts";

const SESSION = "0199a000-0000-7000-8000-000000000001";
const NEXT = "0199a000-0000-7000-8000-000000000002";
const at = "2026-11-20T10:00:00.000Z";
const user = (id: string) => ({
  type: "user",
  uuid: `u-${id}`,
  sessionId: id,
  timestamp: at,
  cwd: "/w/app",
  message: { role: "user", content: "Go on" },
});

interface Detail {
  session: Session;
  linked: Session[];
}

describe("links of Claude Code", () => {
  const write = async (home: string, id: string, rows: object[]) => {
    const path = join(home, ".claude/projects/-w-app", `${id}.jsonl`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  };

  it("lead to other sessions, pull requests and folders; the last row of a kind counts", async () => {
    const t = await createTestKernel({ plugins: defaultPlugins() });
    const worktreeSession = {
      originalCwd: "/w/app",
      worktreePath: "/w/app-fix",
      worktreeName: "fix",
      worktreeBranch: "fix/tests",
    };
    await write(t.home, NEXT, [user(NEXT)]);
    await write(t.home, SESSION, [
      user(SESSION),
      { type: "derived-from", sessionId: SESSION, sessions: ["gone", { sessionId: NEXT }] },
      {
        type: "pr-link",
        sessionId: SESSION,
        prNumber: 7,
        prUrl: "https://git.example/w/app/pull/7",
        prRepository: "w/app",
      },
      {
        type: "pr-link",
        sessionId: SESSION,
        prNumber: 8,
        prUrl: "https://git.example/w/app/pull/8",
        prRepository: "w/app",
      },
      { type: "pr-link", sessionId: SESSION, prNumber: 9, prUrl: "javascript:alert(1)" },
      { type: "relocated", sessionId: SESSION, relocatedCwd: "/w/moved" },
      { type: "worktree-state", sessionId: SESSION, worktreeSession },
      { type: "tag", sessionId: SESSION, tag: "first" },
      { type: "tag", sessionId: SESSION, tag: "release" },
      { type: "continued-in", sessionId: SESSION, continuedInSessionId: NEXT },
    ]);
    await t.send("POST", "/api/import", { all: true });
    const { session, linked } = await t.json<Detail>(`/api/sessions/claude-code:${SESSION}`);
    expect(session.links).toEqual([
      { kind: "derived-from", sessionId: "claude-code:gone" },
      { kind: "derived-from", sessionId: `claude-code:${NEXT}` },
      { kind: "pull-request", url: "https://git.example/w/app/pull/8", number: 8, repository: "w/app" },
      { kind: "relocated", path: "/w/moved" },
      { kind: "worktree", path: "/w/app-fix", name: "fix", branch: "fix/tests", from: "/w/app" },
      { kind: "continued-in", sessionId: `claude-code:${NEXT}` },
    ]);
    expect(session.logTags).toEqual(["release"]);
    expect(session.partial.unknownTypes).toEqual({});
    expect(linked.map((one) => one.id)).toEqual([`claude-code:${NEXT}`]);

    const shown = await t.json<Detail>(`/api/sessions/claude-code:${NEXT}`);
    expect(shown.session).toMatchObject({ links: [], logTags: [], loggedCost: null, figuresRefused: null });
  });

  it("a worktree that was left is no link, also when the log grows", async () => {
    const t = await createTestKernel({ plugins: defaultPlugins() });
    const enter = { type: "worktree-state", sessionId: SESSION, worktreeSession: { worktreePath: "/w/app-fix" } };
    await write(t.home, SESSION, [user(SESSION), enter]);
    await t.send("POST", "/api/import", { all: true });
    const links = async () => (await t.json<Detail>(`/api/sessions/claude-code:${SESSION}`)).session.links;
    expect(await links()).toEqual([{ kind: "worktree", path: "/w/app-fix" }]);
    await write(t.home, SESSION, [user(SESSION), enter, { ...enter, worktreeSession: null }]);
    await t.send("POST", "/api/sync?wait=1");
    expect(await links()).toEqual([]);
  });
});

/** `~/.loose/<key>.json` holds a summary: an adapter that reports whatever its log says. */
const loose = defineAdapter(() => ({
  name: "loose",
  label: "Loose",
  roots: ({ home }) => [join(home, ".loose")],
  async *scan(root) {
    for (const key of ["good", "bad"]) yield { key, path: join(root, `${key}.jsonl`), mtime: 1, size: 1 };
  },
  parse: () => {
    let summary: SessionSummary = { usage: {} };
    return {
      row(row) {
        const { text, ...facts } = toRecord(row);
        summary = { ...summary, ...facts };
        return { kind: "user", text: toText(text) ?? "" };
      },
      finish: () => summary,
    };
  },
}));
const counts = { input: 10, output: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };

describe("figures that an adapter reports", () => {
  async function imported(bad: object) {
    const t = await createTestKernel({ plugins: [...defaultPlugins(), loose()] });
    await mkdir(join(t.home, ".loose"));
    const summaries = { good: { text: "Hi", usage: { m: counts }, costUSD: 0.25 }, bad: { text: "Hello", ...bad } };
    for (const [key, summary] of Object.entries(summaries)) {
      const path = join(t.home, ".loose", `${key}.jsonl`);
      await writeFile(path, `${JSON.stringify(summary)}\n`);
      await utimes(path, 1, 1);
    }
    const { body } = await t.send<{ failed: unknown[] }>("POST", "/api/import", { all: true });
    expect(body.failed).toEqual([]);
    const problems = await t.json<{ problems: { plugin: string; code: string; message: string; fix: string }[] }>(
      "/api/plugins",
    );
    const read = async (key: string) => (await t.json<Detail>(`/api/sessions/loose:${key}`)).session;
    return { good: await read("good"), bad: await read("bad"), ...problems };
  }

  it.each([
    ["a negative count", { usage: { m: { ...counts, input: -1 } } }, "input tokens -1 of m"],
    ["a fraction", { usage: { m: { ...counts, output: 1.5 } } }, "output tokens 1.5 of m"],
    ["no number", { usage: { m: { ...counts, cacheRead: null } } }, "cacheRead tokens null of m"],
    ["a negative cost", { usage: { m: counts }, costUSD: -2 }, "a cost of -2 dollars"],
  ])("are refused with %s: the session can be read, the fault names adapter and file", async (_, bad, reason) => {
    const found = await imported(bad);
    expect(found.good).toMatchObject({ usage: { m: counts }, loggedCost: 250_000, figuresRefused: null });
    expect(found.bad).toMatchObject({ usage: {}, loggedCost: null, figuresRefused: reason, messageCount: 1 });
    expect(found.problems).toEqual([
      expect.objectContaining({ plugin: "adapter:loose", code: "FIGURES_REFUSED", count: 1 }),
    ]);
    const [fault] = found.problems;
    expect(fault?.message).toContain("bad.jsonl");
    expect(fault?.message).toContain(reason);
    expect(fault?.fix).toContain("Update loose");
  });

  it("leave a reply out that is later than now, also where the adapter has no quarter-hours", async () => {
    const late = { key: "r", at: "2999-01-01T00:00:00.000Z", model: "m", usage: counts };
    const twice = { ...counts, input: 20, output: 10 };
    const { bad, problems } = await imported({ usage: { m: twice }, replies: [late] });
    expect(bad).toMatchObject({ usage: { m: counts }, figuresRefused: null });
    expect(bad.figuresLeftOut).toEqual({ late: { replies: 1, first: late.at, last: late.at } });
    expect(problems).toEqual([]);
  });
});
