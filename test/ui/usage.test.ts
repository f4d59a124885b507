/** The usage screen: what it sums, how it is split, what is switched off, and what leaves it as a file. */
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { averageOf, periods, toPeriod } from "../../ui/features/usage/periods.ts";
import { modelWords } from "../../ui/model-names.ts";
import { describeUi, sessionId, useSharedStage, visit } from "./browser.ts";

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
    for (const i of [0, 1]) expect(compared.map((cells) => cells[i])).toEqual(usage[i]);

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
    await page.getByRole("figure").getByRole("button", { name: "Codex" }).waitFor();
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
    expect(headings.indexOf("Most expensive")).toBeLessThan(headings.indexOf("Windows of your plans"));
    const more = page.locator("#windows").getByRole("button", { name: /more$/ });
    if ((await more.count()) > 0) await more.click();
    const windows = await page.locator("#windows tbody").innerText();
    for (const other of ["Gemini CLI", "GitHub Copilot", "Cursor", "OpenCode"]) expect(windows).not.toContain(other);
  });
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
