/** Earlier versions of files: from a session, from the palette, and back into a new folder. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeGit, makeRepo, T0 } from "../git/_repo.ts";
import { createLog, shown } from "../undelete/_log.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useStage, visit } from "./browser.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0a";

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
        log.prompt(T0, "Sail out of the harbour");
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
      expect(await section.getByRole("row").nth(1).innerText()).toMatch(/plan\.md\s+rm\s+whole/);
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

    it("have their versions, newest first, each with its text", async () => {
      const { stage, page } = await openOverview();
      await page.getByRole("link", { name: "plan.md" }).first().click();
      await page.waitForURL(/\/files\?path=/);
      const list = page.getByRole("region", { name: "Versions, newest first" });
      await list.getByRole("button").first().waitFor();
      expect(await list.getByRole("button").allInnerTexts()).toEqual([
        expect.stringMatching(/^Deleted/),
        expect.stringMatching(/^Read\s+whole/),
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
      expect(stage.problems()).toEqual([]);
    });

    it("are listed before a path is typed; the end of a path is enough where one file has it", async () => {
      const stage = get();
      const { page } = stage;
      await visit(stage, "/files");
      await page.getByRole("row", { name: /plan\.md rm whole/ }).waitFor();
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
      await page.getByText("1 session", { exact: true }).waitFor();
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
