/** The inbox of leaked secrets with many of them: grouped, one primary action a row, several marked at once. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { letters } from "../security/_samples.ts";
import { violations } from "./axe.ts";
import { describeUi, painted, settled, useStage, visit } from "./browser.ts";

const MANY = 230;
const SESSIONS = 5;

/** Sessions whose prompts hold tokens, each another, and one that the project's file holds too. */
async function fill(home: string): Promise<void> {
  const folder = join(home, ".claude/projects/-work");
  const work = join(home, "work");
  await mkdir(folder, { recursive: true });
  await mkdir(work, { recursive: true });
  await writeFile(join(work, ".env"), `PORT=80\nTOKEN=ghp_${letters(36, 0)}\n`);
  for (let n = 0; n < SESSIONS; n++) {
    const sessionId = `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
    const rows = Array.from({ length: MANY / SESSIONS }, (_, i) => ({
      ...{ type: "user", uuid: `u${i}`, sessionId, cwd: work },
      timestamp: new Date(Date.UTC(2026, 10, 1, n, i)).toISOString(),
      message: { role: "user", content: `Use ${tokenOf(n, i)} for the release` },
    }));
    await writeFile(join(folder, `${sessionId}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
}
/** Most are GitHub's, one of each session GitLab's. */
const tokenOf = (n: number, i: number) =>
  i === 7 ? `glpat-${letters(20, n + 50)}` : `ghp_${letters(36, n * 1000 + i)}`;
const GITLAB = SESSIONS;
const GITHUB = MANY - GITLAB;

describeUi("dashboard: leaked secrets", () => {
  const get = useStage({ fill });

  it("shows a quiet row a kind, opens to its secrets page by page, and marks several at once", async () => {
    const stage = get();
    const { page } = stage;
    await stage.served.kernel.fetch("/api/security/leaks?whole=1");
    await visit(stage, "/tools/secrets");
    const tab = (count: number) => page.getByRole("button", { name: new RegExp(`^Secrets\\s*${count}$`) });
    await page.getByRole("status").getByText(`${MANY} secrets in ${SESSIONS} sessions, 1 still in`).waitFor();
    await tab(MANY).waitFor();
    const inbox = page.getByRole("group", { name: "Leaked secrets" });
    const github = inbox.getByRole("region", { name: "GitHub PAT" });
    await github.getByText(`${GITHUB} secrets`).waitFor();
    expect(await inbox.getByRole("button").count()).toBeLessThan(10);
    expect(await github.getByRole("link", { name: /^Revoke at GitHub/ }).getAttribute("href")).toBe(
      "https://github.com/settings/tokens",
    );
    // A closed group says how many of it a file holds, and in which projects they are.
    const inFiles = page.getByText("In your files", { exact: true });
    await inFiles.waitFor();
    await github.getByText("1 in files", { exact: true }).and(page.locator(":visible")).waitFor();
    await github.getByText("work", { exact: true }).waitFor();
    expect(await violations(stage)).toEqual([]);
    // On a phone: two lines a kind, its name whole, its action at the end of the second.
    await page.setViewportSize({ width: 390, height: 844 });
    await painted(page);
    const name = github.getByText("GitHub PAT", { exact: true });
    expect(await name.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    expect((await github.boundingBox())?.height).toBeLessThan(110);
    const revoke = await github.getByRole("link", { name: /^Revoke at GitHub/ }).boundingBox();
    expect((revoke?.y ?? 0) > ((await name.boundingBox())?.y ?? 999)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });

    await github.getByRole("button", { expanded: false }).first().click();
    const rows = github.getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(50);
    // Equal masks are told apart by the fingerprint and the session.
    const prints = await rows.locator("[data-fingerprint]").allInnerTexts();
    expect(prints).toHaveLength(50);
    expect(new Set(prints).size).toBe(50);
    // The file's comes first; how to revoke them is said once, in the heading.
    await rows.first().getByText(".env:2", { exact: true }).and(page.locator(":visible")).waitFor();
    expect(await github.getByRole("link", { name: /^Revoke at GitHub/ }).count()).toBe(1);
    expect(
      await rows
        .first()
        .getByRole("button", { name: /^Mark revoked/ })
        .count(),
    ).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    await painted(page);
    expect(await rows.first().locator("[data-where]:visible").innerText()).toBe(".env:2 · work");
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await rows
      .first()
      .getByText(/^Use .* for the release$/)
      .waitFor();
    await github.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(100);
    await rows.nth(0).getByRole("checkbox").check();
    await rows.nth(60).getByRole("checkbox").check();
    const bar = page.getByRole("group", { name: "2 chosen" });
    await bar.getByRole("button", { name: "Not a secret" }).click();
    await github.getByText(`${GITHUB - 2} secrets`).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await github.getByText(`${GITHUB} secrets`).waitFor();
    // Other pages stay where they are.
    expect(await rows.count()).toBe(100);

    // What marks a group names how many secrets it marks.
    await github.getByRole("button", { name: "More actions: GitHub PAT", exact: true }).click();
    await page.getByRole("menuitem", { name: `Mark ${GITHUB} revoked` }).waitFor();
    await page.keyboard.press("Escape");
    await github.getByRole("checkbox", { name: "Choose all of GitHub PAT" }).check();
    await page
      .getByRole("group", { name: `${GITHUB} chosen` })
      .getByRole("button", { name: "Mark revoked" })
      .click();
    await github.waitFor({ state: "detached" });
    await tab(GITLAB).waitFor();
    // No file holds one of those that are left: the headline says it, and the column is gone.
    await page
      .getByRole("status")
      .getByText(/, none in your projects' files$/)
      .waitFor();
    await inFiles.waitFor({ state: "hidden" });
    expect(stage.problems()).toEqual([]);
  });

  it("leads to the message and the line of a file, and says how to revoke what has no page", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/secrets?state=all&by=project");
    const project = page.getByRole("region", { name: "work" });
    const held = project.getByRole("listitem").filter({ hasText: ".env:2" });
    await expect
      .poll(async () => {
        const more = project.getByRole("button", { name: "Show more" });
        if ((await held.count()) === 0 && (await more.isVisible())) await more.click();
        return held.count();
      })
      .toBe(1);
    await held.getByRole("button", { name: /^Where/ }).click();
    await held.getByText(/work\/\.env:2$/).waitFor();
    await held.getByText(/^First seen/).waitFor();
    await held.getByRole("link", { name: /^Use ghp_.*for the release\s*#\d+$/ }).click();
    await page.waitForURL(/\/sessions\/.+m=\d+/);
    expect(stage.problems()).toEqual([]);
  });

  it("shares a session without a secret, and blocks its kind in the guard", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/secrets");
    const kind = page.getByRole("region", { name: "GitLab" });
    const row = kind.getByRole("listitem").first();
    /** Closed where there are many secrets. */
    const openKind = async () => {
      const heading = kind.getByRole("heading").getByRole("button");
      await heading.waitFor();
      if ((await heading.getAttribute("aria-expanded")) === "false") await heading.click();
    };
    await openKind();
    await row.getByRole("button", { name: /^More actions/ }).click();
    await page.getByRole("menuitem", { name: "Share without it" }).click();
    const sheet = page.getByRole("dialog", { name: "Share this session" });
    await sheet.getByText(/GitLab.*: \d+ places? (is|are) hidden\./).waitFor();
    await settled(page);
    expect(await sheet.locator("iframe").getAttribute("srcdoc")).not.toMatch(/glpat-\w{20}/);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });

    await visit(stage, "/tools/secrets");
    await openKind();
    await row.getByRole("button", { name: /^More actions/ }).click();
    await page.getByRole("menuitem", { name: "Block this kind in the guard" }).click();
    const rule = page.getByRole("region", { name: /GitLab/ });
    await rule.getByText(/The guard blocks calls/).waitFor();
    await rule.getByText(/No assistant has the guard yet/).waitFor();
    await rule.getByRole("switch").uncheck();
    await rule.getByText(/lets secrets of this kind through/).waitFor();
    await rule.getByRole("switch").check();
    await rule.getByText(/The guard blocks calls/).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: leaked secrets of several projects", () => {
  const get = useStage({
    fill: async (home) => {
      for (const [n, name] of ["tide", "moon"].entries()) {
        const [folder, work] = [join(home, `.claude/projects/-${name}`), join(home, name)];
        await mkdir(folder, { recursive: true });
        await mkdir(work, { recursive: true });
        await writeFile(join(work, ".env"), `TOKEN=ghp_${letters(36, n)}\n`);
        const sessionId = `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0b0${n}`;
        const row = {
          ...{ type: "user", uuid: "u1", sessionId, cwd: work, timestamp: "2026-11-01T00:00:00.000Z" },
          message: { role: "user", content: `Use ghp_${letters(36, n)} for the release` },
        };
        await writeFile(join(folder, `${sessionId}.jsonl`), `${JSON.stringify(row)}\n`);
      }
    },
  });

  it("says that files of several projects hold them", async () => {
    const stage = get();
    await stage.served.kernel.fetch("/api/security/leaks?whole=1");
    await visit(stage, "/tools/secrets");
    await stage.page
      .getByRole("status")
      .getByText("2 secrets in 2 sessions, 2 still in your projects' files", { exact: true })
      .waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
