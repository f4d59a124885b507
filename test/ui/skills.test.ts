/** Skills: from a folder of an assistant into the store, linked, edited, restored, deleted, with the way back of each. */
import { lstat, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { claudePath, claudeRows, writeLog } from "../rescue/_logs.ts";
import { LONG } from "../rounds.ts";
import { describeUi, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

const text = (name: string, words: string) =>
  `---\nname: ${name}\ndescription: ${words}\n---\n\n# ${name}\n\nRead **first**.\n`;
/** A session that asks for skills that are not installed. */
async function writeUse(home: string, n: number, skills: readonly string[]): Promise<void> {
  const said = { key: `bbbbbbbb-0000-4000-8000-${String(n).padStart(12, "0")}`, cwd: "/w/app", turns: 1 };
  const base = { sessionId: said.key, cwd: said.cwd, type: "assistant", timestamp: "2026-01-01T00:01:00.000Z" };
  const calls = skills.map((skill, i) => ({
    ...{ ...base, uuid: `s${i}-${said.key}`, requestId: `s${i}-${said.key}` },
    message: {
      ...{ id: `s${i}-${said.key}`, role: "assistant", model: "claude-sonnet-4-5", usage: { output_tokens: 1 } },
      content: [{ type: "tool_use", id: `t${i}`, name: "Skill", input: { skill } }],
    },
  }));
  await writeLog(claudePath(home, said), [...claudeRows(said), ...calls]);
}
async function fill(home: string): Promise<void> {
  await writeDemo({ home });
  await writeUse(home, 1, ["often", "often", "often", "wide"]);
  await writeUse(home, 2, ["wide"]);
  for (const name of ["changelog", "review"]) {
    await mkdir(join(home, ".claude/skills", name), { recursive: true });
    await writeFile(join(home, ".claude/skills", name, "SKILL.md"), text(name, `Writes the ${name}`));
  }
  await mkdir(join(home, ".codex/skills/odd"), { recursive: true });
  await writeFile(join(home, ".codex/skills/odd/SKILL.md"), "no head\n");
}

describeUi("dashboard: skills", () => {
  const get = useStage({ fill });
  const send = (path: string, body: object) =>
    get().served.kernel.fetch(`/api/skills/${path}`, { method: "POST", body: JSON.stringify(body) });
  /** Into the store, where no test before has brought them. */
  const importBoth = async () => {
    const { served, home } = get();
    for (const name of ["changelog", "review"])
      if ((await served.kernel.fetch(`/api/skills/${name}`)).status === 404)
        await send("import", { path: join(home, ".claude/skills", name) });
  };

  it("imports what the scan found, says why the rest cannot be, and links a skill with a way back", async () => {
    const stage = get();
    const { page, home } = stage;
    await visit(stage, "/tools/skills");
    await page.getByRole("row", { name: /changelog.*not in the store/ }).waitFor();
    await page.getByRole("button", { name: "Add skills" }).first().click();
    await page.getByRole("region", { name: "Broken" }).getByText("odd", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Import all 2" }).click();
    await page.getByRole("region", { name: "Duplicates" }).getByRole("link", { name: "Open review" }).waitFor();

    await visit(stage, "/tools/skills");
    const row = page.getByRole("row", { name: /changelog/ });
    await row.getByRole("button", { name: "Codex CLI: not linked. Click to link" }).click();
    await row.getByRole("button", { name: "Codex CLI: linked. Click to unlink" }).waitFor();
    const link = join(home, ".agents/skills/changelog");
    expect(await readFile(join(await readlink(link), "SKILL.md"), "utf8")).toContain("Writes the changelog");
    await page.getByRole("button", { name: "Undo" }).click();
    await row.getByRole("button", { name: "Codex CLI: not linked. Click to link" }).waitFor();
    await expect(lstat(link)).rejects.toThrow();
    // What is in Claude Code's folder is the user's own.
    await row.getByText("Claude Code: has it in its own folder").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("keeps rating and tags, restores a version after asking, and brings a deleted skill back with its links", async () => {
    const stage = get();
    const { page, home } = stage;
    const skill = async () => (await stage.served.kernel.fetch("/api/skills/changelog")).json();
    await importBoth();
    await send("changelog/link", { tool: "codex" });
    const file = join(await readlink(join(home, ".agents/skills/changelog")), "SKILL.md");
    await writeFile(file, text("changelog", "Edited here"));
    await visit(stage, "/tools/skills/changelog");
    await page.getByText("edited here").first().waitFor();
    await page.getByRole("radio", { name: "4 of 5" }).check();
    await page.getByLabel("Tags").fill("git, release");
    await page.getByLabel("Tags").press("Enter");
    await expect.poll(skill).toMatchObject({ rating: 4, tags: ["git", "release"] });

    await page.getByRole("button", { name: "Versions" }).click();
    await page.getByRole("listitem").filter({ hasText: "SKILL.md" }).getByText("changed here").waitFor();
    await page.getByRole("listitem").filter({ hasText: "imported" }).getByRole("button", { name: "Restore" }).click();
    await page
      .getByRole("dialog")
      .getByText(/What is there now is kept as a version/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await expect.poll(() => readFile(file, "utf8")).toContain("Writes the changelog");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => readFile(file, "utf8")).toContain("Edited here");

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText(".agents/skills/changelog").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/\/skills$/);
    await expect(lstat(join(home, ".agents/skills/changelog"))).rejects.toThrow();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await expect
      .poll(async () => (await lstat(join(home, ".agents/skills/changelog")).catch(() => null))?.isSymbolicLink())
      .toBe(true);
    expect(stage.problems()).toEqual([]);
  });

  it("lists what is not installed by the number that it shows", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/skills");
    const rows = page
      .getByRole("main")
      .locator("section")
      .filter({ hasText: "it is not installed" })
      .getByRole("listitem");
    await rows.first().waitFor();
    const shown = (await rows.allInnerTexts()).map((text) => /^(\w+)\s+(\d+ sessions?)/.exec(text)?.slice(1));
    expect(shown).toEqual([
      ["wide", "2 sessions"],
      ["often", "1 session"],
    ]);
    expect(stage.problems()).toEqual([]);
  });

  it("is accessible and well laid out with skills in it", async () => {
    const stage = get();
    await importBoth();
    const tabs = LONG ? ["content", "links", "versions", "use"] : ["content", "versions"];
    for (const path of [
      "/tools/skills",
      ...(LONG ? ["/tools/skills/scan"] : []),
      ...tabs.map((tab) => `/skills/review?tab=${tab}`),
    ]) {
      await visit(stage, path);
      await sound(stage, path);
    }
  });
});
