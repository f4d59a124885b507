/** `--dry-run` writes nothing anywhere: each command that has it, in every form, with an archive and without one. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allCommands } from "../../core/cli/commands.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { runCommand } from "../command.ts";
import { writeFixtures } from "../rules/_fixtures.ts";
import { writeFiles } from "./_every.ts";

/** Forms that say what would be, with their exit codes. */
const DRY: Readonly<Record<string, readonly (readonly string[])[]>> = {
  import: [["import"], ["import", "--all"], ["import", "--tool", "claude-code"]],
  start: [["start", "--at-login"]],
  vacuum: [["vacuum"]],
  guard: [
    ["guard", "install"],
    ["guard", "install", "--tool", "codex"],
  ],
  mcp: [
    ["mcp", "takeover", "--all"],
    ["mcp", "takeover", "echo"],
    ["mcp", "list"],
    ["mcp", "scan"],
  ],
  skills: [
    ["skills", "import", "skill"],
    ["skills", "import", ".claude/skills/other"],
    ["skills", "import", "--self"],
  ],
  push: [["push"]],
  reclaim: [["reclaim"], ["reclaim", "--yes"]],
  recall: [["recall", "install", "--tool", "claude-code"]],
  rules: [["rules", "--accept", "1"]],
  "agent-plugin": [["agent-plugin", "install", "--tool", "claude-code"]],
};
/** Forms that would change something and cannot say what: they are refused. */
const REFUSED: readonly (readonly string[])[] = [
  ["import", "--file", "conversations.json"],
  ["vacuum", "--logs"],
  ["reclaim", "--undo"],
  ["guard", "uninstall"],
  ["rules", "--dismiss", "1"],
  ["rules", "--undo", "1"],
  ["rules", "--prove", "1", "--with", "true"],
  ["mcp", "add", "x", "--url", "http://127.0.0.1:1/mcp"],
  ["mcp", "remove", "x"],
  ["skills", "link", "skill", "--tool", "claude-code"],
  ["skills", "unlink", "skill", "--tool", "claude-code"],
  ["skills", "delete", "skill"],
  ["skills", "tags", "skill", "a"],
  ["skills", "init", "new-skill"],
  ["skills", "lock"],
  ["skills", "install"],
  ["skills", "update", "skill", "--yes"],
  ["skills", "restore", "skill", "x"],
];

/** Every file below the folder, with a digest of what it holds. */
async function readContent(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(root, path);
    found[name] = entry.isFile()
      ? createHash("sha256")
          .update(await readFile(path))
          .digest("hex")
      : "folder";
  }
  return found;
}

/** Names of what is new, gone or different. */
const changed = (before: Record<string, string>, after: Record<string, string>): string[] =>
  Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);

const homes: string[] = [];
afterAll(async () => {
  for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 3 });
});

async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-dry-"));
  homes.push(home);
  await writeDemo({ home, now: new Date("2026-11-20T15:00:00Z"), platform: process.platform });
  const skill = (name: string) => `---\nname: ${name}\ndescription: does: things\n---\n`;
  await writeFiles(home, {
    "skill/SKILL.md": skill("skill"),
    ".claude/skills/other/SKILL.md": skill("other"),
    ".claude.json": JSON.stringify({ mcpServers: { echo: { command: "echo" } } }),
    "conversations.json": "[]",
  });
  return home;
}

describe("--dry-run", () => {
  it("is tried with every command that has it", async () => {
    const having = (await allCommands(defaultPlugins())).filter(({ options }) => "dry-run" in options);
    expect(having.map(({ name }) => name).sort()).toEqual(Object.keys(DRY).sort());
  });

  it("makes no archive", async () => {
    const home = await makeHome();
    const before = await readContent(home);
    for (const args of [...Object.values(DRY), REFUSED].flat()) {
      await runCommand([...args, "--dry-run"], home);
      expect([args, changed(before, await readContent(home))]).toEqual([args, []]);
    }
  });

  describe("with an archive", () => {
    let home: string;
    let before: Record<string, string>;
    beforeAll(async () => {
      home = await makeHome();
      await runCommand(["import", "--tool", "codex"], home);
      await runCommand(["guard", "install"], home);
      expect((await runCommand(["skills", "import", "skill"], home)).code).toBe(0);
      before = await readContent(home);
    });
    it.each(Object.values(DRY).flat())("changes nothing: %s %s %s", async (...args) => {
      const { code, stderr } = await runCommand([...args.filter(Boolean), "--dry-run"], home);
      expect(changed(before, await readContent(home))).toEqual([]);
      // There is no team, and nothing is proposed.
      if (args[0] !== "push" && args[0] !== "rules")
        expect([args, code, code === 0 ? "" : stderr]).toEqual([args, 0, ""]);
    });

    it.each(REFUSED)("is refused where it would change something: %s %s", async (...args) => {
      const { code, stderr } = await runCommand([...args.filter(Boolean), "--dry-run"], home);
      expect([args, code]).toEqual([args, 2]);
      expect(stderr).toMatch(/dry-run/);
      expect(changed(before, await readContent(home))).toEqual([]);
    });
  });

  it("shows what an import of a skill would take", async () => {
    const home = await makeHome();
    const { stdout, stderr } = await runCommand(["skills", "import", "skill", "--dry-run"], home);
    expect(stdout).toContain("1 files");
    expect(stderr).toContain("read leniently");
    const { code } = await runCommand(["skills", "import", "nowhere", "--dry-run"], home);
    expect(code).toBe(1);
  });

  it("shows the line of a rule, and changes nothing with logs that are newer than the archive", async () => {
    const home = await mkdtemp(join(tmpdir(), "sessarc-dry-"));
    homes.push(home);
    const slip = [
      { user: "Run the checks" },
      { run: "make test", out: "No rule to make target 'test'", fails: true },
      { run: "make check", out: "ok" },
    ];
    const write = (count: number, first: number) =>
      writeFixtures(
        home,
        [{ name: "app", what: "", planted: null, sessions: Array.from({ length: count }, () => slip) }],
        Date.now() - 9 * 86_400_000,
        first,
      );
    await write(5, 0);
    await writeFiles(home, { "work/app/AGENTS.md": "Be kind.\n" });
    await runCommand(["import", "--all"], home);
    await write(1, 5);
    const before = await readContent(home);
    for (const more of [[], ["--json"]]) {
      const { code, stdout, stderr } = await runCommand(["rules", "--accept", "1", "--dry-run", ...more], home);
      expect([code, stderr, stdout]).toEqual([0, "", expect.stringContaining("`make check`")]);
      expect(changed(before, await readContent(home))).toEqual([]);
    }
  });
});
