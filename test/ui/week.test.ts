/** Home's last week: the same figures as Usage and the report, evidence in one click, sessions to resume; ranges Today and Last week. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { Report } from "../../plugins/report/index.ts";
import { violations } from "./axe.ts";
import { dayAgo, describeUi, load, type Stage, settled, useStage, visit } from "./browser.ts";
import { storyId, writeStory } from "./stories.ts";

const ZONE = "Europe/Berlin";
/** Days since Monday of the reader's week. */
const sinceMonday = (new Date(`${dayAgo(0)}T12:00Z`).getUTCDay() + 6) % 7;
const week = { from: dayAgo(sinceMonday + 7), to: dayAgo(sinceMonday + 1) };
const at = (day: string, minute: number) => new Date(Date.parse(`${day}T10:00:00Z`) + minute * 60_000);

/** A session of last week: a prompt, a command that fails three times, and an answer where one came. */
async function writeFailing(home: string, n: number, answered: boolean): Promise<void> {
  const file = join(home, `.claude/projects/-w-app/${storyId(n)}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  const usage = { input_tokens: 1_000_000, output_tokens: 0 };
  const call = (i: number) => [
    {
      type: "assistant",
      requestId: `r${n}-${i}`,
      message: {
        ...{ id: `m${n}-${i}`, role: "assistant", model: "claude-sonnet-4-5", usage },
        content: [{ type: "tool_use", id: `t${i}`, name: "Bash", input: { command: "make" } }],
      },
    },
    {
      type: "user",
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `t${i}`, is_error: true, content: "x".repeat(40_000) }],
      },
    },
  ];
  const rows = [
    { type: "user", message: { role: "user", content: `failing ${n}` } },
    ...[0, 1, 2].flatMap(call),
    ...(answered
      ? [{ type: "assistant", message: { id: "end", role: "assistant", content: [{ type: "text", text: "no" }] } }]
      : []),
  ];
  const lines = rows.map((row, i) => ({
    ...{ uuid: `u${n}-${i}`, sessionId: storyId(n), cwd: "/w/app", ...row },
    timestamp: new Date(at(week.from, n).getTime() + i * 1_000).toISOString(),
  }));
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const section = ({ page }: Stage) => page.getByRole("region", { name: "Last week" });
const report = async ({ served }: Stage) =>
  (await (
    await served.kernel.fetch(`/api/report?from=${week.from}&to=${week.to}&tz=${ZONE}&prompts=1`)
  ).json()) as Report;

describeUi("dashboard: last week", () => {
  const get = useStage({
    fill: async (home) => {
      await writeFailing(home, 1, true);
      await writeFailing(home, 2, false);
      await writeStory(home, { n: 3, cwd: "/w/lib", prompt: "a good one", at: at(week.to, 0) });
      await writeStory(home, { n: 4, cwd: "/w/app", prompt: "the week before", at: at(dayAgo(sinceMonday + 10), 0) });
      await writeStory(home, { n: 5, cwd: "/w/app", prompt: "this week", at: at(dayAgo(sinceMonday), 0) });
    },
  });

  it("has the figures of the report and of Usage, and leads to the sessions that show them", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const made = await report(stage);
    const money = (microdollars: number) => `$${(microdollars / 1e6).toFixed(2)}`;
    const text = async () => (await section(stage).innerText()).replace(/\s+/g, " ");
    await expect.poll(text).toContain(money(made.totals.microdollars));
    expect(made.totals.sessions).toBe(3);
    expect(made.previous.sessions).toBe(1);
    const shown = await text();
    expect(shown).toContain("3 sessions");
    expect(shown).toContain("vs the week before");
    expect(made.wasted.map(({ kind }) => kind)).toEqual(["retries", "failures"]);
    expect(shown).toContain("6 failed calls, repeated unchanged");
    expect(shown).toContain("6 calls that failed");
    expect(await violations(stage, "#last-week")).toEqual([]);
    // Usage has the same money for the same days.
    await section(stage).getByRole("link", { name: "Open in Usage" }).click();
    await page.waitForURL(/\/usage\?days=last-week/);
    await settled(page);
    expect(await page.locator("dl > div", { hasText: "Cost" }).first().innerText()).toContain(
      money(made.totals.microdollars),
    );
    await page.goBack();
    await section(stage).getByRole("link", { name: "failing 1" }).first().click();
    await page.waitForURL(/\/sessions\/.*[?&]m=1/);
    expect(stage.problems()).toEqual([]);
  });

  it("lists sessions that ended unfinished, and copies the command that resumes one", async () => {
    const stage = get();
    const { page } = stage;
    await stage.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await visit(stage, "/");
    const rows = section(stage).getByRole("region", { name: "Ended unfinished" }).getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.nth(0).innerText()).toMatch(/failing 2[\s\S]*A failed call was the last thing/);
    expect(await rows.nth(1).innerText()).toMatch(/failing 1[\s\S]*The last command failed[\s\S]*make/);
    await rows.nth(0).getByRole("button", { name: "Copy resume command of failing 2" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(storyId(2));
  });

  it("folds, stays folded, and the recent sessions are below it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const fold = section(stage).getByRole("button", { name: "Last week", exact: true });
    await expect.poll(() => fold.getAttribute("aria-expanded")).toBe("true");
    await fold.click();
    await load(stage, "/");
    await page.locator("tbody a[data-row]").first().waitFor();
    expect(await fold.getAttribute("aria-expanded")).toBe("false");
    await fold.click();
    await section(stage).getByRole("link", { name: "Open in Usage" }).waitFor();
  });

  it("has Today and Last week as ranges, by button and by key", async () => {
    const stage = get();
    const { page } = stage;
    const sessions = page.locator("dl > div", { hasText: "Sessions" });
    await visit(stage, "/");
    await page.getByRole("radio", { name: "Last week" }).check({ force: true });
    await page.waitForURL(/days=last-week/);
    await expect.poll(() => sessions.innerText()).toMatch(/\b3\b/);
    await page.keyboard.press("Escape");
    await page.locator("h1").first().focus();
    await page.keyboard.press("d");
    await page.waitForURL(/days=7/);
    await page.getByRole("radio", { name: "Today" }).check({ force: true });
    await page.waitForURL(/days=1/);
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

describeUi("dashboard: last week without work", () => {
  const get = useStage({
    fill: (home) => writeStory(home, { n: 1, cwd: "/w/app", prompt: "long ago", at: at(dayAgo(60), 0) }),
  });

  it("names the empty week, and what to do", async () => {
    const stage = get();
    await visit(stage, "/");
    await section(stage).getByText("Nothing was worked on last week").waitFor();
    await section(stage).getByRole("link", { name: "Import sessions" }).click();
    await stage.page.waitForURL(/\/import/);
    expect(stage.problems()).toEqual([]);
  });
});
