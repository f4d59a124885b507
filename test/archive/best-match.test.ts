/** The order "best match": what each thing that a session can have of a word is worth beside the others. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

type Content = string | { type: string; [field: string]: unknown }[];
let t: TestKernel;
let day: number;
beforeEach(async () => {
  t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
  day = 0;
});

/** A session of a later day than the one before it. Even messages are prompts, odd ones are the assistant's. */
function session(name: string, contents: readonly Content[]): void {
  day++;
  const path = join(t.home, ".claude/projects/-w-app", `${name}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = contents.map((content, i) => {
    const type = i % 2 === 0 ? "user" : "assistant";
    const timestamp = new Date(Date.UTC(2026, 8, day, 10, 0, i)).toISOString();
    const message = { id: `${name}-${i}`, role: type, model: "m", content };
    return `${JSON.stringify({ type, uuid: `${name}-${i}`, timestamp, cwd: "/w/app", message })}\n`;
  });
  writeFileSync(path, rows.join(""));
}
const call = (input: object): Content => [{ type: "tool_use", id: "t", name: "Bash", input }];
const result = (content: string): Content => [{ type: "tool_result", tool_use_id: "t", content }];

interface Answer {
  total: { sessions: number; relation: string };
  nextCursor: string | null;
  results: {
    session: { id: string };
    matchCount: number;
    matches: { seq: number; kind: string; snippet: string; ranges: [number, number][] }[];
    title: { text: string; ranges: [number, number][] };
  }[];
}
const search = (q: string, more = "") => t.json<Answer>(`/api/search?sort=relevance&q=${encodeURIComponent(q)}${more}`);
const order = async (q: string) =>
  (await search(q)).results.map((one) => one.session.id.replace("claude-code:-w-app:", ""));
const importAll = () => t.send("POST", "/api/import", { all: true });

it("title and prompt, answer, result, argument, name of an argument: in this order, however old", async () => {
  session("prompt", ["Why is the timeout so short?", "Let me see."]);
  session("answer", ["Why?", "The timeout is too short."]);
  session("result", ["Run it", call({ command: "npm test" }), result("timeout of the test"), "Done."]);
  session("argument", ["Run it", call({ command: "timeout 5 npm test" })]);
  session("name", ["Run it", ...Array.from({ length: 40 }, () => call({ command: "npm test", timeout_ms: 5000 }))]);
  await importAll();
  expect(await order("timeout")).toEqual(["prompt", "answer", "result", "argument", "name"]);
});

it("a sub-agent, whose prompt an assistant wrote, is behind the prompt and the answer of a session that has the word as well", async () => {
  session("answer", ["Why?", "The timeout is too short."]);
  session("prompt", ["Look into it", "ok", "Why is the timeout so short?", "Let me see."]);
  session("prompt/subagents/agent-a1", ["Why is the timeout so short?", "Let me see."]);
  await importAll();
  const { results } = await search("timeout");
  expect(results.map((one) => one.session.id.split(":").at(-1))).toEqual([
    expect.stringMatching(/^prompt$/),
    expect.stringMatching(/^answer$/),
    expect.stringContaining("a1"),
  ]);
});

it("a whole word is before the beginning of one, and that before a part of one, however often", async () => {
  session("whole", ["Fix the bug", "ok"]);
  session("begins", ["Fix the bugs", "ok"]);
  session("inside", ["Look at debugtest", "ok", "and debugtest", "ok", "and debugtest again", "debugtest"]);
  await importAll();
  expect(await order("bug")).toEqual(["whole", "begins", "inside"]);
  session("cjk", ["请检查环境变量的设置", "ok"]);
  session("later", ["unrelated", "检查环境变量"]);
  await importAll();
  expect(await order("环境变量")).toEqual(["cjk", "later"]);
});

it("words side by side are before words apart; sessions that fit alike stand newest first", async () => {
  session("beside", ["Fix the login bug", "ok"]);
  session("apart", ["The bug is not in the login", "ok"]);
  session("again", ["Fix the login bug", "ok"]);
  await importAll();
  expect(await order("login bug")).toEqual(["again", "beside", "apart"]);
});

it("a session is found by its title alone, and the title says where", async () => {
  session("renamed", ["Look at this", "ok"]);
  session("other", ["nothing", "here"]);
  await importAll();
  await t.send("PATCH", `/api/sessions/${encodeURIComponent("claude-code:-w-app:renamed")}`, {
    name: "Invoice  export",
  });
  const { results, total } = await search("invoice");
  expect(total).toEqual({ sessions: 1, relation: "eq" });
  expect(results).toMatchObject([
    {
      session: { id: "claude-code:-w-app:renamed" },
      matchCount: 0,
      matches: [],
      title: { text: "Invoice export", ranges: [[0, 7]] },
    },
  ]);
  const recent = await t.json<Answer>("/api/search?q=invoice");
  expect(recent.results.map((one) => one.session.id.replace("claude-code:-w-app:", ""))).toEqual(["renamed"]);
  expect(await t.json("/api/search/total?q=invoice")).toMatchObject({ sessions: 1, messages: 0 });
  expect((await search("invoice kind:user")).results).toEqual([]);
  expect((await search("invoice -export")).results).toEqual([]);
});

it("shows the best matches first, around whole words", async () => {
  session("one", [
    "debug this",
    "a debugger",
    "debug again",
    call({ command: "debug" }),
    `${"debug ".repeat(40)} the bug is here`,
    "No bug left.",
  ]);
  await importAll();
  const [found] = (await search("bug")).results;
  expect(found?.matchCount).toBe(6);
  expect(
    found?.matches
      .map(({ seq }) => seq)
      .slice(0, 2)
      .sort(),
  ).toEqual([4, 5]);
  expect(found?.matches.find(({ seq }) => seq === 4)?.snippet).toContain("the bug is here");
});

it("of several words shows first the message that has them near each other, and of a long one that part", async () => {
  const far = "quiet water ".repeat(40);
  session("one", [
    `The buffer is full. ${far} We retry.`,
    `We retry. ${far} Then a buffer of one retry is enough.`,
    "Other words",
    `A buffer ${far} and a retry.`,
  ]);
  await importAll();
  const [found] = (await search("retry buffer")).results;
  expect(found?.matches.map(({ seq }) => seq)).toEqual([1, 0, 3]);
  expect(found?.matches[0]?.snippet).toContain("a buffer of one retry");
});

it("goes on by pages, each session once, best first", async () => {
  for (let n = 0; n < 12; n++) session(`s${n}`, ["ember", ...Array.from({ length: n * 3 }, () => "ember")]);
  await importAll();
  const all = await order("ember");
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Answer = await search("ember", `&limit=5${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    seen.push(...page.results.map((one) => one.session.id.replace("claude-code:-w-app:", "")));
    cursor = page.nextCursor;
  } while (cursor);
  expect(seen).toHaveLength(12);
  expect(new Set(seen).size).toBe(12);
  expect(seen.slice(0, 10)).toEqual(all);
});

