/** `skills.lock`, and the commands around a skill's life. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createRemote } from "./remote.ts";
import { plant, skillText } from "./world.ts";

const runIn =
  (home: string) =>
  (...args: string[]) =>
    runCommand(["skills", ...args], home, { SESSARC_ALLOW_FILE_REMOTES: "1" });

describe("skills.lock", () => {
  it("names source, revision and content of each; another machine installs the same, whatever changed since", async () => {
    const home = await makeTempDir();
    const remote = await createRemote(home);
    const commit = await remote.commit({ "skills/one/SKILL.md": skillText("one"), "skills/one/a.md": "first\n" });
    const project = join(home, "project");
    const local = await plant(home, "project/skills", "local");
    const run = runIn(home);
    expect((await run("import", remote.url)).code).toBe(0);
    expect((await run("import", local)).stdout).toBe("Imported local\n");
    const file = join(project, "skills.lock");
    expect(await run("lock", "--lock", file)).toMatchObject({ code: 0, stdout: `Wrote 2 skills to ${file}\n` });
    const written = JSON.parse(await readFile(file, "utf8"));
    expect(written).toEqual({
      version: 1,
      skills: {
        local: { source: "./skills/local", contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        one: {
          source: remote.url,
          path: "skills/one",
          revision: commit,
          contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
    });
    await remote.commit({ "skills/one/SKILL.md": skillText("one"), "skills/one/a.md": "second\n" });

    const other = await makeTempDir();
    const there = runIn(other);
    const installed = await there("install", "--frozen", "--lock", file);
    expect(installed).toMatchObject({ code: 0, stdout: "Installed local\nInstalled one\n" });
    const store = join(other, ".local/share/sessarc/skills/store");
    expect(await readFile(join(store, "one/a.md"), "utf8")).toBe("first\n");
    expect((await there("install", "--frozen", "--lock", file)).stdout).toMatch(/local is as the lock says\none is/);
    // Updates follow the branch, not the revision.
    expect((await there("update", "one", "--yes")).stdout).toContain("Updated one");
    const differs = await there("install", "--lock", file);
    expect([differs.code, differs.stderr]).toEqual([1, "one: the stored skill holds other files than the lock says\n"]);
    expect(await readFile(join(store, "one/a.md"), "utf8")).toBe("second\n");
  });

  it("what holds other files than the lock says is not imported; what the lock lacks is filled in, unless it is frozen", async () => {
    const home = await makeTempDir();
    const remote = await createRemote(home);
    const commit = await remote.commit({ "SKILL.md": skillText("skills"), "a.md": "first\n" });
    const local = await plant(home, "work", "local");
    const file = join(home, "skills.lock");
    const write = (skills: object) => writeFile(file, JSON.stringify({ version: 1, skills }));
    const run = runIn(home);
    const wrong = "0".repeat(64);
    await write({
      local: { source: local, contentHash: wrong },
      skills: { source: remote.url, revision: commit, contentHash: wrong },
    });
    const refused = await run("install", "--lock", file);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/local: .*holds other files than the lock says\nskills: it holds other files/);
    expect((await run("list")).code).toBe(3);

    await write({ local: { source: "./work/local" }, skills: { source: remote.url } });
    const before = await readFile(file, "utf8");
    const frozen = await run("install", "--frozen", "--lock", file);
    expect([frozen.code, frozen.stderr]).toEqual([1, expect.stringContaining("does not name its revision")]);
    expect([await readFile(file, "utf8"), (await run("list")).code]).toEqual([before, 3]);
    expect((await run("install", "--lock", file)).code).toBe(0);
    expect(JSON.parse(await readFile(file, "utf8")).skills).toMatchObject({
      local: { source: "./work/local", contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      skills: { revision: commit },
    });
    expect((await run("install", "--frozen", "--lock", file)).code).toBe(0);

    for (const text of [
      "{",
      "[]",
      '{"version":2,"skills":{}}',
      '{"version":1,"skills":{"a":{"source":"x","more":1}}}',
    ]) {
      await writeFile(file, text);
      expect([text, (await run("install", "--lock", file)).code]).toEqual([text, 2]);
    }
    await rm(file);
    expect((await run("install", "--lock", file)).stderr).toContain("sessarc skills lock");
  });

  it("locks the version that an edited skill was imported as", async () => {
    const home = await makeTempDir();
    const run = runIn(home);
    const folder = await plant(home, "work", "notes");
    await run("import", folder);
    const file = join(home, "skills.lock");
    await run("lock", "--lock", file);
    const first = await readFile(file, "utf8");
    await writeFile(join(home, ".local/share/sessarc/skills/store/notes/more.md"), "mine");
    const again = await run("lock", "notes", "--lock", file);
    expect(again.stderr).toContain("notes was edited");
    expect(await readFile(file, "utf8")).toBe(first);
    expect((await run("lock", "none", "--lock", file)).code).toBe(2);
  });
});

it("a skill is begun, imported, tagged, deleted and brought back", async () => {
  const home = await makeTempDir();
  const run = runIn(home);
  const folder = join(home, "my", "notes");
  expect(await run("init", folder)).toMatchObject({ code: 0, stdout: `Wrote ${join(folder, "SKILL.md")}\n` });
  expect((await run("init", folder)).code).toBe(2);
  expect((await run("init", join(home, "My Notes"))).stderr).toContain("my-notes");
  expect(existsSync(join(home, "My Notes"))).toBe(false);
  expect((await run("import", folder)).stdout).toBe("Imported notes\n");
  expect((await run("tags", "notes", "work", "draft")).stdout).toBe("work\ndraft\n");
  expect((await run("tags", "notes")).stdout).toBe("work\ndraft\n");
  expect(JSON.parse((await run("tags", "notes", "--clear", "--json")).stdout)).toEqual({ id: "notes", tags: [] });
  expect((await run("tags", "notes", "x", "--clear")).code).toBe(2);
  const { snapshots } = JSON.parse((await run("snapshots", "notes", "--json")).stdout);
  expect(snapshots).toMatchObject([{ reason: "import", current: true }]);
  expect((await run("snapshots", "notes")).stdout).toContain(snapshots[0].id);
  await run("link", "notes", "--tool", "codex");
  const gone = await run("delete", "notes", "--remove-files");
  expect(gone.stdout).toBe("Deleted notes: 1 links removed, and its files\n");
  expect(gone.stderr).toContain(`sessarc skills restore notes ${snapshots[0].id}`);
  expect(existsSync(join(home, ".local/share/sessarc/skills/store/notes"))).toBe(false);
  expect((await run("restore", "notes", snapshots[0].id)).stdout).toBe("Restored notes\n");
  expect((await run("delete", "none")).code).toBe(3);
});

describe("skills-lock.json", () => {
  it("is written beside ours, what it has of others stays, and it installs the same elsewhere", async () => {
    const home = await makeTempDir();
    const remote = await createRemote(home);
    await remote.commit({ "skills/one/SKILL.md": skillText("one"), "skills/one/b/a.md": "first\n" });
    const local = await plant(home, "project/skills", "local", { "B.md": "b", "a.md": "a", "node_modules/x.md": "x" });
    const run = runIn(home);
    expect((await run("import", remote.url)).code).toBe(0);
    expect((await run("import", local)).code).toBe(0);
    const file = join(home, "project/skills-lock.json");
    const other = { source: "pkg", sourceType: "node_modules", computedHash: "0", via: "x" };
    await writeFile(file, JSON.stringify({ version: 1, more: true, skills: { zeta: other } }));
    expect((await run("lock", "--lock", join(home, "project/skills.lock"))).code).toBe(0);
    // SHA-256 over path and bytes in that program's order (a before B), without node_modules.
    const hash = createHash("sha256");
    for (const part of ["a.md", "a", "B.md", "b", "SKILL.md", skillText("local")]) hash.update(part);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      version: 1,
      more: true,
      skills: {
        local: { source: "./skills/local", sourceType: "local", computedHash: hash.digest("hex") },
        one: {
          ...{ source: remote.url, sourceUrl: remote.url, sourceType: "git", skillPath: "skills/one/SKILL.md" },
          computedHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        zeta: other,
      },
    });

    const there = runIn(await makeTempDir());
    const installed = await there("install", "--lock", file);
    expect([installed.code, installed.stdout]).toEqual([1, "Installed local\nInstalled one\n"]);
    expect(installed.stderr).toBe("zeta: it comes from node_modules, which only that program installs\n");
    const frozen = await there("install", "--frozen", "--lock", file);
    expect([frozen.code, frozen.stderr]).toEqual([2, expect.stringContaining("names no revision")]);
    await remote.commit({ "skills/one/SKILL.md": skillText("one"), "skills/one/b/a.md": "second\n" });
    const later = await runIn(await makeTempDir())("install", "--lock", file);
    expect(later.stderr).toContain("one: the imported skill holds other files than the lock says\n");
  });

  it("is left as it is where it cannot be read, and refused where it leads elsewhere", async () => {
    const home = await makeTempDir();
    const file = join(home, "skills-lock.json");
    const run = runIn(home);
    for (const text of ["{", "[]", '{"version":2,"skills":{}}', '{"version":1,"skills":{"a":{"source":1}}}']) {
      await writeFile(file, text);
      const refused = await run("install", "--lock", file);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("is not a lock of skills")]);
      expect((await run("lock", "--lock", join(home, "skills.lock"))).code).toBe(2);
      expect(await readFile(file, "utf8")).toBe(text);
    }
    const entry = { source: "./x", sourceType: "local", skillPath: "../../y/SKILL.md" };
    await writeFile(file, JSON.stringify({ version: 1, skills: { up: entry } }));
    expect((await run("install", "--lock", file)).stderr).toBe("up: its skillPath leaves its source\n");
  });
});
