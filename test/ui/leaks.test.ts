/** The inbox of leaked secrets with more of them than a page holds, and what can be done with one. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { letters } from "../security/_samples.ts";
import { describeUi, settled, useStage, visit } from "./browser.ts";

const MANY = 230;
const SESSIONS = 5;

/** Sessions whose prompts hold tokens, each another. */
async function fill(home: string): Promise<void> {
  const folder = join(home, ".claude/projects/-work");
  await mkdir(folder, { recursive: true });
  for (let n = 0; n < SESSIONS; n++) {
    const sessionId = `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
    const rows = Array.from({ length: MANY / SESSIONS }, (_, i) => ({
      ...{ type: "user", uuid: `u${i}`, sessionId, cwd: "/work" },
      timestamp: new Date(Date.UTC(2026, 10, 1, n, i)).toISOString(),
      message: { role: "user", content: `Use ghp_${letters(36, n * 1000 + i)} for the release` },
    }));
    await writeFile(join(folder, `${sessionId}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
}

describeUi("dashboard: leaked secrets", () => {
  const get = useStage({ fill });

  it("lists all of them page by page, shares a session without one, and guards its kind", async () => {
    const stage = get();
    const { page } = stage;
    await stage.served.kernel.fetch("/api/security/leaks?whole=1");
    await visit(stage, "/security");
    await page.getByRole("status").getByText(`${MANY} secrets in ${SESSIONS} sessions`).waitFor();
    const rows = page.getByRole("list", { name: "Leaked secrets" }).locator(":scope > li");
    for (const count of [100, 200, MANY]) {
      await expect.poll(() => rows.count()).toBe(count);
      if (count < MANY) await page.getByRole("button", { name: "Show more" }).click();
    }
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    // A mark leaves the other pages where they are.
    await rows.nth(150).getByRole("button", { name: "Mark as harmless" }).click();
    await expect.poll(() => rows.count()).toBe(MANY - 1);

    await rows.nth(120).getByRole("link", { name: "Share without it" }).click();
    const sheet = page.getByRole("dialog", { name: "Share this session" });
    await sheet.getByText(/GitHub.*: \d+ places are hidden\./).waitFor();
    await settled(page);
    const frame = await sheet.locator("iframe").getAttribute("srcdoc");
    expect(frame).not.toMatch(/ghp_\w{20}/);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    expect(page.url()).not.toContain("share=");

    await visit(stage, "/security");
    await rows.first().getByRole("link", { name: "Guard this kind" }).click();
    const rule = page.getByRole("region", { name: /GitHub/ });
    await rule.getByText(/The guard blocks calls/).waitFor();
    await rule.getByText(/No assistant has the guard yet/).waitFor();
    await rule.getByRole("switch").uncheck();
    await rule.getByText(/lets secrets of this kind through/).waitFor();
    await rule.getByRole("switch").check();
    await rule.getByText(/The guard blocks calls/).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
