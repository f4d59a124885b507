/** Health: what the indexer finds in sessions, whole and as they grow, and what it comes to over all of them. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createTestKernel } from "sessarc/test";
import { beforeEach, describe, expect, it } from "vitest";
import type { Finding, Waste } from "../../plugins/health/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

let home: string;
const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
const toId = (n: number) => encodeURIComponent(`claude-code:${uuid(n)}`);

interface Call {
  name: string;
  input: object;
  result: string;
  failed?: boolean;
  /** Seconds. */
  takes?: number;
}
const read = (path: string, result = "x".repeat(400)): Call => ({ name: "Read", input: { file_path: path }, result });
const edit = (path: string, old_string: string, new_string: string): Call => ({
  name: "Edit",
  input: { file_path: path, old_string, new_string },
  result: "ok",
});
const shell = (command: string, failed = false, takes = 1): Call => ({
  name: "Bash",
  input: { command },
  result: "out",
  failed,
  takes,
});

/** A prompt, the calls with their results, and a last word. */
function rows(n: number, calls: readonly Call[], end = true): object[] {
  let at = Date.parse("2026-11-20T10:00:00Z");
  let count = 0;
  const row = (type: string, message: object, seconds = 1) => {
    at += seconds * 1_000;
    const id = `${n}-${count++}`;
    return {
      type,
      uuid: `u${id}`,
      sessionId: uuid(n),
      timestamp: new Date(at).toISOString(),
      cwd: "/w/app",
      requestId: `r${id}`,
      message,
    };
  };
  const said = (content: object[]) => ({
    id: `m${n}-${count}`,
    role: "assistant",
    model: "m",
    content,
    usage: { output_tokens: 1 },
  });
  return [
    row("user", { role: "user", content: "do it" }),
    ...calls.flatMap(({ name, input, result, failed = false, takes = 1 }, i) => [
      row("assistant", said([{ type: "tool_use", id: `t${n}-${i}`, name, input }])),
      row(
        "user",
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${n}-${i}`, is_error: failed, content: result }],
        },
        takes,
      ),
    ]),
    ...(end ? [row("assistant", said([{ type: "text", text: "done" }]))] : []),
  ];
}
async function write(n: number, list: readonly object[]): Promise<void> {
  const file = join(home, `.claude/projects/-w-app/${uuid(n)}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, list.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
const start = () => createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });

beforeEach(async () => {
  home = await makeTempDir();
});

/** What each kind of waste looks like, with the findings it must give. */
const CASES: [string, Call[], Partial<Finding>[]][] = [
  ["nothing", [read("/w/app/a.ts"), shell("npm test"), edit("/w/app/a.ts", "a", "b"), shell("npm test")], []],
  [
    "a command again and again",
    [shell("git status"), shell("git status"), shell("git status")],
    [{ kind: "loop", count: 3, seq: 1, last: 5, tool: "Bash", subject: "git status" }],
  ],
  [
    "the same command after each change",
    [shell("t"), edit("/a", "1", "2"), shell("t"), edit("/a", "2", "3"), shell("t")],
    [],
  ],
  [
    "a failed call repeated unchanged",
    [shell("make", true), shell("make", true), shell("ls")],
    // The second call and its result: 18 and 3 characters.
    [{ kind: "retry", count: 2, seq: 1, last: 3, subject: "make", tokens: 5 }],
  ],
  [
    "a file read again without a change",
    [read("/w/app/a.ts"), read("/w/app/b.ts"), read("/w/app/a.ts"), read("/w/app/a.ts")],
    [{ kind: "reread", count: 2, seq: 1, last: 7, subject: "/w/app/a.ts", tokens: 200 }],
  ],
  ["a file read again after a change", [read("/w/app/a.ts"), edit("/w/app/a.ts", "a", "b"), read("/w/app/a.ts")], []],
  [
    "an edit that was undone",
    [edit("/w/app/a.ts", "a", "b"), edit("/w/app/a.ts", "b", "a")],
    [{ kind: "undone", seq: 1, last: 3, subject: "/w/app/a.ts" }],
  ],
  [
    "a failed command as the last one",
    [shell("ls"), shell("make", true)],
    [{ kind: "failedLast", seq: 3, subject: "make" }],
  ],
  ["a long wait", [shell("sleep", false, 90)], [{ kind: "wait", seq: 1, last: 2, ms: 90_000, tool: "Bash" }]],
];

describe("findings of a session", () => {
  it.each(CASES)("%s", async (_, calls, expected) => {
    await write(1, rows(1, calls));
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    const found = await t.json<Finding[]>(`/api/sessions/${toId(1)}/health`);
    expect(found).toMatchObject(expected);
    expect(found).toHaveLength(expected.length);
  });

  it("a failure that nothing followed, until something does", async () => {
    await write(1, rows(1, [shell("make", true)], false));
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    expect(await t.json(`/api/sessions/${toId(1)}/health`)).toMatchObject([{ kind: "unread", seq: 1, tool: "Bash" }]);
    await write(1, rows(1, [shell("make", true)]));
    await t.send("POST", "/api/import", { all: true });
    expect(await t.json(`/api/sessions/${toId(1)}/health`)).toMatchObject([{ kind: "failedLast", seq: 1 }]);
  });

  it("a session that ended without an answer, until one comes", async () => {
    await write(1, rows(1, [shell("ls")], false));
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    expect(await t.json(`/api/sessions/${toId(1)}/health`)).toMatchObject([{ kind: "unanswered", seq: 2 }]);
    await write(1, rows(1, [shell("ls")]));
    await t.send("POST", "/api/import", { all: true });
    expect(await t.json(`/api/sessions/${toId(1)}/health`)).toEqual([]);
  });

  it("are the same however often a session grew between imports", async () => {
    const calls = CASES.flatMap(([, own]) => own);
    const list = rows(1, calls);
    await write(2, rows(2, calls));
    const t = await start();
    for (let rows = 1; rows <= list.length; rows += 5) {
      await write(1, list.slice(0, rows));
      await t.send("POST", "/api/import", { all: true });
    }
    await write(1, list);
    await t.send("POST", "/api/import", { all: true });
    const grown = await t.json<Finding[]>(`/api/sessions/${toId(1)}/health`);
    expect(grown.length).toBeGreaterThan(3);
    expect(grown).toEqual(await t.json(`/api/sessions/${toId(2)}/health`));
    expect((await t.json<{ indexers?: unknown[] }>("/api/plugins")).indexers).toBeUndefined();
  });

  it("are those of a session that is there", async () => {
    const t = await start();
    expect(await t.json("/api/sessions/claude-code:none/health")).toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});

describe("over all sessions", () => {
  const prepare = async () => {
    for (const n of [1, 2, 3])
      await write(n, rows(n, [shell("gradle", true), shell("ls"), read("/w/app/README.md"), read("/w/app/README.md")]));
    await write(4, rows(4, [read("/w/app/other.ts"), shell("sleep", false, 120)]));
    await runCommand(["import", "--all"], home);
  };

  it("name the file that all read, the tool that fails first, and the sessions that show it", async () => {
    await prepare();
    const wastes = JSON.parse((await runCommand(["health", "--json"], home)).stdout) as Waste[];
    const of = (kind: Waste["kind"]) => wastes.filter((one) => one.kind === kind);
    expect(of("readEverywhere")).toMatchObject([{ subject: "/w/app/README.md", sessions: 3, count: 6, tokens: 300 }]);
    expect(of("failsFirst")).toMatchObject([{ tool: "Bash", sessions: 3 }]);
    expect(of("reread")).toMatchObject([{ subject: "/w/app/README.md", sessions: 3, count: 3, tokens: 300 }]);
    expect(of("reread")[0]?.examples).toHaveLength(3);
    expect(of("wait")).toMatchObject([
      { ms: 120_000, examples: [{ session: `claude-code:${uuid(4)}`, seq: 3, title: "do it" }] },
    ]);
  });

  it("say with each row what its kind comes to, also where the list is cut", async () => {
    for (const n of [1, 2, 3])
      await write(n, rows(n, [shell("make", true, 90), read("/w/app/a.ts"), read("/w/app/b.ts", "b"), shell("ls")]));
    await write(
      4,
      rows(4, [{ ...read("/w/app/a.ts"), takes: 100 }, shell("sleep", false, 120), shell("nap", false, 70)]),
    );
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    const of = async (query: string, kind: Waste["kind"]) =>
      (await t.json<Waste[]>(`/api/health?${query}`)).filter((one) => one.kind === kind);
    expect(await of("limit=1", "wait")).toMatchObject([
      { tool: "Bash", count: 5, sessions: 4, ofKind: { wastes: 2, count: 6, sessions: 4, ms: 560_000 } },
    ]);
    expect(await of("limit=1", "readEverywhere")).toMatchObject([
      { subject: "/w/app/a.ts", count: 4, ofKind: { wastes: 2, count: 7, sessions: 4 } },
    ]);
    expect(await of("limit=1", "failsFirst")).toMatchObject([{ ofKind: { wastes: 1, count: 3, sessions: 3 } }]);
    expect(await of("after=2026-01-01&limit=5", "wait")).toMatchObject([{}, { ofKind: { wastes: 2, sessions: 4 } }]);
  });

  it("are asked of the catalogue once until something is stored", async () => {
    await write(1, rows(1, [shell("sleep", false, 90)]));
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    await t.kernel.inject("importer").idle();
    const health = t.kernel.inject("health");
    const first = health.all({}, 5);
    expect(health.all({}, 5)).toBe(first);
    expect(health.all({}, 6)).not.toBe(first);
    expect(await first).toMatchObject([{ kind: "wait", sessions: 1 }]);
    await write(2, rows(2, [shell("sleep", false, 90)]));
    await t.send("POST", "/api/import", { all: true });
    expect(await health.all({}, 5)).toMatchObject([{ kind: "wait", sessions: 2 }]);
  });

  it("are listed on the terminal, at 80 and 160 columns, with and without colour", async () => {
    await prepare();
    const wide = await runCommand(["health"], home, { NO_COLOR: "1" }, 160);
    expect(wide.stdout).toMatchInlineSnapshot(`
      "Files that many sessions read
      Put what they say into the project's instructions (AGENTS.md, CLAUDE.md).
      what              times  ≈ tokens  sessions  such as
      /w/app/README.md      6       300         3  0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01

      Tools whose first call fails
      Say in the project's instructions how the tool is called here.
      what  times  sessions  such as
      Bash      3         3  0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01

      Files read again without a change
      Ask for the part that is needed, or split the file.
      what              times  ≈ tokens  sessions  such as
      /w/app/README.md      3       300         3  0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01

      Long waits
      Run long commands in the background, or on fewer files.
      what  times       time  sessions  such as
      Bash      1  2 min 0 s         1  0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a04
      "
    `);
    const plain = await runCommand(["health"], home, { NO_COLOR: "1" }, 80);
    expect(plain.stdout).toContain("/w/app/README.…      6       300         3  ");
    for (const line of plain.stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    const [, id = ""] = / {2}(\S+)$/m.exec(plain.stdout.slice(plain.stdout.indexOf("Long waits\n"))) ?? [];
    expect((await runCommand(["show", id], home)).code).toBe(0);
    const coloured = await runCommand(["health"], home, {}, 80);
    expect(coloured.stdout).toContain("\u001b[1m");
    expect(stripVTControlCharacters(coloured.stdout)).toBe(plain.stdout);
    expect(
      (await runCommand(["health", `claude-code:${uuid(1)}`], home, { NO_COLOR: "1" }, 80)).stdout,
    ).toMatchInlineSnapshot(`
      "found            what              times  ≈ tokens  time  messages
      file read again  /w/app/README.md      1       100             5–7
      "
    `);
    expect(await runCommand(["health", "--since", "2027-01-01"], home)).toMatchObject({ code: 3, stdout: "" });
    expect(await runCommand(["health", "--since", "often"], home)).toMatchObject({ code: 2, stdout: "" });
    expect(await runCommand(["health", "a", "b"], home)).toMatchObject({ code: 2, stdout: "" });
    expect(await runCommand(["health", "--limit", "0"], home)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("a context near its limit", () => {
  const said = (n: number, model: string, input_tokens: number, session = 1) => ({
    ...{ type: "assistant", uuid: `u${session}-${n}`, sessionId: uuid(session), cwd: "/w/app" },
    requestId: `r${session}-${n}`,
    timestamp: new Date(Date.parse("2026-11-20T10:00:00Z") + n * 1_000).toISOString(),
    message: {
      ...{ id: `m${session}-${n}`, role: "assistant", model, content: [{ type: "text", text: `yes ${session}` }] },
      usage: { input_tokens, cache_read_input_tokens: 10_000, output_tokens: 1 },
    },
  });
  const KNOWN = "claude-opus-4-5-20251101";

  it.each([
    ["at 80 % of what the model takes", [said(1, KNOWN, 5), said(2, KNOWN, 150_000)], "80 % / 200000"],
    ["no longer after a compaction", [said(1, KNOWN, 180_000), said(2, KNOWN, 5)], undefined],
    ["unknown of a model that the price table does not have", [said(1, "unheard-of", 900_000)], undefined],
    [
      "unknown where more was sent than the table allows",
      [said(1, KNOWN, 300_000), said(2, KNOWN, 170_000)],
      undefined,
    ],
  ] as const)("is found %s", async (_, replies, subject) => {
    await write(1, replies);
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    const found = await t.json<Finding[]>(`/api/sessions/${toId(1)}/health`);
    expect(found.filter(({ kind }) => kind === "nearLimit").map((one) => [one.subject, one.seq, one.tokens])).toEqual(
      subject ? [[subject, 1, 160_000]] : [],
    );
  });

  it("is in the list over sessions, as far as the limit is known, also when the log is gone", async () => {
    const of = (n: number, ...replies: readonly (readonly [model: string, tokens: number])[]) =>
      write(
        n,
        replies.map(([model, tokens], i) => said(i, model, tokens, n)),
      );
    await of(1, [KNOWN, 150_000]);
    await of(2, [KNOWN, 5], [KNOWN, 180_000]);
    await of(3, [KNOWN, 185_000], [KNOWN, 5]);
    await of(4, ["unheard-of", 900_000]);
    await of(5, [KNOWN, 300_000], [KNOWN, 170_000]);
    const t = await start();
    await t.send("POST", "/api/import", { all: true });
    const near = async (query = "") =>
      (await t.json<Waste[]>(`/api/health${query}`)).filter(({ kind }) => kind === "nearLimit");
    const both = {
      ...{ kind: "nearLimit", tool: KNOWN, subject: "≥ 80 % / 200000", sessions: 2, count: 2, tokens: 350_000, ms: 0 },
      ofKind: { wastes: 1, sessions: 2, count: 2, tokens: 350_000, ms: 0 },
      examples: [
        { session: `claude-code:${uuid(2)}`, seq: 1, title: null },
        { session: `claude-code:${uuid(1)}`, seq: 0, title: null },
      ],
    };
    expect(await near()).toEqual([both]);
    expect(await near("?after=2027-01-01")).toEqual([]);
    // The session goes on, and its context was compacted.
    await of(2, [KNOWN, 5], [KNOWN, 180_000], [KNOWN, 5]);
    await t.send("POST", "/api/import", { all: true });
    expect(await near()).toMatchObject([{ sessions: 1, tokens: 160_000 }]);
    await rm(join(home, ".claude"), { recursive: true });
    await t.send("POST", "/api/import", { all: true });
    expect(await near()).toMatchObject([{ sessions: 1, tokens: 160_000 }]);
    await t.send("DELETE", `/api/sessions/${toId(1)}`);
    expect(await near()).toEqual([]);
  });

  it("is reported by the command, which reports an unknown limit too", async () => {
    await write(1, [said(1, KNOWN, 150_000)]);
    await write(2, [said(2, "unheard-of", 20_000, 2)]);
    await runCommand(["import", "--all"], home);
    const known = await runCommand(["health", `claude-code:${uuid(1)}`], home);
    expect(known).toMatchObject({ code: 0, stdout: expect.stringContaining("near its limit") });
    expect(known.stderr).toContain("The last prompt had 160,000 tokens of 200,000.");
    const all = await runCommand(["health"], home, {}, 80);
    expect(all.stdout).toContain(`${KNOWN} ≥ 80 % / 200000      1`);
    const unknown = await runCommand(["health", `claude-code:${uuid(2)}`], home);
    expect(unknown.stderr).toContain("The last prompt had 30,000 tokens; what unheard-of takes is unknown.");
  });
});
