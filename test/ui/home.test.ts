/** Now: what runs and who waits, what to go on with, what is new, and one line each for the rest. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toDistinctNames } from "../../ui/state/distinct-names.ts";
import { toBuckets } from "../../ui/state/insights.ts";
import { violations } from "./axe.ts";
import { describeUi, load, useStage, visit } from "./browser.ts";
import { layoutFaults } from "./probes.ts";
import { sound } from "./sound.ts";
import { storyId, writeStory } from "./stories.ts";

describeUi("dashboard: Now", () => {
  const get = useStage();

  it("has everything above the fold, in order, with the cost and the open leaks in one line each", async () => {
    const stage = get();
    const { page } = stage;
    await stage.served.kernel.fetch("/api/security/leaks?whole=1");
    await load(stage, "/");
    const lines = page.getByRole("list", { name: "At a glance" });
    await lines.getByText("1 secret open").waitFor();
    expect(await lines.innerText()).toMatch(/Today .+\s+This week .+\s+Last week /);
    const tops: number[] = [];
    for (const part of [
      page.getByRole("region", { name: "Running" }),
      page.getByRole("region", { name: "Continue" }),
      lines,
    ]) {
      const box = await part.boundingBox();
      tops.push(box?.y ?? 0);
      expect((box?.y ?? 0) + (box?.height ?? 901)).toBeLessThanOrEqual(900);
    }
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    expect(
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Tools" }).innerText(),
    ).toMatch(/Tools\s+1/);
    expect(await layoutFaults(page)).toEqual([]);
    expect(await violations(stage)).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });

  it("says Resume in full in the first row, in the others where they are used", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const rows = page.getByRole("region", { name: "Continue" }).getByRole("listitem");
    const words = (at: number) =>
      rows
        .nth(at)
        .getByRole("button", { name: /^Copy resume command: ./ })
        .locator("span");
    const isShown = (at: number) => words(at).evaluate((span) => span.checkVisibility({ opacityProperty: true }));
    expect(await Promise.all([0, 1, 2].map(isShown))).toEqual([true, false, false]);
    await rows.nth(1).hover();
    expect(await Promise.all([0, 1, 2].map(isShown))).toEqual([true, true, false]);
    await rows.nth(2).getByRole("button").focus();
    expect(await isShown(2)).toBe(true);
  });

  it("leads from a number of sessions to the list of as many", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await page.getByRole("link", { name: /^All \d+ sessions$/ }).click();
    await page.waitForURL((url) => url.pathname === "/sessions");
  });

  it("addresses with days of the earlier first screen lead to Usage and Sessions", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, "/?days=7");
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/usage?days=7");
    await load(stage, "/?day=2026-11-03");
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/sessions?from=2026-11-03&to=2026-11-03");
  });
});

describeUi("dashboard: Now, while a session runs", () => {
  const get = useStage({
    sync: true,
    fill: (home) =>
      writeStory(home, {
        n: 1,
        cwd: join(home, "app"),
        prompt: "of yesterday",
        at: new Date(Date.now() - 86_400_000),
        lastModel: "without-a-price",
      }),
    turns: { restMs: 0 },
  });

  it("says in words what a cost leaves out", async () => {
    const { page } = get();
    await load(get(), "/");
    const glance = page.getByRole("list", { name: "At a glance" });
    // Yesterday is of this week or, on its first day, of the last one.
    await glance
      .getByText(/^<?\$[\d.]+ \+ unpriced calls$/)
      .first()
      .waitFor();
  });

  it("names a session that begins, without a reload, and says when it waits for the user", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, "/");
    const running = page.getByRole("region", { name: "Running" });
    await running.getByText("Nothing is running").waitFor();
    // No question of the page is due: what comes, comes by the stream.
    await page.clock.install();
    const log = await writeStory(stage.home, {
      n: 2,
      cwd: join(stage.home, "app"),
      prompt: "begun now",
      at: new Date(),
    });
    const row = running.getByRole("listitem").filter({ hasText: "begun now" });
    await row.waitFor();
    await row.getByText("Waits for you").waitFor();
    await appendFile(
      log,
      `${JSON.stringify({
        ...{ type: "user", sessionId: storyId(2), uuid: "later", cwd: join(stage.home, "app"), version: "2.1.0" },
        timestamp: new Date().toISOString(),
        message: { role: "user", content: "and more" },
      })}\n`,
    );
    await row.getByText("Working").waitFor();
    // The mark follows the title: badges and titles of the page are in one line.
    await row.getByText("live", { exact: true }).waitFor();
    const lefts = await page
      .locator("a[data-row]")
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
    expect(lefts.length).toBeGreaterThan(1);
    expect(new Set(lefts).size).toBe(1);
    await appendFile(log, toCall("call-now", `cd ${join(stage.home, "app")}/src && npm test`));
    await row.getByText("Bash").waitFor();
    // Inside the session's folder, for how long, and as a whole for those who point at it.
    await row.getByText("cd src && npm test").waitFor();
    expect(await row.innerText()).toMatch(/\d+ (s|min)\b/);
    expect(await row.locator("code").getAttribute("title")).toContain(join(stage.home, "app"));
    await sound(stage, "/");
    expect(await page.getByRole("region", { name: "Continue" }).getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringContaining("of yesterday"),
    ]);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("of yesterday");
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("begun now");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\/.*tail=1/);
    expect(stage.problems()).toEqual([]);
  });

  it("offers no command where the folder is gone, and on a phone names project and age in the row", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await load(stage, "/");
    const row = page
      .getByRole("region", { name: "Continue" })
      .getByRole("listitem")
      .filter({ hasText: "of yesterday" });
    await row.getByText("Folder gone").waitFor();
    expect(await row.innerText()).toMatch(/\bapp\n/);
    expect(await row.locator("time:visible").count()).toBe(1);
    // A copy for another folder instead, which is asked for first.
    expect(await row.getByRole("button").count()).toBe(1);
    await row.getByRole("button", { name: /^Resume in another folder: / }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Folder" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    // Beside a long title the note has its own room.
    await page.setViewportSize({ width: 1440, height: 900 });
    await row.getByRole("link").evaluate((link) => {
      link.textContent = "of yesterday, a long title ".repeat(15);
    });
    const note = await row.getByText("Folder gone").boundingBox();
    const project = await row.getByText("app", { exact: true }).and(page.locator(":visible")).boundingBox();
    expect((note?.x ?? 0) + (note?.width ?? 0)).toBeLessThanOrEqual(project?.x ?? 0);
    expect(stage.problems()).toEqual([]);
  });
});

/** A call of the session that runs, without a result. */
const toCall = (id: string, command: string): string =>
  `${JSON.stringify({
    ...{ type: "assistant", sessionId: storyId(2), uuid: id, version: "2.1.0", timestamp: new Date().toISOString() },
    message: {
      ...{ id: `msg-${id}`, role: "assistant", model: "claude-sonnet-4-5" },
      content: [{ type: "tool_use", id, name: "Bash", input: { command } }],
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  })}\n`;

