/** The service is killed and started again in the middle of each screen's work: no blank page, no page of the browser's own, nothing typed is lost, and it can be sent afterwards. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { LONG } from "../rounds.ts";
import { describeUi, projectId, type Stage, sessionId, useStage, visit } from "./browser.ts";

interface Screen {
  path(stage: Stage): string | Promise<string>;
  /** Types and chooses; answers where it stands, to be read again. */
  type(page: Page): Promise<() => Promise<unknown>>;
  /** What needs the service: done while it is away, and again when it is back. Without: typing asks, and happens then. */
  send?(page: Page): Promise<unknown>;
  /** By another way when it is back: Retry, or nothing where it recovers. */
  again?(page: Page): Promise<unknown>;
  /** Shows only once the service answered. */
  done(page: Page): Promise<unknown>;
}

/** What the browser says of a service that goes in the middle of a request, or is just closing. */
const CUT_OFF =
  /ERR_(CONNECTION_\w+|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)|dynamically imported|status of (4|503)/;

const at = (path: string) => () => path;
/** What a screen begins with. */
async function post({ served }: Stage, path: string, body: object): Promise<void> {
  const { status } = await served.kernel.fetch(path, { method: "POST", body: JSON.stringify(body) });
  expect(status).toBeLessThan(300);
}
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
/** Where the screen did not recover meanwhile. */
const retry = (page: Page) =>
  page
    .getByRole("main")
    .getByRole("button", { name: "Retry" })
    .first()
    .click({ timeout: 2_000 })
    .catch(() => {});
const dialog = (page: Page) => page.getByRole("dialog");
/** Fills a field and answers how to read it. */
async function fill(page: Page, label: string | RegExp, text: string): Promise<() => Promise<string>> {
  const field = page.getByLabel(label, { exact: true }).first();
  await field.fill(text);
  return () => field.inputValue();
}
async function choose(page: Page, label: string, option: string): Promise<() => Promise<string | null>> {
  await page.getByLabel(label, { exact: true }).click();
  await page.getByRole("option", { name: option }).click();
  return () => page.getByLabel(label, { exact: true }).textContent();
}

