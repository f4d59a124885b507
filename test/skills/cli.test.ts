/** `sessarc skills …` and the skill that comes with sessarc, as users run them: the built package in a home of its own. */
import { existsSync } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { makeTempDir } from "../_setup.ts";
import { ROOT } from "../built.ts";
import { runCommand } from "../command.ts";
import { createRemote } from "./remote.ts";
import { plant, skillText } from "./world.ts";

const dataDir = (home: string) => join(home, ".local/share/sessarc");

describe("sessarc skills", () => {
  it("scans, imports, links, shows, unlinks; JSON and exit codes", async () => {
    const home = await makeTempDir();
    const run = (...args: string[]) => runCommand(["skills", ...args], home);
    expect(await run("list")).toMatchObject({ code: 3, stdout: "" });
    expect(await run("scan")).toMatchObject({ code: 3, stdout: "" });
    const path = await plant(home, ".claude/skills", "notes");
    const scan = await run("scan", "--json");
    expect(scan.code).toBe(0);
    expect(JSON.parse(scan.stdout).entries).toMatchObject([{ path, class: "importable" }]);
    expect(await run("import", path)).toMatchObject({ code: 0, stdout: "Imported notes\n" });
    const again = await run("import", path);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("cannot be imported")]);
    const linked = await run("link", "notes", "--tool", "codex");
    expect(linked).toMatchObject({ code: 0, stdout: `notes: linked at ${join(home, ".agents/skills/notes")}\n` });
    expect(await readlink(join(home, ".agents/skills/notes"))).toBe(join(dataDir(home), "skills/store/notes"));
    const list = await run("list");
    expect(list.stdout).toMatch(/notes +codex\b.* none +0 +never/);
    const show = await run("show", "notes");
    expect(show.stdout).toContain(skillText("notes").split("\n")[1]);
    expect(JSON.parse((await run("show", "notes", "--json")).stdout)).toMatchObject({
      id: "notes",
      files: [{ path: "SKILL.md" }],
    });
    const unlinked = await run("unlink", "notes", "-t", "codex");
    expect(unlinked).toMatchObject({ code: 0, stdout: expect.stringContaining("not linked") });
    expect(existsSync(join(home, ".agents"))).toBe(false);
    const missing = await run("show", "none");
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining("No skill none")]);
    for (const wrong of [
      ["dance"],
      ["show"],
      ["link", "notes"],
      ["import"],
      ["import", "a", "--self"],
      ["update", "notes", "--conflicts", "x"],
    ])
      expect([wrong, (await run(...wrong)).code]).toEqual([wrong, 2]);
  });

  it("imports from a repository, shows an update and writes it, restores", async () => {
    const home = await makeTempDir();
    const remote = await createRemote(home);
    await remote.commit({ "s/SKILL.md": skillText("s"), "s/a.md": "one\n" });
    const run = (...args: string[]) => runCommand(["skills", ...args], home, { SESSARC_ALLOW_FILE_REMOTES: "1" });
    const dry = await run("import", remote.url, "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([0, "s  s  2 files\n"]);
    expect((await run("import", remote.url)).stdout).toMatch(/^Imported s at [0-9a-f]{12}\n$/);
    expect((await run("update", "s")).stdout).toBe("s is up to date\n");
    const tip = await remote.commit({ "s/SKILL.md": skillText("s"), "s/a.md": "two\n", "s/run.sh": "#!/bin/sh\n" });
    const plan = await run("update", "s");
    expect(plan.stdout).toContain("! new-script  run.sh");
    expect(plan.stdout).toContain("+two");
    expect(plan.stderr).toContain("Nothing was written");
    const file = join(dataDir(home), "skills/store/s/a.md");
    expect(await readFile(file, "utf8")).toBe("one\n");
    expect((await run("update", "s", "--yes")).stdout).toBe(`Updated s to ${tip.slice(0, 12)}\n`);
    expect(await readFile(file, "utf8")).toBe("two\n");
    const { snapshots } = JSON.parse((await run("restore", "s", "--json")).stdout);
    expect(await run("restore", "s", snapshots[1].id)).toMatchObject({ code: 0, stdout: "Restored s\n" });
    expect(await readFile(file, "utf8")).toBe("one\n");
  });
});

describe("our own skill", () => {
  it("is shipped, imported with --self, linked, and every example in it runs", async () => {
    const home = await makeTempDir();
    await writeDemo({ home, now: new Date(), platform: process.platform });
    const imported = await runCommand(["skills", "import", "--self", "--json"], home);
    expect(JSON.parse(imported.stdout)).toMatchObject({ id: "sessarc", name: "sessarc", problem: null });
    expect((await runCommand(["skills", "import", "--self"], home)).code).toBe(0);
    expect((await runCommand(["skills", "link", "sessarc", "--tool", "claude-code"], home)).code).toBe(0);
    const text = await readFile(join(home, ".claude/skills/sessarc/SKILL.md"), "utf8");
    expect(text).toBe(await readFile(join(ROOT, "plugins/skills/own/sessarc/SKILL.md"), "utf8"));

    expect((await runCommand(["import", "--all"], home)).code).toBe(0);
    const found = await runCommand(["search", "station", "--json", "--limit", "1"], home);
    const session: string = JSON.parse(found.stdout).results[0].session.id;
    const examples = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap((block) =>
      (block[1] ?? "").trim().split("\n"),
    );
    expect(examples.length).toBeGreaterThan(8);
    for (const example of examples) {
      const [program, ...args] = example.replaceAll("<session>", session).match(/"[^"]*"|\S+/g) ?? [];
      expect(program).toBe("sessarc");
      const ran = await runCommand(
        args.map((arg) => arg.replace(/^"(.*)"$/, "$1")),
        home,
      );
      expect([example, ran.code, ran.stdout === ""]).toEqual([example, 0, false]);
      if (args.includes("--json")) JSON.parse(ran.stdout);
    }
  });
});
