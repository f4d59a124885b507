/** Reports: without prompt text unless asked, with what was wasted and is unfinished. `daily/` counts their figures. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Causality } from "../../plugins/causality/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { Report } from "../../plugins/report/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createLog } from "../undelete/_log.ts";

let home: string;
const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0${String(n).padStart(3, "0")}`;

interface Reply {
  session: number;
  folder: string;
  at: number;
  output: number;
}
/** A million output tokens of Haiku cost five dollars. */
const row = ({ session, folder, at, output }: Reply, i: number) => ({
  type: "assistant",
  uuid: `u${session}-${i}`,
  sessionId: uuid(session),
  timestamp: new Date(at).toISOString(),
  cwd: folder,
  requestId: `r${session}-${i}`,
  message: {
    id: `m${session}-${i}`,
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text: `secret plan ${session}` }],
    usage: { output_tokens: output },
  },
});
async function write(replies: readonly Reply[]): Promise<void> {
  for (const session of new Set(replies.map((one) => one.session))) {
    const own = replies.filter((one) => one.session === session);
    const folder = own[0]?.folder ?? "";
    const file = join(home, `.claude/projects/${folder.replaceAll("/", "-")}/${uuid(session)}.jsonl`);
    await mkdir(dirname(file), { recursive: true });
    const prompt = {
      type: "user",
      uuid: `p${session}`,
      sessionId: uuid(session),
      timestamp: new Date(own[0]?.at ?? 0).toISOString(),
      cwd: folder,
      message: { role: "user", content: `secret prompt ${session}` },
    };
    await writeFile(file, [prompt, ...own.map(row)].map((one) => `${JSON.stringify(one)}\n`).join(""));
  }
}
const start = () => createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
const report = (t: TestKernel, query: string) => t.json<Report>(`/api/report?${query}`);

