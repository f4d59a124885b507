/** GET /insights/calls: calls that failed or took long, by pages, each with its argument and what the error begins with; usage by kind. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import type { Calls, UsageReport } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";

let t: TestKernel;
const key = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a${String(n).padStart(2, "0")}`;
const time = (n: number, seconds: number) => new Date(Date.UTC(2026, 9, n, 10, 0, seconds)).toISOString();

/** Two calls in one session: the first after `seconds` with `output`, the second well and at once. */
async function write(n: number, name: string, input: object, output: string, failed: boolean, seconds = 1) {
  const row = (type: string, at: number, content: object[], message = {}) => ({
    type,
    uuid: `${type}${n}-${at}`,
    sessionId: key(n),
    cwd: "/w/app",
    timestamp: time(n, at),
    message: { role: type, content, ...message },
  });
  const usage = { input_tokens: 10, output_tokens: 10 };
  const rows = [
    row("user", 0, [{ type: "text", text: `Session ${n}` }]),
    row("assistant", 1, [{ type: "tool_use", id: "a", name, input }], {
      id: `m${n}`,
      model: "claude-haiku-4-5",
      usage,
    }),
    row("user", 1 + seconds, [{ type: "tool_result", tool_use_id: "a", is_error: failed, content: output }]),
    row("assistant", 50, [{ type: "tool_use", id: "b", name: "Bash", input: { command: "true" } }]),
    row("user", 51, [{ type: "tool_result", tool_use_id: "b", content: "" }]),
  ];
  const path = join(t.home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
}
const ask = (query: string) => t.json<Calls>(`/api/insights/calls?tz=UTC&${query}`);
const days = (answer: Calls) => answer.calls.map((one) => Number(one.at?.slice(8, 10)));

beforeAll(async () => {
  t = await createTestKernel({ plugins: [archive(), insights(), claude(), codex()] });
  const red = "\u001b[31mError: no such test\u001b[0m";
  await write(1, "Bash", { command: "npm test\n--watch" }, `\nExit code 1\n${red}\nmore`, true);
  await write(2, "Edit", { file_path: "/w/app/a.ts" }, "<tool_use_error>String not found</tool_use_error>", true);
  await write(3, "Read", { file_path: "/w/app/b.ts" }, "fine", false, 40);
  await write(4, "Bash", { command: "exit 1" }, "", true);
  const trace = 'Traceback (most recent call last):\n  File "a.py", line 1\n    x\nKeyError: "down"';
  await write(5, "mcp__db__query", { sql: "select 1" }, `Chunk ID: 1\nWall time: 2 s\nOutput:\n${trace}\nbadly`, true);
  await t.send("POST", "/api/import", { all: true });
});
afterAll(() => t.close());

describe("calls that failed or took long", () => {
  it("tell what was called, with what, and what the error begins with", async () => {
    const { calls, names, nextCursor } = await ask("");
    expect(nextCursor).toBeNull();
    expect(calls.map(({ name, argument, error, failed, ms }) => [name, argument, error, failed, ms])).toEqual([
      ["mcp__db__query", '{"sql":"select 1"}', 'KeyError: "down"', true, 1_000],
      ["Bash", "exit 1", "", true, 1_000],
      ["Edit", "/w/app/a.ts", "String not found", true, 1_000],
      ["Bash", "npm test --watch", "Exit code 1: Error: no such test", true, 1_000],
    ]);
    expect(calls[3]).toMatchObject({ sessionId: `claude-code:${key(1)}`, seq: 1, title: "Session 1" });
    expect(names[0]).toEqual({ name: "Bash", calls: 7, errors: 2 });
  });

  it("are narrowed by name, time, tool, project and session", async () => {
    expect(days(await ask("name=Bash"))).toEqual([4, 1]);
    expect(days(await ask("from=2026-10-02&to=2026-10-04"))).toEqual([4, 2]);
    expect(days(await ask("tool=codex"))).toEqual([]);
    expect(days(await ask("project=app&name=Edit"))).toEqual([2]);
    expect(await ask("project=apps")).toMatchObject({ message: "No project apps; did you mean app?" });
    expect(days(await ask(`session=claude-code:${key(5)}`))).toEqual([5]);
    expect(days(await ask("slow=30000"))).toEqual([5, 4, 3, 2, 1]);
    expect(days(await ask("slow=30000&failed=0"))).toEqual([3]);
  });

  it("come by pages that hold each once, whatever their size; an invalid cursor is refused", async () => {
    for (const limit of [1, 3]) {
      const seen: number[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: Calls = await ask(`limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        expect(page.calls.length).toBeLessThanOrEqual(limit);
        seen.push(...days(page));
        cursor = page.nextCursor;
      }
      expect(seen).toEqual([5, 4, 2, 1]);
    }
    expect((await t.fetch("/api/insights/calls?cursor=1:x:y")).status).toBe(400);
  });
});

it("a transcript that is gone leaves out its calls alone", async () => {
  const { id, parts } = await t.kernel.inject("archive").get(`claude-code:${key(4)}`);
  const generations = parts.map(({ generation }) => generation);
  await t.kernel.storage.transcripts.remove(id, generations);
  // Asked again: what was found is kept by the length that counts as slow.
  const answer = await ask("slow=29000&failed=1");
  expect([days(answer), answer.damaged]).toEqual([[5, 3, 2, 1], 1]);
});

it("usage splits by kind of session, and is narrowed by one", async () => {
  const usage = (query: string) => t.json<UsageReport>(`/api/usage?tz=UTC&${query}`);
  const { rows, totals } = await usage("by=kind");
  expect(rows.map((row) => [row.key, row.sessions])).toEqual([["main", 5]]);
  expect((await usage("by=day&kind=main")).totals.tokens).toEqual(totals.tokens);
  expect((await usage("by=day&kind=subagent")).totals.sessions).toBe(0);
});

it("a list of tasks is named by the one in progress", async () => {
  const todos = [
    { content: "Read the tests", status: "completed" },
    { content: "Fix the build", status: "in_progress" },
  ];
  await write(6, "TodoWrite", { todos }, "fine", false, 45);
  await t.send("POST", "/api/import", { all: true });
  expect((await ask("slow=30000&name=TodoWrite")).calls.map(({ argument }) => argument)).toEqual(["Fix the build"]);
});
