/** Every screen: stands, reports nothing on the console, asks no other machine, is accessible, looks as it should (probes.ts), comes back after a reload. */
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, painted, projectId, type Stage, sessionId, settled, useStage, visit } from "./browser.ts";
import { looks } from "./probes.ts";

const daysAgo = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString().slice(0, 10);
const SCREENS: Record<string, (stage: Stage) => Promise<string> | string> = {
  home: () => "/",
  "home of one day": () => "/?days=7",
  "home, zoomed": () => `/?from=${daysAgo(12)}&to=${daysAgo(3)}`,
  "home, an empty range": () => "/?from=2020-01-01&to=2020-01-05",
  projects: () => "/projects",
  "projects, sorted and filtered": () => "/projects?q=code&sort=-name",
  project: async (stage) => `/projects/${await projectId(stage, "tidepool")}?days=all`,
  "project sessions": async (stage) => `/projects/${await projectId(stage, "tidepool")}?days=all&tab=sessions`,
  "project files": async (stage) => `/projects/${await projectId(stage, "tidepool")}?days=all&tab=files`,
  session: async (stage) => `/sessions/${await sessionId(stage, "High and low water")}?m=11&pane=diff`,
  "session files": async (stage) => `/sessions/${await sessionId(stage, "High and low water")}?pane=files`,
  "session overview": async (stage) => `/sessions/${await sessionId(stage, "High and low water")}?view=overview`,
  "session security": async (stage) => `/sessions/${await sessionId(stage, "Read the settings")}?view=security`,
  search: () => "/search?q=tide",
  "search, nothing found": () => "/search?q=zzzznothing&tool=codex",
  import: () => "/import",
  "import, choose": () => "/import?step=choose",
  settings: () => "/settings/general",
  "settings, data": () => "/settings/data",
  "settings, prices": () => "/settings/prices",
  "settings, privacy": () => "/settings/privacy",
  "settings, about": () => "/settings/about",
  "settings, found": () => "/settings?q=ke",
  "settings, sources": () => "/settings/sources",
  "settings, plugins": () => "/settings/plugins",
  "skills, none yet": () => "/skills",
  "skills, scan": () => "/skills/scan",
  replay: () => "/replay?q=tide",
  "replay, before its start": async (stage) =>
    `/replay/${encodeURIComponent(await sessionId(stage, "Extremes by root finding"))}`,
  "no such page": () => "/nowhere/at/all",
};

const WIDTHS = [1440, 1024, 390] as const;

async function show({ page }: Stage, colorScheme: "light" | "dark", width: number): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.setViewportSize({ width, height: 900 });
}

/** All there is to check of the page as it stands, at this width. */
async function check(stage: Stage, name: string, theme: "light" | "dark", width: number): Promise<void> {
  const where = `${name}, ${theme}, ${width} px`;
  await show(stage, theme, width);
  await painted(stage.page);
  expect(stage.problems(), where).toEqual([]);
  expect(await violations(stage), where).toEqual([]);
  expect(await looks(stage.page), where).toEqual([]);
}

describeUi("dashboard: every screen", () => {
  const get = useStage();

  for (const [name, path] of Object.entries(SCREENS)) {
    it(`${name}: both themes, three widths, and after a reload`, async () => {
      const stage = get();
      const { page } = stage;
      const address = await path(stage);
      // Wide to narrow as a window is dragged; and narrow to wide from a page that was loaded narrow, as on a phone that is turned.
      await show(stage, "light", WIDTHS[0]);
      await visit(stage, address);
      for (const width of WIDTHS) await check(stage, name, "light", width);
      const heading = await page.locator("main h1").first().innerText();
      await show(stage, "dark", WIDTHS[2]);
      await page.reload();
      await settled(page);
      for (const width of WIDTHS.toReversed()) await check(stage, name, "dark", width);
      expect(await page.locator("main h1").first().innerText()).toBe(heading);
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(address);
      expect(await page.title()).toContain("sessarc");
    });
  }

  it("has one h1 and names its landmarks", async () => {
    const stage = get();
    await visit(stage, "/");
    expect(await stage.page.locator("h1").count()).toBe(1);
    expect(await stage.page.getByRole("navigation", { name: "Main" }).count()).toBe(1);
    expect(await stage.page.getByRole("main").count()).toBe(1);
  });
});
