/** The usage screen: what it sums, how it is split, what is switched off, and what leaves it as a file. */
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { Waste } from "../../plugins/health/index.ts";
import { averageOf, periods, toPeriod, unitOf } from "../../ui/features/usage/periods.ts";
import { modelWords } from "../../ui/model-names.ts";
import { describeUi, sessionId, settled, useSharedStage, useStage, visit } from "./browser.ts";
import { writeLongSession } from "./long-session.ts";

describeUi("dashboard: usage", () => {
  const get = useSharedStage();

  it("says of what has no price that it has none, and of its tokens how many", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=all&by=tool");
    await page.getByRole("button", { name: "Cursor no price" }).waitFor();
    await visit(stage, "/usage?days=all&by=tool&metric=tokens");
    await page.getByRole("button", { name: /^Cursor 14\.\dK$/ }).waitFor();
  });

  it("counts tokens and cost of a session as the comparison and its overview do", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=all&by=session");
    const table = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "Session" }) });
    await page
      .getByRole("button", { name: /^\d+ more$/ })
      .first()
      .click();
    const ids = await Promise.all(["Why the build server", "Predictions are"].map((title) => sessionId(stage, title)));
    const usage = await Promise.all(
      ids.map(async (id) => {
        const row = table.getByRole("row").filter({ has: page.locator(`a[href*="${id.slice(id.indexOf(":") + 1)}"]`) });
        await row.waitFor();
        return (await row.getByRole("cell").allInnerTexts()).filter((cell) => cell !== "");
      }),
    );
    await visit(stage, `/compare?a=${encodeURIComponent(ids[0] ?? "")}&b=${encodeURIComponent(ids[1] ?? "")}`);
    await page.getByRole("button", { name: "All figures" }).click();
    const figure = (name: RegExp) => page.getByRole("row", { name }).first().getByRole("cell");
    const names = [/^Input tokens/, /^Output tokens/, /^From cache/, /^Written to cache/, /^Cost/];
    const compared = await Promise.all(names.map((name) => figure(name).allInnerTexts()));
    // One of the two is marked as better.
    for (const i of [0, 1]) expect(compared.map((cells) => cells[i]?.replace(/^Better:\s*/, ""))).toEqual(usage[i]);

    await visit(stage, `/sessions/${encodeURIComponent(ids[0] ?? "")}?view=overview`);
    const tokens = page.locator("section", { has: page.getByRole("heading", { name: "Tokens" }) });
    expect(await tokens.innerText()).toMatch(new RegExp(`Input\\s+${usage[0]?.[0]}\\s`));
  });

  it("splits by model and tool, switches series off in the address, and gives what is shown as a file", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=all&unit=week");
    const report = (await (await stage.served.kernel.fetch("/api/usage?by=model")).json()) as {
      rows: { key: string }[];
      totals: { cost: { microdollars: number } };
    };
    const dollars = (report.totals.cost.microdollars / 1e6).toFixed(2);
    expect(await page.locator("dl").innerText()).toContain(`$${dollars}`);
    const name = modelWords(report.rows[0]?.key ?? "");
    const legend = page.getByRole("figure").getByRole("button", { name });
    await legend.click();
    await page.waitForURL(/off=/);
    expect(await legend.getAttribute("aria-pressed")).toBe("false");
    await page.getByRole("figure").getByRole("button", { name: "Show table" }).click();
    expect(await page.getByRole("columnheader", { name }).count()).toBe(0);
    await page.getByRole("radio", { name: "Assistant", exact: true }).check();
    await page.waitForURL(/by=tool/);
    await page.getByRole("figure").getByRole("button", { name: "Codex CLI" }).waitFor();
    const file = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
      ]);
      return text(await download.createReadStream());
    };
    const [head, ...lines] = (await file("CSV")).trim().split("\n");
    const cost = head?.split(",").indexOf("cost_usd") ?? -1;
    const sum = lines.reduce((total, line) => total + Number(line.split(",")[cost]), 0);
    expect(sum).toBeCloseTo(report.totals.cost.microdollars / 1e6, 2);
    expect(await file("Picture")).toMatch(/^<svg .*<rect .*<\/svg>\n$/s);
    await page.getByText("Where these figures come from").click();
    await page.getByText(/records of the logs make/).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("names its three choices and the average line, and shows windows only of plans that have them, after what cost most", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=all");
    for (const name of ["Measure", "Period", "By"]) await page.getByText(name, { exact: true }).waitFor();
    const figure = page.getByRole("figure");
    await page.getByText(/^Average \$/).waitFor();
    const [title, table] = await Promise.all([
      figure.getByRole("heading").boundingBox(),
      figure.getByRole("button", { name: "Show table" }).boundingBox(),
    ]);
    expect(Math.abs((title?.y ?? 0) - (table?.y ?? 99))).toBeLessThan(12);
    await page.locator("#windows tbody tr").first().waitFor();
    const headings = await page.getByRole("main").getByRole("heading", { level: 2 }).allInnerTexts();
    const order = ["Most expensive", "What wastes time and tokens", "Windows of your plans"];
    expect(headings.filter((one) => order.includes(one))).toEqual(order);
    const more = page.locator("#windows").getByRole("button", { name: /more$/ });
    if ((await more.count()) > 0) await more.click();
    const windows = await page.locator("#windows tbody").innerText();
    for (const other of ["Gemini CLI", "GitHub Copilot", "Cursor", "OpenCode"]) expect(windows).not.toContain(other);
  });

  it("leads from figures to the sessions of the range", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?from=2020-01-01&to=2099-12-31");
    const main = page.getByRole("main");
    const sessions = main.getByRole("link", { name: /^\d+ sessions$/ });
    const total = (await sessions.innerText()).split(" ")[0];
    expect(await sessions.getAttribute("href")).toBe("/sessions?from=2020-01-01&to=2099-12-31");
    await main.getByRole("link", { name: "Claude Sonnet 4.5" }).click();
    await page.waitForURL(/\/sessions\?from=2020-01-01&to=2099-12-31&model=claude-sonnet-4-5$/);
    const rows = page.getByRole("table", { name: "Sessions" }).locator("[data-row]");
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThan(Number(total));
    await page.goBack();
    await main.getByRole("link", { name: /without a price$/ }).click();
    await page.waitForURL(/\/settings\/prices$/);
  });

  it("shows what waste comes to and where on a phone, without scrolling sideways", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=all");
    const groups = page.locator("#health details");
    await groups.first().waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    try {
      await groups.first().locator("summary").click();
      await groups.first().getByRole("link").first().waitFor();
      await groups
        .first()
        .getByText(/ tokens$/)
        .first()
        .waitFor();
      const area = groups.first().getByRole("group");
      expect(await area.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    } finally {
      await page.setViewportSize({ width: 1440, height: 900 });
    }
  });

  it("counts each kind of waste over all sessions, not the rows of its list, with the hints in one column", async () => {
    const stage = get();
    const { page } = stage;
    const wastes = (await (await stage.served.kernel.fetch("/api/health?limit=1")).json()) as Waste[];
    const repeated = wastes.find(({ ofKind: { count, sessions, wastes } }) => count > sessions && wastes > 1);
    if (!repeated) throw new Error("The sample data repeats nothing");
    await visit(stage, "/usage?days=all");
    const groups = page.locator("#health summary");
    await groups.first().waitFor();
    const { count, sessions } = repeated.ofKind;
    await groups
      .filter({ hasText: `${count} times in ${sessions} session` })
      .first()
      .click();
    const title = repeated.examples[0]?.title?.slice(0, 30) ?? "";
    expect(title).not.toBe("");
    await page.locator("#health").getByRole("link", { name: title }).first().waitFor();
    // A column is there where the kind has it, as wide as in the other kinds; the table begins below its kind's name.
    const open = page.locator("#health details");
    for (const one of await open.all())
      if ((await one.getAttribute("open")) === null) await one.locator("summary").click();
    const tables = await open.evaluateAll((all) =>
      all.map((one) => ({
        x:
          (one.querySelector("table")?.getBoundingClientRect().x ?? 0) -
          (one.querySelector("summary > span")?.getBoundingClientRect().x ?? 0),
        times: [...one.querySelectorAll("th")].find(({ textContent }) => textContent?.trim() === "Times")?.offsetWidth,
        empty: [...one.querySelectorAll("thead th")].filter((_, i) =>
          [...one.querySelectorAll("tbody tr")].every((row) => row.children[i]?.textContent?.trim() === ""),
        ).length,
      })),
    );
    expect(new Set(tables.map(({ x }) => x))).toEqual(new Set([0]));
    expect(new Set(tables.map(({ times }) => times)).size).toBe(1);
    expect(tables.map(({ empty }) => empty)).toEqual(tables.map(() => 0));
    const starts = await groups.evaluateAll((all) => all.map((one) => one.lastElementChild?.getBoundingClientRect().x));
    expect(starts.length).toBe(wastes.length);
    expect(new Set(starts).size).toBe(1);
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: usage of a year", () => {
  const DAY = 86_400_000;
  const get = useStage({
    fill: async (home) => {
      await writeLongSession(home, 8, Date.now() - 370 * DAY);
      await writeLongSession(home, 8, Date.now() - 2 * DAY, 1);
    },
  });
  const bars = () => get().page.getByRole("figure").getByRole("group").getByRole("button");

  it("has bars of a week or a month by its length and by the room, until a period is chosen", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/usage?days=all");
    await page.getByRole("heading", { name: "Cost per week" }).waitFor();
    expect(await bars().count()).toBeLessThan(60);
    await page.getByRole("radio", { name: "Day", exact: true }).check();
    await page.getByRole("heading", { name: "Cost per day" }).waitFor();
    expect(await bars().count()).toBeGreaterThan(300);
    await page.getByRole("radio", { name: "Month", exact: true }).check();
    await page.getByRole("heading", { name: "Cost per month" }).waitFor();
    // What is zoomed into is shorter than a bar was.
    await bars().first().click();
    await page.getByRole("heading", { name: "Cost per day" }).waitFor();
  });

  it("shows the whole chart on the first screen of a phone", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await visit(stage, "/usage?days=all");
    await page.getByRole("heading", { name: "Cost per month" }).waitFor();
    await settled(page);
    const chart = await page.getByRole("figure").getByRole("group").boundingBox();
    expect((chart?.y ?? 999) + (chart?.height ?? 0)).toBeLessThan(600);
    const range = await page.getByRole("group", { name: "Range" }).boundingBox();
    expect(range?.height).toBeLessThan(60);
    await page.getByRole("combobox", { name: "Period" }).click();
    await page.getByRole("option", { name: "Week" }).click();
    await page.getByRole("heading", { name: "Cost per week" }).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});

