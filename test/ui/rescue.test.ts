/** Rescue: a lost session is put back after its paths were shown, Undo takes it back, and a copy is made for another folder. */
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { claudePath, claudeRows, writeLog } from "../rescue/_logs.ts";
import { describeUi, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

describeUi("dashboard: rescue", () => {
  const get = useStage();

  it("puts a lost session back, takes it back, and says how long logs are retained", async () => {
    const stage = get();
    const { page } = stage;
    const { kernel } = stage.served;
    await kernel.inject("rescue").store();
    const projects = join(stage.home, ".claude/projects");
    const found = readdirSync(projects, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".jsonl"),
    );
    const path = join(projects, found.find((name) => !name.includes("subagents")) ?? "");
    await rm(path);
    await kernel.fetch("/api/sync?wait=1", { method: "POST" });
    await visit(stage, "/sessions");
    await page.getByRole("button", { name: "Hidden and gone" }).click();
    await page.waitForURL(/\/sessions\?view=hidden/);
    await page.getByRole("radio", { name: "Log gone 1", exact: true }).check();
    await page.getByText("The assistant has no log of these sessions any more.").waitFor();
    await page.getByRole("checkbox", { name: /^Choose / }).check();
    await sound(stage, "rescue");
    await page.getByRole("toolbar", { name: "1 chosen" }).getByRole("button", { name: "Clear" }).click();
    // One session is put back by the act of its row.
    await page
      .getByRole("main")
      .getByRole("listitem")
      .getByRole("button", { name: /^Put back: / })
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(path).waitFor();
    await dialog.getByRole("button", { name: "Put back" }).click();
    await page.getByText(/is back in Claude Code/).waitFor();
    expect(existsSync(path)).toBe(true);
    await page.getByText("No session has this state.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("checkbox", { name: /^Choose / }).waitFor();
    expect(existsSync(path)).toBe(false);
    await page
      .getByRole("button", { name: /^Retain for 10 years/ })
      .first()
      .click();
    await page
      .getByRole("dialog")
      .getByText(/cleanupPeriodDays becomes 3650/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Change" }).click();
    await page
      .getByText("3,650 days after the last message")
      .or(page.getByText("3650 days after the last message"))
      .waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("removes old logs once it was asked, and puts all of them back", async () => {
    const stage = get();
    const { page } = stage;
    const { kernel } = stage.served;
    const projects = join(stage.home, ".claude/projects");
    const logs = readdirSync(projects, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(projects, name));
    const old = new Date(Date.now() - 40 * 86_400_000);
    for (const path of logs) utimesSync(path, old, old);
    await kernel.fetch("/api/sync?wait=1", { method: "POST" });
    await kernel.inject("rescue").store();
    const before = logs.map((path) => readFileSync(path));
    await visit(stage, "/settings/data");
    const row = page.locator("#reclaim");
    await row.getByRole("button", { name: "Remove old logs" }).click();
    const dialog = page.getByRole("dialog");
    expect(logs.every((path) => existsSync(path))).toBe(true);
    await dialog.getByRole("button", { name: /^Remove .*B$/ }).click();
    await row.getByText(/logs? (was|were) removed: /).waitFor();
    expect(logs.some((path) => existsSync(path))).toBe(false);
    await sound(stage, "reclaim");
    await row.getByRole("button", { name: "Put all back" }).click();
    await row.getByText(/logs? (was|were) removed: /).waitFor({ state: "detached" });
    expect(logs.map((path) => readFileSync(path))).toEqual(before);
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: rescue, more than a page", () => {
  const MANY = 120;
  const get = useStage({
    fill: async (home) => {
      for (let n = 0; n < MANY; n++) {
        const said = { key: `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`, cwd: "/w/app", turns: 1 };
        await writeLog(claudePath(home, said), claudeRows(said));
      }
    },
  });

  it("lists the sessions first, says of how many it chooses all that are loaded, then how long logs are retained", async () => {
    const stage = get();
    const { page } = stage;
    const { kernel } = stage.served;
    await kernel.inject("rescue").store();
    await rm(join(stage.home, ".claude/projects"), { recursive: true });
    await kernel.fetch("/api/sync?wait=1", { method: "POST" });
    await visit(stage, "/sessions?view=hidden&state=gone");
    const all = page.getByRole("checkbox", { name: new RegExp(`^All that are loaded: \\d+ of ${MANY}$`) });
    await page.getByText("Choose those you want back: their logs are put where they were.").waitFor();
    // The first row has its act in words, the others an icon until they are in use.
    const acts = page.getByRole("listitem").getByRole("button", { name: /^Put back: / });
    const words = (nth: number) =>
      acts
        .nth(nth)
        .locator("span")
        .evaluate((one) => getComputedStyle(one).opacity);
    expect([await words(0), await words(1)]).toEqual(["1", "0"]);
    await acts.nth(1).focus();
    await expect.poll(() => words(1)).toBe("1");
    await all.check();
    const loaded = await page.getByRole("checkbox", { name: /^Choose / }).count();
    expect(loaded).toBeLessThan(MANY);
    await page.getByRole("toolbar", { name: `${loaded} chosen` }).waitFor();
    const retention = await page.getByRole("heading", { name: "How long assistants retain their logs" }).boundingBox();
    const last = await page
      .getByRole("checkbox", { name: /^Choose / })
      .last()
      .boundingBox();
    expect(retention?.y).toBeGreaterThan(last?.y ?? Number.POSITIVE_INFINITY);
    await sound(stage, "rescue, more than a page");
    expect(stage.problems()).toEqual([]);
  });

  it("lists a folder that is gone in one row, and copies its sessions to where it is now", async () => {
    const stage = get();
    const { page } = stage;
    const now = join(stage.home, "now/app");
    mkdirSync(now, { recursive: true });
    await visit(stage, "/sessions?view=hidden&state=folder-gone");
    const row = page.getByRole("button", { name: "/w/app", exact: true });
    await row.waitFor();
    await page.getByText(`${MANY} sessions`, { exact: true }).first().waitFor();
    expect(await page.getByRole("checkbox", { name: /^Choose / }).count()).toBe(0);
    await page.keyboard.press("j");
    await expect.poll(() => row.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page
      .getByRole("checkbox", { name: /^Choose / })
      .first()
      .waitFor();
    expect(await row.getAttribute("aria-expanded")).toBe("true");
    expect(new URL(page.url()).searchParams.get("folder")).toBe("/w/app");
    await sound(stage, "rescue, a folder");
    await page.getByRole("button", { name: "Folder moved…: /w/app" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill(now);
    await dialog.getByText(`What is written for ${MANY} sessions`).waitFor();
    await dialog.getByRole("button", { name: `Copy ${MANY} sessions` }).click();
    await page.getByText(`${MANY} sessions are back`).waitFor();
    const copies = readdirSync(join(stage.home, ".claude/projects"), { recursive: true, encoding: "utf8" });
    expect(copies.filter((name) => name.endsWith(".jsonl"))).toHaveLength(MANY);
    // It is done with: what is left of it is a line.
    await row.waitFor({ state: "detached" });
    await page.getByText("1 folder is dismissed.").waitFor();
    await page.getByRole("button", { name: "Show again" }).click();
    await row.waitFor();
    await page.getByRole("button", { name: "Dismiss: /w/app" }).click();
    await row.waitFor({ state: "detached" });
    expect(stage.problems()).toEqual([]);
  });
});
