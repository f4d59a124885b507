/** Everything that opens over a screen is accessible: light or dark, at 1440 px or at 390 px in turn. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, load, projectId, type Stage, sessionId, useSharedStage, visit } from "./browser.ts";
import { overlaps } from "./probes.ts";

interface Overlay {
  path(stage: Stage): Promise<string> | string;
  /** Opens it and waits until it stands. */
  open(page: Page): Promise<unknown>;
  /** Where it exists; both when left out. */
  width?: number;
  /** What it is made of opens elsewhere in this list as well: in the long run only. */
  alike?: true;
  /** Selector of what opens within the screen; left out where it is over it. */
  part?: string;
}

const session = async (stage: Stage) => `/sessions/${await sessionId(stage, "Read the settings")}`;
const project = async (stage: Stage) => `/projects/${await projectId(stage, "tidepool")}?days=all`;
const dialog = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name }).waitFor();
const menu = (button: string | RegExp) => async (page: Page) => {
  await page.getByRole("button", { name: button }).first().click();
  await page.getByRole("menu").waitFor();
};
const item = (button: string | RegExp, name: string) => async (page: Page) => {
  await menu(button)(page);
  await page.getByRole("menuitem", { name }).click();
};
async function palette(page: Page, typed = ""): Promise<void> {
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Command menu" });
  await input.waitFor();
  if (typed !== "") await input.fill(typed);
  await page.getByRole("option", { selected: true }).waitFor();
}
const rowActions = async (page: Page) => {
  await palette(page, "#field");
  await page.keyboard.press("ArrowRight");
  await page.getByText("Actions for “field-notes”").waitFor();
};