it("the total names the kinds that match", async () => {
  session("one", ["ember", "ember", "ember"]);
  session("two", ["nothing", "ember"]);
  await importAll();
  expect(await t.json("/api/search/total?q=ember")).toMatchObject({
    facets: {
      kinds: [
        { id: "assistant", sessions: 2, messages: 2 },
        { id: "user", sessions: 1, messages: 2 },
      ],
    },
  });
  // Without a query: of the sessions that are listed.
  expect(await t.json("/api/search/total")).toMatchObject({
    facets: { tools: [{ id: "claude-code", sessions: 2 }], projects: [{ sessions: 2 }], kinds: [] },
  });
});

it("marks a word where it is whole, else where a word begins with it, else inside of words", async () => {
  session("whole", ["The latest test of the testing."]);
  session("begin", ["The latest testing."]);
  session("inside", ["The latest."]);
  await importAll();
  const marked = (await search("test")).results.map(({ title: { text, ranges } }) =>
    ranges.map(([start, end]) => `${text.slice(start - 1, start)}|${text.slice(start, end)}`),
  );
  expect(marked).toEqual([[" |test"], [" |test"], ["a|test"]]);
});

it("marks no short word inside of others, nor common words in a title", async () => {
  session("tides", [
    "High and low water times at the port: the slope changes at an extreme.",
    "Slope and extremes at an island.",
  ]);
  await importAll();
  const [found] = (await search("slope changes at an extr")).results;
  const marks = ({ text, ranges }: { text: string; ranges: [number, number][] }) =>
    ranges.map(([start, end]) => text.slice(start, end));
  expect(found && marks(found.title)).toEqual(["slope", "changes", "extr"]);
  const [match] = found?.matches ?? [];
  expect(match && marks({ text: match.snippet, ranges: match.ranges })).toEqual([
    "at",
    "slope",
    "changes",
    "at",
    "an",
    "extr",
  ]);
  // The only words there are.
  const [common] = (await search("at the")).results;
  expect(common && marks(common.title)).toEqual(["at", "the", "the", "at"]);
  const [part] = (await search("lop")).results;
  expect(part && marks(part.title)).toEqual(["lop"]);
});

it("finds a session by its id or a part of it, first", async () => {
  session("aaaaaaaa-0000-4000-8000-000000000001", ["One."]);
  session("bbbbbbbb-0000-4000-8000-000000000002", ["As in aaaaaaaa-0000-4000-8000-000000000001."]);
  await importAll();
  const [one, other] = [
    "claude-code:aaaaaaaa-0000-4000-8000-000000000001",
    "claude-code:bbbbbbbb-0000-4000-8000-000000000002",
  ];
  expect(await order("aaaaaaaa-0000-4000-8000-000000000001")).toEqual([one, other]);
  expect(await order("BBBBBBBB-0000")).toEqual([other]);
  const [first] = (await search("0000-4000-8000-000000000002")).results;
  expect(await order(first?.session.id ?? "")).toEqual([other]);
  // Less would be in the id of many.
  expect(await order("bbbbbbb")).toEqual([]);
  expect((await search("bbbbbbbb-0000 kind:user")).total.sessions).toBe(0);
});

it("a snippet and what a call was called on keep the matched word and the name of a file whole", async () => {
  const folders = Array.from({ length: 30 }, (_, i) => `folder-${i}`).join("/");
  session("path", ["Where is it?", `It is in ${folders}/harbour.ts, at its end.`]);
  session("after", ["Where then?", `harbour ${"x ".repeat(60)}src/one/two/three/four/five/table.test.ts is next`]);
  session("call", [
    "Read",
    [{ type: "tool_use", id: "t", name: "Read", input: { file_path: `/${folders}/tidepool.ts` } }],
  ]);
  await importAll();
  const snippets = Object.fromEntries(
    (await search("harbour")).results.map((one) => [one.session.id.split(":").at(-1), one.matches[0]?.snippet ?? ""]),
  );
  expect(snippets.path).toMatch(/^folder-\d+\/.*\/harbour\.ts, at its end\.$/);
  expect(snippets.after).toMatch(/ src\/one\/two\/three\/four\/five\/table\.test\.ts$/);
  const [call] = (await search("kind:tool_use tidepool")).results[0]?.matches ?? [];
  expect(call).toMatchObject({ argument: expect.stringMatching(/^…\/folder-\d+\/.*\/tidepool\.ts$/) });
});
