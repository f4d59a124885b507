/** Security, shares and feedback: a rule tried while it is written, the guard with its lines shown first, a share ended, the bytes that would leave. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

describeUi("dashboard: protect and share", () => {
  const get = useStage();

  it("tries a rule on a text and on the archive before it is kept, and brings a deleted one back", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/advanced");
    await page.getByRole("button", { name: "Add rule" }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByLabel("Name").fill("Ticket");
    await sheet.getByLabel("Pattern").fill("tide[(");
    await sheet.getByText(/[a-z]/i).and(sheet.locator(".text-bad")).first().waitFor();
    await sheet.getByLabel("Pattern").fill("TICK-\\d{4}|npm test");
    await sheet.getByLabel("Try it on a text").fill("see TICK-1234 and TICK-99");
    await sheet.locator("mark", { hasText: "TICK-1234" }).waitFor();
    expect(await sheet.locator("mark").count()).toBe(1);
    await sheet.getByRole("button", { name: "Try it on all archived calls" }).click();
    await sheet
      .getByRole("status")
      .getByText(/[1-9]\d* would have been blocked/)
      .waitFor();
    // Secrets in output are leaks that the guard does not stop.
    await sheet.getByText("The guard checks the input of a call before it runs, not its output.").waitFor();
    expect(await violations(stage)).toEqual([]);
    await sheet.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Change Ticket" }).waitFor();
    await page.getByRole("button", { name: "Delete Ticket" }).click();
    await sheet.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Change Ticket" }).waitFor();
    const first = page.getByRole("switch", { name: "Ticket is on" });
    await first.uncheck();
    await expect
      .poll(async () => {
        const { rules } = await (await stage.served.kernel.fetch("/api/security/rules")).json();
        return rules.find((one: { name: string }) => one.name === "Ticket").enabled;
      })
      .toBe(false);
    if (LONG) await sound(stage, "rules");
    // The half-written pattern was refused, and nothing else.
    expect(stage.problems().filter((one) => !one.includes("status of 400"))).toEqual([]);
  });

  it("leads from a leaked secret to its place, and keeps what the user says of it", async () => {
    const stage = get();
    const { page } = stage;
    await stage.served.kernel.fetch("/api/security/leaks?whole=1");
    await visit(stage, "/tools/secrets");
    await page.getByRole("status").getByText("1 secret in 1 session, 1 still in your project's files").waitFor();
    // The heads are above their columns.
    const left = async (text: string) =>
      (await page.getByText(text, { exact: true }).filter({ visible: true }).first().boundingBox())?.x;
    expect(await left("In your files")).toBe(await left(".env:2"));
    expect(await left("Project")).toBe(await left("ledger"));
    const row = page
      .getByRole("region", { name: /^Stripe/ })
      .getByRole("listitem")
      .first();
    await row
      .getByText(/^\.env(\.\w+)?:\d+/)
      .filter({ visible: true })
      .first()
      .waitFor();
    await row.getByRole("button", { name: /^Where/ }).click();
    await row.getByRole("heading", { name: "Commits" }).waitFor();
    await row
      .getByText(/\/\.env(\.\w+)?:\d+$/)
      .first()
      .waitFor();
    await expect.poll(() => row.getByText("Loading").count()).toBe(0);
    expect(await violations(stage)).toEqual([]);
    await row.getByRole("button", { name: /^Mark revoked/ }).click();
    await page.getByText("No open secrets in the archived sessions").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row.getByRole("button", { name: /^Where/ }).click();
    await row.getByRole("link", { name: /#\d+$/ }).first().click();
    await page.waitForURL(/\/sessions\/.+m=\d+/);
    expect(stage.problems()).toEqual([]);
  });

  it("shows the lines of the guard before they are written, and removes them", async () => {
    const stage = get();
    const { page, home } = stage;
    const settings = join(home, ".claude/settings.json");
    const before = existsSync(settings) ? await readFile(settings, "utf8") : null;
    await visit(stage, "/tools/secrets?view=guard");
    await page.getByRole("button", { name: "Install… Claude Code" }).click();
    await page
      .getByRole("dialog")
      .getByText(/PreToolUse/)
      .waitFor();
    expect(existsSync(settings) ? await readFile(settings, "utf8") : null).toBe(before);
    // The lines follow each choice.
    const lines = () => page.getByRole("dialog").innerText();
    const without = await lines();
    await page.getByRole("switch", { name: /Save files before a call destroys them/ }).check();
    await expect.poll(lines).not.toBe(without);
    await page.getByRole("button", { name: "Write and install" }).click();
    await page.getByRole("button", { name: "Remove Claude Code" }).waitFor();
    expect(await readFile(settings, "utf8")).toContain("PreToolUse");
    await page.getByText("saves files before they are destroyed").waitFor();
    await page.getByText("1 of 6 guarded").waitFor();
    const net = async () => {
      const answer = await stage.served.kernel.fetch("/api/security/hook");
      const { tools } = (await answer.json()) as { tools: { tool: string; net: boolean }[] };
      return tools.find((one) => one.tool === "claude-code")?.net;
    };
    expect(await net()).toBe(true);
    await page.getByRole("button", { name: "Change… Claude Code" }).click();
    await page.getByRole("switch", { name: /Save files before a call destroys them/ }).uncheck();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("saves files before they are destroyed").waitFor({ state: "detached" });
    expect(await net()).toBe(false);
    if (LONG) await sound(stage, "guard");
    await page.getByRole("button", { name: "Remove Claude Code" }).click();
    await page.getByRole("button", { name: "Install… Claude Code" }).waitFor();
    expect(existsSync(settings) ? await readFile(settings, "utf8") : null).toBe(before);

    const secret = `ghp_${"16C7e42F292c6912E7710c838347Ae178B4a".slice(0, 36)}`;
    const call = { session_id: "s", tool_name: "Bash", tool_input: { command: `curl -H 'token: ${secret}' x` } };
    await stage.served.kernel.fetch("/api/security/pretooluse?client=claude-code", {
      method: "POST",
      body: JSON.stringify(call),
    });
    await page.getByRole("list", { name: "Checked calls" }).getByText("blocked").waitFor();
    expect(await page.content()).not.toContain(secret);
    await sound(stage, "calls");
    expect(stage.problems()).toEqual([]);
  });

  it("ends a share in one click, and an Undo gives it back", async () => {
    const stage = get();
    const { page } = stage;
    const id = encodeURIComponent(await sessionId(stage, "High and low water"));
    const share = await (
      await stage.served.kernel.fetch(`/api/sessions/${id}/share`, { method: "POST", body: "{}" })
    ).json();
    const open = async () => (await stage.served.kernel.fetch(new URL(share.url).pathname)).status;
    expect(await open()).toBe(200);
    await visit(stage, "/shares");
    await sound(stage, "shares");
    const revoke = page.getByRole("button", { name: /^Revoke/ });
    await revoke.click();
    await page.getByRole("listitem").getByText("revoked").waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.closest("li") !== null)).toBe(true);
    expect(await open()).toBe(404);
    const notice = page
      .locator("[data-notices] > div")
      .filter({ hasText: /The link of “.*High and low water.*” no longer works/ });
    await notice.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("listitem").getByText("active").waitFor();
    expect(await open()).toBe(200);
    await revoke.click();
    await page.getByRole("listitem").getByText("revoked").waitFor();
    // Too late: the notice says what to do.
    await stage.served.kernel.fetch(`/api/shares/${share.id}`, { method: "DELETE" });
    await notice.getByRole("button", { name: "Undo" }).click();
    await page.getByText(/has ended.*for a new link/).waitFor();
    expect(await open()).toBe(404);
    expect(stage.problems().filter((one) => !one.includes("409"))).toEqual([]);
    expect(stage.problems()).toEqual([]);
  });

  it("shows the bytes of feedback before it is kept, and what was typed outlives the service", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/feedback");
    await page.getByLabel("What do you want to say?").fill("Replay is fine");
    const shown = page.getByRole("region", { name: "Exactly this" });
    await shown.getByText(/"message":"Replay is fine"/).waitFor();
    const bytes = JSON.parse(await shown.locator("pre").innerText());
    if (LONG) await sound(stage, "feedback");
    await stage.served.close();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/does not answer/)
      .waitFor();
    await stage.start();
    await page.reload();
    expect(await page.getByLabel("What do you want to say?").inputValue()).toBe("Replay is fine");
    await shown.getByText(/"message":"Replay is fine"/).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved on this machine").waitFor();
    const log = join(stage.served.kernel.storage.dataDir, "files/feedback.log");
    expect(JSON.parse((await readFile(log, "utf8")).trim())).toMatchObject({ message: bytes.message, kind: "idea" });
  });
});
