/** The frame around every screen: rail, menu of small screens, lost connection, zoom, print, forced colours. */
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, go, projectId, type Stage, sessionId, settled, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: shell", () => {
  const get = useSharedStage();
  const overflow = ({ page }: Stage) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  it("folds the rail with [ and by its button, and stays folded", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, "/");
    const rail = page.locator("[data-rail]");
    expect((await rail.boundingBox())?.width).toBe(208);
    await page.keyboard.press("[");
    await page.waitForFunction(() => document.querySelector("[data-rail]")?.getBoundingClientRect().width === 52);
    await page.reload();
    await settled(page);
    expect((await rail.boundingBox())?.width).toBe(52);
    await rail.getByRole("button", { name: "Collapse the sidebar" }).click();
    expect((await rail.boundingBox())?.width).toBe(208);
    await page.setViewportSize({ width: 880, height: 900 });
    expect((await rail.boundingBox())?.width).toBe(52);
    await page.getByRole("link", { name: "Code", exact: true }).click();
    await page.waitForURL(/\/projects/);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("marks the place of the address from the first picture on, while its screen is loaded", async () => {
    const { page, url } = get();
    const other = await page.context().newPage();
    await other.addInitScript(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      new MutationObserver(() => {
        const at = document.querySelector("[data-rail] li [aria-current]")?.textContent;
        if (at) seen.add(at.trim());
      }).observe(document, { subtree: true, childList: true, attributes: true });
    });
    await other.goto(`${url}/usage`);
    await settled(other);
    expect(await other.evaluate(() => [...Reflect.get(window, "seen")])).toEqual(["Usage"]);
    await other.close();
  });

  it("shows the view that is open where the tabs of a screen have no room for all", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 800 });
    await visit(stage, "/tools/advanced");
    const tab = page.getByRole("navigation", { name: "Views of Tools" }).getByRole("button", { name: "Advanced" });
    const end = async () => {
      const box = await tab.boundingBox();
      return box ? box.x + box.width : Number.POSITIVE_INFINITY;
    };
    await expect.poll(end).toBeLessThanOrEqual(390);
    expect(await overflow(stage)).toBe(0);
  });

  it("opens a sheet below 600 px with what the bar has no place for; the focus comes back", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 800 });
    await visit(stage, "/");
    const menu = page.getByRole("button", { name: "More", exact: true });
    // Tools is in the sheet: what its row in the rail counts is counted here.
    const { open } = (await (await stage.served.kernel.fetch("/api/security/leaks/count")).json()) as { open: number };
    expect(open).toBeGreaterThan(0);
    await menu.getByText(String(open), { exact: true }).waitFor();
    const badge = await menu.getByText(String(open), { exact: true }).boundingBox();
    const icon = await menu.locator("svg").boundingBox();
    expect(badge?.x).toBeGreaterThanOrEqual((icon?.x ?? 0) + (icon?.width ?? 0));
    const word = await menu.getByText("More", { exact: true }).boundingBox();
    expect((badge?.y ?? 0) + (badge?.height ?? 0)).toBeLessThanOrEqual((word?.y ?? 0) + 1);
    expect(await menu.getAttribute("title")).toBe(`${open} ${open === 1 ? "secret" : "secrets"} open`);
    await menu.focus();
    await page.keyboard.press("Enter");
    const sheet = page.getByRole("dialog", { name: "More", exact: true });
    await sheet.waitFor();
    await sheet.getByRole("button", { name: /sync/i }).waitFor();
    await sheet.getByRole("link", { name: "Tools" }).getByText(String(open), { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-haspopup") === "dialog");
    await menu.click();
    await sheet.getByRole("link", { name: "Settings" }).click();
    await page.waitForURL(/\/settings/);
    await sheet.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(stage.problems()).toEqual([]);
  });

  it("Help says in words that a page is missing, and leads to the list", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/help/guides/nothing-here");
    await page.getByRole("heading", { level: 1, name: "No such page" }).waitFor();
    expect(await page.getByRole("main").innerText()).not.toMatch(/404|ROUTE_NOT_FOUND|\.md/);
    await page.getByRole("link", { name: "All pages" }).click();
    await page.waitForURL(/\/help$/);
    // The answer 404 is what the page is about.
    stage.problems();
  });

  it("Help opens the guides offline, and their links lead to each other", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/help");
    await page.getByRole("heading", { level: 1, name: "Help" }).waitFor();
    // Each page that is listed is there.
    const paths = await page
      .locator("main section a[href^='/help/']")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths.filter((one) => one !== "/help/feedback"))
      expect((await stage.served.kernel.fetch(`${path.replace("/help/", "/docs/")}.md`)).status, path).toBe(200);
    expect(await page.getByText("Decisions").count()).toBe(0);
    await page.getByRole("link", { name: "Guard", exact: true }).click();
    await page.waitForURL(/\/help\/guides\/guard$/);
    await page.getByRole("heading", { name: "What it checks" }).waitFor();
    await visit(stage, "/help/guides/plugins");
    const links = await page.locator("main .prose a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    expect(links).toContain("/help/reference/hooks");
    expect(links).toContain("https://github.com/sessarc/sessarc/blob/main/plugins/README.md");
    expect(await page.locator("main .prose").getAttribute("lang")).toBe("en");
    expect(await violations(stage)).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });

  it("says that the service is gone, keeps what is shown, and recovers", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    await page.getByRole("link", { name: "tidepool" }).waitFor();
    await page.route("**/api/**", (route) => route.abort("connectionrefused"));
    const pill = page.getByText(/^Reconnecting \(\d+ s\)$/);
    await pill.waitFor();
    expect(await page.getByRole("link", { name: "tidepool" }).count()).toBe(1);
    // A notice goes after seconds: it is awaited from before.
    await Promise.all([page.getByText("Connected again").waitFor(), page.unroute("**/api/**")]);
    expect(await pill.count()).toBe(0);
    await page.getByRole("link", { name: "tidepool" }).waitFor();
    stage.problems();
  });

  it("follows a sync from the rail: a click scans, the words say when", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().endsWith("/api/sync") && one.method() === "POST"),
      page.locator("[data-rail]").getByRole("button", { name: /sync/i }).click(),
    ]);
    expect((await request.response())?.ok()).toBe(true);
    await page
      .locator("[data-rail]")
      .getByText(/^(Synced |In sync)/)
      .waitFor();
  });

  it("fits at 320 px, at 200 % zoom and with large text, without scrolling sideways", async () => {
    const stage = get();
    const { page } = stage;
    const paths = [
      "/",
      "/projects",
      `/projects/${await projectId(stage, "tidepool")}?days=all`,
      `/sessions/${await sessionId(stage, "High and low water")}`,
      "/search?q=tide",
      "/import",
      "/settings/general",
      "/settings/data",
      "/settings/prices",
      "/settings/plugins",
      "/nowhere",
    ];
    const wide: string[] = [];
    for (const [width, size] of [
      [320, "m"],
      [720, "l"],
    ] as const) {
      await page.setViewportSize({ width, height: 600 });
      await visit(stage, "/");
      // Every other one at one of them, all at both in the long run.
      for (const path of paths.filter((_, i) => LONG || i % 2 === (width === 320 ? 0 : 1))) {
        await go(stage, path);
        await page.evaluate((value) => {
          document.documentElement.dataset.size = value;
        }, size);
        if ((await overflow(stage)) > 0) wide.push(`${path} at ${width} px, text ${size}`);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(wide).toEqual([]);
  });

  it("prints without the rail, on white", async () => {
    const stage = get();
    const { page } = stage;
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}`);
    expect(await page.locator("[data-rail]").isVisible()).toBe(false);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe(
      "rgb(255, 255, 255)",
    );
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
  });

  it("shows with lines what colours cannot in forced-colors mode, and stands still where motion is reduced", async () => {
    const stage = get();
    const { page } = stage;
    await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
    await visit(stage, "/settings/general");
    const chosen = page.locator("#theme label", { has: page.locator(":checked") });
    expect(await chosen.evaluate((label) => getComputedStyle(label).outlineStyle)).toBe("solid");
    const [on, off] = await page
      .getByRole("switch")
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
    expect(on).not.toBe(off);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command menu" }).waitFor();
    const animation = () => page.getByRole("dialog").evaluate((dialog) => getComputedStyle(dialog).animationName);
    expect(await animation()).toBe("none");
    await page.emulateMedia({ forcedColors: "none", reducedMotion: "no-preference" });
    expect(await animation()).toBe("fade");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});
