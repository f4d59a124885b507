/** The list of all sessions: odd titles, keys, choosing many, deleting with its way back, saved filters, without the service; calls; a line's reason. */
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { dayAgo, describeUi, projectId, sessionId, settled, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";
import { writeStory } from "./stories.ts";

const ODD = [
  "هذه فقرة باللغة العربية تُقرأ من اليمين إلى اليسار",
  "中文段落与 emoji 👩‍👩‍👧‍👦🏳️‍🌈 以及 한국어",
  `${"unbreakable".repeat(60)} <b>no markup</b>`,
  "three calls of which one fails",
];
/** Fourteen weeks and two days ago, where the sample data has nothing. */
const DAY = dayAgo(100);
const AT = Date.parse(`${DAY}T09:00:00Z`);

describeUi("dashboard: all sessions", () => {
  const get = useStage({
    fill: async (home) => {
      await writeDemo({ home });
      for (const [n, prompt] of ODD.entries())
        await writeStory(home, {
          n,
          cwd: `${home}/code/odd-${n}`,
          prompt,
          at: new Date(AT + n * 60_000),
          calls: n * 3,
        });
      for (let n = 10; n < 130; n++)
        await writeStory(home, { n, cwd: `${home}/code/many`, prompt: `many ${n}`, at: new Date(AT - n * 86_400_000) });
    },
  });
  const chosen = () => get().page.getByRole("toolbar");
  const box = (name: string | RegExp) => get().page.getByRole("checkbox", { name });

  it("is sound with odd titles, a day chosen in the calendar by keys, and sessions selected", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions");
    await page.getByRole("button", { name: "Activity of a year" }).click();
    const calendar = page.getByRole("grid");
    await calendar.locator("[tabindex='0']").focus();
    for (const key of [...new Array(14).fill("ArrowLeft"), "ArrowUp", "ArrowUp", "Enter"])
      await page.keyboard.press(key);
    await page.waitForURL((url) => url.searchParams.get("from") === DAY && url.searchParams.get("to") === DAY);
    await page.getByRole("table", { name: "Sessions" }).getByRole("link").nth(3).waitFor();
    await settled(page);
    expect(await page.getByRole("gridcell", { selected: true }).getAttribute("aria-label")).toContain("4 sessions");
    await box(/unbreakable/).check();
    await sound(stage, "/sessions");
    expect(stage.problems()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear selection" }).click();
    await page.getByRole("gridcell", { selected: true }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.searchParams.has("from"));
  });

  it("is grouped by Today, weeks and months where it is by time, with the hour of the last days", async () => {
    const stage = get();
    const { page } = stage;
    await writeStory(stage.home, { n: 200, cwd: `${stage.home}/code/now`, prompt: "of today", at: new Date() });
    await stage.served.kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
    await visit(stage, "/sessions?kind=all");
    const table = page.getByRole("table", { name: "Sessions" });
    await table.getByText("Today", { exact: true }).waitFor();
    const texts = async () => (await table.innerText()).split("\n").map((line) => line.trim());
    const shown = await texts();
    expect(shown.indexOf("Today")).toBeLessThan(shown.indexOf("of today"));
    const month = new Date(AT).toLocaleDateString("en-US", { month: "long" });
    await visit(stage, `/sessions?kind=all&from=${dayAgo(101)}&to=${dayAgo(99)}`);
    await table.getByText(month).first().waitFor();
    expect(await table.locator("time").first().innerText()).toMatch(/^\w{3} \d+$/);
    await visit(stage, "/sessions?kind=all&sort=messages");
    await expect.poll(texts).not.toContain("Today");
    await visit(stage, `/sessions/${await sessionId(stage, "of today")}`);
    await page.getByRole("list", { name: "Sessions" }).getByText("Today", { exact: true }).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("loads further pages as it is scrolled, sorts by a column, and moves by keys", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?kind=all&sort=oldest");
    const rows = page.getByRole("table", { name: "Sessions" });
    const total = Number(await rows.getAttribute("aria-rowcount")) - 1;
    expect(total).toBeGreaterThan(140);
    const lastRow = rows.locator(`[data-index="${total - 1}"]`);
    await expect
      .poll(async () => {
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        return lastRow.count();
      })
      .toBe(1);
    expect(await lastRow.getAttribute("aria-rowindex")).toBe(String(total + 1));
    await visit(stage, "/sessions?kind=all");
    await page.getByRole("columnheader", { name: "Errors" }).getByRole("button").click();
    await page.waitForURL(/sort=errors/);
    await settled(page);
    await rows.locator(`[data-index="0"]`).getByText("three calls of which one fails").waitFor();
    await rows.locator(`[data-index="0"] a`).focus();
    await page.keyboard.press("j");
    await page.locator('[data-index="1"] :focus').waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("takes a click while it scrolls", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions?project=${await projectId(stage, "many")}`);
    // Up and down by a pixel, so that it scrolls for as long as the click takes.
    await page.evaluate(() => {
      let on = true;
      addEventListener("click", () => (on = false), { once: true });
      const step = (at: number) => {
        scrollTo(0, at);
        if (on) requestAnimationFrame(() => step(at === 1 ? 2 : 1));
      };
      step(1);
    });
    await page.locator("[role=table] [style*='pointer-events: none']").waitFor({ state: "attached" });
    // With the mouse itself: a locator would wait until what is there takes it.
    const at = await box("Select many 12").boundingBox();
    if (!at) throw new Error("No box");
    await page.mouse.click(at.x + at.width / 2, at.y + at.height / 2);
    expect(await chosen().getByRole("status").innerText()).toBe("1 selected");
    await page.getByRole("button", { name: "Clear selection" }).click();
    expect(stage.problems()).toEqual([]);
  });

  it("selects a range with Shift, exports it as one archive, and compares two", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions?project=${await projectId(stage, "many")}`);
    await box("Select many 12").check();
    await box("Select many 15").click({ modifiers: ["Shift"] });
    expect(await chosen().getByRole("status").innerText()).toBe("4 selected");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      chosen().getByRole("button", { name: "Export" }).click(),
    ]);
    const names = toEntries(await buffer(await download.createReadStream()));
    expect(names).toEqual(["001-many-12.md", "002-many-13.md", "003-many-14.md", "004-many-15.md"]);
    for (const n of [13, 14]) await box(`Select many ${n}`).uncheck();
    await chosen().getByRole("button", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    await page.getByRole("heading", { name: /^A many 12$/ }).waitFor();
    await page.getByRole("heading", { name: /^B many 15$/ }).waitFor();
    await settled(page);
    await page
      .getByRole("region", { name: "What differs" })
      .getByText(/^The same in both: .*Messages/)
      .waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("says in words that a session to compare is not in the archive, with the way to the others", async () => {
    const stage = get();
    const { page } = stage;
    const id = encodeURIComponent(await sessionId(stage, "High and low water times"));
    for (const query of [`a=${id}&b=none`, `a=none&b=${id}`, "a=none&b=neither"]) {
      await visit(stage, `/compare?${query}`);
      await page.getByText("A session of this comparison is not in the archive").waitFor();
      expect(await page.getByRole("main").innerText()).not.toMatch(/GET |404|SESSION_NOT_FOUND/);
      expect(await page.getByRole("alert").count()).toBe(0);
      expect(await page.getByRole("button", { name: "Swap sides" }).count()).toBe(0);
    }
    await page.getByRole("button", { name: "To the sessions" }).click();
    await page.waitForURL((url) => url.pathname === "/sessions");
    for (const problem of stage.problems()) expect(problem).toMatch(/404 .*\/(none|neither)\b/);
  });

  it("says which of two sessions did better in what, and shows files and prompts side by side", async () => {
    const stage = get();
    const { page } = stage;
    const [a, b] = await Promise.all([
      sessionId(stage, "High and low water times"),
      sessionId(stage, "Why the build server fails"),
    ]);
    const read = async (id: string) =>
      (await (await stage.served.kernel.fetch(`/api/sessions/${encodeURIComponent(id)}`)).json()) as {
        session: { cost: { microdollars: number }; errorCount: number };
      };
    const [one, other] = [await read(a), await read(b)];
    await visit(stage, `/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
    const less = (other.session.cost.microdollars - one.session.cost.microdollars) / 1e6;
    expect(less).toBeGreaterThan(0);
    expect(one.session.errorCount - other.session.errorCount).toBe(1);
    // Figures that differ, the largest difference first, then what is the same. Each says once which side did better.
    const figures = page.getByRole("region", { name: "What differs" });
    const better = async () =>
      (await figures.locator("[data-better]").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
    await expect.poll(better).toEqual(["Better: 0", `Better: $${(one.session.cost.microdollars / 1e6).toFixed(2)}`]);
    await figures.getByText(`+$${less.toFixed(2)}`).waitFor();
    const names = async () =>
      (await figures.getByRole("row").allInnerTexts()).map((row) => row.split(/\s{2,}|\t|\n/)[0]);
    expect(await names()).toEqual(["Figure", "Errors", "Sub-agents", "Calls", "Cost (est.)", "Tokens"]);
    await figures.getByText("The same in both: Active time 6 min · Repeated failed calls 0 · Messages 26").waitFor();
    await figures.getByRole("button", { name: "All figures" }).click();
    expect(await page.getByRole("region", { name: "Figures" }).getByRole("row").count()).toBe(15);
    // Both sides have the same two columns in every table, below their heads; what is between them comes after both.
    const heads = await page.getByRole("region", { name: "Figures" }).getByRole("columnheader").allInnerTexts();
    expect(heads).toEqual(["Figure", "A", "B", "B − A"]);
    for (const [i, letter] of ["A", "B"].entries()) {
      const columns = await page.getByRole("columnheader", { name: letter, exact: true }).all();
      const places = await Promise.all(columns.map((one) => one.evaluate((at) => at.getBoundingClientRect().toJSON())));
      expect(places.length).toBe(4);
      expect(new Set(places.map(({ left, right }) => `${Math.round(left)}–${Math.round(right)}`)).size).toBe(1);
      const card = await page.getByRole("article").nth(i).boundingBox();
      expect(card && Math.abs(card.x + card.width - places[0].right)).toBeLessThan(2);
    }
    await page.getByRole("columnheader", { name: "Model", exact: true }).waitFor();
    await page.getByRole("columnheader", { name: "Tool", exact: true }).waitFor();
    // A phone's columns have no room for a title: the heads are one below the other, and the switch ends with the table.
    await page.setViewportSize({ width: 390, height: 844 });
    const [first, second] = [
      await page.getByRole("article").first().boundingBox(),
      await page.getByRole("article").last().boundingBox(),
    ];
    expect(second?.x).toBe(first?.x);
    expect(second?.y).toBeGreaterThanOrEqual((first?.y ?? 0) + (first?.height ?? 0));
    const word = await page.getByRole("button", { name: "Only what differs" }).evaluate((button) => {
      const range = document.createRange();
      range.selectNodeContents(button);
      return range.getBoundingClientRect().right;
    });
    const table = await page.getByRole("region", { name: "Figures" }).getByRole("table").boundingBox();
    expect(Math.abs(word - ((table?.x ?? 0) + (table?.width ?? 0)))).toBeLessThan(2);
    await page.setViewportSize({ width: 1440, height: 900 });
    const files = page.getByRole("table").filter({ hasText: "src/tides.js" });
    expect(await files.getByRole("row", { name: /tides\.js/ }).innerText()).toMatch(/2 edits\s+—\s+−2 edits$/);
    await page.getByRole("link", { name: /Find out why/ }).waitFor();
    // Files that were only read are one line, until they are asked for.
    const rows = await files.getByRole("row").count();
    const onlyRead = page.getByRole("button", { name: /^\d+ files? only read$/ });
    const many = Number.parseInt(await onlyRead.innerText(), 10);
    await onlyRead.click();
    await expect.poll(() => files.getByRole("row").count()).toBe(rows + many);
    await onlyRead.click();
    await expect.poll(() => files.getByRole("row").count()).toBe(rows);

    // A file that one of them changed opens with its edits, each line with its reason.
    await files.getByRole("button", { name: /tides\.js/ }).click();
    await page.waitForURL(/file=src/);
    const edits = files.getByRole("group", { name: /^Changes of src\/tides\.js/ });
    await expect.poll(() => edits.count()).toBe(2);
    await files.getByText("This session did not change the file.").waitFor();
    await edits.first().locator("[data-sign='+']").filter({ hasText: /\w{4}/ }).first().hover();
    await page.getByRole("button", { name: "Why this line" }).click();
    const reason = page.getByRole("dialog", { name: "Why this line exists" });
    await reason.getByText("What was asked").waitFor();
    await reason.getByText("Committed").waitFor();
    await page.keyboard.press("Escape");
    await reason.waitFor({ state: "detached" });
    expect(await violations(stage)).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });

  it("deletes what is selected after saying what goes, and brings it back", async () => {
    const stage = get();
    const { page } = stage;
    const list = page.getByRole("table", { name: "Sessions" });
    const count = async (q: string) =>
      ((await (await stage.served.kernel.fetch(`/api/sessions?q=${q}`)).json()) as { total: number }).total;
    await visit(stage, `/sessions?project=${await projectId(stage, "tidepool")}`);
    await box("Select Extremes by root finding").check();
    await chosen().getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete 1 session" });
    await dialog.getByText("Extremes by root finding").waitFor();
    await dialog.getByText(/\d+ messages?/).waitFor();
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await list.getByRole("link", { name: "Extremes by root finding" }).waitFor({ state: "detached" });
    expect(await count("root+finding")).toBe(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await list.getByRole("link", { name: "Extremes by root finding" }).waitFor();
    expect(await count("root+finding")).toBe(1);
    expect(stage.problems()).toEqual([]);
  });

  it("keeps rows, selection, filter and views while the service is away", async () => {
    const stage = get();
    const { page } = stage;
    const many = await projectId(stage, "many");
    await visit(stage, `/sessions?project=${many}&sort=messages`);
    await box("Select many 20").check();
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByRole("textbox", { name: "Name of the filters" }).fill("Many of them");
    await stage.served.close();
    await page.getByRole("button", { name: "Save these filters" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).first().click();
    await page.getByRole("checkbox", { name: "With errors" }).check();
    const alert = page.getByRole("alert").filter({ hasText: "could not be loaded" });
    await alert.waitFor();
    expect(await page.getByRole("table", { name: "Sessions" }).getByRole("link").count()).toBeGreaterThan(10);
    await stage.start();
    await alert.waitFor({ state: "detached" });
    await page.getByText("No sessions match.").waitFor();
    expect(await chosen().getByRole("status").innerText()).toBe("1 selected");
    expect(new URL(page.url()).searchParams.get("errors")).toBe("1");
    await visit(stage, "/sessions");
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByRole("button", { name: "Many of them", exact: true }).click();
    await page.waitForURL((url) => url.search === `?project=${many}&sort=messages`);
    stage.problems();
  });

  it("leads from a ranking to the failed calls, and from a call to its message", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?days=all`);
    await page.getByRole("link", { name: "Bash", exact: true }).click();
    await page.waitForURL(/\/sessions\?.*view=calls/);
    await settled(page);
    const call = page.getByRole("listitem").filter({ hasText: "TypeError: Cannot read properties" });
    await call.getByText("stations/nowhere").waitFor();
    await call.getByRole("link").click();
    await page.locator("article[aria-current=true]").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("shows why a line stands: its session, the message, what was asked and read; by keys too, and after the service was away", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?tab=code`);
    await page.getByRole("treeitem", { name: "README.md" }).click();
    const lines = page.getByRole("listbox", { name: "Lines of README.md" });
    await lines.waitFor();
    await settled(page);
    await lines.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: /^Why this line exists$/ }).waitFor();
    if (LONG) await sound(stage, "code");
    await page.setViewportSize({ width: 1440, height: 900 });
    await stage.served.close();
    await page.keyboard.press("Escape");
    await page.getByRole("treeitem", { name: "package.json" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "does not answer" });
    await alert.waitFor();
    await stage.start();
    await alert.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("listbox", { name: "Lines of package.json" }).waitFor();
    stage.problems();
  });
});

/** Names in an archive; each content has the sum that its head says. */
function toEntries(zip: Buffer): string[] {
  const names: string[] = [];
  let at = 0;
  for (; zip.readUInt32LE(at) === 0x04034b50; ) {
    const [size, length] = [zip.readUInt32LE(at + 18), zip.readUInt16LE(at + 26)];
    const content = zip.subarray(at + 30 + length, at + 30 + length + size);
    expect(crc32(content)).toBe(zip.readUInt32LE(at + 14));
    names.push(zip.toString("utf8", at + 30, at + 30 + length));
    at += 30 + length + size;
  }
  const end = zip.length - 22;
  expect([zip.readUInt32LE(end), zip.readUInt16LE(end + 10), zip.readUInt32LE(end + 16)]).toEqual([
    0x06054b50,
    names.length,
    at,
  ]);
  return names;
}
