/** Home: figures that explain themselves, a chart that zooms, a ledger that follows. */
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import type { InsightsReport } from "../../plugins/insights/index.ts";
import { toBuckets } from "../../ui/state/insights.ts";
import { describeUi, type Stage, useStage, visit } from "./browser.ts";
import { writeStory } from "./stories.ts";

const ZONE = "Europe/Berlin";
const ask = async (stage: Stage, query: string) =>
  (await (await stage.served.kernel.fetch(`/api/insights?tz=${ZONE}&${query}`)).json()) as InsightsReport;
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
/** The figure under a label. */
const stat = ({ page }: Stage, label: string) => page.locator("dl > div", { hasText: label });

describeUi("dashboard: Home", () => {
  const get = useStage();

  it("zooms to the days dragged over, with the figures and the ledger of those days, and back", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const { perDay } = await ask(stage, "days=30");
    expect(await bars(stage).count()).toBe(30);
    await drag(stage, bars(stage).nth(8), bars(stage).nth(22));
    await page.waitForURL(/from=/);
    const [from, to] = [perDay[8]?.day, perDay[22]?.day];
    expect(query(stage)).toEqual({ from, to });
    await page.waitForFunction(
      () => document.querySelectorAll("[role=group][aria-label='Cost per day'] button").length === 15,
    );
    const zoomed = await ask(stage, `from=${from}&to=${to}`);
    const sessions = new RegExp(`\\b${zoomed.totals.sessions}\\b`);
    await expect.poll(() => stat(stage, "Sessions").innerText()).toMatch(sessions);
    await expect.poll(() => page.locator("tbody a[data-row]").count()).toBe(zoomed.totals.sessions);
    await page.reload();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.waitForFunction(() => location.search === "");
    await page.waitForFunction(
      () => document.querySelectorAll("[role=group][aria-label='Cost per day'] button").length === 30,
    );
    expect(stage.problems()).toEqual([]);
  });

  it("zooms by keyboard alone: Shift and arrows mark, Escape lets go, Enter zooms", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const { perDay } = await ask(stage, "days=30");
    await chart(stage).locator("button[tabindex='0']").focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("Shift+ArrowLeft");
    await page.getByRole("status").filter({ hasText: "selected: Enter zooms" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("status").filter({ hasText: "selected: Enter" }).waitFor({ state: "detached" });
    for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=/);
    expect(query(stage)).toEqual({ from: perDay[22]?.day, to: perDay[25]?.day });
    await page.keyboard.press("d");
    await page.waitForFunction(() => location.search === "");
  });

  it("takes two days from fields: the way without dragging", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/?days=7");
    const { perDay } = await ask(stage, "days=30");
    await page.getByRole("button", { name: "Choose days" }).click();
    const dialog = page.getByRole("dialog", { name: "Choose days" });
    await dialog.getByLabel("From").fill(perDay[3]?.day ?? "");
    await dialog.getByLabel("To").fill(perDay[9]?.day ?? "");
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=/);
    expect(query(stage)).toEqual({ days: "7", from: perDay[3]?.day, to: perDay[9]?.day });
    await page.getByRole("button", { name: /^Days shown: / }).waitFor();
    // Back to the usual range that was chosen before.
    await page.getByText("30 days", { exact: true }).click();
    await page.waitForFunction(() => location.search === "");
  });

  it("shows the change against as many days before, and what each figure counts", async () => {
    const stage = get();
    const { page } = stage;
    const { perDay } = await ask(stage, "days=30");
    const day = perDay.findLastIndex((one, i) => one.sessions > 0 && (perDay[i - 1]?.sessions ?? 0) > 0);
    const { totals, previous } = await ask(stage, `from=${perDay[day]?.day}&to=${perDay[day]?.day}`);
    await visit(stage, `/?from=${perDay[day]?.day}&to=${perDay[day]?.day}`);
    const difference = totals.sessions - (previous?.sessions ?? 0);
    const said = difference === 0 ? "±0" : `${difference > 0 ? "+" : "−"}${Math.abs(difference)}`;
    expect(await stat(stage, "Sessions").innerText()).toContain(`${said} vs the day before`);
    await page.getByRole("button", { name: "Cost (est.)" }).focus();
    const tip = page.getByRole("tooltip");
    expect(await tip.innerText()).toMatch(/list prices of \d{4}-\d\d-\d\d/);
    await page.keyboard.press("Escape");
    await tip.waitFor({ state: "detached" });
    await visit(stage, "/");
    const all = await ask(stage, "days=30");
    expect(all.totals.cost.unpriced.length).toBeGreaterThan(0);
    await page.getByText("Cost (est.)").hover();
    for (const model of all.totals.cost.unpriced) expect(await tip.innerText()).toContain(model);
    expect(await stat(stage, "Tool errors").innerText()).toContain(
      `${all.toolCalls.errors} of ${all.toolCalls.calls} calls`,
    );
  });

  it("says the chart in a sentence and as a table", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const { perDay, totals } = await ask(stage, "days=30");
    const image = page.getByRole("figure", { name: "Cost per day" }).getByRole("img");
    expect(await image.getAttribute("aria-label")).toContain(
      `$${(totals.cost.microdollars / 1e6).toFixed(2)} in total`,
    );
    await page.getByRole("button", { name: "Show table" }).click();
    const table = page.getByRole("figure", { name: "Cost per day" }).getByRole("table");
    expect(await table.locator("tbody tr").count()).toBe(perDay.length);
    const busy = perDay.findIndex((one) => one.cost.microdollars > 10_000);
    expect(await table.locator("tbody tr").nth(busy).innerText()).toContain(
      `$${((perDay[busy]?.cost.microdollars ?? 0) / 1e6).toFixed(2)}`,
    );
  });

  it("says when a range is empty, and how to get out of it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/?from=2020-01-01&to=2020-01-05");
    await page.getByText("No sessions in this range.").waitFor();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.locator("tbody a[data-row]").first().waitFor();
  });

  it("shows what runs now and what is new since the last visit", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    expect(await page.getByRole("heading", { name: "Live now" }).count()).toBe(0);
    expect(await page.getByRole("heading", { name: "Since you left" }).count()).toBe(0);
    const log = await writeStory(stage.home, {
      n: 1,
      cwd: join(stage.home, "elsewhere"),
      prompt: "Written this very minute",
      at: new Date(Date.now() - 60_000),
    });
    // Live is what was written within two minutes; a busy machine takes longer until the page is checked.
    const hourAhead = new Date(Date.now() + 3_600_000);
    await utimes(log, hourAhead, hourAhead);
    await stage.served.kernel.fetch("/api/sync?wait=1", { method: "POST" });
    // What this page keeps when it goes would be newer.
    const other = await stage.context.newPage();
    await page.close();
    await other.addInitScript(() =>
      localStorage.setItem("sessarc:visit", JSON.stringify({ since: null, at: Date.now() - 3_600_000 })),
    );
    stage.page = other;
    await visit(stage, "/");
    for (const name of ["Live now", "Since you left"]) {
      const section = other.getByRole("region", { name });
      await section.getByRole("link", { name: "Written this very minute" }).waitFor();
    }
    await other.getByRole("region", { name: "Live now" }).getByRole("link").click();
    await other.waitForURL(/\/sessions\/.*tail=1/);
  });
});

