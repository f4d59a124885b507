/** What people come to do, from Home, in at most so many clicks. Typing counts as one. */

import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { dayAgo, describeUi, load, sessionId, useStage } from "./browser.ts";

describeUi("dashboard: tasks in few clicks", () => {
  const get = useStage({ fill: (home) => writeDemo({ home, setup: true }) });

  /** Begins at Home; `click` and `type` do one thing and count it. */
  async function begin() {
    const { page } = get();
    await load(get(), "/");
    let count = 0;
    const rail = page.getByRole("navigation", { name: "Main" });
    return {
      page,
      clicks: () => count,
      open: async (name: string) => {
        count++;
        await rail.getByRole("link", { name, exact: true }).click();
      },
      /** The keys of a screen, such as `g c`. */
      jump: async (keys: string) => {
        count++;
        for (const key of keys.split(" ")) await page.keyboard.press(key);
      },
      /** Ctrl K and what is typed then. */
      ask: async (text: string) => {
        count++;
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Command menu" }).fill(text);
      },
      click: async (target: Locator) => {
        count++;
        await target.click({ timeout: 15_000 });
      },
    };
  }

  it("what last week cost: 0, by model: 1", async () => {
    const { page, clicks, click } = await begin();
    const cost = page.getByRole("list", { name: "At a glance" }).getByRole("link", { name: /^Last week \$\d/ });
    await cost.waitFor();
    const said = (await cost.innerText()).match(/\$[\d.]+/)?.[0] ?? "none";
    await click(cost);
    await page.getByRole("heading", { name: "Most expensive" }).waitFor();
    expect(await page.getByRole("radio", { name: "Last week" }).isChecked()).toBe(true);
    expect(await page.getByRole("radio", { name: "Model" }).isChecked()).toBe(true);
    await page.getByText(said).first().waitFor();
    expect(clicks()).toBeLessThanOrEqual(1);
  });

  it("the most expensive session of the month, and its most expensive prompt: 3", async () => {
    const ask = async <T>(path: string) => (await (await get().served.kernel.fetch(path)).json()) as T;
    const { page, clicks, open, click } = await begin();
    await open("Usage");
    await click(page.getByRole("radio", { name: "Session", exact: true }));
    const asked = page.getByRole("table").filter({ has: page.getByRole("columnheader", { name: "Session" }) });
    const [first] = (
      await ask<{ rows: { key: string; label: string }[] }>(`/api/usage?by=session&limit=100&from=${dayAgo(29)}`)
    ).rows;
    const row = asked.getByRole("row").nth(1);
    await row.getByText(first?.label ?? "").waitFor();
    await click(row.getByRole("link"));
    const prompts = page.locator("section", { has: page.getByRole("heading", { name: "Most expensive prompts" }) });
    await prompts.getByRole("link").first().waitFor();
    expect(clicks()).toBeLessThanOrEqual(3);

    // The figures are those of the outline, and add up to the session's own.
    const costs = await ask<{ prompts: { seq: number; cost: { microdollars: number } }[] }>(
      `/api/sessions/${encodeURIComponent(first?.key ?? "")}/prompts`,
    );
    const [most, second] = costs.prompts.sort((a, b) => b.cost.microdollars - a.cost.microdollars);
    const shown = await prompts.getByRole("link").allInnerTexts();
    expect(shown[0]).toMatch(new RegExp(`#${most?.seq}\\s+\\$${((most?.cost.microdollars ?? 0) / 1e6).toFixed(2)}$`));
    expect(shown[1]).toContain(`#${second?.seq}`);
    await prompts.getByRole("link").first().click();
    await page.waitForURL((url) => url.searchParams.get("m") === String(most?.seq));
  });

  it("the session in which a file was changed last: 2", async () => {
    const { page, clicks, ask, click } = await begin();
    await ask("routes.js");
    const place = (await (await get().served.kernel.fetch("/api/git/find?q=routes.js")).json()) as {
      places: { path: string; last: { sessionId: string; seq: number } }[];
    };
    const [found] = place.places;
    const row = page.getByRole("option").filter({ hasText: /Changed last in / });
    await click(row.filter({ hasText: found?.path ?? "" }).first());
    await page.waitForURL((url) => decodeURIComponent(url.pathname) === `/sessions/${found?.last.sessionId}`);
    await page
      .locator("article[aria-current=true]")
      .getByText(/routes\.js/)
      .first()
      .waitFor();
    expect(clicks()).toBeLessThanOrEqual(2);
  });

  it("why a line of a file is as it is: 2", async () => {
    const { page, clicks, ask, click } = await begin();
    await ask("src/routes.js:7");
    await click(page.getByRole("option", { name: /^src\/routes\.js:7/ }));
    const reason = page.getByRole("complementary", { name: "Why this line exists" });
    for (const part of ["What was asked", "Cost of the prompt", "Committed"]) await reason.getByText(part).waitFor();
    expect(clicks()).toBeLessThanOrEqual(2);
  });

  it("where a secret was leaked, and whether it is still in the project: 2", async () => {
    // The search of all messages is done.
    await get().served.kernel.fetch("/api/security/leaks?whole=1");
    const { page, clicks, open } = await begin();
    await open("Tools");
    await page.getByText(/^1 secret in 1 session, 1 still in your project's files$/).waitFor({ timeout: 15_000 });
    await page
      .getByRole("link", { name: /^Revoke at Stripe/ })
      .first()
      .waitFor({ timeout: 15_000 });
    expect(clicks()).toBeLessThanOrEqual(2);
  });

  it("a share of a session without its secrets: 3", async () => {
    const { page, clicks, click } = await begin();
    await click(page.getByRole("region", { name: "Continue" }).getByRole("listitem").getByRole("link").first());
    await click(
      page.getByRole("banner").or(page.locator("header")).getByRole("button", { name: "Share", exact: true }),
    );
    await click(page.getByRole("dialog").getByRole("button", { name: "Create and copy link" }));
    await page.getByRole("dialog").getByText("The link is shown only this once.").waitFor();
    expect(clicks()).toBeLessThanOrEqual(3);
  });

  it("take a share back: 2", async () => {
    const { served } = get();
    const id = encodeURIComponent(await sessionId(get(), "High and low water"));
    const made = (await (
      await served.kernel.fetch(`/api/sessions/${id}/share`, { method: "POST", body: "{}" })
    ).json()) as { url: string };
    const open = async () => (await served.kernel.fetch(new URL(made.url).pathname)).status;
    expect(await open()).toBe(200);
    const { page, clicks, jump, click } = await begin();
    await jump("g c");
    const row = page.getByRole("listitem").filter({ hasText: "High and low water" });
    await click(row.getByRole("button", { name: /^Revoke/ }));
    await row.getByText("revoked").waitFor();
    expect(await open()).toBe(404);
    expect(clicks()).toBeLessThanOrEqual(2);
  });

  it("which MCP servers each assistant has, and one of them for all: 4", async () => {
    const { page, clicks, jump, click } = await begin();
    await jump("g m");
    await page.getByRole("button", { name: "tides, Codex CLI: In its own file" }).waitFor();
    await click(page.getByRole("button", { name: "Enable for every assistant: harbour" }));
    await click(page.getByRole("dialog").getByRole("button", { name: "Move to the hub and add" }));
    await page.getByRole("button", { name: "harbour, Codex CLI: Through the hub" }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(4);
  });

  it("a skill into another assistant: 3", async () => {
    const { page, clicks, jump, click } = await begin();
    await jump("g k");
    const row = page.getByRole("row", { name: /^release-notes/ });
    await click(row.getByRole("button", { name: "release-notes, Claude Code: absent. Click to import and link" }));
    await row.getByRole("button", { name: "Claude Code: linked. Click to unlink" }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(3);
  });

  it("go on with yesterday's session in its tool: 2", async () => {
    await get().context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const { page, clicks, click } = await begin();
    await click(page.getByRole("link", { name: /^Übersetze die Einträge/ }).first());
    await click(page.getByRole("button", { name: "Copy resume command", exact: true }));
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toMatch(/^cd '.+field-notes' && gemini --resume [\w-]+$/);
    expect(clicks()).toBeLessThanOrEqual(2);
  });

  it("what changed since I left: 1", async () => {
    const { page, url } = get();
    // An address of the service that is not the dashboard, which writes the end of a visit when it is left.
    await page.goto(`${url}/favicon.svg`);
    await page.evaluate(() => {
      const twoDays = Date.now() - 48 * 3_600_000;
      localStorage.setItem("sessarc:visit", JSON.stringify({ since: null, at: twoDays }));
    });
    const { clicks, click } = await begin();
    const since = page.getByRole("region", { name: "New since you left" });
    await since.getByText(/^\d+ sessions · \d+ messages · /).waitFor();
    // What is listed under Continue is not listed again.
    await click(page.getByRole("link", { name: /^Write a test for extremes/ }));
    await page.getByRole("heading", { level: 1, name: /^Write a test for extremes/ }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(1);
  });

  it("compare two sessions: 3", async () => {
    const { page, clicks, open, click } = await begin();
    await open("Sessions");
    const rows = page.getByRole("table", { name: "Sessions" }).locator("[data-index]");
    await click(rows.nth(0).getByRole("checkbox"));
    await rows.nth(1).hover();
    await click(rows.nth(1).getByRole("button", { name: /^Compare the selected session with / }));
    await page.getByRole("heading", { level: 1, name: "Comparison" }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(3);
  });

  it("run a session again in a sandbox: 5, then one a step", async () => {
    const { page, clicks, open, click } = await begin();
    await open("Sessions");
    await click(page.getByRole("link", { name: /^extremes answers raw/ }).first());
    await click(page.getByRole("button", { name: "Session actions" }));
    await click(page.getByRole("menuitem", { name: "Replay" }));
    await click(page.getByRole("button", { name: "Start", exact: true }));
    await page.getByRole("button", { name: "Do this step" }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(5);
    await click(page.getByRole("button", { name: "Do this step" }));
    await page.getByRole("status").getByText("done", { exact: true }).waitFor();
    expect(clicks()).toBeLessThanOrEqual(6);
  });

  it("calls that fail most: 2", async () => {
    const { page, clicks, open, click } = await begin();
    await open("Sessions");
    await click(page.getByRole("button", { name: "Failed calls", exact: true }));
    await page
      .getByRole("link", { name: /Go to message \d+$/ })
      .first()
      .waitFor();
    expect(clicks()).toBeLessThanOrEqual(2);
  });

  it("save everything in one file: 3", async () => {
    const { page, clicks, open, click } = await begin();
    await open("Settings");
    await click(page.getByRole("link", { name: "Data & rescue", exact: true }));
    const saved = page.waitForEvent("download", { timeout: 15_000 });
    await click(page.getByRole("link", { name: "Download a backup" }));
    expect((await saved).suggestedFilename()).toMatch(/\.tar$/);
    expect(clicks()).toBeLessThanOrEqual(3);
  });
});
