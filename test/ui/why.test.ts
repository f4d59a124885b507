/** "Why this line" from wherever a line is met: the palette, the search, a diff, a file of code. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Origins } from "../../plugins/blame/index.ts";
import { describeUi, load, projectId, type Stage, sessionId, settled, useSharedStage, visit } from "./browser.ts";

const selected = (page: Page) => page.locator("[role=option][aria-selected=true]");
async function palette(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill(text);
}

/** Line 7 of a file of the sample data, and its text. */
async function readLine(stage: Stage, path: string, number: number): Promise<string> {
  const query = new URLSearchParams({ project: await projectId(stage, "tidepool"), path });
  const answer = (await (await stage.served.kernel.fetch(`/api/git/blame?${query}`)).json()) as Origins;
  return answer.lines?.[number - 1]?.text ?? "";
}

describeUi("dashboard: why a line exists", () => {
  const get = useSharedStage();

  it("is two steps from Home: file:line in the palette leads to the prompt, the reads, the commit and the cost", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await palette(page, "src/routes.js:7");
    await selected(page).filter({ hasText: "src/routes.js:7" }).waitFor();
    // The file's last session need not have written the line: none is named.
    expect((await selected(page).innerText()).split("\n").filter(Boolean)).toEqual(["src/routes.js:7", "tidepool"]);
    expect(await page.locator("#palette-list > [role=presentation]").first().innerText()).toBe("Why this line");
    await page.keyboard.press("Enter");
    const reason = page.getByRole("complementary", { name: "Why this line exists" });
    await reason.getByText("What was asked").waitFor();
    await reason.getByText("Cost of the prompt").waitFor();
    expect(await reason.innerText()).toMatch(/\$\d/);
    await reason.getByRole("link", { name: /^#\d+/ }).first().waitFor();
    await reason.getByText("Committed").waitFor();

    // Beside the file from 1100 px on; where the room is short the tree is away meanwhile.
    const tree = page.getByRole("tree", { name: "Files" });
    const file = page.getByRole("region", { name: "src/routes.js" });
    for (const [width, hasTree] of [
      [1440, true],
      [1280, false],
      [1110, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await reason.waitFor();
      await expect.poll(() => tree.isVisible()).toBe(hasTree);
      expect(await page.getByRole("dialog").count()).toBe(0);
      const [left, right] = [await file.boundingBox(), await reason.boundingBox()];
      expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual(right?.x ?? 0);
      expect(left?.width).toBeGreaterThan(400);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await reason.getByRole("button", { name: "Close" }).click();
    await tree.waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("shows the lines below the tree where there is one column, and a line can be chosen there", async () => {
    const stage = get();
    const { page } = stage;
    const id = await projectId(stage, "tidepool");
    const reason = page.getByRole("dialog", { name: "Why this line exists" });
    for (const width of [390, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      await visit(stage, `/projects/${id}?tab=code&file=src%2Froutes.js`);
      const lines = page.getByRole("listbox", { name: "Lines of src/routes.js" });
      await expect.poll(() => lines.evaluate((list) => list.clientHeight)).toBeGreaterThan(300);
      await lines.getByRole("option").nth(6).click();
      await reason.getByText("What was asked").waitFor();
      await page.keyboard.press("Escape");
      await reason.waitFor({ state: "detached" });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(stage.problems()).toEqual([]);
  });

  it("is found from a pasted line of code, in the palette and in the search; a line that is gone names its session", async () => {
    const stage = get();
    const { page } = stage;
    const text = await readLine(stage, "src/routes.js", 7);
    await visit(stage, "/");
    await palette(page, text);
    await selected(page).filter({ hasText: "src/routes.js" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/line=7/);
    expect(page.url()).not.toContain("text=");
    await page.getByRole("complementary", { name: "Why this line exists" }).waitFor();

    await visit(stage, `/search?q=${encodeURIComponent(text)}`);
    const region = page.getByRole("region", { name: "Why this line exists" });
    await region.getByRole("link", { name: /src\/routes\.js/ }).click();
    await page.waitForURL(/line=7/);

    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?tab=code&file=src%2Froutes.js&text=gone%28%29`);
    await page.getByRole("status").filter({ hasText: "does not contain this line" }).waitFor();
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?tab=code&file=src%2Froutes.js&line=9999`);
    await page
      .getByRole("status")
      .filter({ hasText: /The file has \d+ lines/ })
      .waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("is one click on a line of an edit, by pointer, touch and keys, and on a line of a file or diff at a moment", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}`);
    await settled(page);
    const edit = page.getByRole("group", { name: /^Changes of / }).first();
    const added = edit.locator("[data-sign='+']").filter({ hasText: /\w{4}/ }).first();
    const button = page.getByRole("button", { name: "Why this line" });
    const reason = page.getByRole("dialog", { name: "Why this line exists" });
    const answers = async () => {
      await reason.getByText("What was asked").waitFor();
      await reason.getByText("Cost of the prompt").waitFor();
      await reason.getByText("Committed").waitFor();
      await page.keyboard.press("Escape");
      await reason.waitFor({ state: "detached" });
    };
    await added.scrollIntoViewIfNeeded();
    await added.hover();
    await button.click();
    await answers();

    // By touch: the line, then what it offers. No line is in the order of tabs.
    await page.mouse.move(0, 0);
    await added.dispatchEvent("click");
    expect(await button.getAttribute("tabindex")).toBe("-1");
    await button.click();
    await answers();

    await edit.focus();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("status").filter({ hasText: "Enter shows why it exists" }).waitFor();
    await page.keyboard.press("Enter");
    await reason.waitFor();
    await page.keyboard.press("Escape");
    await reason.waitFor({ state: "detached" });

    // The file at that moment.
    await added.click();
    await page.keyboard.press("d");
    const pane = page.getByRole("region", { name: "Side pane" });
    for (const tab of ["Code", "Diff"]) {
      await pane.getByRole("button", { name: tab, exact: true }).click();
      const line = pane.locator("[data-line]").filter({ hasText: /\w{4}/ }).first();
      await line.hover();
      await pane.getByRole("button", { name: "Why this line" }).click();
      await reason.getByText("Committed").waitFor();
      await page.keyboard.press("Escape");
      await reason.waitFor({ state: "detached" });
    }
    expect(stage.problems()).toEqual([]);
  });

  it("the palette finds files, models and screens by other words, in three languages", async () => {
    const stage = get();
    const { page } = stage;
    const first = async (text: string, wanted: RegExp) => {
      await page.getByRole("combobox").fill(text);
      await selected(page).filter({ hasText: wanted }).waitFor();
    };
    await visit(stage, "/");
    await page.keyboard.press("Control+k");
    for (const [text, wanted] of [
      ["cost", /^Usage/],
      ["spend", /^Usage/],
      ["budget", /^Usage/],
      ["leak", /^Secrets/],
      ["secret", /^Secrets/],
      ["token", /^(Secrets|Usage)/],
      ["compare", /^Comparison/],
      ["mcp", /^MCP servers/],
      ["why", /^Why this line/],
      ["opus", /Opus/],
    ] as const)
      await first(text, wanted);
    await page.getByRole("combobox").fill("routes.js");
    await page.getByRole("option", { name: /^src\/routes\.js/ }).click();
    await page.waitForURL(/tab=code&file=src/);

    for (const [language, words] of [
      [
        "zh-CN",
        [
          ["费用", /^用量/],
          ["泄露", /^密钥/],
          ["cost", /^用量/],
        ],
      ],
      [
        "ja",
        [
          ["コスト", /^使用/],
          ["漏えい", /^秘密情報/],
          ["leak", /^秘密情報/],
        ],
      ],
    ] as const) {
      await page.evaluate((tag) => {
        localStorage.setItem("sessarc:settings", JSON.stringify({ language: tag }));
      }, language);
      await load(stage, "/");
      await settled(page);
      await page.keyboard.press("Control+k");
      for (const [text, wanted] of words) await first(text, wanted);
    }
    await page.evaluate(() => localStorage.removeItem("sessarc:settings"));
    await load(stage, "/");
    expect(stage.problems()).toEqual([]);
  });
});
