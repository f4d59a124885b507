/** Settings: found by words, kept as they are changed, and what the service tells about itself. */
import { expect, it } from "vitest";
import { describeUi, settled, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: settings", () => {
  const get = useSharedStage();

  it("finds a setting of any section by its words and goes to its field", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings");
    await page.getByRole("searchbox", { name: "Find a setting" }).fill("relay");
    await page.waitForURL(/q=relay/);
    await page.getByRole("link", { name: /Address feedback is sent on to/ }).click();
    await page.waitForURL(/\/settings\/privacy#relay$/);
    await page.waitForFunction(() => document.activeElement?.closest("#relay") !== null);
    await visit(stage, "/settings/plugins?q=text+size");
    await page.getByRole("searchbox", { name: "Find a setting" }).press("Enter");
    await page.waitForURL(/\/settings\/general#text-size$/);
    // The keyboard is on the control itself.
    await page.waitForFunction(() => (document.activeElement as HTMLInputElement)?.value === "m");
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate(() => document.documentElement.dataset.size)).toBe("l");
    await page.keyboard.press("ArrowLeft");
    await visit(stage, "/settings?q=zzz");
    await page.getByText("No setting matches “zzz”.").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("ends its search box where its settings end", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/general");
    const box = await page
      .getByRole("searchbox", { name: "Find a setting" })
      .evaluate((one) => one.parentElement?.getBoundingClientRect().right);
    const row = await page.locator("#density").evaluate((one) => one.getBoundingClientRect().right);
    expect(box).toBe(row);
  });

  it("keeps each field when it is changed and reports it beside it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/general");
    // The word goes after seconds: it is awaited from before the click.
    await Promise.all([
      page.locator("#density").getByText("Saved").waitFor(),
      page.getByText("Compact", { exact: true }).click(),
    ]);
    expect(await page.locator("#theme").getByText("Saved").count()).toBe(0);
    await page.reload();
    await settled(page);
    expect(await page.getByRole("radio", { name: "Compact" }).isChecked()).toBe(true);
    expect(await page.evaluate(() => document.documentElement.dataset.density)).toBe("compact");
    await page.getByText("Comfortable", { exact: true }).click();
    await page.getByRole("switch", { name: "Collapse the sidebar" }).click();
    expect((await page.locator("[data-rail]").boundingBox())?.width).toBe(52);
    await page.getByRole("switch", { name: "Collapse the sidebar" }).click();
  });

  it("says how large the archive is, what tools delete, and checks it on demand", async () => {
    const stage = get();
    const { page } = stage;
    const { storage } = (await (await stage.served.kernel.fetch("/api/status")).json()) as {
      storage: { sessions: number; messages: number };
    };
    await visit(stage, "/settings/data");
    await page.getByText(`${storage.sessions} sessions · ${storage.messages} messages`).waitFor();
    await page.getByText(/^Claude Code deletes its logs after 30 days/).waitFor();
    expect(await page.getByRole("list", { name: "Checks" }).count()).toBe(0);
    await page.getByRole("button", { name: "Run checks" }).click();
    const rows = page.getByRole("list", { name: "Checks" }).getByRole("listitem");
    await rows.filter({ hasText: "catalogue" }).filter({ hasText: "intact" }).waitFor();
    await rows.filter({ hasText: "Claude Code:" }).first().waitFor();
  });

  it("lists prices with their date, and models without one apart", async () => {
    const stage = get();
    const { page } = stage;
    const prices = (await (await stage.served.kernel.fetch("/api/prices")).json()) as {
      pricedAt: string;
      models: { model: string; rates: { input: number } }[];
      unpriced: string[];
    };
    await visit(stage, "/settings/prices");
    await page.getByText(`List prices of ${prices.pricedAt}`).waitFor();
    expect(await page.getByRole("rowheader").allInnerTexts()).toEqual(prices.models.map((one) => one.model));
    for (const model of prices.unpriced) await page.locator("#unpriced").getByText(model).waitFor();
    expect(prices.unpriced.length).toBeGreaterThan(0);
    const first = prices.models[0];
    await page.getByRole("searchbox", { name: "Find a model" }).fill(first?.model ?? "");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
    expect(await page.getByRole("row", { name: new RegExp(`^${first?.model}`) }).innerText()).toContain(
      first?.rates.input.toFixed(2),
    );
  });

  it("says that nothing leaves the machine, and where feedback would go", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/privacy");
    await page.getByText("Nothing but what you agreed to below").waitFor();
    await page
      .locator("#relay")
      .getByText(/^Off\./)
      .waitFor();
  });

  it("orders privacy by what one looks for, and has one sentence for each", async () => {
    const { page } = get();
    await visit(get(), "/settings/privacy");
    const main = page.getByRole("main");
    expect(await main.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([
      "What leaves this machine",
      "Notifications",
      "Guard and tool servers",
    ]);
    for (const [row, sentence] of [
      ["relay", "Off. Feedback you write stays in a file on this machine."],
      ["price-request", "Off. A newer table is fetched only after you agreed"],
      ["otlp", "Off. With an address"],
      ["limits", "At 80 %"],
      ["block", "Calls with a secret that is certain"],
      ["tool-search", "Assistants see two tools"],
    ] as const)
      await page.locator(`#${row}`).getByText(sentence).waitFor();
    // An address is asked for only when something is to be sent.
    expect(await main.getByRole("textbox", { name: /Address|collector/ }).count()).toBe(0);
  });

  it.each([
    ["/settings/service", /\/settings\/privacy$/],
    ["/settings/service#sync", /\/settings\/sources#sync$/],
    ["/settings/service#relay-address", /\/settings\/privacy#relay$/],
    ["/settings/privacy#collector", /\/settings\/privacy#otlp$/],
    ["/settings/general#notifications", /\/settings\/privacy#notifications$/],
    ["/settings/service#login", /\/settings\/sources#login$/],
    ["/settings/sources#watch", /\/settings\/sources#sync$/],
  ])("%s leads to where it is now", async (address, now) => {
    const { page } = get();
    await visit(get(), address);
    await page.waitForURL(now);
  });

  it("has one switch for keeping the archive up to date, which says that it persists", async () => {
    const { page } = get();
    await visit(get(), "/settings/sources");
    const row = page.locator("#sync");
    await row.getByRole("switch", { name: "Keep the archive up to date" }).waitFor();
    await row.getByText("Takes effect at once and persists.").waitFor();
    await visit(get(), "/settings/privacy");
    await page.getByRole("switch").first().waitFor();
    expect(await page.getByRole("switch", { name: /up to date/ }).count()).toBe(0);
  });

  it("lists the plugins that were added, and folds those that come with sessarc", async () => {
    const { page } = get();
    await visit(get(), "/settings/plugins");
    await page.getByRole("heading", { name: "Installed plugins" }).waitFor();
    const folded = page.locator("details", { hasText: /^›?\s*Built-in plugins/ });
    expect(await folded.evaluate((one) => (one as HTMLDetailsElement).open)).toBe(false);
  });

  it("opens a plugin to its routes and hooks, by keyboard", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/plugins");
    await page.getByRole("searchbox", { name: /Find a plugin/ }).fill("feedback");
    const summary = page.locator("summary", { hasText: "feedback" });
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.getByText("POST /feedback", { exact: true }).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
