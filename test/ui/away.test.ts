/** While the service is away: no blank page, no page of the browser's own, nothing lost; and every screen recovers. */
import { expect, it } from "vitest";
import { deferred } from "../_setup.ts";
import { describeUi, sessionId, settled, useStage, visit } from "./browser.ts";

describeUi("dashboard: without the service", () => {
  const get = useStage();

  it("says why the transcript is empty, and tries again", async () => {
    const stage = get();
    const { page } = stage;
    await page.route("**/messages?*", (route) =>
      route.fulfill({ status: 500, json: { status: 500, code: "INTERNAL", message: "It broke" } }),
    );
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}`);
    const row = page.getByRole("alert").filter({ hasText: "It broke" });
    await row.waitFor();
    expect(await row.innerText()).toContain("500 INTERNAL");
    await page.unroute("**/messages?*");
    await row.getByRole("button", { name: "Retry" }).click();
    await row.waitFor({ state: "detached" });
    await page.locator("article .prose").first().waitFor();
    stage.problems();
  });

  it("is shown before plugins have answered, and finds a plugin's address only afterwards missing", async () => {
    const stage = get();
    const { page } = stage;
    const gate = deferred();
    await page.route("**/api/plugins", async (route) => {
      await gate.promise;
      // Who asked first has left.
      await route.continue().catch(() => {});
    });
    await page.goto(`${stage.url}/projects`);
    await page.getByRole("link", { name: "tidepool" }).first().waitFor();
    await page.goto(`${stage.url}/of-a-plugin`);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    expect(await page.getByText("Nothing here").count()).toBe(0);
    gate.resolve();
    await page.getByText("Nothing here").waitFor();
    await page.unroute("**/api/plugins");
  });

  it("stays where it is when another screen cannot be loaded, and goes there when the service is back", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await stage.served.close();
    await page.getByRole("link", { name: "Usage", exact: true }).click();
    const row = page.getByRole("alert").filter({ hasText: "as soon as the service answers" });
    await row.waitFor();
    expect(await page.locator("main h1").first().innerText()).toBe("Now");
    await row.getByRole("button", { name: "Retry" }).click();
    await row.waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await stage.start();
    await page.waitForURL((url) => url.pathname === "/usage");
    await settled(page);
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await row.waitFor({ state: "detached" });
  });
});
