/** The reader's room: what is above it, beside it and over it moves nothing out of the window, and nothing away from the eye. */
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { builtPackage } from "../built.ts";
import { describeUi, go, painted, sessionId, settled, useSharedStage, useStage, visit } from "./browser.ts";
import { layoutFaults } from "./probes.ts";

describeUi("dashboard: the reader's room", () => {
  const get = useSharedStage();
  const open = async (width: number, query = "", height = 844) => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width, height });
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}${query}`);
    return { stage, page };
  };
  const boxOf = async (locator: Locator) => {
    const box = await locator.boundingBox();
    if (!box) throw new Error("It is not shown");
    return box;
  };

  it("is as high as the window, however much stands above it", async () => {
    const { page } = await open(390);
    const bar = page.getByRole("toolbar", { name: "Session tools" });
    const main = page.getByRole("navigation", { name: "Main" });
    const isInside = async () => {
      const { y, height } = await boxOf(bar);
      expect(y + height).toBeLessThanOrEqual((await boxOf(main)).y + 1);
      expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
    };
    await isInside();
    // Any note above it, of any height.
    await page.evaluate(() => {
      const note = document.createElement("p");
      note.id = "note-above";
      note.style.height = "97px";
      document.querySelector("main")?.prepend(note);
    });
    await painted(page);
    await isInside();
    await page.evaluate(() => document.querySelector("#note-above")?.remove());
  });

  it("has the way back to the list before the title, in its row", async () => {
    const { page } = await open(1024);
    const head = page.locator("main header").first();
    const [back, title] = [
      await boxOf(head.getByRole("link", { name: "To the sessions" })),
      await boxOf(head.getByRole("heading")),
    ];
    expect(back.x + back.width).toBeLessThanOrEqual(title.x);
    expect(Math.abs(back.y + back.height / 2 - (title.y + title.height / 2))).toBeLessThan(6);
    expect((await boxOf(head.getByRole("link", { name: "tidepool" }))).x).toBe(title.x);
  });

  it("leaves the messages the screen on a phone: its head is at most 110 px high, with the title and the primary act", async () => {
    const { page } = await open(390);
    const head = page.locator("main header").first();
    expect((await boxOf(head)).height).toBeLessThanOrEqual(110);
    for (const name of ["High and low water times", "Copy resume command"])
      expect(await head.getByText(name).count()).toBe(1);
    expect(await layoutFaults(page)).toEqual([]);
    // The facts are below the title, the views in the next row.
    const views = await boxOf(head.getByRole("group", { name: "Views of the session" }));
    const facts = await boxOf(head.getByRole("link", { name: "tidepool" }));
    expect(facts.y + facts.height).toBeLessThanOrEqual(views.y);
    expect(views.width).toBeGreaterThan(390 - 40);
    for (const one of await head.locator("a, button, label").filter({ visible: true }).all()) {
      const { width, height } = await boxOf(one);
      expect(Math.min(width, height), await one.innerText()).toBeGreaterThanOrEqual(24);
    }
  });

  it.each([1440, 1024, 390])(
    "opens the pane that an address names at %i px, and drops it from the address when closed",
    async (width) => {
      const { page } = await open(width, "?pane=diff&m=5", 800);
      await page.getByText("Edit 1 of 6").waitFor();
      await page.getByRole("region", { name: "Side pane" }).getByText("src/tides.js").first().waitFor();
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("pane"));
      expect(await page.getByText("Edit 1 of 6").count()).toBe(0);
    },
  );

  it.each([1440, 1024, 390])("shows why a line exists beside the line at %i px", async (width) => {
    const { page } = await open(width, "?m=10", 800);
    const line = page.locator("[data-seq='10'] [data-line]").filter({ hasText: "3_600_000" });
    for (const block of ["start", "end"] as const) {
      await line.evaluate((one, to) => one.scrollIntoView({ block: to }), block);
      await line.click({ position: { x: 40, y: 8 } });
      await page.getByRole("button", { name: "Why this line" }).click();
      const sheet = page.getByRole("dialog", { name: "Why this line exists" });
      await sheet.getByText("What was asked").waitFor();
      const [code, over] = [await boxOf(line), await boxOf(sheet)];
      expect(over.y >= code.y + code.height || over.y + over.height <= code.y, block).toBe(true);
      expect(over.height).toBeLessThanOrEqual(400);
      await page.keyboard.press("Escape");
      await sheet.waitFor({ state: "detached" });
    }
  });

  it("keeps the message that is read where it is when the pane opens and closes", async () => {
    const { page } = await open(1440, "", 900);
    const feed = page.getByRole("feed");
    await feed.evaluate((box) => box.scrollTo({ top: 700 }));
    await painted(page);
    // The first row that begins in view.
    const seq = await feed.evaluate((box) => {
      const { top } = box.getBoundingClientRect();
      const rows = [...box.querySelectorAll<HTMLElement>("article[data-seq]")];
      return rows
        .map((row) => ({ seq: row.dataset.seq, at: row.getBoundingClientRect().top }))
        .filter(({ at }) => at >= top)
        .sort((a, b) => a.at - b.at)[0]?.seq;
    });
    const row = page.locator(`article[data-seq="${seq}"]`);
    const before = (await boxOf(row)).y;
    for (const act of ["open", "close"]) {
      await page.locator("main h1").focus();
      await page.keyboard.press("d");
      await settled(page);
      expect(Math.abs((await boxOf(row)).y - before), act).toBeLessThanOrEqual(2);
    }
  });

  it("shows in the pane what the messages in view touched, and else what to choose", async () => {
    const { page } = await open(1440, "?pane=diff", 900);
    const pane = page.getByRole("region", { name: "Side pane" });
    await page.getByRole("feed").evaluate((box) => box.scrollTo({ top: 0 }));
    await pane.getByText("Edit 1 of 6").waitFor();
    expect(await pane.getByText(/before this message/).count()).toBe(0);
    // Too low a window for an edit beside the first prompt.
    await page.setViewportSize({ width: 1440, height: 420 });
    await page.getByRole("feed").evaluate((box) => box.scrollTo({ top: 0 }));
    await pane.getByText("No edit is in view").waitFor();
    await pane.getByRole("button", { name: "Next edit" }).click();
    await page.waitForURL(/m=5/);
    await pane.getByText("Edit 1 of 6").waitFor();
  });

  it("gives the title of a hit beside the reader the row's width", async () => {
    const { page } = await open(1440, "?list=q%3Dtide", 900);
    const list = page.getByRole("region", { name: "Sessions" }).or(page.locator("[data-keeps-focus]")).first();
    const titles = list.locator("a[data-result]");
    await titles.first().waitFor();
    for (const title of await titles.all()) {
      const { width, height } = await boxOf(title);
      expect(width > 250 || height < 30, await title.innerText()).toBe(true);
      expect(await title.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(1);
    }
    expect(await layoutFaults(page)).toEqual([]);
  });

  it("shows a patch of Codex as a diff, not as its text", async () => {
    const stage = get();
    await stage.page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, `/sessions/${await sessionId(stage, "Cache them for ten minutes")}?m=11&pane=diff`);
    const { page } = stage;
    const row = page.locator("article[data-seq='11']");
    await row.locator("[data-line]").filter({ hasText: "createCache" }).waitFor();
    await page.getByRole("region", { name: "Side pane" }).locator("[data-line]").first().waitFor();
    expect(await page.getByText(/\*\*\* (Begin Patch|Update File|End Patch)/).count()).toBe(0);
  });
});

describeUi("dashboard: the reader over sample data", () => {
  const get = useStage({ imported: false, fill: async () => {} });

  it("stands whole below the note on a phone", async () => {
    await builtPackage();
    const { page } = get();
    await page.setViewportSize({ width: 390, height: 844 });
    await visit(get(), "/");
    await page.getByRole("button", { name: "Show sample data" }).click();
    await page.waitForURL((url) => url.port !== new URL(get().url).port);
    await settled(page);
    const asked = await fetch(`${new URL(page.url()).origin}/api/sessions?limit=200`);
    const { sessions } = (await asked.json()) as { sessions: { id: string; title: string | null }[] };
    const id = sessions.find(({ title }) => title?.includes("High and low water"))?.id ?? "none";
    await go(get(), `/sessions/${encodeURIComponent(id)}`);
    const bar = page.getByRole("toolbar", { name: "Session tools" });
    await bar.waitFor();
    await page.getByText("Sample data", { exact: true }).filter({ visible: true }).waitFor();
    const bars = [bar, page.getByRole("navigation", { name: "Main" })];
    const [tools, main] = await Promise.all(bars.map((one) => one.boundingBox()));
    expect((tools?.y ?? 0) + (tools?.height ?? 0)).toBeLessThanOrEqual((main?.y ?? 0) + 1);
    const top = (await page.getByRole("feed").boundingBox())?.y ?? Number.POSITIVE_INFINITY;
    expect(top).toBeLessThanOrEqual(130);
    await page.getByRole("link", { name: "Back to yours" }).filter({ visible: true }).click();
    await page.getByText("The sample data is removed.").waitFor();
  });
});
