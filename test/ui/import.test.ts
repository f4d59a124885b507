/** From nothing to a first session read, and an import that survives leaving and reloading the page. */
import { expect, it } from "vitest";
import { describeUi, settled, useStage, visit } from "./browser.ts";

describeUi("dashboard: first run", () => {
  const get = useStage({ imported: false });

  it("offers what was found, imports it, and opens the newest session", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await page.getByRole("heading", { level: 1, name: "Your sessions, in one place" }).waitFor();
    await page.getByText("Logs are only read, never changed.").waitFor();
    await page.getByRole("button", { name: /^Import \d+ sessions$/ }).click();
    await page.waitForURL(/step=done/);
    await page.getByRole("button", { name: "Open the newest" }).waitFor();
    await page.reload();
    await settled(page);
    expect(page.url()).toContain("step=done");
    await page.getByRole("button", { name: "Open the newest" }).click();
    await page.waitForURL(/\/sessions\//);
    await page.locator("article").first().waitFor();
    await visit(stage, "/");
    await page.getByRole("heading", { level: 1, name: "Insights" }).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: choosing what to import", () => {
  const get = useStage({ imported: false });

  it("takes single sessions by keyboard alone", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/import");
    await page.getByRole("button", { name: "Choose…" }).press("Enter");
    await page.waitForURL(/step=choose/);
    const boxes = page.getByRole("checkbox");
    await boxes.first().waitFor();
    for (const box of await boxes.all()) if (await box.isChecked()) await box.press("Space");
    await page.getByRole("button", { name: "Import 0 sessions" }).waitFor();
    await page.getByRole("button", { name: /^tidepool/ }).press("Enter");
    const first = page.locator("ul ul").getByRole("checkbox").first();
    await first.press("Space");
    await page.getByRole("button", { name: "Import 1 session", exact: true }).press("Enter");
    await page.waitForURL(/step=done/);
    await page.getByText("1", { exact: true }).first().waitFor();
    await visit(stage, "/search");
    await page.waitForFunction(() => document.querySelectorAll("a[data-result]").length === 1);
  });

  it("shows a running import again after a reload", async () => {
    const stage = get();
    const { page } = stage;
    let running = true;
    const frame = {
      type: "progress",
      done: 5,
      total: 10,
      bytes: 500,
      bytesTotal: 1000,
      rate: 100,
      etaMs: 5000,
      current: null,
    };
    await page.route("**/api/import/status", (route) => route.fulfill({ json: running ? frame : { type: "idle" } }));
    await page.goto(`${stage.url}/import?step=run`);
    await page.locator("[role=progressbar][aria-valuenow='50']").waitFor();
    running = false;
    await page.waitForURL(/step=done/);
    await page.unroute("**/api/import/status");
  });
});
