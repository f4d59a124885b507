/** What people come to do: by mouse, and by the keyboard alone. */
import { expect, it } from "vitest";
import { describeUi, load, projectId, sessionId, settled, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: tasks", () => {
  const get = useSharedStage();

  it("walks from Now to a session and back, with the history of the browser", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    const newest = page.getByRole("region", { name: "Continue" }).getByRole("listitem").first().getByRole("link");
    const title = await newest.innerText();
    await newest.click();
    await page.waitForURL(/\/sessions\//);
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    await page.goBack();
    await page.waitForURL((url) => url.pathname === "/");
    await page.goForward();
    await page.waitForURL(/\/sessions\//);
    expect(stage.problems()).toEqual([]);
  });

  it("finds with the palette: Ctrl K, type, Enter", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await page.keyboard.press("Control+k");
    const input = page.getByRole("combobox");
    await input.waitFor();
    await page.keyboard.type("tidepool");
    await page.getByRole("option", { name: /^tidepool/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/projects\//);
    expect(await page.locator("main h1").innerText()).toBe("tidepool");
    await page.keyboard.press("Control+k");
    await input.waitFor();
    await page.keyboard.type("> search");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions/);
  });

  it("goes everywhere by keys, which never fire while typing and can be switched off", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    for (const [keys, path] of [
      ["gp", "/projects"],
      ["gs", "/sessions#search"],
    ] as const) {
      // Without an answer in between, which may take longer than the second key is waited for.
      await Promise.all([...keys].map((key) => page.keyboard.press(key)));
      await page.waitForURL(`**${path}`);
      await settled(page);
    }
    await page.getByRole("searchbox").focus();
    await page.keyboard.type("gp t");
    await page.waitForURL(/q=gp/);
    expect(page.url()).toContain("/sessions");
    await visit(stage, "/settings");
    await page.getByRole("switch", { name: /Single-letter keys/ }).click();
    await page.locator("main h1").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    expect(page.url()).toContain("/settings");
    await page.keyboard.press("Escape");
    await page.getByRole("switch", { name: /Single-letter keys/ }).click();
    await page.locator("main h1").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("renames a project with F2 and the session with r, and both names stay after a reload", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects?q=ledger");
    await page.getByRole("link", { name: "ledger" }).focus();
    await page.keyboard.press("F2");
    await page.getByRole("textbox", { name: "Rename" }).fill("Ledger of things");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Ledger of things" }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "Ledger of things" }).waitFor();
    const [project, session] = await Promise.all([
      projectId(stage, "Ledger of things"),
      sessionId(stage, "Read the settings"),
    ]);
    await visit(stage, `/sessions/${session}`);
    await page.locator("main h1").focus();
    await page.keyboard.press("r");
    await page.getByRole("textbox", { name: "Rename" }).fill("A better name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "A better name" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "A better name" }).waitFor();
    for (const path of [`/api/projects/${project}`, `/api/sessions/${session}`])
      expect((await stage.served.kernel.fetch(path, { method: "PATCH", body: '{"name":null}' })).status).toBe(200);
  });

  it("sorts and filters projects in the URL, and asks before it deletes", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    await page.getByRole("button", { name: "Sessions" }).click();
    await page.waitForURL(/sort=sessions/);
    expect(await page.locator("tbody a[data-row]").first().innerText()).toBe("tidepool");
    await page.getByRole("searchbox").fill("field");
    await page.waitForURL(/q=field/);
    expect(await page.locator("tbody a[data-row]").count()).toBe(1);
    await page.getByRole("button", { name: "Actions for field-notes" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText(/The logs of the assistants/)
      .first()
      .waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.locator("tbody a[data-row]").count()).toBe(1);
  });

  it("searches: facets in the URL, arrow keys, all matches in the session", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/search");
    await page.getByRole("searchbox").fill("station");
    await page.waitForURL(/q=station/);
    await page.locator("mark").first().waitFor();
    await page.getByRole("button", { name: /^Claude Code/ }).click();
    await page.waitForURL(/tool=claude-code/);
    await page.getByRole("searchbox").focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => (document.activeElement as HTMLElement).dataset.result !== undefined);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\/.*q=station/);
    await page.getByText(/^\d+ of \d+$/).waitFor();
    await page.goBack();
    await page.waitForURL(/\/sessions\?.*tool=claude-code/);
    expect(await page.getByRole("searchbox").inputValue()).toBe("station");
  });

  it("switches theme and language at once and keeps them", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings");
    await page.getByText("Dark", { exact: true }).click();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    const choose = async (language: string | RegExp) => {
      await page.getByRole("combobox", { name: /Language|言語|语言/ }).click();
      await page.getByRole("option", { name: language }).click();
    };
    await choose("日本語");
    await page.getByRole("heading", { level: 1, name: "設定" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "設定" }).waitFor();
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dataset.theme])).toEqual([
      "ja",
      "dark",
    ]);
    await choose("简体中文");
    await page.getByRole("heading", { level: 1, name: "设置" }).waitFor();
    await choose(/English.+|.+English/);
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  });

  it("says what failed, with a code, and tries again", async () => {
    const stage = get();
    const { page } = stage;
    await page.route("**/api/projects?*", (route) =>
      route.fulfill({
        status: 500,
        contentType: "application/json",
        body: JSON.stringify({ status: 500, code: "INTERNAL", message: "It broke" }),
      }),
    );
    await visit(stage, "/projects");
    const alert = page.getByRole("alert");
    expect(await alert.innerText()).toMatch(/It broke[\s\S]*500 INTERNAL/);
    await page.unroute("**/api/projects?*");
    await alert.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("link", { name: "tidepool" }).waitFor();
    stage.problems();
  });

  it("names a project without a folder in the language of the page", async () => {
    const stage = get();
    const { page } = stage;
    const speak = (language: string | null) =>
      page.evaluate((tag) => localStorage.setItem("sessarc:settings", JSON.stringify({ language: tag })), language);
    await speak("zh-CN");
    await load(stage, "/projects");
    await page.getByRole("link", { name: "Cursor（无文件夹）" }).click();
    await page.getByRole("heading", { level: 1, name: "Cursor（无文件夹）" }).waitFor();
    expect(await page.getByText("(no folder)").count()).toBe(0);
    await speak(null);
    await load(stage, "/projects");
    await page.getByRole("link", { name: "Cursor (no folder)" }).waitFor();
  });

  it("an unknown session and an unknown page offer the search", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions/codex%3Anobody");
    await page.getByRole("heading", { name: "This session is not in the archive" }).waitFor();
    await page.getByRole("searchbox").last().fill("tide");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\?q=tide/);
    stage.problems();
  });

  it("opens a project's tabs by URL and hides sub-agents until asked", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?days=all&tab=sessions`);
    const rows = page.getByRole("table", { name: "Sessions" }).locator("a[data-row]");
    await rows.first().waitFor();
    const before = await rows.count();
    await page.getByRole("combobox", { name: "Kind" }).click();
    await page.getByRole("option", { name: "All kinds" }).click();
    await page.waitForURL(/kind=all/);
    await expect.poll(() => rows.count()).toBeGreaterThan(before);
  });
});