it("folds days to weeks and months, without a gap", () => {
  const figure = (day: string) => ({ day });
  const days = toBuckets([figure("2026-11-01"), figure("2026-11-05")], "2026-11-06");
  expect(days.unit).toBe("day");
  expect(days.buckets.map((one) => [one.key, one.days.length])).toEqual([
    ["2026-11-01", 1],
    ["2026-11-02", 0],
    ["2026-11-03", 0],
    ["2026-11-04", 0],
    ["2026-11-05", 1],
    ["2026-11-06", 0],
  ]);
  const weeks = toBuckets([figure("2026-01-01"), figure("2026-01-05")], "2026-06-01");
  expect([weeks.unit, weeks.buckets[0], weeks.buckets[1]]).toEqual([
    "week",
    { key: "2026-01-01", from: "2026-01-01", to: "2026-01-04", days: [figure("2026-01-01")] },
    { key: "2026-01-05", from: "2026-01-05", to: "2026-01-11", days: [figure("2026-01-05")] },
  ]);
  const months = toBuckets([figure("2023-12-31")], "2026-01-15");
  expect([months.unit, months.buckets.length, months.buckets.at(-1)]).toEqual([
    "month",
    26,
    { key: "2026-01-01", from: "2026-01-01", to: "2026-01-15", days: [] },
  ]);
});
