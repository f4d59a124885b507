/** The command palette: what is in it, what → offers, and where the focus goes afterwards. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { deferred } from "../_setup.ts";
import { describeUi, load, painted, projectId, sessionId, useSharedStage, visit } from "./browser.ts";

async function open(page: Page) {
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Command menu" });
  await input.waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "combobox");
  return input;
}
const selected = (page: Page) => page.locator("[role=option][aria-selected=true]");

describeUi("dashboard: command palette", () => {
  const get = useSharedStage();

  it("shows recent sessions and the actions of the page before anything is typed", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}`);
    await open(page);
    await page.getByRole("listbox").getByText("Recent sessions").waitFor();
    const list = page.getByRole("listbox");
    const text = await list.innerText();
    expect(text.indexOf("Recent sessions")).toBeLessThan(text.indexOf("This page"));
    expect(text.indexOf("This page")).toBeLessThan(text.indexOf("Actions"));
    await page.keyboard.press("Escape");
  });

  it("has what is typed at once after Ctrl K on a fresh load, and no letter of it is a shortcut", async () => {
    const stage = get();
    const { page, url } = stage;
    const gate = deferred();
    // Its code comes late, as over a slow line.
    await page.route("**/assets/Palette-*.js", async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.goto(`${url}/usage`);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("src/server.jt");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("s:10 gh");
    gate.resolve();
    const input = page.getByRole("combobox", { name: "Command menu" });
    await expect.poll(() => input.inputValue()).toBe("src/server.js:10 gh");
    await page.keyboard.type("!");
    expect(await input.inputValue()).toBe("src/server.js:10 gh!");
    expect(new URL(page.url()).pathname).toBe("/usage");
    await page.unroute("**/assets/Palette-*.js");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // Letters are shortcuts again.
    await page.keyboard.press("/");
    await page.waitForURL(/\/search|\/sessions/);
    expect(stage.problems()).toEqual([]);
  });

  it("shows a shortcut beside every action", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await open(page);
    await page.keyboard.type(">");
    await page.getByRole("option", { name: /Settings/ }).waitFor();
    const without = await page
      .getByRole("option")
      .evaluateAll((rows) => rows.filter((row) => !row.querySelector("kbd")).map((row) => row.textContent));
    expect(without).toEqual([]);
    await page.keyboard.press("Escape");
  });

  it("keeps to the kind its prefix asks for", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}`);
    const input = await open(page);
    for (const [typed, section] of [
      ["#tide", "Projects"],
      ["@codex", "Assistants"],
      [">sett", "Actions"],
      ["/tide", "Sessions"],
    ] as const) {
      await input.fill(typed);
      await page.waitForFunction((name) => {
        const heads = [...document.querySelectorAll("#palette-list > [role=presentation]")].map(
          (one) => one.textContent,
        );
        return heads.length === 1 && heads[0] === name;
      }, section);
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\/.*q=tide/);
  });

  it("offers with → what can be done with a project: by keyboard alone it is renamed", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "field-notes");
    await visit(stage, "/projects");
    const input = await open(page);
    await page.keyboard.type("#field");
    await selected(page).filter({ hasText: "field-notes" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("Actions for “field-notes”").waitFor();
    expect((await page.getByRole("option").allInnerTexts()).map((text) => text.split("\n")[0])).toEqual([
      "Open",
      "Open in new tab",
      "Copy link",
      "Search in it",
      "Rename",
      "Sync",
    ]);
    // One level up, and down again.
    await page.keyboard.press("Escape");
    expect(await input.inputValue()).toBe("#field");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.type("ren");
    await selected(page).filter({ hasText: "Rename" }).waitFor();
    await page.keyboard.press("Enter");
    const name = page.getByRole("combobox", { name: "New name, then Enter" });
    await name.fill("Notes of the field");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Notes of the field" }).waitFor();
    const { name: kept } = (
      (await (await stage.served.kernel.fetch("/api/projects")).json()) as { id: string; name: string }[]
    ).find((one) => one.id === id) ?? { name: "" };
    expect(kept).toBe("Notes of the field");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await stage.served.kernel.fetch(`/api/projects/${id}`, { method: "PATCH", body: JSON.stringify({ name: null }) });
  });

  it("offers actions by mouse too, and opens in a new tab with Ctrl Enter", async () => {
    const stage = get();
    const { page, context } = stage;
    // The project got its name back behind the page.
    await load(stage, "/");
    await open(page);
    // Projects alone: a session that is found first names its project, too.
    await page.keyboard.type("#tidepool");
    await selected(page).filter({ hasText: "tidepool" }).waitFor();
    const [tab] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("Control+Enter")]);
    await tab.waitForURL(/\/projects\//);
    await tab.close();
    await page.getByRole("button", { name: "actions" }).click();
    const [second] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("option", { name: /Open in new tab/ }).click(),
    ]);
    await second.waitForURL(/\/projects\//);
    await second.close();
  });

  it("shows what the search found behind projects that come late: nothing is pushed away under the hand", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/api\/projects$/, (route) => held.then(() => route.continue()));
    await open(page);
    const found = page.waitForResponse(/\/api\/search\?.*q=tidepool/);
    await page.keyboard.type("tidepool");
    await (await found).finished();
    await painted(page);
    expect(await page.getByRole("option").count()).toBe(0);
    release();
    await selected(page)
      .and(page.getByRole("option", { name: /^tidepool/ }))
      .waitFor();
    await expect.poll(() => page.getByRole("option").count()).toBeGreaterThan(1);
    await page.unrouteAll();
    await page.keyboard.press("Escape");
  });

  it("puts first what was chosen often and lately", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const ask = async () => (await open(page)).fill(">");
    const first = async () => (await page.getByRole("option").first().innerText()).split("\n")[0];
    await ask();
    expect(await first()).not.toBe("Shortcuts");
    for (let i = 0; i < 2; i++) {
      await page.getByRole("combobox").fill("> shortcuts");
      await selected(page).filter({ hasText: "Shortcuts" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      if (i === 0) await open(page);
    }
    await ask();
    await expect.poll(first).toBe("Shortcuts");
    await page.keyboard.press("Escape");
  });

  it("gives the focus back where it came from, or to the heading of the new page", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    const filter = page.getByRole("searchbox").first();
    await filter.focus();
    await open(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.waitForFunction(() => (document.activeElement as HTMLInputElement)?.type === "search");
    await open(page);
    await page.keyboard.type("> settings");
    await selected(page).filter({ hasText: "Settings" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/settings/);
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
    expect(stage.problems()).toEqual([]);
  });
});
