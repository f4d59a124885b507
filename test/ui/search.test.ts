/** Search: counts of facets, syntax help, what helps when nothing is found, the whole state in the address. */
import { expect, it } from "vitest";
import { describeUi, settled, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: search", () => {
  const get = useSharedStage();

  it("keeps the counts of the other tools when one is chosen", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, "/search?q=tide");
    const facets = page.getByRole("complementary", { name: "Filters" });
    const counts = async () =>
      (await facets.locator("details").first().getByRole("button").allInnerTexts()).map((one) =>
        one.replace(/\s+/g, " "),
      );
    await facets.getByRole("button", { name: /^Codex \d/ }).waitFor();
    const before = await counts();
    expect(before.filter((one) => /\d$/.test(one)).length).toBeGreaterThan(2);
    await facets.getByRole("button", { name: /^Codex/ }).click();
    await page.waitForURL(/tool=codex/);
    await settled(page);
    expect(await counts()).toEqual(before);
    const promised = Number(/(\d+)$/.exec(before.find((one) => /^Codex/.test(one)) ?? "")?.[1]);
    expect(await page.locator("a[data-result]").count()).toBe(promised);
  });

  it("teaches its syntax: an example is tried by a click", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/search");
    await page.getByText("Search syntax").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "is:error" }).click();
    await page.waitForURL(/q=is(:|%3A)error/);
    await page.locator("a[data-result]").first().waitFor();
  });

  it("says what would be found with one condition less, with its count, and does it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/search?q=tide+zzzznothing&tool=codex");
    await page.getByText("Nothing found.").waitFor();
    // Without the tool nothing is found either, so that is not offered.
    const offer = page.getByRole("button", { name: /^Without “zzzznothing” \d+ sessions?$/ });
    await offer.waitFor();
    expect(await page.getByRole("button", { name: /^Without Tool/ }).count()).toBe(0);
    const promised = Number(/(\d+) session/.exec(await offer.innerText())?.[1]);
    await offer.click();
    await page.waitForURL((url) => url.searchParams.get("q") === "tide" && url.searchParams.get("tool") === "codex");
    await page.locator("a[data-result]").first().waitFor();
    expect(await page.locator("a[data-result]").count()).toBe(promised);
  });

  it("keeps order, days and errors in the address, and shows the same after a reload", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/search?q=tide");
    await page.getByRole("radio", { name: "Newest" }).check();
    await page.waitForURL(/sort=recent/);
    await page.getByLabel("From").fill("2020-01-01");
    await page.waitForURL(/from=2020-01-01/);
    await page.getByLabel("Errors only").check();
    await page.waitForURL(/errors=1/);
    await settled(page);
    const titles = await page.locator("a[data-result]").allInnerTexts();
    await page.reload();
    await settled(page);
    expect(await page.getByRole("radio", { name: "Newest" }).isChecked()).toBe(true);
    expect(await page.getByLabel("Errors only").isChecked()).toBe(true);
    expect(await page.locator("a[data-result]").allInnerTexts()).toEqual(titles);
    expect(stage.problems()).toEqual([]);
  });

  it("shows calls by their tool and what they were called on, best match first", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/search?q=path:README.md+kind:tool_use");
    expect(await page.getByRole("radio", { name: "Best match" }).isChecked()).toBe(true);
    const line = page.locator("main ol li li").first();
    await line.waitFor();
    expect(await line.innerText()).toMatch(/\b\w+ \S*README\.md/);
    expect(await page.locator("main ol").innerText()).not.toMatch(/[{}]|\\n/);
  });
});
