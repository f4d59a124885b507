/** Proposals from the user's own prompts and the assistant's own commands, written into a project's instructions and taken out again. */
import { chmod, lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { AcceptedLine, Proposal, RuleOverview } from "../../plugins/rules/index.ts";
import { readInstructions } from "../../plugins/rules/instructions/place.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { type Fixture, type Step, writeFixtures } from "./_fixtures.ts";

type Refused = { code?: string; message?: string };
type Removed = { removed: boolean; restored: boolean };

const DAY = 86_400_000;
const LINE = "Use pnpm, not npm.";
const saying = (text: string): Step[] => [
  { user: "Add a page" },
  { edit: "src/a.ts" },
  { user: text },
  { run: "pnpm add x" },
  { reply: "Done." },
];
const PNPM: readonly (readonly Step[])[] = ["use pnpm, not npm", "no, pnpm instead of npm", "we use pnpm, not npm"].map(
  saying,
);
const slipping: Step[] = [
  { user: "Run the checks" },
  { run: "make test", out: "No rule to make target 'test'", fails: true },
  { run: "make check", out: "ok" },
];

let home: string;
let t: TestKernel;
let folder: string;

async function start(sessions: Fixture["sessions"], from = Date.now() - 30 * DAY, name = "app") {
  folder = join(home, "work", name);
  await mkdir(folder, { recursive: true });
  await writeFixtures(home, [{ name, what: "", planted: null, sessions }], from);
  t = await createTestKernel({ plugins: defaultPlugins(), home });
  await t.send("POST", "/api/import", { all: true });
}
const overview = () => t.json<RuleOverview>("/api/rules/proposals");
const proposed = async (): Promise<Proposal> => {
  const { proposals } = await overview();
  expect(proposals).toHaveLength(1);
  return proposals[0] as Proposal;
};
const accept = ({ id, project }: Proposal, more: object = {}) =>
  t.send<AcceptedLine & Refused>("POST", "/api/rules/accept", { id, project: project.id, ...more });
const undo = (id: string) => t.send<Removed & Refused>("POST", "/api/rules/undo", { id });
const write = async (name: string, text: string) => {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
};
const read = (name: string) => readFile(join(folder, name), "utf8");

beforeEach(async () => {
  home = await makeTempDir();
});

describe("a proposal", () => {
  it("has the user's words, where they were said, and what the line costs; nothing is written", async () => {
    await start(PNPM);
    const { proposals, read: seen } = await overview();
    expect(proposals).toMatchObject([
      { kind: "correction", line: LINE, times: 3, sessions: 3, wasted: 0, tokens: 6, path: join(folder, "AGENTS.md") },
    ]);
    expect(proposals[0]?.evidence.map(({ session, seq, text }) => [session.split(":").at(-1), seq, text])).toEqual([
      ["app-02", 3, "we use pnpm, not npm"],
      ["app-01", 3, "pnpm instead of npm"],
      ["app-00", 3, "use pnpm, not npm"],
    ]);
    expect(seen).toEqual({ projects: 1, sessions: 3, isCut: false });
    await expect(lstat(join(folder, "AGENTS.md"))).rejects.toThrow("ENOENT");
  });

  it("of a command has its failed calls and what they took", async () => {
    await start([...Array.from({ length: 5 }, () => slipping)]);
    expect(await proposed()).toMatchObject({
      kind: "command",
      line: "Run `make check`, not `make test`, which fails here.",
      times: 5,
      wasted: 50,
    });
  });

  it("masks secrets in its evidence, and is none where the line would hold one", async () => {
    const key = "ghp_Zk3vQ9xT7mB2wR8sL5nJ4hF6dC1pYgA0uVeN";
    await start([
      ...PNPM.map((_, i) => saying(`never log the key ${key} again${"!".repeat(i)}`)),
      ...["a1", "b2", "c3", "d4", key].map((token): Step[] => [
        { user: "Run the checks" },
        { run: `make test TOKEN=${token}`, out: "No rule to make target 'test'", fails: true },
        { run: `make check TOKEN=${token}`, out: "ok" },
      ]),
    ]);
    const text = JSON.stringify(await overview());
    expect(text).toContain("Run `make check`, not `make test`");
    expect(text).toContain("make test TOKEN=a1");
    expect(text).not.toContain(key);
  });

  it.each([
    ["a correction", PNPM, saying("pnpm, not npm")],
    ["a command", Array.from({ length: 5 }, () => slipping), slipping],
  ])(
    "that was dismissed is not made again of %s until it is wanted, however often the mistake recurs",
    async (_, sessions, more) => {
      await start(sessions);
      const rule = await proposed();
      const body = { id: rule.id, project: rule.project.id };
      expect((await t.send("POST", "/api/rules/dismiss", body)).body).toEqual({ id: rule.id, line: rule.line });
      await writeFixtures(
        home,
        [{ name: "app", what: "", planted: null, sessions: [more, more] }],
        Date.now() - DAY,
        20,
      );
      await t.send("POST", "/api/import", { all: true });
      expect(await overview()).toMatchObject({
        proposals: [],
        dismissed: [{ id: rule.id, project: rule.project, kind: rule.kind, line: rule.line }],
      });
      for (const path of ["dismiss", "accept"])
        expect((await t.send<Refused>("POST", `/api/rules/${path}`, body)).body.code).toBe("PROPOSAL_NOT_FOUND");
      const again = () => t.send<Refused>("DELETE", `/api/rules/dismissed/${rule.id}`);
      expect((await again()).body).toEqual({ id: rule.id, line: rule.line });
      expect((await again()).body.code).toBe("PROPOSAL_NOT_FOUND");
      expect(await overview()).toMatchObject({ proposals: [{ kind: rule.kind }], dismissed: [] });
    },
  );

  it("is not made of what the instructions say already", async () => {
    await start(PNPM);
    await write("AGENTS.md", "# App\n\n- Please use pnpm instead of npm.\n");
    expect((await overview()).proposals).toEqual([]);
    await write("AGENTS.md", "# App\n");
    expect((await overview()).proposals).toHaveLength(1);
  });
});

describe("an accepted line", () => {
  it.each([
    ["a new file", undefined, `- ${LINE}\n`],
    ["an empty file", "", `- ${LINE}\n`],
    ["a file without headings", "Be kind.\n", `Be kind.\n\n- ${LINE}\n`],
    [
      "a file with headings",
      "# App\n\n## People\n\n- Ada\n",
      `# App\n\n## People\n\n- Ada\n\n## Rules from earlier sessions\n\n- ${LINE}\n`,
    ],
    ["no line end at the end", "Be kind.", `Be kind.\n\n- ${LINE}\n`],
    ["Windows' line ends", "Be kind.\r\n", `Be kind.\r\n\r\n- ${LINE}\r\n`],
    ["a byte order mark", "\ufeffBe kind.\n", `\ufeffBe kind.\n\n- ${LINE}\n`],
  ])("is at the end of %s, and its undo is byte for byte", async (_, before, after) => {
    await start(PNPM);
    if (before !== undefined) await write("AGENTS.md", before);
    const rule = await proposed();
    const planned = await accept(rule, { dryRun: true });
    expect([planned.status, planned.body.line]).toEqual([200, LINE]);
    if (before === undefined) await expect(read("AGENTS.md")).rejects.toThrow("ENOENT");
    else expect(await read("AGENTS.md")).toBe(before);
    const { status, body } = await accept(rule);
    expect([status, await read("AGENTS.md")]).toEqual([200, after]);
    if (before !== undefined && body.backupPath !== null) expect(await readFile(body.backupPath, "utf8")).toBe(before);
    expect((await overview()).proposals).toEqual([]);
    expect((await undo(rule.id)).body).toMatchObject({ removed: true, restored: true });
    if (before === undefined) await expect(read("AGENTS.md")).rejects.toThrow("ENOENT");
    else expect(await read("AGENTS.md")).toBe(before);
    expect((await overview()).proposals).toHaveLength(1);
  });

  it("goes into CLAUDE.md where Claude Code reads that, and into AGENTS.md where that is what it names", async () => {
    await start(PNPM);
    await write("CLAUDE.md", "Be kind.\n");
    await write("AGENTS.md", "Be quick.\n");
    expect((await proposed()).path).toBe(join(folder, "CLAUDE.md"));
    await write("CLAUDE.md", "@AGENTS.md\n");
    expect((await proposed()).path).toBe(join(folder, "AGENTS.md"));
  });

  it("goes into the file that the only assistant reads, there or not, and into AGENTS.md where several work", async () => {
    await start(PNPM);
    const fileOf = async (...tools: string[]) =>
      basename((await readInstructions(t.kernel, folder, tools))?.path ?? "");
    for (const common of [undefined, "Be kind.\n"]) {
      if (common !== undefined) await write("AGENTS.md", common);
      expect(await fileOf("gemini-cli")).toBe("GEMINI.md");
      // Claude Code reads AGENTS.md where there is no CLAUDE.md.
      expect(await fileOf("claude-code")).toBe("AGENTS.md");
      expect(await fileOf("codex")).toBe("AGENTS.md");
      expect(await fileOf("gemini-cli", "codex")).toBe("AGENTS.md");
    }
  });

  it("goes through a link inside the project, which stays one, and not through one that leads out of it", async () => {
    await start(PNPM);
    await write("AGENTS.md", "Be kind.\n");
    await symlink("AGENTS.md", join(folder, "CLAUDE.md"));
    const rule = await proposed();
    expect((await accept(rule)).status).toBe(200);
    expect(await read("AGENTS.md")).toBe(`Be kind.\n\n- ${LINE}\n`);
    expect((await lstat(join(folder, "CLAUDE.md"))).isSymbolicLink()).toBe(true);
    await undo(rule.id);
    expect(await read("AGENTS.md")).toBe("Be kind.\n");
  });

  it("is refused where the file is read-only or leads out of the project; nothing is changed", async () => {
    await start(PNPM);
    await writeFile(join(home, "elsewhere.md"), "Be kind.\n");
    await symlink(join(home, "elsewhere.md"), join(folder, "CLAUDE.md"));
    const outside = await accept(await proposed());
    expect([outside.status, outside.body.code]).toEqual([409, "SETTINGS_UNUSABLE"]);
    expect(await readFile(join(home, "elsewhere.md"), "utf8")).toBe("Be kind.\n");
    await rm(join(folder, "CLAUDE.md"));
    await write("AGENTS.md", "Be kind.\n");
    await chmod(join(folder, "AGENTS.md"), 0o444);
    const closed = await accept(await proposed());
    expect([closed.status, closed.body.code, await read("AGENTS.md")]).toEqual([
      409,
      "SETTINGS_UNUSABLE",
      "Be kind.\n",
    ]);
  });

  it("is taken out alone where the file was changed since, and of two the other stays", async () => {
    await start([...PNPM, ...Array.from({ length: 5 }, () => slipping)]);
    await write("AGENTS.md", "# App\n\nBe kind.\n");
    const { proposals } = await overview();
    for (const rule of proposals) expect((await accept(rule)).status).toBe(200);
    const both = await read("AGENTS.md");
    expect(both).toContain(`- ${LINE}\n`);
    expect(both).toContain("- Run `make check`");
    const [first, second] = proposals as [Proposal, Proposal];
    await undo(first.id);
    expect(await read("AGENTS.md")).toBe(`# App\n\nBe kind.\n\n## Rules from earlier sessions\n\n- ${second.line}\n`);
    await write("AGENTS.md", `${await read("AGENTS.md")}\nMine.\n`);
    expect((await undo(second.id)).body).toMatchObject({ removed: true, restored: false });
    expect(await read("AGENTS.md")).toContain("Mine.");
    expect(await read("AGENTS.md")).not.toContain(second.line);
  });

  it("is compared with the sessions since: whether it still happens, and what it saved", async () => {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now - 20 * DAY });
    onTestFinished(() => void vi.useRealTimers());
    await start(
      Array.from({ length: 6 }, () => slipping),
      now - 40 * DAY,
    );
    const rule = await proposed();
    await accept(rule);
    const before = { times: 6, sessions: 6, tokens: 60 };
    const none = { times: 0, sessions: 0, tokens: 0 };
    expect((await overview()).accepted).toMatchObject([
      { id: rule.id, line: rule.line, effect: { before, after: none, saved: 0, spent: 0 } },
    ]);
    vi.useRealTimers();
    const good: Step[] = [{ user: "Run the checks" }, { run: "make check", out: "ok" }];
    const later = { name: "app", what: "", planted: null, sessions: [good, good, slipping] };
    await writeFixtures(home, [later], now - 10 * DAY, 10);
    await t.send("POST", "/api/import", { all: true });
    // Three sessions at 10 tokens each were to be expected, and one has them.
    const after = { times: 1, sessions: 3, tokens: 10 };
    expect((await overview()).accepted).toMatchObject([
      { effect: { before, after, saved: 20, spent: 3 * rule.tokens } },
    ]);
  });

  it("answers what is wrong with a request", async () => {
    await start(PNPM);
    const rule = await proposed();
    expect((await accept({ ...rule, id: "nothing" })).body.code).toBe("PROPOSAL_NOT_FOUND");
    expect((await undo(rule.id)).body.code).toBe("PROPOSAL_NOT_FOUND");
    expect((await accept({ ...rule, project: { id: "p", name: "p" } })).body.code).toBe("PROJECT_NOT_FOUND");
    await rm(folder, { recursive: true });
    expect((await accept(rule)).body.code).toBe("RULE_NO_FOLDER");
  });
});

