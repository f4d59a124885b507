/** `sessions`, `projects`, `usage`: what a user asks on the terminal, of the command line. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { widthOf } from "../../core/terminal/style.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import type { Ran } from "../built.ts";
import { runCommand } from "../command.ts";

const NOW = new Date("2026-11-20T15:00:00Z");
const homes: string[] = [];
let home: string;

async function makeHome(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "sessarc-cli-"));
  homes.push(made);
  return made;
}
async function demoHome(): Promise<string> {
  const made = await makeHome();
  await writeDemo({ home: made, now: NOW, platform: process.platform });
  return made;
}
const json = async <T>(...args: string[]) => JSON.parse((await runCommand([...args, "--json"], home)).stdout) as T;
const rows = (ran: Ran) => ran.stdout.trimEnd().split("\n").slice(1);

interface Listed {
  sessions: { id: string; tool: string; projectId: string; parentId: string | null; endedAt: string }[];
  total: number;
}
interface Usage {
  rowCount: number;
  rows: { key: string; cost: { microdollars: number }; models: Model[] }[];
  totals: { cost: { microdollars: number; unpriced: string[] }; models: Model[] };
}
interface Model {
  model: string;
  spellings: string[];
  microdollars: number | null;
}

beforeAll(async () => {
  home = await demoHome();
  await runCommand(["import"], home);
});
afterAll(async () => {
  for (const made of homes) await rm(made, { recursive: true, force: true, maxRetries: 3 });
});

describe("sessions", () => {
  it("lists the newest first, with ids that show takes", async () => {
    const ran = await runCommand(["sessions"], home);
    expect(ran).toMatchObject({ code: 0 });
    const { sessions, total } = await json<Listed>("sessions");
    expect(rows(ran)).toHaveLength(total);
    expect(sessions.map((one) => one.endedAt)).toEqual(
      sessions
        .map((one) => one.endedAt)
        .sort()
        .reverse(),
    );
    for (const row of [rows(ran)[0], rows(ran).at(-1)]) {
      const id = row?.split(/\s/).at(-1) ?? "";
      expect(await runCommand(["show", id, "--limit", "1"], home)).toMatchObject({ code: 0, stderr: "" });
    }
  });

  it("filters by project, tool, days and words, and counts what it leaves out", async () => {
    const all = await json<Listed>("sessions", "--subagents");
    const codex = await json<Listed>("sessions", "--tool", "codex", "--subagents");
    expect(codex.total).toBe(all.sessions.filter((one) => one.tool === "codex").length);
    const [project] = await json<{ id: string; name: string; path: string }[]>("projects");
    const byId = await json<Listed>("sessions", "-p", project?.id ?? "");
    expect(byId.total).toBeGreaterThan(0);
    expect(await json<Listed>("sessions", "-p", project?.name.toUpperCase() ?? "")).toEqual(byId);
    expect(await json<Listed>("sessions", "-p", `${project?.path}/`)).toEqual(byId);
    const last = await json<Listed>("sessions", "--since", "2026-11-20");
    // A day is the reader's, from its midnight on.
    const midnight = new Date(2026, 10, 20).toISOString();
    expect(last.sessions.every((one) => one.endedAt >= midnight)).toBe(true);
    expect(last.total).toBeLessThan(all.total);
    expect((await json<Listed>("sessions", "--until", "20261101")).sessions.length).toBeGreaterThan(0);
    const two = await runCommand(["sessions", "--limit", "2"], home);
    expect(rows(two)).toHaveLength(2);
    expect(two.stderr).toMatch(/^2 of \d+; --limit shows more\n\d+ sub-agents are left out; --subagents shows them\n$/);
    expect(await runCommand(["sessions", "no such words"], home)).toMatchObject({ code: 3, stdout: "" });
  });
});

describe("projects", () => {
  it("lists them with their counts, filtered by words and by tool, with git when asked", async () => {
    const all = await json<{ name: string; tools: string[]; git: unknown }[]>("projects");
    expect(all.length).toBeGreaterThan(3);
    expect(rows(await runCommand(["projects"], home))).toHaveLength(all.length);
    const codex = await json<typeof all>("projects", "--tool", "codex");
    expect(codex).toEqual(all.filter((project) => project.tools.includes("codex")));
    expect((await json<typeof all>("projects", "tidepool")).map((project) => project.name)).toEqual(["tidepool"]);
    expect(all.every((project) => project.git === null)).toBe(true);
    expect((await runCommand(["projects", "tidepool", "--git"], home)).stdout).toMatch(/ git .*\n.* main/);
    expect(await runCommand(["projects", "nowhere"], home)).toMatchObject({ code: 3, stdout: "" });
  });
});

describe("last", () => {
  it("is the newest session that is not a sub-agent, for show, export and usage", async () => {
    const [newest] = (await json<Listed>("sessions", "--limit", "1")).sessions;
    const shown = await json<{ session: { id: string } }>("show", "last", "--limit", "1");
    expect(shown.session.id).toBe(newest?.id);
    expect((await json<{ endedAt: string }>("export", "last")).endedAt).toBe(newest?.endedAt);
    expect((await json<Usage>("usage", "session", "last")).rows.map((row) => row.key)).toContain(newest?.id);
  });
});

describe("usage", () => {
  it("of one session: by the beginning of its id, with its sub-agents", async () => {
    const { rows: all } = await json<Usage>("usage", "session");
    const table = await runCommand(["usage", "session"], home);
    const id = rows(table)[0]?.split(/\s/)[0] ?? "";
    expect(id).toMatch(/^\S{8,}$/);
    const one = await json<Usage>("usage", "session", id);
    expect(all.map((row) => row.key)).toEqual(expect.arrayContaining(one.rows.map((row) => row.key)));
    expect(one.rows[0]?.key).toContain(id);
    expect(await runCommand(["usage", "session", "nothing-like-it"], home)).toMatchObject({ code: 3, stdout: "" });
    expect(await runCommand(["usage", "daily", id], home)).toMatchObject({ code: 2, stdout: "" });
  });

  it("gives the first rows of either order, and says how many there are", async () => {
    const { rows: all, rowCount, totals } = await json<Usage>("usage", "session");
    expect(rowCount).toBe(all.length);
    expect(all.length).toBeGreaterThan(2);
    const first = await json<Usage>("usage", "session", "--limit", "2");
    expect(first).toMatchObject({ rows: all.slice(0, 2), rowCount, totals });
    const last = await json<Usage>("usage", "session", "-n", "2", "--order", "asc");
    expect(last).toMatchObject({ rows: all.slice(-2).reverse(), rowCount, totals });
    expect((await runCommand(["usage", "session", "-n", "1"], home)).stderr).toContain(`1 of ${rowCount} rows`);
    expect(await runCommand(["usage", "-n", "0"], home)).toMatchObject({ code: 2, stdout: "" });
  });

  it("breaks cost down by model, and the parts add up", async () => {
    const { rows: days, totals } = await json<Usage>("usage", "--breakdown");
    for (const row of [...days, totals]) {
      const parts = row.models.reduce((sum, one) => sum + (one.microdollars ?? 0), 0);
      expect(Math.abs(parts - row.cost.microdollars)).toBeLessThanOrEqual(row.models.length);
    }
    expect((await runCommand(["usage", "--breakdown"], home)).stdout).toMatch(
      /^ {2}claude-sonnet-4-5 .* \$\d+\.\d\d$/m,
    );
  });

  it("orders and narrows the table", async () => {
    const days = rows(await runCommand(["usage", "daily"], home)).map((row) => row.slice(0, 10));
    const turned = await runCommand(["usage", "daily", "--order", "desc", "--compact"], home);
    expect(
      rows(turned)
        .slice(0, -2)
        .map((row) => row.slice(0, 10)),
    ).toEqual(days.slice(0, -2).reverse());
    expect(turned.stdout.split("\n")[0]?.trim().split(/\s+/)).toEqual(["day", "total", "cost"]);
  });

  it("counts one model once, however it is spelled, and says how", async () => {
    const made = await makeHome();
    await writeLog(made, "aaaaaaaa-0000-4000-8000-000000000001", "claude-sonnet-4-5-20250929");
    await writeLog(made, "aaaaaaaa-0000-4000-8000-000000000002", "anthropic/claude-sonnet-4.5");
    await writeLog(made, "aaaaaaaa-0000-4000-8000-000000000003", "model-of-nobody");
    await runCommand(["import"], made);
    const ran = await runCommand(["usage", "model", "--evidence"], made);
    expect(rows(ran).filter((row) => row.startsWith("claude-sonnet-4-5 "))).toHaveLength(1);
    expect(ran.stdout).toContain(
      "claude-sonnet-4-5: spelled anthropic/claude-sonnet-4.5, claude-sonnet-4-5-20250929\n",
    );
    // A model without a price is not free, alone or in a sum.
    expect(ran.stdout).toMatch(/^model-of-nobody .* —$/m);
    expect(ran.stdout).toMatch(/^total .* \$\d+\.\d\d \+$/m);
    expect(ran.stderr).toContain("no price for model-of-nobody");
    const daily = await runCommand(["usage", "session", "-b"], made);
    expect(daily.stdout).toMatch(/^ +model-of-nobody .* —$/m);
    // Three ids with one beginning: which one is meant is asked.
    const many = await runCommand(["show", "aaaaaaaa"], made);
    expect(many).toMatchObject({ code: 2, stdout: "" });
    expect(many.stderr).toContain('"aaaaaaaa" fits 3 sessions');
    expect(many.stderr).toContain("aaaaaaaa-0000-4000-8000-000000000002");
  });

  it("counts from the logs where nothing is archived, reports it, and makes no archive", async () => {
    const made = await demoHome();
    const logs = await runCommand(["usage", "--json"], made);
    expect(logs).toMatchObject({
      code: 0,
      stderr: "Nothing is archived: counted from the logs. `sessarc import` keeps them.\n",
    });
    expect(existsSync(join(made, ".local/share/sessarc"))).toBe(false);
    const archived = await json<Usage>("usage");
    expect((JSON.parse(logs.stdout) as Usage).totals.cost).toEqual(archived.totals.cost);
    expect(await runCommand(["usage"], await makeHome())).toMatchObject({ code: 3, stdout: "" });
  });
});

async function writeLog(made: string, id: string, model: string): Promise<void> {
  const folder = join(made, ".claude/projects/-work");
  await mkdir(folder, { recursive: true });
  const at = "2026-11-19T10:00:00.000Z";
  const common = {
    sessionId: id,
    cwd: "/work",
    version: "2.0.0",
    timestamp: at,
    isSidechain: false,
    userType: "external",
  };
  const usage = { input_tokens: 1_000_000, output_tokens: 1_000_000 };
  const reply = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: "Done." }],
    usage,
  };
  const lines = [
    { ...common, type: "user", uuid: `${id}-u`, parentUuid: null, message: { role: "user", content: "Do it." } },
    { ...common, type: "assistant", uuid: `${id}-a`, parentUuid: `${id}-u`, requestId: `req_${id}`, message: reply },
  ];
  await writeFile(join(folder, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

describe("search", () => {
  it("takes days as --since does", async () => {
    const all = await json<{ results: unknown[] }>("search", "tide", "after:2020-01-01");
    expect(all.results.length).toBeGreaterThan(0);
    expect(await json<{ results: unknown[] }>("search", "tide", "after:20200101")).toMatchObject({
      results: all.results,
    });
    expect(await json<{ results: unknown[] }>("search", "tide", "after:9999d")).toMatchObject({ results: all.results });
    expect(await runCommand(["search", "tide", "before:9999d"], home)).toMatchObject({ code: 3 });
  });
});

describe("a match of a search", () => {
  it("is printed as `show` takes it, which begins there", async () => {
    const { results } = await json<{ results: { session: { id: string }; matches: { seq: number }[] }[] }>(
      ...["search", "tide", "--limit", "1"],
    );
    const seq = results[0]?.matches.at(-1)?.seq ?? -1;
    const found = await runCommand(["search", "tide", "--limit", "1"], home);
    const [, hit = ""] = new RegExp(`^ {2}(\\S+#${seq}) `, "m").exec(found.stdout) ?? [];
    expect(found.stderr).toContain(`\`sessarc show ${hit.split("#")[0]}#`);
    const shown = await runCommand(["show", hit, "--limit", "1"], home);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout.match(/#\d+$/gm)).toEqual([`#${seq}`]);
    const first = await json<{ messages: { seq: number }[] }>("show", "last#0");
    expect(first.messages[0]?.seq).toBe(0);
    expect((await runCommand(["show", "last#9999"], home)).stderr).toMatch(
      /^No message from #9999 on; the session has /,
    );
  });

  it("is no other message: two beginnings exclude each other, and an unknown session is named alone", async () => {
    expect(await runCommand(["show", "last#3", "--after", "1"], home)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--after and the message #3 exclude each other"),
    });
    expect(await runCommand(["show", "nope#3"], home)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("No session nope\n"),
    });
  });
});

it("sessions whose titles do not have the name of a project: the command that lists that project is named", async () => {
  const [project] = await json<{ name: string; sessionCount: number }[]>("projects");
  const name = project?.name ?? "";
  const { code, stderr } = await runCommand(["sessions", name], home);
  const [, line = ""] = /`sessarc (sessions --project '[^`]+')`/.exec(stderr) ?? [];
  expect([code, line]).toEqual([3, `sessions --project '${name}'`]);
  expect(stderr).toContain(`lists its ${project?.sessionCount} sessions`);
  expect((await runCommand(["sessions", "--project", name], home)).code).toBe(0);
  expect((await runCommand(["sessions", name, "--since", "2999-01-01"], home)).stderr).toMatch(/^No session fits/);
});

describe("what is wrong", () => {
  it.each([
    [["usage", "--tool", "notepad"], "No assistant is named notepad; there are claude-code"],
    [["sessions", "--tool", "notepad"], "No assistant is named notepad"],
    [["projects", "--tool", "notepad"], "No assistant is named notepad"],
    [["sessions", "--sort", "name"], '--sort takes recent, oldest, messages or active, not "name"'],
    [["sessions", "--limit", "0"], "--limit takes a number from 1 to 1000"],
    [["sessions", "--since", "yesterday"], "--since takes a day"],
    [["usage", "--order", "up"], '--order takes asc or desc, not "up"'],
    [["search", "tool:Grep"], "For calls of a tool: kind:call grep"],
    [["show", "last", "--limit", "0"], "--limit takes a number from 1 to"],
    [["show", "last", "--kinds", "tool"], "there are user, assistant, thinking, call, result, note"],
    [["search", "kind:foo"], '"foo" is none of user, assistant, thinking, call, result, note'],
    [["health", "--limit", "100"], "error --limit must be 1 to 99"],
    [["handoff", "last", "--tokens", "5"], "error --tokens must be a number from 200 to 32000"],
    [["usage", "blocks", "--length", "foo"], "error --length must be quarter-hours"],
    [["export", "last", "--to", "x"], "--to is the folder of --all"],
    [["mcp", "lst"], 'not "lst"; did you mean list?'],
    [["skills", "scam"], 'not "scam"; did you mean scan?'],
    [["skills", "link"], "`sessarc skills link <skill> --tool <assistant>`"],
    [["agent-plugin", "instal"], "did you mean install?"],
    [["prices", "foo"], '`sessarc prices` takes update, not "foo"'],
    [["mcp", "takeover", "foo"], "No assistant has a server foo; `sessarc mcp scan` lists them"],
    [["search", "x", "after:soon"], '"soon" is no date'],
    [["export", "last", "--format", "pdf"], '--format takes md, html or json, not "pdf"'],
    [["guard", "bogus"], "takes one of install, status, uninstall"],
    [["guard", "install", "--tool", "aider"], 'There is no guard for "aider"'],
    [["guard", "status", "--tool", "aider"], "There is no guard for aider; use one of claude-code, codex"],
    ...[
      ["guard", "install"],
      ["guard", "uninstall"],
      ["recall", "install"],
      ["recall", "uninstall"],
      ["statusline", "--install"],
      ["agent-plugin", "install"],
      ["agent-plugin", "uninstall"],
      ["rescue", "--keep-for", "300"],
      ["reclaim"],
      ["budget", "set", "day", "5"],
      ["import"],
      ["usage"],
      ["projects"],
    ].map((words): [string[], string] => [
      [...words, "--tool", "claud"],
      "No assistant is named claud; did you mean claude-code?",
    ]),
    [["guard", "status", "--tool", "claud"], "There is no guard for claud; did you mean claude-code?"],
    [["guard", "install", "--on-failure", "x"], "--on-failure takes allow or block"],
    [["plugins", "extra"], 'takes no "extra"'],
    [["doctor", "extra"], 'takes no "extra"'],
    [["completion", "csh"], "takes one of bash, zsh, fish"],
    [["demo", "here", "--date", "xx"], "--date takes 2026-11-20"],
    [["--config", "/nope.mjs", "usage"], "/nope.mjs cannot be read"],
    [["serve", "--host", "300.1.1.1"], "Cannot listen on 300.1.1.1 port 41730: "],
    [["serve", "--port", "0", "--host", "198.51.100.7"], "this machine has no such address"],
  ])("%j ends with 2 and says why in words", async (args, message) => {
    const ran = await runCommand(args, home);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toMatch(/^ +at /m);
  });

  it.each([["sessions"], ["usage"], ["recall", "tide"], ["receipt"], ["rules"], ["budget", "set", "day", "5"]])(
    "%s %s: a misspelt project gets the one that may be meant",
    async (...words) => {
      const { code, stderr } = await runCommand([...words.filter(Boolean), "--project", "tidepol"], home);
      expect([code, stderr]).toEqual([3, expect.stringContaining("No project tidepol; did you mean tidepool?")]);
    },
  );

  it("fits 80 columns where it quotes sessions", async () => {
    const found = await runCommand(["recall", "tide", "station"], home, { NO_COLOR: "1" }, 80);
    expect(found.stdout).toMatch(/^1\. \[\S+#\d+\] /m);
    const shown = await runCommand(["show", "last", "--limit", "1"], home, { NO_COLOR: "1" }, 80);
    for (const line of `${found.stdout}\n${shown.stdout.split("\n\n")[0]}`.split("\n"))
      expect(widthOf(line), line).toBeLessThanOrEqual(80);
  });

  it("is said of the thing that was asked for", async () => {
    const said = async (...args: string[]) => {
      const { code, stderr } = await runCommand(args, home, {}, 200);
      return [code, stderr.trimEnd()];
    };
    const server = join(home, "code/tidepool/src/server.js");
    expect(await said("receipt", "--project", "code/tidepool/nope")).toEqual([
      3,
      expect.stringContaining("No project code/tidepool/nope"),
    ]);
    expect((await said("receipt", "--project", "code/tidepool/src"))[0]).toBe(0);
    expect(await said("blame", `${server}:9999`)).toEqual([3, "src/server.js has no such line."]);
    expect(await said("undelete", server, "--at", "nope")).toEqual([
      3,
      expect.stringMatching(/^error No known version of ".*server\.js" is meant by "nope"\n.*--list/),
    ]);
    expect(await said("scrub", "--drop-backups")).toEqual([0, "No copy of a changed log is stored."]);
    expect(await said("scrub", "--undo")).toEqual([0, "No changed log has a copy to put back."]);
    expect(await said("reclaim", "--undo")).toEqual([0, "No removed log can be put back."]);
    expect(await said("mcp", "skills")).toEqual([3, expect.stringMatching(/^No skill is served/)]);
    expect(await said("mcp", "restore")).toEqual([3, expect.stringMatching(/^No takeover can be restored/)]);
    await runCommand(["mark", "tag", "last", "seen"], home);
    expect(await said("mark", "note", "no-such-word")).toEqual([3, "No note fits. `sessarc mark note` lists all."]);
    await runCommand(["mark", "tag", "last", "seen", "--remove"], home);
  });

  it.each([
    [["export", "last", "-o", "@/no/such/folder/x.md"], /no\/such\/folder\/x\.md: there is no such file or folder$/m],
    [["export", "last", "-o", "@"], /: it is a folder$/m],
    [["demo", "@/file/below"], /a part of its path is a file$/m],
    [["--data-dir", "file", "import"], /^error .*file.*: /m],
    [["--data-dir", "file/below", "import"], /a part of its path is a file$/m],
    [["--data-dir", "/sys/sessarc", "import"], /^error .*\/sys\/sessarc/m],
  ])("%j ends with 1 and shows no stack", async (args, message) => {
    await writeFile(join(home, "file"), "a file where a folder should be");
    const ran = await runCommand(
      args.map((arg) => arg.replace("@", home)),
      home,
    );
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).not.toMatch(/^ +at /m);
    expect(await readFile(join(home, "file"), "utf8")).toBe("a file where a folder should be");
  });

  it.each<[args: string[], message: RegExp]>([
    [["sessions", "--limit", "-1"], /--limit takes a number from 1 to 1000, not "-1"/],
    [["search", "x", "-n", "-1"], /--limit takes a number from 1 to 1000, not "-1"/],
    [["sessions", "--since", "-7d"], /--since takes a day as 2026-11-01 or 7d, not "-7d"/],
    [["usage", "--since", "-7d"], /--since takes a day as 2026-11-01 or 7d, not "-7d"/],
    [["sessions", "--since", "2026-02-30"], /--since takes a day/],
    [["search", "after:2026-02-30", "x"], /"2026-02-30" is no date/],
    [["search", "before:2026-02-30T10:00:00Z", "x"], /is no date/],
    [["sessions", "--since", "2026-05-01", "--until", "2026-04-01"], /The range ends before it begins: 2026-05-01 to/],
    [["usage", "--since", "2026-05-01", "--until", "2026-04-01"], /The range ends before it begins: 2026-05-01 to/],
    [["export", "last", "-o", "@/file"], /file is there already; --force replaces it$/m],
  ])("%j is wrong usage, and says what is right", async (args, message) => {
    await writeFile(join(home, "file"), "a file of the user's");
    const ran = await runCommand(
      args.map((arg) => arg.replace("@", home)),
      home,
    );
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).not.toMatch(/^ +at /m);
    expect(await readFile(join(home, "file"), "utf8")).toBe("a file of the user's");
  });
});

describe("usage on a terminal of few columns", () => {
  const GREAT = 123_456_789;
  const write = async (made: string) => {
    const folder = join(made, ".claude/projects/-w-app");
    await mkdir(folder, { recursive: true });
    const usage = {
      input_tokens: GREAT,
      output_tokens: GREAT,
      cache_creation_input_tokens: GREAT,
      cache_read_input_tokens: GREAT,
    };
    const message = { id: "m", role: "assistant", model: "claude-sonnet-4-5", content: [], usage };
    const rows = [
      { type: "user", uuid: "u", message: { role: "user", content: "a rather long question about everything" } },
      { type: "assistant", uuid: "a", requestId: "r", message },
    ].map((row) => JSON.stringify({ ...row, cwd: "/w/app", timestamp: "2026-11-20T10:00:00Z" }));
    await writeFile(join(folder, "aaaaaaaa-0000-4000-8000-000000000001.jsonl"), `${rows.join("\n")}\n`);
  };
  const shown = async (made: string, period: string, columns: number) => {
    const ran = await runCommand(["usage", period], made, { NO_COLOR: "1" }, columns);
    const lines = ran.stdout.trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    return lines;
  };

  it("keeps the day whole, shortens the numbers, then leaves out their kinds", async () => {
    const made = await makeHome();
    await write(made);
    const wide = await shown(made, "monthly", 140);
    expect(wide[1]).toMatch(/^2026-11 .* 123,456,789 .* 493,827,156 /);
    const usual = await shown(made, "monthly", 80);
    expect(usual[0]).toMatch(/^month +sessions +input +output +cache write +cache read +total +cost$/);
    expect(usual[1]).toMatch(/^2026-11 +1 +123M +123M +123M +123M +494M +\$/);
    const narrow = await shown(made, "monthly", 40);
    expect(narrow[0]).toMatch(/^month +total +cost$/);
    expect(narrow[1]).toMatch(/^2026-11 +493,827,156 +\$/);
    expect((await shown(made, "session", 80))[1]).toMatch(/^aaaaaaaa {2}\S/);
  });
});

it("with --json a failure is the object that the HTTP API answers", async () => {
  const failed = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand([...args, "--json"], home);
    expect(stdout).toBe("");
    return [code, JSON.parse(stderr)];
  };
  expect(await failed("usage", "--limit", "0")).toEqual([2, expect.objectContaining({ status: 400, code: "USAGE" })]);
  expect(await failed("usage", "--tool", "notepad")).toEqual([2, expect.objectContaining({ code: "INVALID_INPUT" })]);
  expect(await failed("usage", "--project", "nope")).toEqual([
    3,
    expect.objectContaining({ code: "PROJECT_NOT_FOUND" }),
  ]);
  expect(await failed("sessions", "--project", "nope")).toEqual([
    3,
    expect.objectContaining({ status: 404, code: "PROJECT_NOT_FOUND" }),
  ]);
});

describe("lists on a terminal of 80 columns", () => {
  const widest = (text: string) =>
    Math.max(
      ...text
        .trimEnd()
        .split("\n")
        .map((line) => line.length),
    );

  it("fit: plugins with many commands, and prices with their unit above", async () => {
    const plugins = await runCommand(["plugins"], home, { NO_COLOR: "1" }, 80);
    expect(widest(plugins.stdout)).toBeLessThanOrEqual(80);
    expect(plugins.stdout).toMatch(/^archive +\d+ /m);
    expect(plugins.stdout).not.toContain("adapter:");
    expect(plugins.stderr).toMatch(/^\d+ more each read the logs of one assistant/);
    const prices = await runCommand(["prices"], home, { NO_COLOR: "1" }, 80);
    expect(widest(prices.stdout)).toBeLessThanOrEqual(80);
    const [, , unit, ...table] = prices.stdout.trimEnd().split("\n");
    expect(unit).toBe("Dollars per million tokens:");
    expect(table.length).toBeGreaterThan(4);
    expect(widest(table.join("\n"))).toBeLessThanOrEqual(80);
  });

  it("fit: versions of a file, each as --at takes it, and servers in assistants' settings", async () => {
    const server = join(home, "code/tidepool/src/server.js");
    const listed = await runCommand(["undelete", server, "--list"], home, { NO_COLOR: "1" }, 80);
    expect(widest(listed.stdout)).toBeLessThanOrEqual(80);
    const places = rows(listed).map((row) => row.split(/ {2,}/).at(-1) ?? "");
    for (const pattern of [/^[\da-f]{10}$/, /^[\da-f]{8}#\d+$/]) {
      const at = places.find((place) => pattern.test(place)) ?? "";
      expect([at, (await runCommand(["undelete", server, "--at", at], home)).code]).toEqual([at, 0]);
    }
    const other = await makeHome();
    const echo = { command: "echo", args: ["--stations", "a/rather/long/path/to/stations.json", "--units", "feet"] };
    await writeFile(join(other, ".claude.json"), JSON.stringify({ mcpServers: { echo } }));
    const scan = await runCommand(["mcp", "scan"], other, { NO_COLOR: "1" }, 80);
    expect(scan.stdout).toMatch(/^server +state +where +file\necho .* ~[\\/]\.claude\.json$/m);
    expect(widest(scan.stdout)).toBeLessThanOrEqual(80);
  });

  it("leave a title enough to know it by, beside the longest id", async () => {
    const { sessions } = await json<{ sessions: { id: string; title: string | null }[] }>("sessions");
    const listed = await runCommand(["sessions"], home, { NO_COLOR: "1" }, 80);
    expect(sessions.some(({ id }) => id.startsWith("opencode:"))).toBe(true);
    for (const { title } of sessions) if (title) expect(listed.stdout).toContain(title.slice(0, 26));
  });

  it("of guards names the command that installs one", async () => {
    const { stdout, stderr } = await runCommand(["guard", "status"], home, { NO_COLOR: "1" });
    expect(stdout).toContain("not installed");
    expect(stderr).toContain("`sessarc guard install --tool claude-code` installs it in Claude Code");
  });
});
