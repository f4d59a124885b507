/** Old addresses lead to the new places, with their query and hash; the places are in the rail. */
import { expect, it } from "vitest";
import { describeUi, load, settled, useSharedStage, visit } from "./browser.ts";

/** What was opened, and where it leads. One line for each line of `MOVED` in ui/route.ts, and more where an address has parts. */
const LEADS: readonly (readonly [from: string, to: string, heading: string])[] = [
  ["/feedback", "/help/feedback", "Feedback"],
  ["/search?q=tide&sort=recent", "/sessions?q=tide&sort=recent#search", "Sessions"],
  ["/notes?tag=slow", "/sessions?tag=slow&view=notes", "Sessions"],
  ["/calls?days=all&show=both", "/sessions?days=all&show=both&view=calls", "Sessions"],
  ["/shares", "/sessions?view=shares", "Sessions"],
  ["/rescue?state=listed", "/sessions?state=listed&view=hidden", "Sessions"],
  ["/replay?q=tide", "/sessions?q=tide", "Sessions"],
  ["/feedback?x=1#top", "/help/feedback?x=1#top", "Feedback"],
  ["/tools", "/tools/secrets", "Tools"],
  ["/security", "/tools/secrets", "Tools"],
  ["/security?state=rotated", "/tools/secrets?state=rotated", "Tools"],
  ["/security?tab=leaks", "/tools/secrets", "Tools"],
  ["/security?tab=rules&q=github", "/tools/advanced?q=github&view=rules", "Tools"],
  ["/security?tab=guard&rule=github-pat", "/tools/secrets?rule=github-pat&view=guard", "Tools"],
  ["/security?tab=calls", "/tools/secrets?view=guard", "Tools"],
  ["/security?tab=history", "/tools/secrets?view=guard", "Tools"],
  ["/mcp-hub", "/tools/servers", "Tools"],
  ["/mcp-hub?tab=assistants", "/tools/servers", "Tools"],
  ["/mcp-hub?tab=services", "/tools/servers", "Tools"],
  ["/mcp-hub?tab=tools&call=sessarc__usage", "/tools/advanced?call=sessarc__usage&view=try", "Tools"],
  ["/mcp-hub?tab=calls", "/tools/advanced?view=calls", "Tools"],
  ["/mcp-hub?tab=log", "/tools/advanced?view=log", "Tools"],
  ["/mcp-hub?tab=takeover", "/tools/advanced?view=takeover", "Tools"],
  ["/skills", "/tools/skills", "Tools"],
  ["/skills?q=x", "/tools/skills?q=x", "Tools"],
  ["/skills/scan", "/tools/skills/scan", "Add skills"],
];

describeUi("dashboard: addresses", () => {
  const get = useSharedStage();
  const address = () => get().page.evaluate(() => location.pathname + location.search + location.hash);

  it.each(LEADS)("%s leads to %s", async (from, to, heading) => {
    const { page } = get();
    await load(get(), from);
    expect(await address()).toBe(to);
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    expect(get().problems()).toEqual([]);
  });

  it("the rail has five places, and Help and Settings at its foot", async () => {
    const { page } = get();
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(get(), "/usage");
    const rail = page.getByRole("navigation", { name: "Main" });
    // Tools may have a count of open secrets.
    expect((await rail.getByRole("link").allInnerTexts()).map((text) => text.trim().replace(/\s+\d+$/, ""))).toEqual([
      "sessarc",
      "Now",
      "Sessions",
      "Code",
      "Usage",
      "Tools",
      "Help",
      "Settings",
    ]);
    for (const [name, path] of [
      ["Sessions", "/sessions"],
      ["Code", "/projects"],
      ["Tools", "/tools/secrets"],
      ["Now", "/"],
      ["Settings", "/settings"],
    ] as const) {
      const link = rail.getByRole("link", { name, exact: true });
      await link.click();
      await page.waitForURL((url) => url.pathname === path || url.pathname.startsWith(`${path}/`));
      await settled(page);
      expect(await link.getAttribute("aria-current")).toBe("page");
      expect(await rail.locator("[aria-current=page]").count()).toBe(1);
    }
  });

  it("every row of the rail is as wide as the others", async () => {
    const { page } = get();
    await visit(get(), "/settings");
    const rows = page
      .getByRole("navigation", { name: "Main" })
      .locator("ul a, div > a:not([aria-label]), div > button");
    const widths = await rows.evaluateAll((all) =>
      all
        .filter((one) => one.checkVisibility() && one.getAttribute("aria-label") === null)
        .map((one) => one.getBoundingClientRect().width),
    );
    expect(widths.length).toBeGreaterThan(6);
    expect(new Set(widths).size).toBe(1);
  });

  it("on a phone the bar has four places and More, whose sheet has the others", async () => {
    const { page } = get();
    await page.setViewportSize({ width: 390, height: 800 });
    await visit(get(), "/");
    const bar = page.getByRole("navigation", { name: "Main" });
    const shown = bar.locator("a:visible, button:visible");
    // Without the number of open secrets, which comes later.
    expect((await shown.allInnerTexts()).map((text) => text.replace(/\d+$/, "").trim())).toEqual([
      "Now",
      "Sessions",
      "Code",
      "Usage",
      "More",
    ]);
    await bar.getByRole("button", { name: "More" }).click();
    const sheet = page.getByRole("dialog", { name: "More" });
    await sheet.getByRole("link", { name: "Tools" }).waitFor();
    expect(
      (await sheet.getByRole("link").allInnerTexts()).slice(0, 3).map((text) => text.replace(/\d+$/, "").trim()),
    ).toEqual(["Tools", "Help", "Settings"]);
    // A phone has no keyboard to list the keys of.
    expect(await sheet.getByRole("button", { name: "Shortcuts" }).count()).toBe(0);
    await sheet.getByRole("link", { name: "Tools" }).click();
    await page.waitForURL(/\/tools\/secrets$/);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("keys of places and of screens without a row work as before", async () => {
    const { page } = get();
    await visit(get(), "/");
    for (const [keys, path] of [
      ["gp", "/projects"],
      ["gt", "/tools/secrets"],
      ["ge", "/sessions"],
      ["gm", "/tools/servers"],
      ["gf", "/help/feedback"],
      ["gh", "/"],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.waitForURL((url) => url.pathname === path);
      await settled(page);
    }
  });
});
