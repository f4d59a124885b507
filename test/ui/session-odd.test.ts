/** What is in a session is shown for what it is: commands, notes, colours, pictures, plans, questions, other scripts; and found. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { deferred } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, painted, useStage, visit } from "./browser.ts";
import { ODD_ID, writeOddNames, writeOddSession, writeUndated } from "./odd-session.ts";
import { layoutFaults, looks } from "./probes.ts";

describeUi("dashboard: a session with odd content", () => {
  let id = "";
  let named = "";
  const get = useStage({
    fill: async (home) => {
      id = await writeOddSession(home, { large: true });
      named = await writeOddNames(home);
      await writeUndated(home);
    },
  });
  const open = async (query = "") => {
    const stage = get();
    await visit(stage, `/sessions/${id}${query}`);
    return { stage, page: stage.page };
  };

  it("shows a command as a chip, opens a summary whole, and reads each paragraph in its own direction", async () => {
    const { stage, page } = await open();
    const chip = page.locator("[data-command]", { hasText: "/review" });
    await chip.waitFor();
    expect(await page.locator("article", { has: chip }).innerText()).toContain("src/cache.js carefully");
    expect(await page.locator("[data-transcript]").innerText()).not.toContain("<command-name>");
    expect(await page.locator("article .prose p[dir=auto]", { hasText: "هذه" }).count()).toBe(1);
    expect(await page.locator("li.task").allInnerTexts()).toEqual(["☑ read the module", "☐ write the test"]);
    expect(await page.locator("article .prose p", { hasText: "Letters by name" }).innerText()).toBe(
      "Letters by name: © & … ≂̸ ; 😀 and none of it: &notit; &nosuch; <b> &copy;.",
    );
    // A word of a table is never broken.
    const cell = page.locator(".prose td", { hasText: "unbreakableidentifier" });
    expect(
      await cell.evaluate((td) => {
        const range = document.createRange();
        range.selectNodeContents(td);
        return range.getClientRects().length;
      }),
    ).toBe(1);
    await page
      .locator("article")
      .getByRole("button", { name: /^This session is being continued/ })
      .click();
    await page.locator("article").getByText("The last word of the summary").waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      if (LONG || width === 390) expect(await violations(stage)).toEqual([]);
      expect(await looks(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(stage.problems()).toEqual([]);
  });

  it("has the colours of a terminal and none of its codes, and of a line written over its last state", async () => {
    const { page } = await open("?m=6");
    const output = page.locator("pre.ansi").first();
    await output.waitFor();
    expect(await output.innerText()).toBe("✓ green passes\n✗ red fails\n100% done");
    const colour = (text: string) => output.getByText(text).evaluate((span) => getComputedStyle(span).color);
    expect(await colour("green passes")).not.toBe(await colour("red fails"));
  });

  it("keeps names of any length and direction in their place", async () => {
    const stage = get();
    const { page } = stage;
    const { session } = await (await stage.served.kernel.fetch(`/api/sessions/${named}`)).json();
    const paths = [
      "/?days=all",
      "/sessions",
      "/calls?days=all",
      `/compare?a=${named}&b=${id}`,
      `/projects/${session.projectId}?days=all&tab=files`,
      "/search?q=English",
      `/sessions/${named}?view=overview`,
      `/sessions/${named}?m=9`,
    ];
    for (const path of paths) {
      await visit(stage, path);
      for (const width of LONG ? [1024, 390] : [390]) {
        await page.setViewportSize({ width, height: 900 });
        await painted(page);
        expect(await layoutFaults(page), `${path} ${width}`).toEqual([]);
      }
    }
    // What would turn its letters round is shown.
    expect(await page.locator("main h1").innerText()).toContain("\ufffdgnp.exe");
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(stage.problems()).toEqual([]);
  });

  it("lists a session without any time, prompt or title last, and names it readably", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions");
    const titles = await page.getByRole("table").getByRole("link").allInnerTexts();
    expect(titles.length).toBeGreaterThan(1);
    expect(titles.filter((one) => one !== "").at(-1)).toBe("Untitled session 0dd99999");
    expect(stage.problems()).toEqual([]);
  });

  it("draws pictures of the log when asked, from memory, and reports it when the log is gone", async () => {
    const { stage, page } = await open("?m=8");
    expect(await page.locator("article img").count()).toBe(0);
    await page.getByRole("button", { name: "Show pictures" }).click();
    const picture = page.getByRole("img", { name: "Picture 1" });
    await picture.waitFor();
    expect(await picture.getAttribute("src")).toMatch(/^blob:/);
    expect(await picture.evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth))).toBe(10);
    const answer = async (seq: number) =>
      (await stage.served.kernel.fetch(`/api/sessions/${encodeURIComponent(id)}/images?seq=${seq}`)).json();
    expect(await answer(0)).toEqual({ images: [], reason: "none" });
    expect(await answer(999)).toMatchObject({ status: 404, code: "MESSAGE_NOT_FOUND" });
    expect(stage.problems()).toEqual([]);
  });

  it("shows plans, tasks, reports and questions as what they are, marks errors of the API, and opens files it names", async () => {
    const { page, stage } = await open("?m=10");
    await page.locator("article .prose strong", { hasText: "Measure" }).waitFor();
    const question = page.locator("article", { hasText: "Which store?" });
    expect(await question.getByText("(chosen)").locator("..").innerText()).toContain("Disk");
    await page.locator("article", { hasText: "TaskCreate" }).getByText("Write the test").waitFor();
    await page.locator("article .prose em", { hasText: "well" }).waitFor();
    await page.locator("[data-transcript]").press("End");
    await page.getByText("API error", { exact: true }).waitFor();
    await page.locator("[data-transcript]").press("Home");
    // Rows that are measured move.
    await page.waitForFunction(() => document.querySelector("[data-transcript]")?.scrollTop === 0);
    await painted(page);
    await page.getByRole("button", { name: "the tests" }).click();
    await page.waitForURL(/f=test\/cache\.test\.js/);
    await page.waitForURL(/pane=code/);
    await page.getByText("No git repository is linked").waitFor();
    // Without a repository the route answers 422, which the browser writes on its console.
    for (const problem of stage.problems()) expect(problem).toContain("status of 422");
  });

  it("marks what is searched for, opens folds and long texts for it, and says that it still searches", async () => {
    const { stage, page } = await open();
    const gate = deferred();
    await page.route("**/find?*", async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.getByRole("searchbox", { name: "Find in session" }).fill("HIDDENneedle");
    await page.getByText("Searching…").waitFor();
    expect(await page.getByText("No match").count()).toBe(0);
    gate.resolve();
    await page.getByText("4 matches").waitFor();
    await page.unroute("**/find?*");
    await page.locator("main h1").focus();
    await page.keyboard.press("n");
    const marked = (name: string) =>
      page.waitForFunction(
        (key) => [...(CSS.highlights.get(key) ?? [])].map(String).includes("hiddenNeedle") || undefined,
        name,
      );
    await marked("find-here");
    await marked("find");
    await page.locator("article[aria-current=true]", { hasText: 'hiddenNeedle = "a"' }).waitFor();
    // At the end of 5 MB, of which the page had 20,000 characters.
    await open("?q=far+needle");
    await page.getByText("1 match", { exact: true }).waitFor();
    await page.locator("main h1").focus();
    await page.keyboard.press("n");
    await page.waitForFunction(() => {
      const [hit] = CSS.highlights.get("find-here") ?? [];
      const box = hit instanceof Range ? hit.getBoundingClientRect() : undefined;
      return box !== undefined && box.top > 0 && box.bottom < innerHeight;
    });
    expect(stage.problems()).toEqual([]);
  });

  it("lets the figures of the heading grow, and draws a tool that is first called live as it draws it later", async () => {
    const { stage, page } = await open("?tail=1");
    const log = join(stage.home, ".claude", "projects", join(stage.home, "code", "odd").replace(/[^A-Za-z0-9]/g, "-"));
    await page.locator("header").getByText("following", { exact: true }).waitFor();
    const said = page.locator("header [title*=' messages']");
    const before = Number(/(\d+) messages/.exec((await said.getAttribute("title")) ?? "")?.[1]);
    const todos = [{ content: "seen live", status: "in_progress" }];
    const row = {
      type: "assistant",
      uuid: "odd-live-1",
      sessionId: ODD_ID,
      cwd: join(stage.home, "code", "odd"),
      version: "2.1.0",
      timestamp: new Date(Date.UTC(2025, 10, 18, 9, 30)).toISOString(),
      message: {
        id: "odd-live",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [{ type: "tool_use", id: "live-1", name: "TodoWrite", input: { todos } }],
      },
    };
    await appendFile(join(log, `${ODD_ID}.jsonl`), `${JSON.stringify(row)}\n`);
    await page.locator(`header [title*="${before + 1} messages"]`).waitFor();
    await page.locator("article li", { hasText: "seen live" }).waitFor();
  });
});
