/** What needs the person: first on Now, and gone when it is over. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, settled, useStage, visit } from "./browser.ts";
import { layoutFaults } from "./probes.ts";

describeUi("dashboard: what needs you", () => {
  const get = useStage();

  it("is first on Now: who waits, and a limit that comes near; each goes when it is over", async () => {
    const stage = get();
    const { page } = stage;
    const { kernel } = stage.served;
    const post = (path: string, body: object) =>
      kernel.fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const { sessions } = (await (await kernel.fetch("/api/sessions?tool=claude-code&limit=1")).json()) as {
      sessions: { id: string }[];
    };
    const id = sessions[0]?.id ?? "";
    await visit(stage, "/");
    const notices = page.getByRole("region", { name: "Running" });
    await notices.getByText("Nothing is running").waitFor();
    const session = id.slice(id.indexOf(":") + 1);
    await post("/api/waiting", { tool: "claude-code", session, event: "answer" });
    await post("/api/waiting", { tool: "codex", session: "not-archived", event: "permission" });
    const reading = { tool: "claude-code", minutes: 300, usedPercent: 84, at: Date.now() };
    await kernel.inject("insights").storeReadings([{ ...reading, resetsAt: Date.now() + 3_600_000 }]);
    // The lines of Now are asked again each minute: a new page asks at once.
    await page.reload();
    await settled(page);
    const rows = notices.getByRole("listitem");
    expect(await rows.count()).toBe(2);
    // A permission holds work up.
    expect(await rows.nth(0).innerText()).toMatch(/New session of Codex CLI\s+Waits for a permission/);
    expect(await rows.nth(1).innerText()).toMatch(/Waits for you/);
    await page
      .getByRole("list", { name: "At a glance" })
      .getByText(/84\s?% of the 5-hour limit used/)
      .waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    expect(await violations(stage)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await layoutFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    // Dismissed here, and ended by the assistant.
    await rows.nth(0).getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.nth(0).getByRole("link").getAttribute("href")).toContain(id);
    await post("/api/waiting", { tool: "claude-code", session, event: "ended" });
    await notices.getByText("Nothing is running").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("comes from hooks that the guard's dialog installs, and one switch turns limits off", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/secrets?view=guard");
    await page.getByRole("button", { name: /Claude Code$/ }).click();
    const dialog = page.getByRole("dialog");
    const waits = dialog.getByRole("switch", { name: /Report when it waits for you/ });
    await dialog.getByText("PreToolUse").waitFor();
    expect(await dialog.getByText("waiting.cjs").count()).toBe(0);
    await waits.check();
    await expect.poll(() => dialog.getByText("waiting.cjs").count()).toBe(3);
    await dialog.getByRole("button", { name: "Write and install" }).click();
    await page.getByText("reports when it waits", { exact: true }).waitFor();
    const settings = await readFile(join(stage.home, ".claude/settings.json"), "utf8");
    expect(settings.match(/waiting\.cjs/g)).toHaveLength(3);
    // Switched off, Now says nothing of limits.
    const { kernel } = stage.served;
    const reading = { tool: "claude-code", minutes: 300, usedPercent: 84, at: Date.now() };
    await kernel.inject("insights").storeReadings([{ ...reading, resetsAt: Date.now() + 3_600_000 }]);
    await visit(stage, "/settings/privacy#limits");
    await page.getByRole("switch", { name: /Notices of limits/ }).uncheck();
    await expect.poll(async () => (await kernel.fetch("/api/limits")).json()).toEqual([]);
    await visit(stage, "/");
    expect(await page.getByText("5-hour limit").count()).toBe(0);
    expect(stage.problems()).toEqual([]);
  });
});