const SCREENS: Record<string, Screen> = {
  "rule editor and its tester": {
    path: at("/tools/advanced"),
    async type(page) {
      await button(page, "Add rule").click();
      await dialog(page).getByLabel("Name").fill("Ticket");
      await dialog(page).getByLabel("Pattern").fill("TICK-\\d{4}");
      return fill(page, "Try it on a text", "see TICK-1234");
    },
    send: (page) => button(page, "Save").click(),
    async done(page) {
      await button(page, "Change Ticket").waitFor();
      await dialog(page).waitFor({ state: "detached" });
    },
  },
  "switch of a rule": {
    path: at("/tools/advanced?q=github"),
    type: async (page) => () => page.getByRole("switch").first().isChecked(),
    send: (page) => page.getByRole("switch").first().click(),
    done: (page) => expect.poll(() => page.getByRole("switch").first().isChecked()).toBe(false),
  },
  "guard asked by hand": {
    path: at("/tools/secrets?view=guard"),
    type: (page) => fill(page, "Would the guard let a command through?", "npm test"),
    send: (page) => button(page, "Ask").click(),
    done: (page) => page.getByRole("status").getByText("let through").waitFor(),
  },
  "end of a share": {
    async path(stage) {
      const id = encodeURIComponent(await sessionId(stage, "High and low water"));
      await post(stage, `/api/sessions/${id}/share`, {});
      return "/shares";
    },
    type: async (page) => () => button(page, /^Revoke/).isVisible(),
    send: (page) => button(page, /^Revoke/).click(),
    done: (page) => page.getByRole("listitem").getByText("revoked", { exact: true }).waitFor(),
  },
  "tags of a skill": {
    async path(stage) {
      await post(stage, "/api/skills/import", { path: join(stage.home, ".claude/skills/changelog") });
      return "/tools/skills/changelog";
    },
    type: (page) => fill(page, "Tags", "mine, yours"),
    send: (page) => page.getByLabel("Tags", { exact: true }).press("Enter"),
    done: (page) => page.getByText("Saved", { exact: true }).waitFor(),
  },
  "skills of a repository": {
    path: at("/tools/skills/scan"),
    type: (page) => fill(page, "Address of a public repository", "file:///nowhere"),
    send: (page) => button(page, "Show what is there").click(),
    done: (page) =>
      page
        .getByText(/file:|https|address/i)
        .first()
        .waitFor(),
  },
  "tool of the hub": {
    path: at("/tools/advanced?view=try&call=sessarc__search_sessions"),
    type: (page) => fill(page, "query", "tide"),
    send: (page) => page.getByLabel("query", { exact: true }).press("Control+Enter"),
    done: (page) =>
      page
        .getByRole("status")
        .getByText(/sessions/)
        .first()
        .waitFor(),
  },
  takeover: {
    path: at("/tools/advanced?view=takeover"),
    type: async (page) => {
      const action = page.getByRole("group", { name: "Action: notes" });
      for (const name of ["Skip", "Take over"]) await action.getByRole("radio", { name }).check();
      return () => action.getByRole("radio", { name: "Take over" }).isChecked();
    },
    send: (page) => button(page, "Show what will be written").click(),
    done: (page) => page.getByRole("region", { name: "Show what will be written" }).waitFor(),
  },
  "folder of logs": {
    path: at("/settings/sources"),
    type: (page) => fill(page, "Folder", "/nowhere/at/all"),
    send: (page) => button(page, "Add folder").click(),
    done: (page) => page.getByText("/nowhere/at/all is no existing folder").waitFor(),
  },
  checks: {
    path: at("/settings/data"),
    type: async (page) => () => button(page, "Run checks").isVisible(),
    send: (page) => button(page, "Run checks").click(),
    done: (page) => page.getByText("Node", { exact: false }).first().waitFor(),
  },
  search: {
    path: at("/search"),
    type: (page) => fill(page, "Search all sessions", "tide"),
    again: retry,
    done: (page) => page.getByRole("link", { name: "High and low water times" }).first().waitFor(),
  },
  "calls that failed": {
    path: at("/calls?days=all&show=both"),
    type: (page) => choose(page, "Assistant", "Codex CLI"),
    send: (page) => choose(page, "Project", "tidepool"),
    again: retry,
    done: (page) => page.getByRole("main").getByRole("alert").waitFor({ state: "detached" }),
  },
  comparison: {
    async path(stage) {
      const [a = "", b = ""] = await Promise.all(
        ["High and low water", "Read the settings"].map(async (title) =>
          encodeURIComponent(await sessionId(stage, title)),
        ),
      );
      return `/compare?a=${a}#${b}`;
    },
    type: async (page) => () => page.getByRole("heading", { name: "Comparison" }).isVisible(),
    send: (page) =>
      page.evaluate(() => {
        history.pushState(null, "", `${location.pathname}${location.search}&b=${location.hash.slice(1)}`);
        dispatchEvent(new PopStateEvent("popstate"));
      }),
    again: retry,
    done: (page) => page.getByRole("heading", { name: "Prompts" }).waitFor(),
  },
  usage: {
    path: at("/usage?days=90"),
    type: async (page) => () => page.getByRole("heading", { name: "Usage", level: 1 }).isVisible(),
    send: (page) => page.getByText("7 days", { exact: true }).click(),
    again: retry,
    done: (page) => page.getByRole("main").getByRole("button", { name: "Retry" }).waitFor({ state: "detached" }),
  },
  "name of a session": {
    path: async (stage) => `/sessions/${encodeURIComponent(await sessionId(stage, "Read the settings"))}`,
    async type(page) {
      await page.locator("main h1").dblclick();
      return fill(page, "Rename", "Settings, read");
    },
    send: (page) => page.getByLabel("Rename", { exact: true }).press("Enter"),
    done: (page) =>
      page.getByRole("heading", { name: "Settings, read", level: 1 }).and(page.locator(":not(.sr-only)")).waitFor(),
  },
  "name of a project": {
    path: async (stage) => `/projects/${await projectId(stage, "ledger")}`,
    async type(page) {
      await page.locator("main h1").focus();
      await page.keyboard.press("r");
      return fill(page, "Rename", "Accounts");
    },
    send: (page) => page.locator("#project-name").press("Enter"),
    done: (page) =>
      page.getByRole("heading", { name: "Accounts", level: 1 }).and(page.locator(":not(.sr-only)")).waitFor(),
  },
  "sessions to import": {
    path: at("/import?step=choose"),
    async type(page) {
      await page.getByRole("checkbox", { name: "All sessions" }).uncheck();
      await page.getByRole("checkbox", { name: "field-notes" }).check();
      return () =>
        page
          .getByRole("button", { name: /^Import 2 |^Retry/ })
          .first()
          .isVisible();
    },
    send: (page) => page.getByRole("button", { name: /^Import 2 sessions/ }).click(),
    again: retry,
    done: (page) => page.waitForURL(/step=done/),
  },
};

/** They come back by what another of the list comes back by, a form that is sent or a question asked again: in the long run only. */
const SAME_WAY = new Set([
  "switch of a rule",
  "guard asked by hand",
  "tags of a skill",
  "skills of a repository",
  "folder of logs",
  "checks",
  "calls that failed",
  "usage",
  "name of a project",
]);

describeUi("dashboard: killed at work", () => {
  const get = useStage({
    fill: async (home) => {
      await writeDemo({ home });
      await mkdir(join(home, ".cursor"), { recursive: true });
      await writeFile(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { notes: { command: "notes" } } }));
      const folder = join(home, ".claude/skills/changelog");
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "SKILL.md"), "---\nname: changelog\ndescription: Writes it\n---\n");
    },
  });

  const usual = Object.entries(SCREENS).filter(([name]) => LONG || !SAME_WAY.has(name));
  it.each(usual)("%s", async (_, { path, type, send, again, done }) => {
    const stage = get();
    const { page } = stage;
    await visit(stage, await path(stage));
    // What was said of the screen before is no answer here.
    await page.evaluate(() => {
      Object.assign(window, { same: true });
      for (const close of document.querySelectorAll<HTMLElement>(".fixed[role=status] [aria-label=Close]"))
        close.click();
    });
    let read = send && (await type(page));
    let typed = await read?.();
    await stage.served.close();
    try {
      await send?.(page);
      read ??= await type(page);
      typed ??= await read();
      await page
        .getByText(/service does not answer/i)
        .first()
        .waitFor();
      expect(await read()).toEqual(typed);
      expect(await page.locator("main h1").count()).toBe(1);
    } finally {
      await stage.start();
    }
    await (again ?? send)?.(page);
    await done(page);
    expect(await page.evaluate(() => "same" in window)).toBe(true);
    expect(stage.problems().filter((one) => !CUT_OFF.test(one))).toEqual([]);
  });
});
