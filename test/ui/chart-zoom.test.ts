/** The chart of a range of days: zoomed by dragging, by keyboard alone, and by fields. */
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { dayAgo, describeUi, type Stage, useSharedStage, visit } from "./browser.ts";

const chart = ({ page }: Stage) => page.getByRole("group", { name: "Cost per day" });
const bars = (stage: Stage) => chart(stage).getByRole("button");
const query = ({ page }: Stage) => Object.fromEntries(new URL(page.url()).searchParams);
/** Presses at the middle of one bar, moves over the others, lets go on the last. */
async function drag(stage: Stage, from: Locator, to: Locator): Promise<void> {
  const { mouse } = stage.page;
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  if (!a || !b) throw new Error("No bar");
  await mouse.move(a.x + a.width / 2, a.y + a.height / 2);
  await mouse.down();
  await mouse.move((a.x + b.x) / 2, a.y + 20, { steps: 4 });
  await mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 4 });
  await mouse.up();
}

describeUi("dashboard: zoom of a chart", () => {
  const get = useSharedStage();

  it("zooms to the days dragged over, and back", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=30");
    await expect.poll(() => bars(stage).count()).toBe(30);
    await drag(stage, bars(stage).nth(8), bars(stage).nth(22));
    await page.waitForURL(/from=/);
    expect(query(stage)).toMatchObject({ from: dayAgo(21), to: dayAgo(7) });
    await expect.poll(() => bars(stage).count()).toBe(15);
    await page.reload();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.waitForFunction(() => !location.search.includes("from="));
    await expect.poll(() => bars(stage).count()).toBe(30);
    expect(stage.problems()).toEqual([]);
  });

  it("zooms by keyboard alone: Shift and arrows mark, Escape lets go, Enter zooms", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=30");
    await chart(stage).locator("button[tabindex='0']").focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("Shift+ArrowLeft");
    await page.getByRole("status").filter({ hasText: "selected: Enter zooms" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("status").filter({ hasText: "selected: Enter" }).waitFor({ state: "detached" });
    for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=/);
    expect(query(stage)).toMatchObject({ from: dayAgo(7), to: dayAgo(4) });
    await page.keyboard.press("d");
    await page.waitForFunction(() => !location.search.includes("from="));
  });

  it("takes two days from fields: the way without dragging", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=7");
    await page.getByRole("button", { name: "Choose days" }).click();
    const dialog = page.getByRole("dialog", { name: "Choose days" });
    await dialog.getByLabel("From").fill(dayAgo(26));
    await dialog.getByLabel("To").fill(dayAgo(20));
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=/);
    expect(query(stage)).toMatchObject({ days: "7", from: dayAgo(26), to: dayAgo(20) });
    await page.getByRole("button", { name: /^Days shown: / }).waitFor();
  });
});
