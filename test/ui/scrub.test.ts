/** A revoked secret is removed in the dashboard: what would be changed, yes, and the logs put back. */
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { letters } from "../security/_samples.ts";
import { violations } from "./axe.ts";
import { describeUi, painted, useStage, visit } from "./browser.ts";

const SECRET = `ghp_${letters(36, 7)}`;
const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
const logOf = (home: string) => join(home, ".claude/projects/-work", `${KEY}.jsonl`);

/** A session that was not written for a day: one that was may be running. */
async function fill(home: string): Promise<void> {
  await mkdir(join(home, ".claude/projects/-work"), { recursive: true });
  const rows = [`Use ${SECRET} for the release`, "And then tag it", `Again ${SECRET}`].map((content, i) => ({
    ...{ type: "user", uuid: `u${i}`, sessionId: KEY, cwd: join(home, "work") },
    timestamp: new Date(Date.UTC(2026, 10, 1, 0, i)).toISOString(),
    message: { role: "user", content },
  }));
  await writeFile(logOf(home), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const time = new Date(Date.now() - 86_400_000);
  await utimes(logOf(home), time, time);
}

describeUi("dashboard: revoked secrets are removed", () => {
  const get = useStage({ fill });

  it("after a look and a yes, also in the assistant's log, which can be put back", async () => {
    const stage = get();
    const { page } = stage;
    const { kernel } = stage.served;
    const before = await readFile(logOf(stage.home));
    const found = (await (await kernel.fetch("/api/security/leaks?whole=1")).json()) as { leaks: { id: string }[] };
    const body = JSON.stringify({ ids: found.leaks.map(({ id }) => id), state: "rotated" });
    await kernel.fetch("/api/security/leaks/mark", { method: "POST", body });
    await visit(stage, "/tools/secrets?state=rotated");
    const open = page.getByRole("button", { name: /^Remove…/ });
    await open.click();
    const dialog = page.getByRole("dialog", { name: "Remove this secret" });
    await dialog.getByText(/^Found at \d+ places in 1 session\.$/).waitFor();
    expect(await violations(stage, "[role=dialog]")).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await painted(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await readFile(logOf(stage.home))).equals(before)).toBe(true);

    await open.click();
    await dialog.getByRole("switch", { name: "Also in 1 log at the assistants" }).check();
    const undo = page.getByRole("button", { name: "Put the logs back" });
    const said = page.getByText("Removed from 1 session", { exact: true });
    await Promise.all([
      said.waitFor(),
      undo.waitFor(),
      dialog.getByRole("button", { name: "Remove for good" }).click(),
    ]);
    await open.waitFor({ state: "detached" });
    const after = await readFile(logOf(stage.home), "utf8");
    expect([after.length, after.includes(SECRET)]).toEqual([before.length, false]);
    const rows = await (await kernel.fetch(`/api/sessions/claude-code:${KEY}/messages`)).text();
    expect([rows.includes("And then tag it"), rows.includes(SECRET)]).toEqual([true, false]);

    await Promise.all([page.getByText(/^1 log put back\./).waitFor(), undo.click()]);
    expect((await readFile(logOf(stage.home))).equals(before)).toBe(true);
    expect(stage.problems()).toEqual([]);
  });
});
