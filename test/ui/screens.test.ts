/** Every screen: stands, reports nothing on the console, asks no other machine, is accessible, looks as it should (probes.ts), comes back after a reload. */
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, projectId, type Stage, sessionId, settled, useStage, visit } from "./browser.ts";
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
  "no such page": () => "/nowhere/at/all",
};

describeUi("dashboard: every screen", () => {
  const get = useStage();

  for (const [name, path] of Object.entries(SCREENS)) {
    it(`${name}: both themes, three widths`, { timeout: 120_000 }, async () => {
      const stage = get();
      const { page } = stage;
      const address = await path(stage);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        for (const width of [1440, 1024, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await visit(stage, address);
          const where = `${name}, ${colorScheme}, ${width} px`;
          expect(stage.problems(), where).toEqual([]);
          expect(await violations(stage), where).toEqual([]);
          expect(await looks(page), where).toEqual([]);
        }
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      await visit(stage, address);
      const before = await page.locator("main h1").first().innerText();
      await page.reload();
      await settled(page);
      expect(await page.locator("main h1").first().innerText()).toBe(before);
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