describe("unit of usage", () => {
  it.each([
    ["2026-11-01", 100, "day"],
    ["2025-11-24", 100, "week"],
    ["2025-11-24", 45, "month"],
    ["2020-01-01", 100, "month"],
  ])("from %s with at most %i bars: %s", (from, most, unit) =>
    expect(unitOf({ from, to: "2026-11-24" }, most)).toBe(unit),
  );
});

describe("average of usage", () => {
  const today = "2026-11-24";
  const average = (unit: "day" | "week" | "month", values: Record<string, number>, from: string | undefined) => {
    const bars = periods(Object.keys(values), unit, { from, to: today }).map((key) => {
      const { from, to } = toPeriod(key, unit);
      const parts = [{ name: "all", color: "", value: values[key] ?? 0 }];
      return { key, from, to, label: "", title: "", parts, running: from <= today && today <= to };
    });
    return averageOf(bars, { from, to: today });
  };

  it("counts all finished days of the range, also those after the last day with something", () => {
    expect(average("day", { "2026-10-26": 200, "2026-11-20": 90 }, "2026-10-26")).toBe(10);
    expect(average("day", { "2026-11-20": 40, "2026-11-24": 999 }, undefined)).toBe(10);
  });

  it("leaves out periods that begin before the range or are not over", () => {
    // Weeks from 26 October (a Monday) and 2 November; the range begins on 27 October.
    const weeks = { "2026-10-26": 500, "2026-11-02": 60, "2026-11-09": 0, "2026-11-16": 30, "2026-11-23": 700 };
    expect(average("week", weeks, "2026-10-27")).toBe(30);
    expect(average("month", { "2026-09": 10, "2026-10": 30, "2026-11": 5 }, "2026-09-01")).toBe(20);
    expect(average("month", { "2026-10": 30, "2026-11": 5 }, "2026-10-02")).toBeUndefined();
  });
});
