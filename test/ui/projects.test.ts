/** The list of projects and the page of one: by mouse and by the keyboard alone. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Project } from "../../plugins/archive/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import type { Activity, ProjectAnalytics } from "../../plugins/insights/index.ts";
import { describeUi, load, projectId, type Stage, settled, useStage, visit } from "./browser.ts";
import { storyId, writeStory } from "./stories.ts";

const json = async <T>({ served }: Stage, path: string) => (await (await served.kernel.fetch(path)).json()) as T;
const row = ({ page }: Stage, name: string) =>
  page.locator("tbody tr", { has: page.getByRole("link", { name, exact: true }) });
const names = ({ page }: Stage) => page.locator("tbody a[data-row]").allInnerTexts();
const params = ({ page }: Stage) => Object.fromEntries(new URL(page.url()).searchParams);
const DAY_MS = 86_400_000;

const { PATH } = process.env;
afterAll(() => {
  process.env.PATH = PATH;
});

/** A git that waits with `status` as long as the file `hold` is there. */
async function writeSlowGit(home: string): Promise<void> {
  const real = execFileSync("which", ["git"], { encoding: "utf8", env: { ...process.env, PATH } }).trim();
  const bin = join(home, "bin");
  await mkdir(bin);
  const script = `#!/bin/sh\ncase " $* " in *" status "*) while [ -e "${home}/hold" ]; do sleep 0.05; done;; esac\nexec "${real}" "$@"\n`;
  await writeFile(join(bin, "git"), script);
  await chmod(join(bin, "git"), 0o755);
  process.env.PATH = `${bin}${delimiter}${PATH}`;
}

