/** Sessions as one place: the list beside the session that is read, its box that searches, and the way back on a small screen. */
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, load, type Stage, sessionId, settled, useStage, visit } from "./browser.ts";
import { writeStory } from "./stories.ts";

const WIDE = { width: 1440, height: 900 };
const SMALL = { width: 1024, height: 800 };

describeUi("dashboard: sessions, list and reader", () => {
  const get = useStage({
    fill: async (home) => {
      for (let n = 0; n < 150; n++)
        await writeStory(home, {
          n,
          cwd: `${home}/code/${n % 2 ? "odd" : "even"}`,
          prompt: `tide number ${n}`,
          at: new Date(Date.UTC(2026, 5, 1) - n * 3_600_000),
        });
    },
  });
  const pane = ({ page }: Stage) => page.getByRole("region", { name: "Sessions" });
  const row = (stage: Stage, n: number) => pane(stage).getByRole("link", { name: `tide number ${n}`, exact: true });
  const isRead = ({ page }: Stage, n: number) =>
    page.waitForFunction((name) => document.title.startsWith(name), `tide number ${n} ·`);
  const scrolled = (stage: Stage) =>
    pane(stage)
      .locator("[data-compact] > div")
      .first()
      .evaluate((one) => one.scrollTop);

  it("opens a session beside the list, which neither scrolls nor is made again when another is chosen", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(WIDE);
    await visit(stage, "/sessions?kind=all");
    await page.evaluate(() => scrollTo(0, 900));
    await row(stage, 30).click();
    await isRead(stage, 30);
    // The one that was chosen far below is in view, and the list shows what the table showed.
    expect(await row(stage, 30).getAttribute("aria-current")).toBe("true");
    expect(new URL(page.url()).searchParams.get("list")).toBe("kind=all");
    // Among its neighbours.
    const offCentre = () =>
      row(stage, 30).evaluate((one) => {
        const [item, box] = ["[role=listitem]", "[data-compact]"].map((name) =>
          one.closest(name)?.getBoundingClientRect(),
        );
        return item && box ? Math.abs(item.top + item.height / 2 - box.top - box.height / 2) : Number.NaN;
      });
    await expect.poll(offCentre).toBeLessThan(50);
    const at = await scrolled(stage);
    expect(at).toBeGreaterThan(500);
    const node = await row(stage, 29).elementHandle();
    await row(stage, 29).click();
    await isRead(stage, 29);
    await settled(page);
    expect(await node?.evaluate((one) => one.isConnected)).toBe(true);
    expect(await scrolled(stage)).toBe(at);
    expect(await row(stage, 29).getAttribute("aria-current")).toBe("true");
    await page.goBack();
    await isRead(stage, 30);
    await page.goBack();
    await page.waitForURL((url) => url.pathname === "/sessions" && url.search === "?kind=all");
    await page.getByRole("table", { name: "Sessions" }).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("does not scroll the list beside a session whose row is in view from the top", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(WIDE);
    await visit(stage, "/sessions?kind=all");
    await row(stage, 6).click();
    await isRead(stage, 6);
    await row(stage, 0).waitFor();
    await settled(page);
    expect(await scrolled(stage)).toBe(0);
    // Rows that are higher than they were thought to be.
    await page.goBack();
    await page.addStyleTag({ content: "[data-compact] [role=listitem] { padding-bottom: 40px }" });
    const isWhole = (n: number) =>
      row(stage, n).evaluate((one) => {
        const [item, box] = ["[role=listitem]", "[data-compact]"].map((name) =>
          one.closest(name)?.getBoundingClientRect(),
        );
        return item !== undefined && box !== undefined && item.top >= box.top - 1 && item.bottom <= box.bottom + 1;
      });
    for (const n of [6, 7, 8, 9]) {
      await page.getByRole("table", { name: "Sessions" }).waitFor();
      await row(stage, n).click();
      await isRead(stage, n);
      await expect.poll(() => isWhole(n), { message: String(n) }).toBe(true);
      await page.goBack();
    }
    // Out of its sight, another session is opened by its address: its row is shown.
    await visit(stage, `/sessions/${encodeURIComponent(await sessionId(stage, "tide number 20"))}`);
    await isRead(stage, 20);
    await expect.poll(() => scrolled(stage)).toBeGreaterThan(0);
    await row(stage, 20).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("moves by keys and opens with Enter; the list keeps the focus", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, `/sessions/${encodeURIComponent(await sessionId(stage, "tide number 2"))}`);
    const open = pane(stage).locator("a[aria-current=true]");
    await open.focus();
    const before = await open.innerText();
    for (const key of ["ArrowDown", "j", "k", "j"]) await page.keyboard.press(key);
    await page.keyboard.press("Enter");
    await expect.poll(() => pane(stage).locator("a[aria-current=true]").innerText()).not.toBe(before);
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-current"))).toBe("true");
    expect(await violations(stage)).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });

  it("filters the list while a session is open, and keeps the filter from session to session", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, `/sessions/${encodeURIComponent(await sessionId(stage, "tide number 3"))}`);
    await pane(stage).getByRole("button", { name: "Filters" }).click();
    await pane(stage).getByRole("combobox", { name: "Project" }).click();
    await page.getByRole("option", { name: "odd" }).click();
    await pane(stage).getByText("75 sessions").waitFor();
    await isRead(stage, 3);
    await row(stage, 5).click();
    await isRead(stage, 5);
    await pane(stage).getByText("75 sessions").waitFor();
    await pane(stage).getByRole("link", { name: "Sessions", exact: true }).click();
    await page.waitForURL((url) => url.pathname === "/sessions" && /^\?project=/.test(url.search));
    expect(stage.problems()).toEqual([]);
  });

  it("folds the list away and remembers it", async () => {
    const stage = get();
    const { page } = stage;
    const path = `/sessions/${encodeURIComponent(await sessionId(stage, "tide number 3"))}`;
    await load(stage, path);
    await pane(stage).getByRole("button", { name: "Fold the list" }).click();
    await pane(stage).waitFor({ state: "hidden" });
    await load(stage, path);
    expect(await pane(stage).count()).toBe(0);
    await page.getByRole("button", { name: "Show the list" }).click();
    await row(stage, 3).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("searches in the list's box: hits below their session, opened at the message", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, `/sessions/${encodeURIComponent(await sessionId(stage, "tide number 3"))}`);
    await page.keyboard.press("/");
    await page.keyboard.type("tide number 7");
    const hit = pane(stage).locator("ol > li").filter({ hasText: "tide number 7" }).first();
    await hit.waitFor();
    await isRead(stage, 3);
    await hit.getByRole("link").first().click();
    await page.waitForURL((url) => url.searchParams.has("m") && url.searchParams.get("list") === "q=tide+number+7");
    await page.locator("article[aria-current=true]").waitFor();
    expect(await violations(stage)).toEqual([]);
    await visit(stage, "/search?q=tide&sort=recent");
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/sessions?q=tide&sort=recent");
    await page.locator("a[data-result]").first().waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("gives its room to a pane of the session until that is closed, or the list is asked for", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 1280, height: 800 });
    await load(stage, `/sessions/${encodeURIComponent(await sessionId(stage, "tide number 3"))}`);
    const outline = page.getByRole("button", { name: "Outline", pressed: true });
    await row(stage, 3).waitFor();
    await page.keyboard.press("o");
    await outline.first().waitFor();
    await pane(stage).waitFor({ state: "hidden" });
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("o");
    await row(stage, 3).waitFor();
    await page.keyboard.press("o");
    await pane(stage).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Show the list" }).click();
    await row(stage, 3).waitFor();
    await page.waitForURL((url) => !url.searchParams.has("pane"));
    // An address with a pane shows it.
    await load(stage, `${new URL(page.url()).pathname}?pane=outline`);
    await outline.first().waitFor();
    await pane(stage).waitFor({ state: "hidden" });
    expect(stage.problems()).toEqual([]);
  });

  it("goes one level up with Escape: out of the pane, out of the message, to the row in the list as it was", async () => {
    const stage = get();
    const { page } = stage;
    for (const size of [WIDE, SMALL]) {
      await page.setViewportSize(size);
      await visit(stage, "/sessions?kind=all");
      await row(stage, 1).waitFor();
      await page.evaluate(() => scrollTo(0, innerWidth < 1200 ? 1300 : 900));
      await row(stage, 30).click();
      await isRead(stage, 30);
      await page.locator("main h1[tabindex]").last().focus();
      await page.keyboard.press("j");
      await page.waitForURL((url) => url.searchParams.has("m"));
      if (size === WIDE) {
        await page.keyboard.press("o");
        await page.getByRole("button", { name: "Outline", pressed: true }).first().waitFor();
        await page.keyboard.press("Escape");
        await page.waitForURL((url) => !url.searchParams.has("pane") && url.searchParams.has("m"));
      }
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("m"));
      expect(new URL(page.url()).pathname).toMatch(/^\/sessions\/./);
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => url.pathname === "/sessions" && url.search === "?kind=all");
      const focused = page.getByRole("table", { name: "Sessions" }).locator("a:focus");
      await focused.waitFor();
      expect(await focused.innerText()).toBe("tide number 30");
      const box = await focused.boundingBox();
      expect(box?.y).toBeGreaterThan(0);
      expect(box?.y).toBeLessThan(size.height - 30);
    }
    // From a hit of a search to that hit.
    await page.setViewportSize(WIDE);
    await visit(stage, "/sessions?q=tide&sort=recent");
    await page.locator("a[data-result]").nth(2).click();
    await page.locator("main h1[tabindex]").last().focus();
    const title = await page.locator("main h1[tabindex]").last().innerText();
    await page.waitForURL((url) => url.searchParams.has("m"));
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("m"));
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => url.pathname === "/sessions" && url.searchParams.get("q") === "tide");
    await page.locator("a[data-result]:focus").waitFor();
    expect(await page.locator("a[data-result]:focus").innerText()).toBe(title);
    expect(stage.problems()).toEqual([]);
  });

  it("takes j, k, arrows and x in the whole list, too", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(WIDE);
    await load(stage, "/sessions?kind=all");
    const at = () => page.evaluate(() => document.activeElement?.closest("[data-index]")?.getAttribute("data-index"));
    await page.getByRole("table", { name: "Sessions" }).getByRole("link").first().waitFor();
    for (const key of ["j", "ArrowDown", "j", "k"]) await page.keyboard.press(key);
    expect(await at()).toBe("1");
    await page.keyboard.press("x");
    await page.getByText("1 selected").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("X");
    await page.getByText("3 selected").first().waitFor();
    await page.keyboard.press("x");
    await page.getByText("2 selected").first().waitFor();
    await page.keyboard.press("Enter");
    await page.locator("main h1").waitFor();
    await page.waitForURL(/\/sessions\/./);
    expect(stage.problems()).toEqual([]);
  });

  it("compares two chosen sessions by one key, and by the palette; with fewer it asks for two", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(WIDE);
    await visit(stage, "/sessions?kind=all");
    await page.getByRole("table", { name: "Sessions" }).getByRole("link").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await Promise.all([page.getByRole("status").getByText("Select two sessions").waitFor(), page.keyboard.press("v")]);
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    const compare = page.getByRole("toolbar").getByRole("button", { name: "Compare" });
    expect(await compare.getAttribute("aria-keyshortcuts")).toBe("v");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).getByText("Compare the two selected").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("compare");
    await page.getByRole("option", { name: /^Compare the 2 selected sessions/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("v");
    await page.waitForURL((url) => url.pathname === "/compare" && url.searchParams.has("b"));
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    await page.goBack();
    await page.getByRole("table", { name: "Sessions" }).getByRole("link").first().waitFor();
    for (const key of ["j", "x", "j", "x", "Control+k"]) await page.keyboard.press(key);
    await page.getByRole("combobox", { name: "Command menu" }).waitFor();
    await page.keyboard.type("compare");
    await page.getByRole("option", { name: /^Compare the 2 selected sessions/, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === "/compare" && url.searchParams.has("b"));
    expect(stage.problems()).toEqual([]);
  });

  it("is two pages with a way back where there is no room for both", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize(SMALL);
    await visit(stage, "/sessions?kind=all");
    await row(stage, 1).click();
    await isRead(stage, 1);
    expect(await pane(stage).isVisible()).toBe(false);
    await page.getByRole("link", { name: "To the sessions" }).click();
    await page.waitForURL((url) => url.pathname === "/sessions" && url.search === "?kind=all");
    await row(stage, 1).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
