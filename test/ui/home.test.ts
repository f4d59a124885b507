/** Now: what runs and who waits, what to go on with, what is new, and one line each for the rest. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toBuckets } from "../../ui/state/insights.ts";
import { toDistinctNames } from "../../ui/state/projects.ts";
import { violations } from "./axe.ts";
import { describeUi, load, useStage, visit } from "./browser.ts";
import { layoutFaults } from "./probes.ts";
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
    expect(await lines.innerText()).toMatch(/Today .+ This week /);
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
      writeStory(home, { n: 1, cwd: join(home, "app"), prompt: "of yesterday", at: new Date(Date.now() - 86_400_000) }),
    turns: { restMs: 0 },
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
    expect(await page.getByRole("region", { name: "Continue" }).getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringContaining("of yesterday"),
    ]);
    await row.getByRole("link").click();
    await page.waitForURL(/\/sessions\/.*tail=1/);
    expect(stage.problems()).toEqual([]);
  });
});

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
