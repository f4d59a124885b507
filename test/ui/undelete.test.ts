/** Earlier versions of files: from a session, from the palette, and back into a new folder. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeGit, makeRepo, T0 } from "../git/_repo.ts";
import { createLog, shown } from "../undelete/_log.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useSharedStage, useStage, visit } from "./browser.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0a";
/** Longer than a line of the page. */
const TITLE = `Sail out of the harbour${", past the lights, the moles and the buoys".repeat(5)}`;

describeGit("dashboard: files that are gone", () => {
  describeUi("of a session", () => {
    let root = "";
    const get = useStage({
      fill: async (home) => {
        const repo = makeRepo(join(home, "harbour"));
        root = repo.root;
        repo.write("kept.ts", "kept\n");
        repo.commit("first", T0 - 60);
        const log = createLog({ home, root, key: KEY });
        log.prompt(T0, TITLE);
        repo.write("plan.md", "one\ntwo\nthree\n");
        log.call(T0 + 10, "Read", { file_path: join(root, "plan.md") }, shown("one\ntwo\nthree\n"));
        log.call(T0 + 12, "Read", { file_path: join(root, "kept.ts") }, shown("kept\n"));
        log.call(T0 + 14, "Read", { file_path: join(root, "part.md"), offset: 3, limit: 1 }, "3\tmiddle");
        rmSync(join(root, "plan.md"));
        log.call(T0 + 20, "Bash", { command: "rm plan.md" }, "");
        log.write();
        const stats = {
          dailyActivity: [{ date: "2023-11-01", messageCount: 120, sessionCount: 4, toolCallCount: 40 }],
          dailyModelTokens: [{ date: "2023-11-01", tokensByModel: { "claude-opus-4-5": 7_500 } }],
        };
        writeFileSync(join(home, ".claude/stats-cache.json"), JSON.stringify(stats));
      },
    });
    const openOverview = async () => {
      const stage = get();
      await visit(stage, `/sessions/${await sessionId(stage, "Sail out")}?view=overview`);
      return { stage, page: stage.page };
    };

    it("are on its overview, with what can be had back, and come back into a new folder with an undo", async () => {
      const { stage, page } = await openOverview();
      const section = page.locator("section", { has: page.getByRole("heading", { name: "Destroyed files" }) });
      await section.waitFor();
      expect(await section.getByRole("row").nth(1).innerText()).toMatch(/plan\.md\s+rm\s+complete/);
      expect(await violations(stage)).toEqual([]);
      await section.getByRole("button", { name: "Put all back…" }).click();
      const dialog = page.getByRole("dialog");
      const folder = await dialog.getByRole("textbox", { name: "New folder" }).inputValue();
      expect(folder.startsWith(`${root}-put-back-`)).toBe(true);
      expect(await violations(stage)).toEqual([]);
      await dialog.getByRole("button", { name: "Put back" }).click();
      await page.getByText(`1 file is in ${folder}`).waitFor();
      expect(readFileSync(join(folder, "plan.md"), "utf8")).toBe("one\ntwo\nthree\n");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("The folder is removed").waitFor();
      expect(existsSync(folder)).toBe(false);
      expect(stage.problems()).toEqual([]);
    });

    it("are found without a path, by their newest version", async () => {
      const stage = get();
      const { page } = stage;
      await visit(stage, "/files");
      const lately = page.getByRole("region", { name: "Latest changed files" });
      await lately.getByRole("link", { name: "plan.md" }).waitFor();
      expect(await lately.getByRole("row").filter({ hasText: "plan.md" }).innerText()).toContain("Deleted");
      expect(await violations(stage)).toEqual([]);
      // A file that was read after its commit is there with the commit; one that was only read is not.
      expect(await lately.getByRole("row").filter({ hasText: "kept.ts" }).innerText()).toMatch(
        /Committed\s*[0-9a-f]{8} first/,
      );
      expect(await lately.getByRole("link", { name: "part.md" }).count()).toBe(0);
      await lately.getByRole("link", { name: "kept.ts" }).click();
      await page.waitForURL(/\/files\?path=.*kept\.ts/);
      await page.getByRole("region", { name: "Versions, newest first" }).getByRole("button").first().waitFor();
      expect(stage.problems()).toEqual([]);
    });

    it("have their versions, newest first, each with its text", async () => {
      const { stage, page } = await openOverview();
      await page.getByRole("link", { name: "plan.md" }).first().click();
      await page.waitForURL(/\/files\?path=/);
      const list = page.getByRole("region", { name: "Versions, newest first" });
      await list.getByRole("button").first().waitFor();
      expect(await list.getByRole("button").allInnerTexts()).toEqual([
        expect.stringMatching(/^Deleted/),
        expect.stringMatching(/^Read(?!.*complete)/),
      ]);
      await page.getByText("two", { exact: true }).waitFor();
      await list.getByRole("button").first().click();
      await page.getByText("The file was deleted here.").waitFor();
      expect(await violations(stage)).toEqual([]);
      await page.getByRole("textbox", { name: "File or folder" }).fill(join(root, "part.md"));
      await page.getByRole("button", { name: "Show" }).click();
      // Lines that are not known have no number; the known one has its own.
      const line = page.locator("[data-line]", { hasText: "middle" });
      await line.waitFor();
      expect(await line.getAttribute("data-number")).toBe("3");
      const unknown = page.getByText("Lines not known", { exact: true });
      expect(await unknown.count()).toBe(2);
      expect(await unknown.first().evaluate((one) => getComputedStyle(one).fontFamily)).not.toContain("Mono");
      expect(await page.getByText("[sessarc:").count()).toBe(0);
      await page.getByText("Only the known part", { exact: true }).waitFor();
      expect(await violations(stage)).toEqual([]);
      expect(stage.problems()).toEqual([]);
    });

    it("show a version with what it is, when and whose, and what differs from the version before it", async () => {
      const stage = get();
      const { page } = stage;
      await visit(stage, `/files?path=${encodeURIComponent(join(root, "kept.ts"))}`);
      const main = page.getByRole("main");
      await main.getByRole("group", { name: /kept\.ts/ }).waitFor();
      const head = main.locator("p", { hasText: /^Read\s*· .*· Sail out of the harbour/ });
      await head.waitFor();
      const ends = await main.evaluate((one) => {
        const rightOf = (selector: string) => one.querySelector(selector)?.getBoundingClientRect().right;
        return { page: rightOf(".page > h1") ?? 0, text: rightOf("[role=group][aria-label*='kept.ts']") };
      });
      expect(ends.text).toBeLessThanOrEqual(ends.page);
      expect(await main.getByText("Only the known part").count()).toBe(0);
      await main.getByText("complete · 1 line", { exact: true }).waitFor();
      await main.getByText("Changes", { exact: true }).click();
      await main.getByText("No difference to the version before.", { exact: true }).waitFor();
      expect(await violations(stage)).toEqual([]);
      expect(stage.problems()).toEqual([]);
    });

    it("open below the row that is pressed, where there is one column", async () => {
      const stage = get();
      const { page } = stage;
      await page.setViewportSize({ width: 390, height: 844 });
      try {
        await visit(stage, `/files?path=${encodeURIComponent(join(root, "plan.md"))}`);
        const list = page.getByRole("region", { name: "Versions, newest first" });
        const row = list.getByRole("button", { name: /^Read/ });
        await row.waitFor();
        const line = list.locator("[data-line]", { hasText: "two" });
        expect(await line.count()).toBe(0);
        await row.click();
        await line.waitFor();
        expect(await row.getAttribute("aria-expanded")).toBe("true");
        expect(await line.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
        expect(await violations(stage)).toEqual([]);
        await list.getByRole("button", { name: /^Deleted/ }).click();
        await list.getByText("The file was deleted here.").waitFor();
        expect(await line.count()).toBe(0);
        await row.click();
        await line.waitFor();
        await row.click();
        await line.waitFor({ state: "detached" });
        expect(stage.problems()).toEqual([]);
      } finally {
        await page.setViewportSize({ width: 1440, height: 900 });
      }
    });

    it("are listed before a path is typed; the end of a path is enough where one file has it", async () => {
      const stage = get();
      const { page } = stage;
      await visit(stage, "/files");
      await page.getByRole("row", { name: /plan\.md rm complete/ }).waitFor();
      // What is lost comes first.
      const headings = page.getByRole("main").getByRole("heading", { level: 2 });
      await expect.poll(() => headings.allInnerTexts()).toEqual(["Lost lately", "Latest changed files"]);
      expect(await page.getByRole("link", { name: "Code", exact: true }).getAttribute("aria-current")).toBe("page");
      expect(await violations(stage)).toEqual([]);
      const show = async (path: string) => {
        await page.getByRole("textbox", { name: "File or folder" }).fill(path);
        await page.getByRole("button", { name: "Show" }).click();
      };
      await show("nowhere.md");
      await page.getByText(/^Type the full path/).waitFor();
      expect(await page.getByRole("button", { name: "Retry" }).count()).toBe(0);
      // The refused question is the one failed answer.
      expect(stage.problems().filter((one) => !one.includes("400"))).toEqual([]);
      const list = page.getByRole("region", { name: "Versions, newest first" });
      await show("plan.md");
      await list.getByRole("button", { name: /^Read/ }).waitFor();
      await show("~/harbour");
      await list.getByRole("heading", { name: "kept.ts" }).waitFor();
      await list.getByRole("heading", { name: "plan.md" }).waitFor();
      expect(await violations(stage)).toEqual([]);
      expect(stage.problems()).toEqual([]);
    });

    it("are beside days that only the assistant's own statistics know, which are in no sum", async () => {
      const stage = get();
      const { page } = stage;
      await visit(stage, "/usage?days=all");
      const section = page.locator("section", { hasText: "Days that only Claude Code counted" });
      await section.waitFor();
      expect((await section.getByRole("row").nth(1).innerText()).replace(/\s+/g, " ")).toMatch(/2023 4 120 40 7\.5K$/);
      expect(await section.innerText()).toContain("4 sessions in all.");
      await page.locator("dd", { hasText: /^1 session$/ }).waitFor();
      expect(await violations(stage)).toEqual([]);
      expect(stage.problems()).toEqual([]);
    });

    it("are found by the palette, by a word and by a full path", async () => {
      const { stage, page } = await openOverview();
      await page.keyboard.press("Control+k");
      const input = page.getByRole("combobox", { name: "Command menu" });
      await input.fill("deleted file");
      await page.getByRole("option", { name: /A file that is gone/ }).waitFor();
      await input.fill(root);
      await page.getByRole("option", { name: `Earlier versions of ${root}` }).click();
      await page.waitForURL(/\/files\?path=/);
      const list = page.getByRole("region", { name: "Versions, newest first" });
      await list.getByText("plan.md").first().waitFor();
      await list.getByText("kept.ts").first().waitFor();
      expect(stage.problems()).toEqual([]);
    });
  });
});

describeUi("dashboard: a file whose path is not known whole", () => {
  const get = useSharedStage();

  it("is one of those with the name that was typed", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/files");
    await page.getByRole("textbox", { name: "File or folder" }).fill("test.js");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText(/^Type the full path/).waitFor();
    const similar = page.getByRole("region", { name: "Files of your sessions with this name" });
    await expect.poll(() => similar.getByRole("link").count()).toBeGreaterThan(1);
    await similar.getByRole("link", { name: /extremes\.test\.js/ }).click();
    await page.getByRole("region", { name: "Versions, newest first" }).getByRole("button").first().waitFor();
    // The name alone was refused, as it should be.
    expect(stage.problems().filter((one) => !one.includes("status of 400"))).toEqual([]);
  });
});