const OVERLAYS: Record<string, Overlay> = {
  "palette, empty": { path: () => "/", alike: true, open: (page) => palette(page) },
  "palette, results": { path: () => "/", open: (page) => palette(page, "tide") },
  "palette, nothing found": {
    path: () => "/",
    alike: true,
    open: async (page) => {
      await palette(page);
      await page.keyboard.type("#zzzznothing");
      await page.getByText("Nothing found", { exact: true }).waitFor();
    },
  },
  "palette, actions of a row": { path: () => "/", alike: true, open: rowActions },
  "palette, a new name": {
    path: () => "/",
    open: async (page) => {
      await rowActions(page);
      await page.keyboard.type("ren");
      await page.getByRole("option", { name: "Rename", selected: true }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("combobox", { name: "New name, then Enter" }).waitFor();
    },
  },
  "key help": {
    path: () => "/projects",
    open: async (page) => {
      await page.keyboard.press("?");
      await dialog(page, "Shortcuts");
    },
  },
  menu: {
    path: () => "/",
    width: 390,
    open: async (page) => {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await dialog(page, "More");
    },
  },
  "menu of a project": {
    path: () => "/projects",
    alike: true,
    open: menu(/^Actions for tidepool/),
    part: "[role=menu]",
  },
  "menu of a session": { path: session, open: menu("Session actions"), part: "[role=menu]" },
  // One column has no room for it: the list of sessions is another screen.
  "switch session": { path: session, width: 1440, open: menu("Switch session or project"), part: "[role=menu]" },
  "rename a project": {
    path: () => "/projects",
    alike: true,
    part: "main :has(> input:focus)",
    open: async (page) => {
      await item(/^Actions for tidepool/, "Rename")(page);
      await page.getByRole("textbox", { name: "Rename" }).waitFor();
    },
  },
  "rename a session": {
    path: session,
    part: "main :has(> input:focus)",
    open: async (page) => {
      await item("Session actions", "Rename")(page);
      await page.getByRole("textbox", { name: "Rename" }).waitFor();
    },
  },
  "delete a project": {
    path: () => "/projects",
    open: async (page) => {
      await item(/^Actions for tidepool/, "Delete")(page);
      await dialog(page, "Delete tidepool?");
      await page.getByText("Removed from the archive").waitFor();
    },
  },
  "delete a session": {
    path: session,
    open: async (page) => {
      await item("Session actions", "Delete from archive")(page);
      await page.getByRole("dialog").waitFor();
    },
  },
  "delete a log": {
    path: session,
    alike: true,
    open: async (page) => {
      await item("Session actions", "Delete source log")(page);
      await page.getByRole("dialog").waitFor();
    },
  },
  "link to a repository": {
    path: () => "/projects",
    open: async (page) => {
      await item(/^Actions for .*\(no folder\)/, "Link to a repository")(page);
      await page.getByRole("dialog").getByRole("combobox").fill("tide");
      await page.getByRole("option").first().waitFor();
    },
  },
  "install the guard": {
    path: () => "/tools/secrets?view=guard",
    open: async (page) => {
      await page.getByRole("button", { name: "Install… Claude Code" }).click();
      await page
        .getByRole("dialog")
        .getByText(/PreToolUse/)
        .waitFor();
    },
  },
  share: {
    path: session,
    open: async (page) => {
      await page.getByRole("button", { name: "Session actions" }).click();
      await page.getByRole("menuitem", { name: "Share" }).click();
      await dialog(page, "Share this session");
      await page.getByText("1 value is replaced by a placeholder").waitFor();
      await page.frameLocator("iframe").locator("h1").waitFor();
    },
  },
  "choose days": {
    path: () => "/usage",
    open: async (page) => {
      await page.getByRole("button", { name: "Choose days" }).click();
      await dialog(page, "Choose days");
    },
  },
  "hint of a figure": {
    path: () => "/usage",
    part: "[role=tooltip]",
    open: async (page) => {
      await page.getByRole("button", { name: "Tokens" }).focus();
      await page.getByRole("tooltip").waitFor();
    },
  },
  "figures of a day": {
    path: () => "/usage",
    part: "main figure",
    open: async (page) => {
      await page.getByRole("group", { name: "Cost per day" }).getByRole("button").last().focus();
    },
  },
  "table of a chart": {
    path: project,
    part: "main figure",
    open: async (page) => {
      await page.getByRole("button", { name: "Show table" }).first().click();
      await page.getByRole("figure", { name: "Cost per day" }).getByRole("table").waitFor();
    },
  },
  "search syntax": {
    path: () => "/sessions?q=tide",
    part: "main details[open]",
    open: (page) => page.getByText("Search syntax").click(),
  },
  "filters of the search": {
    path: () => "/sessions?q=tide",
    width: 390,
    open: async (page) => {
      await page.getByRole("button", { name: "Filters" }).click();
      await dialog(page, "Filters");
    },
  },
  "a project to import from": {
    path: () => "/import?step=choose",
    part: "main li:has(> * [aria-expanded=true], > [aria-expanded=true])",
    open: (page) => page.getByRole("button", { name: /^tidepool/ }).click(),
  },
  "a plugin": {
    path: () => "/settings/plugins",
    part: "main details[open]",
    async open(page) {
      await page.locator("summary", { hasText: "Built-in plugins" }).click();
      await page.locator("summary", { hasText: "archive" }).first().click();
    },
  },
  "no connection": {
    path: () => "/",
    part: "[role=status]",
    open: async (page) => {
      await page.route("**/api/**", (route) => route.abort("connectionrefused"));
      await page.getByText(/^Reconnecting \(\d+ s\)$/).waitFor();
    },
  },
};

const LOOKS = [
  ["light", 1440],
  ["dark", 390],
  ["dark", 1440],
  ["light", 390],
] as const;

/** Buttons of a dialog that no scrolling brings into the window. */
async function unreachable(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("[role=dialog] button")]
      .filter((one) => one.checkVisibility())
      .filter((one) => {
        one.scrollIntoView({ block: "nearest" });
        const { top, bottom } = one.getBoundingClientRect();
        return bottom > innerHeight + 1 || top < -1;
      })
      .map((one) => `not in the window: ${one.textContent}`),
  );
}

describeUi("dashboard: what opens", () => {
  const get = useSharedStage();

  const usual = Object.entries(OVERLAYS).filter(([, { alike }]) => LONG || !alike);
  usual.forEach(([name, overlay], i) => {
    it(name, async () => {
      const stage = get();
      const { page } = stage;
      const address = await overlay.path(stage);
      // Every other one dark, every other one small; each in both themes at both widths in the long run.
      const looks = LONG ? LOOKS : [LOOKS[i % LOOKS.length] ?? LOOKS[0]];
      for (const [colorScheme, usual] of looks) {
        const width = overlay.width ?? usual;
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        // What is open is closed; the palette goes back step by step.
        for (let step = 0; step < 4 && i > 0; step++) await page.keyboard.press("Escape");
        await (LONG ? load : visit)(stage, address);
        await overlay.open(page);
        const where = `${name}, ${colorScheme}, ${width} px`;
        expect(await violations(stage, LONG ? "all" : (overlay.part ?? "over")), where).toEqual([]);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(over, `sticks out: ${where}`).toBeLessThanOrEqual(0);
        await page.unrouteAll();
      }
      if ((await page.getByRole("dialog").count()) > 0) {
        await page.setViewportSize({ width: 390, height: 600 });
        expect(await overlaps(page, "[role=dialog]"), `${name}, 390 x 600 px`).toEqual([]);
        expect(await unreachable(page), `${name}, 390 x 600 px`).toEqual([]);
      }
      stage.problems();
    });
  });
});
