/** What a signed-in person sees of a team's server: every screen that it offers answers, and nothing leads to what it refuses. */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { Commits, Origins } from "../../plugins/blame/index.ts";
import type { TreeAt } from "../../plugins/git/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { builtDashboard, builtPackage, DASHBOARD } from "../built.ts";
import { LONG } from "../rounds.ts";
import { engines } from "../team/postgres.ts";
import { joinWithSamples, type Person, type Served, serveTeam } from "../team/served.ts";
import { violations } from "./axe.ts";
import { describeUi, settled } from "./browser.ts";
import { openBrowser } from "./chromium.ts";
import { watchTraffic } from "./traffic.ts";

/** A project of the sample data that the second person pushes. */
const OTHER = "ledger";

/** The dashboard of the tests. */
const plugins = defaultPlugins().map((entry) =>
  entry.specifier === "sessarc/plugins/dashboard" ? { ...entry, options: { dir: DASHBOARD } } : entry,
);

describeUi("a team's dashboard", () => {
  let repositories: string;
  let server: Served;
  let olga: Person;
  let mika: Person;
  let page: Page;
  /** Requests that failed, and errors of the page. */
  const problems: string[] = [];

  beforeAll(async () => {
    // The screen People is a module that the build makes.
    await Promise.all([builtDashboard(), builtPackage()]);
    const [engine] = engines();
    if (!engine) throw new Error("no engine");
    repositories = await mkdtemp(join(tmpdir(), "sessarc-repositories-"));
    server = await serveTeam(engine, { plugins, repositories });
    olga = await joinWithSamples(server.ownerLink, "Olga", { projects: ["tidepool"] });
    mika = await joinWithSamples(await olga.invite(), "Mika", { projects: [OTHER] });
    const projects = await olga.t.json<{ name: string; path: string }[]>("/api/projects?git=0");
    const path = projects.find(({ name }) => name === "tidepool")?.path ?? "";
    execFileSync("git", ["clone", "-q", "--mirror", path, join(repositories, "Team", "tidepool.git")]);
    const browser = await openBrowser();
    const context = await browser.newContext({ locale: "en-GB", reducedMotion: "reduce", serviceWorkers: "block" });
    await watchTraffic(context);
    page = await context.newPage();
    page.on("pageerror", (error) => void problems.push(`page: ${error.message}`));
    page.on("response", (answer) => {
      // The example of a search for a project names one that is not there.
      if (answer.status() < 400 || answer.url().includes("project%3Aname")) return;
      problems.push(
        `${answer.status()} ${answer.request().method()} ${new URL(answer.url()).pathname} on ${page.url()}`,
      );
    });
    await page.goto(await olga.signIn());
    await page.waitForURL(`${server.url}/`);
    await settled(page);
  });
  afterAll(async () => {
    await page?.context().close();
    await mika?.close();
    await olga?.close();
    await server?.close();
    await rm(repositories, { recursive: true, force: true });
  });

  const visit = async (path: string) => {
    await page.goto(server.url + path);
    await settled(page);
  };
  const rail = () => page.getByRole("navigation", { name: "Main" });

  it("lists in its menu what the server has", async () => {
    await visit("/");
    const links = rail().getByRole("link");
    const listed = await links.evaluateAll((all) =>
      all.map((one) => one.getAttribute("aria-label") ?? one.textContent),
    );
    expect(listed).toEqual(["sessarc, home", "Now", "Sessions", "Code", "Usage", "People", "Help", "Settings"]);
    expect(problems).toEqual([]);
  });

  it("shows usage and sessions of a person, a machine, a project or a model", async () => {
    await visit("/people");
    const table = (name: string) => page.getByRole("region", { name });
    const first = (name: string) =>
      table(name)
        .locator("tbody th")
        .evaluateAll((all) => all.map((one) => one.textContent));
    await table("Usage").getByText("Mika").waitFor();
    expect((await first("Usage")).sort()).toEqual(["Mika", "Olga"]);
    const both = (await first("Sessions")).length;

    const filters = page.getByRole("search", { name: "Filters" });
    const choose = async (label: string, option: string) => {
      await page.getByRole("combobox", { name: label, exact: true }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    await choose("Person", "Mika");
    await expect.poll(() => first("Usage")).toEqual(["Mika"]);
    await expect
      .poll(async () => new Set(await table("Sessions").locator("tbody td:nth-child(2)").allInnerTexts()))
      .toEqual(new Set(["Mika"]));
    const his = (await first("Sessions")).length;
    expect([his > 0, his < both]).toEqual([true, true]);
    await filters.getByRole("combobox", { name: "Machine" }).click();
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["All machines", "Mika's laptop"]);
    await page.keyboard.press("Escape");

    await choose("By", "Project");
    await expect.poll(() => first("Usage")).toEqual([OTHER]);
    await choose("By", "Model");
    await expect.poll(async () => (await first("Usage")).includes(OTHER)).toBe(false);
    expect((await first("Usage")).length).toBeGreaterThan(0);
    await page.goBack();
    await expect.poll(() => first("Usage")).toEqual([OTHER]);
    await choose("Person", "Everyone");
    await expect.poll(async () => (await first("Sessions")).length).toBe(both);

    await table("Sessions").getByRole("link").first().click();
    await page.waitForURL(/\/sessions\//);
    expect(problems).toEqual([]);
  });

  it("lets an owner remove a person: says what ends, asks for the private space, and gives it away by a command alone", async () => {
    const people: Person[] = [];
    onTestFinished(async () => void (await Promise.all(people.map((one) => one.close()))));
    const eve = await joinWithSamples(await olga.invite(), "Eve; rm -rf ~", {
      machine: "Eve's laptop",
      projects: [OTHER],
    });
    people.push(eve);
    await eve.t.send("POST", "/api/team/tokens", { name: "Eve's agent" });
    const findId = async (name: string) =>
      (await get<{ people: { id: string; name: string }[] }>("/team/api/people")).people.find(
        (one) => one.name === name,
      )?.id;
    await visit("/people");
    const row = (name: string) => page.getByRole("region", { name: "People of the team" }).getByRole("row", { name });
    const remove = (name: string) => row(name).getByRole("button", { name: `Remove ${name}` });
    const dialog = page.getByRole("dialog");

    await remove("Eve; rm -rf ~").focus();
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    expect(await dialog.getByRole("listitem").allInnerTexts()).toEqual([
      "Machines: Eve's laptop",
      "Read tokens: Eve's agent",
      "Open invitations: 0",
      "All sign-ins of browsers",
    ]);
    expect(await violations({ page }, ".team-dialog")).toEqual([]);
    const confirm = dialog.getByRole("button", { name: "Remove", exact: true });
    expect(await confirm.isDisabled()).toBe(true);
    // The page below takes no keys, and the focus goes back to where it was.
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/people");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Remove Eve; rm -rf ~");

    await page.keyboard.press("Enter");
    await dialog.getByLabel("Hand it over to another person").press("Space");
    await dialog.getByLabel("New reader").selectOption({ label: "Mika" });
    // Ids: a shell would obey the name.
    expect(await dialog.locator("code").innerText()).toBe(
      `sessarc team remove ${await findId("Eve; rm -rf ~")} --give ${await findId("Mika")}`,
    );
    expect(await confirm.count()).toBe(0);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations({ page }, ".team-dialog")).toEqual([]);
        const box = await dialog.boundingBox();
        expect(box && [box.x >= 0, box.x + box.width <= width, box.y + box.height <= 740]).toEqual([true, true, true]);
        expect(await dialog.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 720 });
    await dialog.getByLabel("Delete it with all its sessions").press("Space");
    await Promise.all([page.getByText("Eve; rm -rf ~ has no access any more").waitFor(), confirm.press("Enter")]);
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => row("Eve; rm -rf ~").count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    expect(await findId("Eve; rm -rf ~")).toBeUndefined();
    expect(problems).toEqual([]);

    await remove("Olga").click();
    await dialog.getByText("This is you").waitFor();
    await dialog.getByLabel("Delete it with all its sessions").check();
    await confirm.click();
    expect(await dialog.getByRole("alert").innerText()).toContain("The last owner cannot be removed");
    expect(problems.splice(0)).toEqual([expect.stringMatching(/^409 DELETE/)]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await row("Olga").count()).toBe(1);
  });

  it("shows what commits cost and who wrote each line, from the server's mirror; says whose sessions count", async () => {
    const all = await get<{ id: string; name: string }[]>("/api/projects?git=0");
    const findId = (name: string) => all.find((one) => one.name === name)?.id ?? "";
    await visit(`/projects/${findId("tidepool")}?tab=changes`);
    await page.getByText("Only sessions that you may read are counted").waitFor();
    await page.locator("tbody tr button").first().click();
    await page.getByRole("heading", { name: "Changed files" }).waitFor();
    const { file, line } = await writtenLine(findId("tidepool"));
    await visit(`/projects/${findId("tidepool")}?${new URLSearchParams({ tab: "code", file, line })}`);
    await page.getByRole("heading", { name: "What was asked" }).waitFor();
    expect(problems).toEqual([]);
    // A folder without a repository has no first commit.
    await visit(`/projects/${findId(OTHER)}`);
    expect(await page.getByRole("tab", { name: "Changes" }).count()).toBe(0);
  });

  it("opens no screen that it lacks, by key or by address", async () => {
    await visit("/usage");
    for (const key of ["n", "x", "b", "c", "k", "m", "r", "i", "f", "y"]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
    }
    await settled(page);
    expect(new URL(page.url()).pathname).toBe("/usage");
    for (const path of ["/notes", "/security", "/rescue", "/import", "/replay", "/mcp-hub", "/skills/scan"]) {
      await visit(path);
      await page.getByRole("heading", { level: 1, name: "Nothing here" }).waitFor({ timeout: 5_000 });
    }
    expect(problems).toEqual([]);
  });

  const EACH: readonly [name: string, path: (project: string, session: string) => string][] = [
    ["Now", () => "/"],
    // First where a row is chosen: elsewhere the same checkbox is a press deeper.
    ["Sessions", () => "/sessions"],
    ["a project", (project) => `/projects/${project}?days=all`],
    ["a session", (_project, session) => `/sessions/${session}?pane=diff&m=11`],
    ["Usage", () => "/usage?days=all"],
    ["People", () => "/people"],
    ["a search", () => "/search?q=tide"],
    ["Settings", () => "/settings"],
    ["prices", () => "/settings/prices"],
  ];
  const MORE: typeof EACH = [
    ["Code", () => "/projects"],
    ["a project's sessions", (project) => `/projects/${project}?days=all&tab=sessions`],
    ["a project's files", (project) => `/projects/${project}?days=all&tab=files`],
    ["calls", () => "/calls?days=all&show=both"],
    ["a session alone", (_project, session) => `/sessions/${session}`],
    ["a session's overview", (_project, session) => `/sessions/${session}?view=overview`],
    ["plugins", () => "/settings/plugins"],
    ["about", () => "/settings/about"],
    ["Help", () => "/help"],
  ];
  it.each(LONG ? [...EACH, ...MORE] : EACH)(
    "presses everything that is shown on %s, and is refused nothing",
    async (_name, path) => {
      await visit("/");
      await pressAll(path(await firstProject(), encodeURIComponent(await firstSession())));
      expect(problems).toEqual([]);
    },
  );

  it("pressed what its screens are for", () => {
    expect([...pressed]).toEqual(
      expect.arrayContaining(["Session actions", "Copy link", "Clear selection", "Show chart"]),
    );
  });

  /** What was pressed on any screen, by its name without figures. */
  const pressed = new Set<string>();
  const CONTROLS = "button:enabled, summary, [role=radio], [role=menuitem], [role=option], input[type=checkbox]";

  const readNames = () =>
    page.locator(CONTROLS).evaluateAll((all) =>
      all.map((one) => {
        if (!one.checkVisibility()) return "";
        const text = one.getAttribute("aria-label") ?? one.textContent ?? "";
        // Of days and sessions one is pressed: the others have the same name without figures and what follows.
        return text
          .replace(/\d[\d.,]*/g, "#")
          .replace(
            /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun).*|(?<=^Days shown|^Select |^Compare the selected session with |^Copy resume command: |^\w+Claude Code|^\w+Codex|^#+~).*/,
            "…",
          )
          .trim();
      }),
    );
  const press = async (name: string) => {
    const at = (await readNames()).indexOf(name);
    if (at < 0) return false;
    pressed.add(name);
    const control = page.locator(CONTROLS).nth(at);
    // Some are outside of what can be scrolled to.
    await control.click({ timeout: 2_000, force: true }).catch(() => control.dispatchEvent("click"));
    await settled(page);
    return true;
  };

  async function pressAll(screen: string): Promise<void> {
    await visit(screen);
    const first = await readNames();
    for (const name of new Set(first)) {
      if (name === "" || pressed.has(name) || !(await press(name))) continue;
      // What a press opens: a menu, a dialog, more of the screen.
      for (const inner of new Set(await readNames())) {
        if (first.includes(inner) || pressed.has(inner)) continue;
        if (!(await press(inner))) {
          await visit(screen);
          await press(name);
          await press(inner);
        }
      }
      await visit(screen);
    }
  }

  const get = async <T>(path: string): Promise<T> =>
    page.evaluate(async (address) => (await fetch(address)).json() as Promise<T>, path);
  /** A line at HEAD that a session wrote. */
  async function writtenLine(project: string): Promise<{ file: string; line: string }> {
    const { commits } = await get<Commits>(`/api/projects/${project}/commits`);
    for (const { hash } of commits.filter(({ kept }) => kept > 0)) {
      const { changed } = await get<TreeAt>(`/api/git/tree?${new URLSearchParams({ project, commit: hash })}`);
      for (const { path } of changed) {
        const { lines } = await get<Partial<Origins>>(`/api/git/blame?${new URLSearchParams({ project, path })}`);
        const at = lines?.findIndex(({ writer }) => writer !== null) ?? -1;
        if (at >= 0) return { file: path, line: String(at + 1) };
      }
    }
    throw new Error("no session wrote a line");
  }
  const firstSession = async () =>
    (await get<{ sessions: { id: string }[] }>("/api/sessions?q=High and low water")).sessions[0]?.id ?? "";
  const firstProject = async () => (await get<{ id: string }[]>("/api/projects?git=0"))[0]?.id ?? "";
});