it("tells projects of one name apart by the folders above them", () => {
  const project = (id: string, path: string | null) => ({ id, path, name: path?.split("/").at(-1) ?? "demo" });
  const names = toDistinctNames([
    project("a", "/home/a/work/demo"),
    project("b", "/home/a/play/demo"),
    project("c", "/x/play/demo"),
    project("d", "/home/a/other"),
    project("e", null),
  ]);
  expect([...names.values()]).toEqual(["work/demo", "a/play/demo", "x/play/demo", "other", "demo"]);
});

it("folds days to weeks and months, without a gap", () => {
  const figure = (day: string) => ({ day });
  const days = toBuckets([figure("2026-11-01"), figure("2026-11-05")], "2026-11-06");
  expect(days.unit).toBe("day");
  expect(days.buckets.map((one) => [one.key, one.days.length])).toEqual([
    ["2026-11-01", 1],
    ["2026-11-02", 0],
    ["2026-11-03", 0],
    ["2026-11-04", 0],
    ["2026-11-05", 1],
    ["2026-11-06", 0],
  ]);
  const weeks = toBuckets([figure("2026-01-01"), figure("2026-01-05")], "2026-06-01");
  expect([weeks.unit, weeks.buckets[0], weeks.buckets[1]]).toEqual([
    "week",
    { key: "2026-01-01", from: "2026-01-01", to: "2026-01-04", days: [figure("2026-01-01")] },
    { key: "2026-01-05", from: "2026-01-05", to: "2026-01-11", days: [figure("2026-01-05")] },
  ]);
  const months = toBuckets([figure("2023-12-31")], "2026-01-15");
  expect([months.unit, months.buckets.length, months.buckets.at(-1)]).toEqual([
    "month",
    26,
    { key: "2026-01-01", from: "2026-01-01", to: "2026-01-15", days: [] },
  ]);
});
