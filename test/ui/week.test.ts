/** Sessions that ended unfinished, to resume from Now; ranges Today and Last week. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { dayAgo, describeUi, settled, useStage, visit } from "./browser.ts";
import { storyId, writeStory } from "./stories.ts";

/** Days since Monday of the reader's week. */
const sinceMonday = (new Date(`${dayAgo(0)}T12:00Z`).getUTCDay() + 6) % 7;
const week = { from: dayAgo(sinceMonday + 7), to: dayAgo(sinceMonday + 1) };
const at = (day: string, minute: number) => new Date(Date.parse(`${day}T10:00:00Z`) + minute * 60_000);

/** A session of last week: a prompt, a command that fails three times, and an answer where one came. */
async function writeFailing(home: string, n: number, answered: boolean): Promise<void> {
  const file = join(home, `.claude/projects/-w-app/${storyId(n)}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await mkdir(join(home, "app"), { recursive: true });
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
    ...{ uuid: `u${n}-${i}`, sessionId: storyId(n), cwd: join(home, "app"), ...row },
    timestamp: new Date(at(week.from, n).getTime() + i * 1_000).toISOString(),
  }));
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

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

  it("lists sessions that ended unfinished, and copies the command that resumes one", async () => {
    const stage = get();
    const { page } = stage;
    await stage.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await visit(stage, "/");
    const all = page.getByRole("region", { name: "Continue" }).getByRole("listitem");
    const rows = all.filter({ hasText: /failed|last thing/ });
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.nth(0).innerText()).toMatch(/failing 2[\s\S]*A failed call was the last thing/);
    expect(await rows.nth(1).innerText()).toMatch(/failing 1[\s\S]*The last command failed/);
    await rows
      .nth(0)
      .getByRole("button", { name: /: failing 2$/ })
      .click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(storyId(2));
  });

  it("has Today and Last week as ranges, by button and by key", async () => {
    const stage = get();
    const { page } = stage;
    const sessions = page.locator("dl > div", { hasText: "Sessions" });
    await visit(stage, "/usage");
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
