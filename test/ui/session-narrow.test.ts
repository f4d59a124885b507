/** A session on small screens: tools at the bottom, the side pane in a sheet. */
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, load, sessionId, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: a session on a small screen", () => {
  const get = useSharedStage();
  const open = async (width: number, query = "") => {
    const stage = get();
    await stage.page.setViewportSize({ width, height: 800 });
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}${query}`);
    return { stage, page: stage.page };
  };

  it("has a bar with outline, code and filter, and reports how far one is", async () => {
    const { stage, page } = await open(390, "?m=13");
    const bar = page.getByRole("toolbar", { name: "Session tools" });
    expect(await page.getByRole("slider").count()).toBe(0);
    expect(await page.getByRole("progressbar").getAttribute("aria-valuetext")).toBe("Message 14 of 26");
    expect(await page.getByRole("toolbar", { name: "Filters" }).count()).toBe(0);
    await bar.getByRole("button", { name: "Filter" }).click();
    await page.getByRole("toolbar", { name: "Filters" }).waitFor();
    expect(await violations(stage)).toEqual([]);
    await bar.getByRole("button", { name: "Filter" }).press("Enter");
    await page.getByRole("toolbar", { name: "Filters" }).waitFor({ state: "detached" });
    await bar.getByRole("button", { name: "Outline" }).click();
    const sheet = page.getByRole("dialog", { name: "Outline" });
    await sheet.getByText(/Add an endpoint/).waitFor();
    expect(await violations(stage, LONG ? "all" : "over")).toEqual([]);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await bar.getByRole("button", { name: "Outline" }).and(page.locator(":focus")).waitFor();
    await bar.getByRole("button", { name: "Code" }).click();
    // The sheet is named by its open tab.
    await page
      .getByRole("dialog", { name: "Diff" })
      .getByText(/Edit \d of 6/)
      .waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("opens on an edit where none is in view, and covers no part of the title", async () => {
    const stage = get();
    await stage.page.setViewportSize({ width: 390, height: 500 });
    await load(stage, `/sessions/${await sessionId(stage, "High and low water")}`);
    await stage.page.getByRole("toolbar", { name: "Session tools" }).getByRole("button", { name: "Code" }).click();
    const sheet = stage.page.getByRole("dialog", { name: "Diff" });
    // The place that was read last is kept: the next edit from there.
    await sheet.getByText(/^Edit \d of 6$/).waitFor();
    await sheet.locator("[data-sign='+']").first().waitFor();
    expect(await violations(stage, "over")).toEqual([]);
    await visit(stage, `/sessions/${await sessionId(stage, "two highs and two lows")}`);
    const more = stage.page.locator("main h1 + button");
    await more.waitFor();
    const title = await stage.page.locator("main h1").boundingBox();
    expect((await more.boundingBox())?.y).toBeGreaterThanOrEqual((title?.y ?? 0) + (title?.height ?? 0));
  });

  it("says of a failed edit that it failed, in its row and in the pane", async () => {
    for (const width of [1440, 390]) {
      const { stage, page } = await open(width, "?m=11&pane=diff");
      await page.getByText("Edit 3 of 6").waitFor();
      const pane = page.getByRole("region", { name: "Side pane" });
      await pane.getByText("failed", { exact: true }).waitFor();
      const row = page.locator('article[data-seq="11"]');
      await row.getByText("failed", { exact: true }).waitFor();
      for (const diff of [row, pane]) {
        const line = diff.locator(".grayscale [data-sign='+']").first();
        await line.waitFor({ state: "attached" });
      }
      expect(await violations(stage, "section[aria-label='Side pane']")).toEqual([]);
    }
  });

  it("wraps the lines of a diff on a phone, each with one number", async () => {
    const { page } = await open(390, "?m=17&pane=diff&of=commit");
    const diff = page.getByRole("dialog", { name: "Diff" }).getByRole("group", { name: /^Changes of / });
    await diff.locator("[data-sign='-']").first().waitFor();
    await diff.locator("[data-sign='+']").first().waitFor();
    expect(await diff.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    for (const sign of ["-", "+", " "]) {
      const line = diff.locator(`[data-sign='${sign}']`).first();
      const numbers = line.locator(".tnum").filter({ visible: true });
      expect(await numbers.allInnerTexts()).toEqual([await line.getAttribute("data-number")]);
      const [code, whole] = [await line.locator("code").boundingBox(), await line.boundingBox()];
      expect((code?.x ?? 0) - (whole?.x ?? 0)).toBeLessThanOrEqual(60);
    }
  });

  it("keeps the filters in view while one is on, and finds with f", async () => {
    const { page } = await open(390, "?errors=1");
    await page.getByRole("toolbar", { name: "Filters" }).waitFor();
    await visit(get(), new URL(page.url()).pathname);
    await page.locator("main h1").focus();
    await page.keyboard.press("f");
    await page.keyboard.type("extremes");
    await page.waitForURL(/q=extremes/);
  });

  it("has a menu with rows as high as a finger and without keys on a phone", async () => {
    const { page } = await open(390);
    await page.getByRole("button", { name: "Session actions" }).click();
    const items = page.getByRole("menuitem");
    await items.first().waitFor();
    const heights = await items.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    expect(await page.getByRole("menu").locator("kbd:visible").count()).toBe(0);
    await page.keyboard.press("Escape");
  });

  it("opens and closes the side pane with d where it is a sheet", async () => {
    const { page } = await open(1024, "?m=13");
    await page.locator("main h1").focus();
    await page.keyboard.press("d");
    const sheet = page.getByRole("dialog", { name: "Diff" });
    await sheet.getByText(/Edit \d of 6/).waitFor();
    await page.keyboard.press("d");
    await sheet.waitFor({ state: "detached" });
  });
});
