/** All sessions: the calendar folds and stays so; on a phone the first session is in view, with its assistant by name and its cost. */
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, load, type Stage, settled, useSharedStage, visit } from "./browser.ts";

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 800 };

describeUi("dashboard: the list of sessions in little room", () => {
  const get = useSharedStage();
  const rows = ({ page }: Stage) => page.getByRole("table", { name: "Sessions" }).locator("[data-index]");
  const height = async (stage: Stage) => (await rows(stage).first().boundingBox())?.y ?? Number.POSITIVE_INFINITY;
  const year = ({ page }: Stage) => page.getByRole("button", { name: "Activity of a year" });

  it("has the filters in one row, and the calendar of a year where it was asked for", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(DESK);
    await load(stage, "/sessions");
    await rows(stage).first().waitFor();
    const tops = await page
      .getByRole("search", { name: "Filters" })
      .locator("input:visible, button:visible")
      .evaluateAll((all) =>
        all.map((one) => Math.round(one.getBoundingClientRect().y + one.getBoundingClientRect().height / 2)),
      );
    expect(tops.length).toBeGreaterThan(6);
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(4);
    const folded = await height(stage);
    // Above it: the title, the filters, the head of the table and the first day.
    expect(folded).toBeLessThan(264);
    await year(stage).click();
    await page.getByRole("grid").waitFor();
    await expect.poll(() => height(stage)).toBeGreaterThan(folded + 100);
    await load(stage, "/sessions");
    await page.getByRole("grid").waitFor();
    expect(await violations(stage)).toEqual([]);
    await year(stage).click();
    await page.getByRole("grid").waitFor({ state: "detached" });
  });

  it("begins its failed calls and their range at one edge on a phone, and says no time of 0 s", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(PHONE);
    await load(stage, "/sessions?view=calls&days=all&show=both&slow=5000");
    const start = async (name: string) => (await page.getByRole("group", { name }).boundingBox())?.x;
    expect(await start("Range")).toBe(await start("Show"));
    expect(await page.getByRole("main").getByText("took 0 s").count()).toBe(0);
    expect(stage.problems()).toEqual([]);
  });

  it.each([1280, 1440])("gives the room of the size of a log to the titles at %i px", async (width) => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width, height: 800 });
    await load(stage, "/sessions");
    await rows(stage).first().waitFor();
    const heads = async () =>
      (await page.getByRole("columnheader").filter({ visible: true }).allInnerTexts()).map((text) => text.trim());
    expect(await heads()).not.toContain("Size");
    const title = () => rows(stage).first().getByRole("cell").nth(1).boundingBox();
    expect((await title())?.width).toBeGreaterThan(width - 950);
    await page.setViewportSize({ width: 1600, height: 800 });
    await page.getByRole("columnheader", { name: "Size" }).waitFor();
    expect(await heads()).toContain("Size");
  });

  it("filters by Today, Last week, or chosen days", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions");
    await page.getByRole("combobox", { name: "Days" }).click();
    await page.getByRole("option", { name: "Last week" }).click();
    await page.waitForURL(/from=\d{4}-\d\d-\d\d&to=/);
    const { searchParams } = new URL(page.url());
    const [from, to] = [searchParams.get("from") ?? "", searchParams.get("to") ?? ""];
    expect(new Date(`${from}T12:00Z`).getUTCDay()).toBe(1);
    expect(Date.parse(to) - Date.parse(from)).toBe(6 * 86_400_000);
    expect(await page.getByRole("combobox", { name: "Days" }).innerText()).toBe("Last week");
    await page.getByRole("combobox", { name: "Days" }).click();
    await page.getByRole("option", { name: "Choose days" }).click();
    const dialog = page.getByRole("dialog", { name: "Choose days" });
    await dialog.getByLabel("From").fill("2020-01-01");
    await dialog.getByLabel("To").fill("2020-01-02");
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=2020-01-01&to=2020-01-02/);
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await page.waitForURL((url) => url.search === "");
    expect(stage.problems()).toEqual([]);
  });

  it("shows the first session on a phone without scrolling, with its assistant's name and its cost", async () => {
    const stage = get();
    const { page } = stage;
    await page.evaluate(() => localStorage.clear());
    await page.setViewportSize(PHONE);
    await load(stage, "/sessions");
    await rows(stage).first().waitFor();
    expect(await height(stage)).toBeLessThan(300);
    const first = rows(stage).first();
    await expect.poll(() => first.innerText()).toContain("Claude Code");
    expect(await first.innerText()).toMatch(/\$\d/);
    // Cost and time share a column: more than half of the row is the title's.
    const title = await first.getByRole("cell").nth(1).boundingBox();
    expect(title?.width).toBeGreaterThan(PHONE.width / 2);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
    expect(await violations(stage)).toEqual([]);
    await visit(stage, "/");
    const newest = page.getByRole("region", { name: "Continue" }).getByRole("listitem").first();
    await expect.poll(() => newest.innerText()).toContain("Claude Code");
  });

  it("shows the cost of each row of Usage on a phone without scrolling sideways", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(PHONE);
    await visit(stage, "/usage");
    for (const name of ["Most expensive", "Windows of your plans"]) {
      const group = page.getByRole("group", { name });
      await group.getByText(/\$\d/).first().waitFor();
      await settled(page);
      const box = await group.getByText(/\$\d/).first().boundingBox();
      expect(box && box.x + box.width).toBeLessThanOrEqual(PHONE.width);
    }
    await page.setViewportSize(DESK);
    await page.evaluate(() => localStorage.clear());
  });
});
