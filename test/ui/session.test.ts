/** The session view: links into it, filters, search, time travel, causes. */
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, narrow, sessionId, settled, useSharedStage, visit } from "./browser.ts";

const row = (seq: number) => `article[data-seq="${seq}"]`;

describeUi("dashboard: a session", () => {
  const get = useSharedStage();
  const open = async (query = "") => {
    const stage = get();
    await visit(stage, `/sessions/${await sessionId(stage, "High and low water")}${query}`);
    return stage;
  };

  it("opens at the message of the link, selects with j and k, and puts the choice in the URL", async () => {
    const { page } = await open("?m=11");
    await page.locator(`${row(10)}[aria-current=true], ${row(11)}[aria-current=true]`).waitFor();
    await page.locator("main h1").focus();
    await page.keyboard.press("j");
    await page.waitForURL((url) => url.searchParams.get("m") !== "11");
    const here = new URL(page.url()).searchParams.get("m");
    await page.reload();
    await page.locator(`${row(Number(here))}[aria-current=true]`).waitFor();
    await page.locator("main h1").focus();
    await page.keyboard.press("k");
    await page.waitForURL((url) => url.searchParams.get("m") !== here);
  });

  it("hides kinds by a click, keeps that in the URL, and says when nothing is left", async () => {
    const { page } = await open();
    const articles = page.locator("article");
    const before = await articles.count();
    // Kinds have their word beside the icon where there is room for it.
    const words = page.getByRole("toolbar", { name: "Filter" }).getByText("Thinking", { exact: true });
    expect(await words.isVisible()).toBe(true);
    await page.getByRole("button", { name: /^Thinking / }).click();
    await page.waitForURL(/kinds=/);
    expect(await page.getByRole("button", { name: /^Thinking / }).getAttribute("aria-pressed")).toBe("false");
    await expect.poll(() => articles.count()).toBeLessThan(before);
    await page.reload();
    await settled(page);
    expect(await page.getByRole("button", { name: /^Thinking / }).getAttribute("aria-pressed")).toBe("false");
    await page.getByRole("button", { name: /1 error/ }).click();
    await page.waitForURL(/errors=1/);
    await expect.poll(() => articles.count()).toBe(1);
  });

  it("finds a text with f and goes on with n", async () => {
    const { page } = await open();
    await page.locator("main h1").focus();
    await page.keyboard.press("f");
    await page.keyboard.type("extremes");
    // None of them is gone to yet.
    await page.getByText(/^\d+ matches$/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/m=\d+/);
    await page.getByText(/^\d+ of \d+$/).waitFor();
    const first = new URL(page.url()).searchParams.get("m");
    await page.locator("main h1").focus();
    await page.keyboard.press("n");
    await page.waitForURL((url) => url.searchParams.get("m") !== first);
    await page.keyboard.press("N");
    await page.waitForURL((url) => url.searchParams.get("m") === first);
  });

  it("goes through time: commit, diff, file, all in the URL", async () => {
    const { page } = await open("?m=11");
    await page.locator("main h1").focus();
    await page.keyboard.press("d");
    await page.waitForURL(/pane=diff/);
    const pane = page.getByRole("region", { name: "Side pane" });
    await pane.getByText(/^Edit \d of \d$/).waitFor();
    await pane.getByRole("button", { name: "Files" }).click();
    await pane.getByText(/before this message|at this message/).waitFor();
    await narrow(pane.getByRole("searchbox"), "README", pane.getByRole("treeitem"));
    await pane.getByRole("treeitem", { name: /README\.md/ }).click();
    await page.waitForURL(/f=README\.md/);
    await page.reload();
    await pane.getByText("README.md").first().waitFor();
  });

  it("leads from a change to its cause and back, by mouse and by keys, and ties both by a line", async () => {
    const { page } = await open("?m=13");
    const pill = page.getByRole("button", { name: /because of #/ }).first();
    await pill.waitFor();
    const text = await pill.innerText();
    const change = await page.locator("article", { has: pill }).first().getAttribute("data-seq");
    await pill.click();
    await page.waitForURL((url) => !["13", change].includes(url.searchParams.get("m")));
    const cause = new URL(page.url()).searchParams.get("m");
    expect(text).toContain(`#${cause}`);
    await page.locator("[data-cause-line]").first().waitFor();
    await page.locator("main h1").focus();
    await page.keyboard.press("Alt+ArrowLeft");
    await page.waitForURL((url) => url.searchParams.get("m") === change);
    await page.locator(`${row(Number(change))}[aria-current=true]`).waitFor();
    // The read led to more than this change: its lines go a moment after it is left.
    await page.waitForFunction(() => document.querySelectorAll("[data-cause-line]").length === 1);
    const line = await page.locator("[data-cause-line]").boundingBox();
    const [from, to] = await Promise.all([cause, change].map((seq) => page.locator(row(Number(seq))).boundingBox()));
    expect(line?.y).toBeGreaterThanOrEqual(from?.y ?? Number.NaN);
    expect((line?.y ?? 0) + (line?.height ?? 0)).toBeLessThanOrEqual((to?.y ?? 0) + (to?.height ?? 0));
    await page.keyboard.press("c");
    await page.waitForURL((url) => url.searchParams.get("m") === cause);
    await page.keyboard.press("e");
    await page.waitForURL((url) => ![null, cause].includes(url.searchParams.get("m")));
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("m"));
    await page.locator("[data-cause-line]").first().waitFor({ state: "detached" });
  });

  it("lists the changes a read led to, when there are several", async () => {
    const stage = await open("?m=13");
    const { page } = stage;
    const pill = page.getByRole("button", { name: /led to [2-9] changes/ }).first();
    const count = Number(/\d/.exec(await pill.innerText())?.[0]);
    await pill.click();
    const items = page.getByRole("menuitem");
    await items.first().waitFor();
    expect(await items.count()).toBe(count);
    const seq = /#(\d+)/.exec(await items.nth(1).innerText())?.[1];
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("m") === seq);
    expect(stage.problems()).toEqual([]);
  });

  it("moves along the timeline by keys, and reports where it is", async () => {
    const { page } = await open();
    const slider = page.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("End");
    await page.waitForURL(/m=25/);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^Message 26 of 26, /);
    await page.keyboard.press("Home");
    await page.waitForURL(/m=0/);
    // What the bar at the playhead holds, in words: beside it and for a screen reader.
    const note = page.getByRole("tooltip");
    await expect.poll(() => note.innerText()).toMatch(/^#0 [\d:]+\s+1 message: You 1$/);
    expect(await slider.getAttribute("aria-valuetext")).toContain("1 message: You 1");
    await page.keyboard.press("Escape");
    await note.waitFor({ state: "detached" });
    await page.keyboard.press("o");
    const splitter = page.getByRole("separator");
    const before = Number(await splitter.getAttribute("aria-valuenow"));
    await splitter.focus();
    await page.keyboard.press("ArrowRight");
    expect(Number(await splitter.getAttribute("aria-valuenow"))).toBeGreaterThan(before);
  });

  it("shows what can be done with a message beside its time, over no word", async () => {
    const { page } = await open();
    for (const seq of [0, 1, 2]) {
      const menu = page.locator(row(seq)).getByRole("button", { name: "Copy from this message" });
      await menu.waitFor();
      const over = await menu.evaluate((button) => {
        const box = button.parentElement?.getBoundingClientRect() ?? new DOMRect();
        const found: string[] = [];
        const walker = document.createTreeWalker(
          document.querySelector("[role=feed]") ?? document,
          NodeFilter.SHOW_TEXT,
        );
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const range = document.createRange();
          range.selectNodeContents(node);
          for (const { left, right, top, bottom } of range.getClientRects())
            if (left < box.right && right > box.left && top < box.bottom && bottom > box.top)
              found.push(node.textContent ?? "");
        }
        return found;
      });
      expect(over, `message ${seq}`).toEqual([]);
    }
  });

  it("explains the timeline: a legend of its marks, the kinds having their colour and name in the filters, a time axis, and each bar under the pointer", async () => {
    const stage = await open();
    const { page } = stage;
    const legend = page.getByRole("list", { name: "What the colours and marks mean" });
    expect((await legend.innerText()).split("\n")).toEqual(["Idle for over 2 minutes", "On screen"]);
    await page.getByRole("toolbar", { name: "Filters" }).getByText("Tool call", { exact: true }).waitFor();
    const axis = page.locator("[data-axis]");
    const words = (await axis.innerText()).split("\n");
    expect(words.length).toBeGreaterThan(4);
    for (const word of words) expect(word).toMatch(/^\d\d:\d\d(:\d\d)?$/);
    const box = await page.locator("[data-timeline]").boundingBox();
    if (!box) throw new Error("No timeline");
    await page.mouse.move(box.x + 1, box.y + 20);
    expect(await page.getByRole("tooltip").innerText()).toContain("1 message: You 1");
    await page.getByRole("button", { name: "Space by message" }).click();
    await expect.poll(() => axis.innerText()).toContain("#10");
    expect(await violations(stage, "[data-timeline]")).toEqual([]);
  });

  it("names the day on the axis and in the outline where a session goes on after midnight", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${await sessionId(stage, "Extremes by root finding")}?pane=outline`);
    const day = /^(\d+ \p{L}+|\p{L}+ \d+)/u;
    const words = (await page.locator("[data-axis]").innerText()).split("\n");
    expect(words.filter((word) => day.test(word))).toHaveLength(1);
    const pane = page.getByRole("region", { name: "Side pane" });
    await pane.getByText("Instead of stepping").waitFor();
    const times = await pane.locator("button .tnum.text-meta").filter({ hasText: ":" }).allInnerTexts();
    expect(times.map((time) => day.test(time))).toEqual([false, true]);
  });

  it("keeps the field that finds in the row of the filters beside kinds and errors", async () => {
    const { page } = await open();
    const bar = page.getByRole("toolbar", { name: "Filters" });
    await bar.getByRole("button", { name: "1 error" }).waitFor();
    for (const width of [1440, 1024]) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => bar.evaluate((row) => row.clientHeight)).toBeLessThan(48);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("shows a sub-agent at its call, closed until asked for", async () => {
    const { page } = await open("?m=2");
    const agent = page.getByRole("button", { name: /^Sub-agent:/ });
    expect(await agent.getAttribute("aria-expanded")).toBe("false");
    await agent.click();
    await page.locator("article ol li").first().waitFor();
  });

  it("shows no HTML of a message as HTML and loads no picture", async () => {
    const stage = await open();
    await stage.page.route("**/api/sessions/*/messages*", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { messages: { kind: string; text: string }[] };
      for (const message of body.messages)
        if (message.kind === "assistant")
          message.text = `<img src=x onerror="window.hit=1"> ![p](https://other.example/p.png) [l](https://other.example/x) [j](javascript:alert(1)) <script>window.hit=1</script>`;
      await route.fulfill({ response, json: body });
    });
    await stage.page.goto(`${stage.page.url()}?kinds=assistant`);
    await stage.page.getByText("other.example").first().waitFor();
    expect(
      await stage.page.evaluate(() => [
        (window as { hit?: number }).hit,
        document.querySelectorAll("article img, article script").length,
      ]),
    ).toEqual([undefined, 0]);
    expect(await stage.page.locator("article a[href^='javascript']").count()).toBe(0);
    expect(await stage.page.locator("article a[href='https://other.example/x']").first().getAttribute("rel")).toBe(
      "noopener noreferrer",
    );
    await stage.page.unroute("**/api/sessions/*/messages*");
    expect(stage.problems()).toEqual([]);
  });
});
