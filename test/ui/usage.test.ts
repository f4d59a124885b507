/** The usage screen: what it sums, how it is split, what is switched off, and what leaves it as a file. */
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { modelWords } from "../../ui/model-names.ts";
import { describeUi, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: usage", () => {
  const get = useSharedStage();

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
    await page.getByText("Tool", { exact: true }).click();
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
});