describeUi("dashboard: projects", () => {
  const get = useStage({
    async fill(home) {
      await writeDemo({ home });
      await writeSlowGit(home);
      await mkdir(join(home, "old-one"));
      await writeStory(home, {
        n: 9,
        cwd: join(home, "old-one"),
        prompt: "Long ago",
        at: new Date(Date.now() - 45 * DAY_MS),
      });
    },
  });

  it("shows on a phone when each was last active, by which they are sorted", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await load(stage, "/projects");
    await page
      .getByRole("row", { name: /tidepool/ })
      .getByText(/^11 sessions/)
      .waitFor();
    const heads = page.getByRole("columnheader").filter({ visible: true });
    expect((await heads.allInnerTexts()).map((text) => text.trim()).slice(0, 2)).toEqual(["Project", "Last active"]);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(stage.problems()).toEqual([]);
  });

  it("shows all rows before git has answered, says which is slow, and moves nothing", async () => {
    const stage = get();
    const { page } = stage;
    const hold = join(stage.home, "hold");
    await writeFile(hold, "");
    await page.goto(`${stage.url}/projects`);
    const cell = row(stage, "tidepool");
    await cell.getByRole("img", { name: "Reading the state of git" }).waitFor();
    const tops = () => page.locator("tbody tr").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    const before = await tops();
    await cell.getByText("git is slow").waitFor();
    // A folder without a repository was answered long before.
    expect(await row(stage, "field-notes").getByTitle("No git repository").count()).toBe(1);
    await rm(hold);
    await page.reload();
    await cell.getByText("main").waitFor();
    expect(await tops()).toEqual(before);
    expect(stage.problems()).toEqual([]);
  });

  it("shows three assistants of a project and how many more, beside the sparkline and not over it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    const { tools } = (await json<Project[]>(stage, "/api/projects")).find((one) => one.name === "tidepool") ?? {
      tools: [],
    };
    expect(tools.length).toBeGreaterThan(3);
    const more = row(stage, "tidepool").getByText(`+${tools.length - 3}`);
    const chart = row(stage, "tidepool").getByRole("img", { name: /messages in 30 days/ });
    for (const width of [1280, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const [end, start] = [await more.boundingBox(), await chart.boundingBox()];
      expect((end?.x ?? 0) + (end?.width ?? 0)).toBeLessThan(start?.x ?? 0);
    }
  });

  it("says that a folder has no repository, and how to make one, without an error", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "old-one");
    for (const tab of ["code", "changes"]) {
      await visit(stage, `/projects/${id}?tab=${tab}`);
      await page.getByText("The folder of old-one has no git repository").waitFor();
      await page.getByRole("button", { name: "Copy “git init”" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      // The browser logs each failed request.
      expect(stage.problems().filter((one) => !one.includes("422"))).toEqual([]);
    }
  });

  it("offers to link a project without a folder to a repository", async () => {
    const stage = get();
    const { page } = stage;
    const projects = await json<Project[]>(stage, "/api/projects");
    const one = projects.find((project) => project.virtual);
    for (const tab of ["code", "changes"]) {
      await visit(stage, `/projects/${one?.id}?tab=${tab}`);
      await page.getByText(`No git repository is linked to ${one?.name}`).waitFor();
      await page.getByRole("main").getByRole("button", { name: "Link to a repository" }).last().click();
      await page.getByRole("dialog", { name: `Link ${one?.name} to a repository` }).waitFor();
      await page.keyboard.press("Escape");
    }
    expect(stage.problems()).toEqual([]);
  });

  it("finds a pasted line of code on the project's own page", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?tab=code`);
    const field = page.getByRole("searchbox", { name: "Find a line of code" });
    await field.fill("src/routes.js:7");
    await page.getByRole("list", { name: "Find a line of code" }).getByRole("link").first().click();
    await page.waitForURL(/line=7/);
    await field.fill("no session wrote this line of code");
    await page.getByText("No archived session of this project wrote this line.").waitFor();
  });

  it("draws the last thirty days of each project", async () => {
    const stage = get();
    await visit(stage, "/projects");
    const { projects } = await json<Activity>(stage, "/api/projects/activity?days=30&tz=Europe/Berlin");
    const id = await projectId(stage, "tidepool");
    const sum = projects.find((one) => one.id === id)?.messages.reduce((all, one) => all + one, 0);
    await row(stage, "tidepool")
      .getByRole("img", { name: new RegExp(`^${sum} messages in 30 days\\.`) })
      .waitFor();
    await row(stage, "old-one").getByRole("img", { name: "0 messages in 30 days." }).waitFor();
  });

  it("sorts by each column in both directions, in the URL", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    const head = (name: string) => page.getByRole("columnheader", { name });
    expect(await head("Last active").getAttribute("aria-sort")).toBe("descending");
    await head("Project").getByRole("button").press("Enter");
    await page.waitForURL(/sort=name/);
    const sorted = await names(stage);
    expect(sorted).toEqual([...sorted].sort((a, b) => a.localeCompare(b)));
    expect(await head("Project").getAttribute("aria-sort")).toBe("ascending");
    await head("Project").getByRole("button").press("Enter");
    await page.waitForURL(/sort=-name/);
    expect(await names(stage)).toEqual(sorted.reverse());
    await head("30 days").getByRole("button").click();
    await page.waitForURL(/sort=activity/);
    expect((await names(stage))[0]).toBe("tidepool");
    expect((await names(stage)).at(-1)).toBe("old-one");
  });

  it("renames in the row: r, Escape gives up, Enter keeps, and the focus stays on the row", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    const link = page.getByRole("link", { name: "field-notes" });
    await link.focus();
    await page.keyboard.press("r");
    await page.getByRole("textbox", { name: "Rename" }).fill("not this");
    await page.keyboard.press("Escape");
    await link.waitFor();
    expect(await link.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("F2");
    await page.keyboard.type("Notes of the field");
    await page.keyboard.press("Enter");
    const renamed = page.getByRole("link", { name: "Notes of the field" });
    await renamed.waitFor();
    await renamed.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ArrowDown");
    expect(await renamed.evaluate((one) => one === document.activeElement)).toBe(false);
  });

  it("syncs the row that has the focus with y", async () => {
    const stage = get();
    const { page } = stage;
    const cwd = join(stage.home, "old-one");
    await visit(stage, "/projects");
    await writeStory(stage.home, { n: 10, cwd, prompt: "A second one", at: new Date(Date.now() - 44 * DAY_MS) });
    await page.getByRole("link", { name: "old-one" }).focus();
    // A notice goes after seconds: it is awaited from before the key.
    await Promise.all([page.getByText("1 session imported").waitFor(), page.keyboard.press("y")]);
    await row(stage, "old-one").getByText("2", { exact: true }).waitFor();
  });

  it("links a project without a folder by keyboard, and undoes it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    const virtual = page.getByRole("link", { name: /\(no folder\)/ });
    const name = await virtual.innerText();
    const before = (await names(stage)).length;
    await page.getByRole("button", { name: `Actions for ${name}` }).press("Enter");
    await page.getByRole("menuitem", { name: "Link to a repository" }).click();
    const dialog = page.getByRole("dialog");
    const path = dialog.getByRole("combobox");
    await path.fill("nowhere/to/be/found");
    await dialog.getByText("The path must be absolute").waitFor();
    expect(await dialog.getByRole("button", { name: "Link", exact: true }).isDisabled()).toBe(true);
    await path.fill("/no/such/folder");
    await page.keyboard.press("Enter");
    await dialog.getByText(/\/no\/such\/folder/).waitFor();
    expect(await path.getAttribute("aria-invalid")).toBe("true");
    await path.fill("tidepool");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await path.inputValue()).toBe(join(stage.home, "code", "tidepool"));
    await dialog.getByText(/^This is tidepool, with \d+ sessions\.$/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "tidepool" }).waitFor();
    await visit(stage, "/projects");
    expect((await names(stage)).length).toBe(before - 1);
    await row(stage, "tidepool").getByTitle("Holds 1 linked project").waitFor();
    await page.getByRole("button", { name: "Actions for tidepool" }).click();
    await page.getByRole("menuitem", { name: "Undo link" }).click();
    await virtual.waitFor();
    expect((await names(stage)).length).toBe(before);
    stage.problems(); // the refused path is said on the console by the browser
  });

  it("says what a deletion takes and what it leaves, and deletes only that", async () => {
    const stage = get();
    const { page } = stage;
    await writeStory(stage.home, { n: 20, cwd: join(stage.home, "doomed"), prompt: "Goes", at: new Date() });
    await stage.served.kernel.fetch("/api/sync?wait=1", { method: "POST" });
    await load(stage, "/projects?q=doomed");
    await page.getByRole("button", { name: "Actions for doomed" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete doomed?" });
    for (const said of ["1 session · 4 messages", "The logs of the assistants: Claude Code", "This cannot be undone."])
      expect(await dialog.innerText()).toContain(said);
    await dialog.getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByText("No project matches “doomed”.").waitFor();
    expect((await json<{ name: string }[]>(stage, "/api/projects?git=0")).map((one) => one.name)).not.toContain(
      "doomed",
    );
    const folder = join(stage.home, "doomed").replace(/[^a-zA-Z0-9]/g, "-");
    expect(existsSync(join(stage.home, ".claude/projects", folder, `${storyId(20)}.jsonl`))).toBe(true);
  });
});

describeUi("dashboard: one project", () => {
  const get = useStage({
    async fill(home) {
      await writeDemo({ home });
      await writeStory(home, {
        n: 9,
        cwd: join(home, "old-one"),
        prompt: "Long ago",
        at: new Date(Date.now() - 45 * DAY_MS),
        calls: 20,
      });
    },
  });

  /** The project that is renamed and deleted, by this name: a test of which the stage is new finds it as the sample data has it. */
  const ledger = async (stage: Stage, name: string) => {
    const id = await projectId(stage, name).catch(() => projectId(stage, "ledger"));
    const sent = { method: "PATCH", body: JSON.stringify({ name }) };
    expect((await stage.served.kernel.fetch(`/api/projects/${id}`, sent)).status).toBe(200);
    return id;
  };

  it("zooms the chart by dragging; sessions and figures are those of the days, and reset goes back", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "tidepool");
    await visit(stage, `/projects/${id}`);
    const bars = page.getByRole("group", { name: "Cost per day" }).getByRole("button");
    const [a, b] = [await bars.nth(3).boundingBox(), await bars.nth(14).boundingBox()];
    if (!a || !b) throw new Error("No bars");
    await page.mouse.move(a.x + 5, a.y + 30);
    await page.mouse.down();
    await page.mouse.move(b.x + 5, b.y + 30, { steps: 6 });
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    const { from, to } = params(stage);
    const zoomed = await json<ProjectAnalytics>(stage, `/api/projects/${id}?tz=Europe/Berlin&from=${from}&to=${to}`);
    expect(zoomed.perDay).toHaveLength(12);
    await page.waitForFunction(
      () => document.querySelectorAll("[role=group][aria-label='Cost per day'] button").length === 12,
    );
    await page
      .getByRole("navigation", { name: "Views of the project" })
      .getByRole("button", { name: "Sessions" })
      .click();
    await page.waitForURL(/tab=sessions/);
    await expect
      .poll(() => page.getByRole("table", { name: "Sessions" }).locator("a[data-row]").count())
      .toBe(zoomed.sessions.filter((one) => one.parentId === null).length);
    await visit(stage, `/projects/${id}?from=${from}&to=${to}`);
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.waitForFunction(() => location.search === "");
  });

  it("lists its sessions as Sessions does, filtered in the URL; the list stays beside the one that is opened", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "tidepool");
    const { sessions } = await json<ProjectAnalytics>(stage, `/api/projects/${id}`);
    const top = sessions.filter((one) => one.parentId === null);
    const rows = page.getByRole("table", { name: "Sessions" }).locator("a[data-row]");
    await visit(stage, `/projects/${id}?days=all&tab=sessions`);
    expect(await page.getByRole("combobox", { name: "Project" }).count()).toBe(0);
    await page.getByRole("combobox", { name: "Assistant" }).click();
    await page.getByRole("option", { name: "Claude Code" }).click();
    await page.waitForURL(/tool=claude-code/);
    await settled(page);
    await expect.poll(() => rows.count()).toBe(top.filter((one) => one.tool === "claude-code").length);
    await page.getByRole("checkbox", { name: "With errors" }).press("Space");
    await page.waitForURL(/errors=1/);
    await settled(page);
    const failing = top.filter((one) => one.tool === "claude-code" && one.errorCount > 0).length;
    expect(failing).toBeGreaterThan(0);
    await expect.poll(() => rows.count()).toBe(failing);
    await page.reload();
    await rows.first().waitFor();
    await expect.poll(() => rows.count()).toBe(failing);
    await rows.first().click();
    await page.waitForURL((url) => url.searchParams.get("list") === `project=${id}`);
    await page.getByText(`${top.length} sessions`).waitFor();
  });

  it("says that a folder is gone, and leads to where its sessions are copied to another", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "old-one");
    await visit(stage, `/projects/${id}?tab=changes`);
    await page.getByText("The folder of old-one is not there any more").waitFor();
    expect(await page.getByRole("button", { name: "Copy “git init”" }).count()).toBe(0);
    await page.getByRole("link", { name: "Say where it is now" }).click();
    await page.getByRole("button", { name: join(stage.home, "old-one"), exact: true, expanded: true }).waitFor();
    // The browser logs each failed request.
    expect(stage.problems().filter((one) => !one.includes("422"))).toEqual([]);
  });

  it("says that a range is empty and when the last session was, and widens as far as that", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "old-one");
    await visit(stage, `/projects/${id}?days=7`);
    await page.getByText(/^No sessions in 7 days\. Last one: /).waitFor();
    await page.getByRole("button", { name: "Show 90 days" }).press("Enter");
    await page.waitForURL(/days=90/);
    await page.getByRole("group", { name: "Cost per day" }).waitFor();
    await visit(stage, `/projects/${id}?from=2020-01-01&to=2020-01-02`);
    await page.getByText(/^No sessions on Jan 1\s*–\s*2, 2020\./).waitFor();
    await page.getByRole("button", { name: "Reset zoom" }).press("Enter");
    await page.waitForFunction(() => location.search === "");
  });

  it("moves over the heat map with the arrow keys and says each cell", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "tidepool");
    await visit(stage, `/projects/${id}?days=all`);
    const { hours } = await json<ProjectAnalytics>(stage, `/api/projects/${id}?tz=Europe/Berlin`);
    const cell = page.locator("[role=gridcell][tabindex='0']");
    const at = ((await cell.getAttribute("data-cell")) ?? "").split("-").map(Number);
    const [day = 0, hour = 0] = at;
    expect(hours[day]?.[hour]).toBe(Math.max(...hours.flat()));
    await cell.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    const [down, right] = [(day + 1) % 7, (hour + 1) % 24];
    expect(await cell.getAttribute("data-cell")).toBe(`${down}-${right}`);
    expect(await cell.getAttribute("aria-label")).toMatch(
      new RegExp(`${String(right).padStart(2, "0")}:00 — ${hours[down]?.[right]} message`),
    );
  });

  it("adds up: tokens as one bar with a table, all tools, the error rate", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "old-one");
    await visit(stage, `/projects/${id}?days=all`);
    const { tools, totals } = await json<ProjectAnalytics>(stage, `/api/projects/${id}`);
    const all = Object.values(Object.values(totals.usage)[0] ?? {}).reduce((sum, one) => sum + one, 0);
    await page.getByRole("img", { name: /^Input 66\.7%, Output 33\.3%$/ }).waitFor();
    await page.getByRole("row", { name: `Total ${all.toLocaleString("en-GB")}` }).waitFor();
    const section = page.locator("section", { has: page.getByRole("heading", { name: "Tool calls" }) });
    expect(await section.getByRole("listitem").count()).toBe(12);
    await section.getByRole("button", { name: `${tools.length - 12} more` }).click();
    expect(await section.getByRole("listitem").count()).toBe(tools.length);
    const errors = tools.reduce((sum, one) => sum + one.errors, 0);
    await page.getByText(`${errors} of 20 calls`).waitFor();
    await page.getByText("30%", { exact: true }).waitFor();
  });

  it("leads from its overview to its latest sessions, and to the lines and the sessions of its files", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "tidepool");
    const { files, sessions } = await json<ProjectAnalytics>(stage, `/api/projects/${id}`);
    await visit(stage, `/projects/${id}?days=all`);
    const latest = page.locator("section").filter({ hasText: "Latest sessions" }).getByRole("listitem");
    const newest = sessions.find((one) => one.parentId === null)?.id ?? "";
    expect(await latest.first().getByRole("link").getAttribute("href")).toBe(`/sessions/${newest}`);
    await page.getByRole("link", { name: "All files" }).click();
    await page.waitForURL(/tab=files/);
    const row = (file: string) => page.getByRole("row").filter({ has: page.getByText(file, { exact: true }) });
    const server = files.find((one) => one.path.endsWith("src/server.js"));
    expect(await row("src/server.js").getByRole("link").nth(1).innerText()).toBe(String(server?.sessions));
    expect(await row("src/server.js").locator("time").getAttribute("datetime")).toBe(server?.lastAt);
    const names = () => page.locator("tbody a[data-row]").allInnerTexts();
    await page.getByRole("button", { name: "File", exact: true }).click();
    await page.waitForURL(/sort=file/);
    expect(await names()).toEqual((await names()).toSorted((a, b) => a.localeCompare(b)));
    // Outside the repository there are no lines with writers.
    expect(await row("/tmp/ci.log").getByRole("link").first().getAttribute("href")).toContain("/sessions?q=path:");
    await row("src/tides.js").getByRole("link").first().click();
    await page.waitForURL(/tab=code/);
    expect(params(stage).file).toBe("src/tides.js");
  });

  it("renames on its own page with the heading's focus kept", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "ledger")}`);
    await page.keyboard.press("r");
    await page.getByRole("textbox", { name: "Rename" }).fill("Ledger two");
    await page.keyboard.press("Enter");
    const heading = page.getByRole("heading", { level: 1, name: "Ledger two" });
    await heading.waitFor();
    await heading.and(page.locator(":focus")).waitFor();
  });

  it("keeps a name though what shows it cannot be asked again at once", async () => {
    const stage = get();
    const { page } = stage;
    const id = await ledger(stage, "Ledger two");
    await visit(stage, `/projects/${id}`);
    await page.keyboard.press("r");
    const field = page.getByRole("textbox", { name: "Rename" });
    await field.fill("Beacon");
    const one = `**/api/projects/${id}?*`;
    const full = { error: { code: "STORAGE_FULL", message: "The disk is full." } };
    await page.route(one, (route) =>
      route.request().method() === "GET" ? route.fulfill({ status: 507, json: full }) : route.continue(),
    );
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    expect(await field.count()).toBe(0);
    await page.unroute(one);
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("heading", { level: 1, name: "Beacon" }).waitFor();
  });

  it("has no range of days where it changes nothing: on Code and Changes", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "tidepool");
    const range = page.getByRole("group", { name: "Range" });
    await visit(stage, `/projects/${id}?tab=files`);
    await range.waitFor();
    for (const tab of ["code", "changes"]) {
      await visit(stage, `/projects/${id}?tab=${tab}`);
      expect(await range.count()).toBe(0);
      await page.locator("main h1").focus();
      await page.keyboard.press("d");
      await page.keyboard.press("?");
      const help = page.getByRole("dialog", { name: "Shortcuts" });
      await help.waitFor();
      expect(await help.getByText("Next range").count()).toBe(0);
      await page.keyboard.press("Escape");
      await help.waitFor({ state: "detached" });
      expect(params(stage).days).toBeUndefined();
    }
    await visit(stage, `/projects/${id}`);
    await page.locator("main h1").focus();
    await page.keyboard.press("d");
    await page.waitForURL(/days=90/);
  });

  it("deletes from its own page, and leads to the others", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await ledger(stage, "Beacon")}`);
    await page.getByRole("button", { name: "Actions for Beacon" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete Beacon?" }).getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/\/projects$/);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator("[data-notices]").getByText("Beacon").waitFor();
    expect(await page.locator("[data-notices]").getByRole("button", { name: "Close" }).count()).toBe(1);
    expect(stage.problems().filter((one) => !one.includes("507"))).toEqual([]);
  });

  it("says that a project is not in the archive without the route of the API", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects/none");
    const said = await page.getByRole("alert").innerText();
    expect([said.includes("sessarc projects"), said.includes("GET /")]).toEqual([true, false]);
    for (const problem of stage.problems()) expect(problem).toContain("404");
  });
});
