/** Every screen: stands, reports nothing on the console, asks no other machine, is accessible, looks as it should (probes.ts), from its address alone. */
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import {
  dayAgo,
  describeUi,
  load,
  painted,
  projectId,
  type Stage,
  sessionId,
  useSharedStage,
  visit,
} from "./browser.ts";
import { layoutFaults, looks } from "./probes.ts";

const SCREENS: Record<string, (stage: Stage) => Promise<string> | string> = {
  home: () => "/",
  "usage, zoomed": () => `/usage?from=${dayAgo(12)}&to=${dayAgo(3)}`,
  "usage, an empty range": () => "/usage?from=2020-01-01&to=2020-01-05",
  projects: () => "/projects",
  "projects, sorted and filtered": () => "/projects?q=code&sort=-name",
  project: async (stage) => `/projects/${await projectId(stage, "tidepool")}?days=all`,
  "project sessions": async (stage) => `/projects/${await projectId(stage, "tidepool")}?days=all&tab=sessions`,
  "project changes": async (stage) => `/projects/${await projectId(stage, "tidepool")}?tab=changes`,
  "project files": async (stage) => `/projects/${await projectId(stage, "tidepool")}?days=all&tab=files`,
  "project code": async (stage) =>
    `/projects/${await projectId(stage, "tidepool")}?tab=code&file=src%2Ftides.js&line=15`,
  sessions: () => "/sessions",
  "sessions, sorted and filtered": () => "/sessions?kind=all&errors=1&sort=cost",
  "two sessions": async (stage) =>
    `/compare?a=${encodeURIComponent(await sessionId(stage, "High and low water"))}&b=${encodeURIComponent(await sessionId(stage, "Read the settings"))}`,
  "failed and slow calls": () => "/sessions?view=calls&days=all&show=both",
  session: async (stage) => `/sessions/${await sessionId(stage, "High and low water")}?m=11&pane=diff`,
  "session files": async (stage) => `/sessions/${await sessionId(stage, "High and low water")}?pane=files`,
  "session overview": async (stage) => `/sessions/${await sessionId(stage, "High and low water")}?view=overview`,
  "session security": async (stage) => `/sessions/${await sessionId(stage, "Read the settings")}?view=security`,
  usage: () => "/usage?days=90",
  "usage by kind of session": () => "/usage?days=90&by=kind",
  "usage by tool and week": () => "/usage?days=all&by=tool&unit=week&metric=tokens",
  search: () => "/sessions?q=tide",
  "search, nothing found": () => "/sessions?q=zzzznothing&tool=codex",
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
  "skills, none yet": () => "/tools/skills",
  "skills, scan": () => "/tools/skills/scan",
  "replay, before its start": async (stage) =>
    `/replay/${encodeURIComponent(await sessionId(stage, "Extremes by root finding"))}`,
  "hub, assistants": () => "/tools/servers",
  "hub, services": () => "/tools/servers",
  "hub, tools": () => "/tools/advanced?view=try&call=sessarc__usage",
  "hub, takeover": () => "/tools/advanced?view=takeover",
  security: () => "/tools/secrets",
  "security, rules": () => "/tools/advanced?q=github",
  "security, guard": () => "/tools/secrets?view=guard",
  shares: () => "/sessions?view=shares",
  "hidden sessions": () => "/sessions?view=hidden&state=listed",
  "lone prompts": () => "/sessions?view=traces",
  feedback: () => "/help/feedback",
  "earlier versions": (stage) => `/files?path=${encodeURIComponent(stage.home)}`,
  "no such page": () => "/nowhere/at/all",
};

/** Another choice of parts that are on another screen of the list: in the long run only. */
const SAME_PARTS = new Set([
  "usage, zoomed",
  "project sessions",
  "projects, sorted and filtered",
  "sessions, sorted and filtered",
  "usage by kind of session",
  "usage by tool and week",
  "settings, found",
]);

/** In an order in which the next is another screen: one with other parameters is reached by way of a third (`visit`). */
function spread<T>(all: readonly T[]): T[] {
  const half = Math.ceil(all.length / 2);
  return all.slice(0, half).flatMap((one, i) => [one, ...all.slice(half + i, half + i + 1)]);
}

const WIDE = 1440;
const NARROW = 390;

async function show({ page }: Stage, colorScheme: "light" | "dark", width: number): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  await painted(page);
}

/** What is checked of a page as it stands: where things are; that and what can be read; that and the focus. */
type Depth = "layout" | "read" | "all";

async function check(stage: Stage, where: string, depth: Depth): Promise<void> {
  expect(stage.problems(), where).toEqual([]);
  expect(await (depth === "all" ? looks : layoutFaults)(stage.page), where).toEqual([]);
  if (depth !== "layout") expect(await violations(stage), where).toEqual([]);
}

describeUi("dashboard: every screen", () => {
  const get = useSharedStage();

  // Loaded narrow, as on a phone that is then turned; the other way as a window is dragged.
  const LOOKS = [
    ["dark", [NARROW, 1024, WIDE]],
    ["light", [WIDE, 1024, NARROW]],
  ] as const;

  it.runIf(LONG).each(Object.entries(SCREENS))("%s: everything, both themes, three widths", async (name, path) => {
    const stage = get();
    for (const [theme, widths] of LOOKS) {
      await show(stage, theme, widths[0]);
      await load(stage, await path(stage));
      for (const width of widths) {
        await show(stage, theme, width);
        await check(stage, `${name}, ${theme}, ${width} px`, "all");
      }
    }
  });

  const usual = Object.entries(SCREENS).filter(([name]) => LONG || !SAME_PARTS.has(name));
  for (const [name, path, i] of spread(usual.map(([name, path], i) => [name, path, i] as const))) {
    // Every other one dark and from narrow to wide.
    const [theme, [first, between, last]] = LOOKS[i % 2 === 0 ? 0 : 1];
    const widths = LONG ? [between, last] : [last];
    it(`${name}: ${theme}, from ${first} to ${last} px`, async () => {
      const stage = get();
      const address = await path(stage);
      await show(stage, theme, first);
      // One of six by its address alone, as a link from outside; the others from the screen before.
      await (i % 6 === 0 ? load : visit)(stage, address);
      await check(stage, `${name}, ${theme}, ${first} px`, i % 4 < 2 ? "all" : "read");
      for (const width of widths) {
        await show(stage, theme, width);
        await check(stage, `${name}, ${theme}, ${width} px`, "layout");
      }
      expect(new URL(stage.page.url()).pathname + new URL(stage.page.url()).search).toBe(address);
      expect(await stage.page.title()).toContain("sessarc");
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