describe("sessarc rules", () => {
  it("lists, shows what would be written, writes only when confirmed, and takes it back", async () => {
    await start(PNPM);
    await write("AGENTS.md", "Be kind.\n");
    await t.close();
    const run = (...args: string[]) => runCommand(["rules", ...args], home);
    await runCommand(["import", "--all"], home);
    const listed = await run();
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(`1  ${LINE}`)]);
    expect(listed.stdout).toContain("3 times in 3 sessions · costs ≈ 6 tokens a session");
    const dry = await run("--accept", "1", "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([0, `${join(folder, "AGENTS.md")}\n+ - ${LINE}\n`]);
    expect(await run("--accept", "1")).toMatchObject({ code: 1, stderr: expect.stringContaining("Pass --yes") });
    expect(await read("AGENTS.md")).toBe("Be kind.\n");
    expect((await run("--accept", "1", "--yes")).stdout).toContain("Written into");
    expect(await read("AGENTS.md")).toBe(`Be kind.\n\n- ${LINE}\n`);
    expect((await run()).stdout).toContain("before 3 times in 3 sessions, since 0 times in 0 sessions");
    expect((await run("--undo", "1")).stdout).toContain("which is as it was before");
    expect(await read("AGENTS.md")).toBe("Be kind.\n");
    expect((await run("--dismiss", "1")).stdout).toContain(`Not proposed any more: ${LINE}`);
    const without = await run();
    expect([without.code, without.stdout]).toEqual([0, expect.stringMatching(/^Dismissed\n1 {2}Use pnpm/)]);
    expect((await run("--undo", "1")).stdout).toBe(`Proposed again: ${LINE}\n`);
    expect((await run()).stdout).toContain(`1  ${LINE}`);
    for (const args of [
      ["--accept", "7"],
      ["--dismiss", "7"],
      ["--dismiss", "1", "--dry-run"],
      ["--accept", "1", "--undo", "1"],
      ["--prove", "1"],
      ["--with", "x"],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 2]);
  });
});