beforeEach(async () => {
  home = await makeTempDir();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-04T12:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("GET /report", () => {
  it("quotes no prompt unless asked, and cannot be broken by a name", async () => {
    await write([{ session: 1, folder: "/w/a|<b>_x", at: Date.UTC(2026, 10, 4, 9), output: 1_000 }]);
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    for (const format of ["json", "md", "html"]) {
      const text = async (more = "") => (await t.fetch(`/api/report?format=${format}${more}`)).text();
      expect(await text()).not.toContain("secret");
      expect(await text("&prompts=1")).toContain("secret prompt 1");
    }
    const page = await t.fetch("/api/report?format=html");
    expect(page.headers.get("content-security-policy")).toBe("default-src 'none'; style-src 'unsafe-inline'");
    expect(await page.text()).toContain("a|&#60;b&#62;_x");
    expect(await (await t.fetch("/api/report?format=md")).text()).toContain("| a\\|\\<b\\>\\_x |");
    expect(await report(t, "from=2026-11-05&to=2026-11-04")).toMatchObject({ code: "INVALID_INPUT" });
    expect(await report(t, "from=2026-02-30")).toMatchObject({ code: "INVALID_INPUT" });
  });
});

/** A prompt of 2026-10-28 (a Wednesday), calls with their results, and an answer. */
interface Call {
  name: string;
  input: object;
  result: string;
  failed?: boolean;
}
async function writeCalls(session: number, calls: readonly Call[], answered: boolean): Promise<void> {
  const rows = [
    { type: "user", message: { role: "user", content: `secret prompt ${session}` } },
    ...calls.flatMap(({ name, input, result, failed = false }, i) => [
      {
        type: "assistant",
        requestId: `r${session}-${i}`,
        message: {
          id: `m${session}-${i}`,
          role: "assistant",
          model: "claude-haiku-4-5",
          content: [{ type: "tool_use", id: `t${i}`, name, input }],
          usage: { input_tokens: 1_000, output_tokens: 0 },
        },
      },
      {
        type: "user",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${i}`, is_error: failed, content: result }],
        },
      },
    ]),
    ...(answered
      ? [{ type: "assistant", message: { id: "end", role: "assistant", content: [{ type: "text", text: "done" }] } }]
      : []),
  ];
  const file = join(home, `.claude/projects/-w-app/${uuid(session)}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  const lines = rows.map((one, i) => ({
    ...{ uuid: `u${session}-${i}`, sessionId: uuid(session), cwd: "/w/app", ...one },
    timestamp: new Date(Date.UTC(2026, 9, 28, 9, session, i)).toISOString(),
  }));
  await writeFile(file, lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
}
const id = (session: number) => `claude-code:${uuid(session)}`;
const fails: Call = { name: "Bash", input: { command: "make secret" }, result: "x".repeat(4_000), failed: true };

describe("what was wasted, and what is unfinished", () => {
  it("names reads without effect, retries and failures with tokens, cost and the sessions, and how sessions ended", async () => {
    const read = (path: string): Call => ({ name: "Read", input: { file_path: path }, result: "x".repeat(400_000) });
    const edit: Call = {
      name: "Edit",
      input: { file_path: "/w/app/a.ts", old_string: "a", new_string: "b" },
      result: "ok",
    };
    await writeCalls(1, [read("/w/app/docs/far.md"), read("/w/app/a.ts"), edit], true);
    await writeCalls(2, [fails, fails, fails], true);
    await writeCalls(3, [{ ...fails, failed: false }], false);
    await writeCalls(4, [fails], false);
    await write([{ session: 5, folder: "/w/app", at: Date.UTC(2026, 9, 21, 9), output: 1_000_000 }]);
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    const week = "from=2026-10-26&to=2026-11-01";
    const found = await report(t, week);
    const causality = await t.json<Causality>(`/api/sessions/${encodeURIComponent(id(1))}/causality`);
    expect(causality.wastedReads).toEqual([{ seq: 1, path: "/w/app/docs/far.md", tokens: 100_000 }]);
    const call = JSON.stringify(fails.input).length + fails.result.length;
    expect(found.wasted).toEqual([
      // A million tokens of Haiku cost a dollar.
      {
        ...{ kind: "reads", count: 1, sessions: 1, tokens: 100_000, microdollars: 100_000 },
        examples: [{ session: id(1), seq: 1, title: null, count: 1, tokens: 100_000 }],
      },
      {
        ...{ kind: "retries", count: 3, sessions: 1, tokens: Math.round((2 * call) / 4) },
        microdollars: Math.round((2 * call) / 4),
        examples: [{ session: id(2), seq: 1, title: null, count: 3, tokens: Math.round((2 * call) / 4) }],
      },
      {
        ...{ kind: "failures", count: 4, sessions: 2 },
        tokens: Math.round((3 * call) / 4) + Math.round(call / 4),
        microdollars: Math.round((3 * call) / 4) + Math.round(call / 4),
        examples: [
          { session: id(2), seq: 1, title: null, count: 3, tokens: Math.round((3 * call) / 4) },
          { session: id(4), seq: 1, title: null, count: 1, tokens: Math.round(call / 4) },
        ],
      },
    ]);
    expect(found.failing.reduce((sum, { errors }) => sum + errors, 0)).toBe(4);
    expect(found.unfinished.map(({ id, ending, command, title }) => [id, ending, command, title])).toEqual([
      [id(4), "unread", null, null],
      [id(3), "unanswered", null, null],
      [id(2), "failedLast", null, null],
    ]);
    expect(found.previous).toMatchObject({ sessions: 1, microdollars: 5_000_000 });
    expect(found.projects).toMatchObject([{ name: "app", sessions: 4, previousMicrodollars: 5_000_000 }]);
    const named = await report(t, `${week}&prompts=1&git=0`);
    expect(named.unfinished[2]).toMatchObject({ title: "secret prompt 2", command: "make secret" });
    expect(named.wasted[0]?.examples[0]?.title).toBe("secret prompt 1");
    // The same figures after a session grew, and none after it was deleted.
    await writeCalls(1, [read("/w/app/docs/far.md"), read("/w/app/a.ts"), edit, read("/w/app/docs/off.md")], true);
    await t.send("POST", "/api/import", { all: true });
    expect((await report(t, week)).wasted[0]).toMatchObject({ kind: "reads", count: 2, tokens: 200_000 });
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(id(1))}`);
    expect((await report(t, week)).wasted[0]).toMatchObject({ kind: "retries" });
    expect(await t.kernel.storage.db.all("select session from causality_waste where tokens > 0")).toEqual([]);
    const text = await (await t.fetch(`/api/report?${week}&format=md`)).text();
    expect(text).toContain("| failed calls repeated unchanged | 3 | 1 | 2.0K | \\<$0.01 |");
    expect(text).toContain("its last command failed");
    expect(text).not.toContain("secret");
  });
});

describe("sessarc report", () => {
  it("names the files that were destroyed in these days, and what can be had back", async () => {
    const root = join(home, "w/app");
    const at = (hours: number) => Date.UTC(2026, 10, 4, hours) / 1_000;
    const log = createLog({ home, root, key: uuid(7) });
    log.prompt(at(8), "secret prompt");
    log.call(at(9), "Read", { file_path: join(root, "plan.md") }, "1\tone\n2\t");
    log.call(at(9) + 1, "Read", { file_path: join(root, "part.md"), offset: 2, limit: 1 }, "2\ttwo");
    log.call(at(10), "Bash", { command: "rm plan.md part.md # secret" }, "");
    log.write();
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    const { destroyed } = await report(t, "from=2026-11-04&to=2026-11-04&tz=UTC");
    const of = { how: "rm", at: "2026-11-04T10:00:00.000Z", session: `claude-code:${uuid(7)}`, isAssumed: false };
    expect(destroyed).toEqual({
      files: 2,
      sessions: 1,
      rows: [
        { ...of, path: join(root, "plan.md"), state: "exact" },
        { ...of, path: join(root, "part.md"), state: "partial" },
      ],
    });
    expect(await report(t, "from=2026-11-03&to=2026-11-03&tz=UTC")).toMatchObject({
      destroyed: { files: 0, rows: [] },
    });
    expect(await report(t, "from=2026-11-04&to=2026-11-04&git=0")).toMatchObject({ destroyed: null });
    const text = await (await t.fetch("/api/report?from=2026-11-04&to=2026-11-04&format=md")).text();
    expect(text).toMatch(/## Destroyed files\n\n2 files of 1 session/);
    expect(text).toMatch(/plan\.md \| rm \| 2026-11-04 \d\d:00 \| all of it \|/);
    expect(text).not.toContain("secret");
  });

  it("compares these days with as many before in a sentence", async () => {
    const compare = (...args: string[]) => runCommand(["report", "--compare", ...args], home);
    await write([
      { session: 1, folder: "/w/gone", at: Date.UTC(2026, 9, 30, 9), output: 1_000_000 },
      { session: 2, folder: "/w/app", at: Date.UTC(2026, 9, 31, 9), output: 1_000_000 },
      { session: 3, folder: "/w/app", at: Date.UTC(2026, 10, 2, 9), output: 1_000_000 },
      { session: 4, folder: "/w/lib", at: Date.UTC(2026, 10, 4, 9), output: 2_000_000 },
    ]);
    await runCommand(["import", "--all"], home);
    expect((await compare("--week")).stdout).toBe(
      "2026-11-02 to 2026-11-04: $15.00, 50% more than the $10.00 of 2026-10-30 to 2026-11-01; " +
        "2 sessions (2 before), 0 ms active (0 ms before). lib cost $10.00 more, gone $5.00 less.\n",
    );
    expect((await compare("--since", "2026-10-30", "--until", "2026-10-30")).stdout).toBe(
      "2026-10-30: $5.00, 1 session, 0 ms active. Nothing was done in 2026-10-29.\n",
    );
    expect((await compare("--today")).stdout).toContain("2026-11-04: $10.00, 1 session");
    expect(JSON.parse((await compare("--week", "--json")).stdout)).toMatchObject({
      sentence: expect.stringContaining("50% more"),
      before: { from: "2026-10-30", to: "2026-11-01" },
      previous: { sessions: 2, microdollars: 10_000_000 },
    });
    expect((await compare("--since", "2020-01-02", "--until", "2020-01-03")).code).toBe(3);
    expect((await compare("--prompts")).code).toBe(2);
  });

  it("prints Markdown, writes HTML, and counts weeks from Monday and months from their first day", async () => {
    await write([
      { session: 1, folder: "/w/app", at: Date.UTC(2026, 9, 31, 9), output: 1_000_000 },
      { session: 2, folder: "/w/app", at: Date.UTC(2026, 10, 1, 9), output: 1_000_000 },
      { session: 3, folder: "/w/app", at: Date.UTC(2026, 10, 2, 9), output: 1_000_000 },
      { session: 4, folder: "/w/lib", at: Date.UTC(2026, 10, 4, 9), output: 2_000_000 },
    ]);
    await runCommand(["import", "--all"], home);
    const tokens = async (...args: string[]) =>
      (JSON.parse((await runCommand(["report", "--json", ...args], home)).stdout) as Report).totals.tokens;
    expect(await tokens("--week")).toBe(3_000_000);
    expect(await tokens("--last-week")).toBe(2_000_000);
    expect(await tokens("--today")).toBe(2_000_000);
    expect(await tokens("--month")).toBe(4_000_000);
    expect(await tokens("--since", "2026-10-31", "--until", "2026-11-01")).toBe(2_000_000);
    expect(await tokens()).toBe(5_000_000);
    const shown = await runCommand(["report", "--week"], home);
    expect(shown.stdout).toMatchInlineSnapshot(`
      "# Report of 2026-11-02 to 2026-11-04

      ## Projects

      2 sessions, 4 messages, 0 ms active, 3.0M tokens, $15.00 estimated; $10.00 in as many days before.

      | project | sessions | active | tokens | cost | days before | in git |
      | --- | ---: | ---: | ---: | ---: | ---: | ---: |
      | lib | 1 | 0 ms | 2.0M | $10.00 | $0.00 | no repository |
      | app | 1 | 0 ms | 1.0M | $5.00 | $10.00 | no repository |

      ## Windows

      The most expensive windows of five hours; the limit is what the provider reported.

      | assistant | from | to | tokens | cost | limit |
      | --- | ---: | ---: | ---: | ---: | ---: |
      | claude-code | 2026-11-04 09:00 | 2026-11-04 14:00 | 2.0M | $10.00 |  |
      | claude-code | 2026-11-02 09:00 | 2026-11-02 14:00 | 1.0M | $5.00 |  |
      "
    `);
    expect((await runCommand(["report", "--week", "--format", "md"], home, {}, 160)).stdout).toBe(shown.stdout);
    const file = join(home, "week.html");
    expect(await runCommand(["report", "--format", "html", "-o", file], home)).toMatchObject({ code: 0, stdout: "" });
    expect(await readFile(file, "utf8")).toContain("<h2>Projects</h2>");
    expect(await runCommand(["report", "-o", file], home)).toMatchObject({ code: 2 });
    expect(await runCommand(["report", "--week", "--month"], home)).toMatchObject({ code: 2 });
    expect(await runCommand(["report", "--today", "--last-week"], home)).toMatchObject({ code: 2 });
    expect(await runCommand(["report", "--since", "often"], home)).toMatchObject({ code: 2 });
    expect(await runCommand(["report", "--since", "2026-01-01", "--until", "2026-01-02"], home)).toMatchObject({
      code: 3,
    });
  });

  it("what has no token counts is not logged, not free", async () => {
    await write([{ session: 1, folder: "/w/app", at: Date.parse("2026-11-03T10:00:00Z"), output: 0 }]);
    await runCommand(["import", "--all"], home);
    const { stdout } = await runCommand(["report", "--since", "2026-11-01"], home, { NO_COLOR: "1" }, 80);
    expect(stdout).toContain("tokens and cost not logged");
    expect(stdout).toMatch(/^app +1 +0 ms +not logged/m);
    expect(stdout).not.toContain("$0.00 estimated");
  });

  it("fits a terminal, and names what was worked on", async () => {
    await write([
      { session: 1, folder: "/w/app", at: Date.UTC(2026, 10, 2, 9), output: 1_000_000 },
      { session: 2, folder: "/w/lib_core", at: Date.UTC(2026, 10, 4, 9), output: 1_000 },
    ]);
    await runCommand(["import", "--all"], home);
    const { stdout } = await runCommand(["report", "--week"], home, { NO_COLOR: "1" }, 80);
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/^Report of 2026-11-02 to 2026-11-04\n\nProjects\n/);
    expect(stdout).toMatch(/^lib_core .* <\$0\.01\b|^lib_core .* \$0\.01\b/m);
    expect(stdout).toContain("Sessions of app");
    expect(stdout).not.toMatch(/\\|\| ---|^#/m);
  });
});
