/** The session view: links into it, filters, search, time travel, causes, and a tail that never moves what is being read. */
import { expect, it } from "vitest";
import {
  describeUi,
  load,
  painted,
  type Stage,
  sessionId,
  settled,
  useSharedStage,
  useStage,
  visit,
} from "./browser.ts";
import { appendMessages, type LongSession, writeLongSession } from "./long-session.ts";

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
    await page.getByRole("button", { name: /^Thinking, / }).click();
    await page.waitForURL(/kinds=/);
    expect(await page.getByRole("button", { name: /^Thinking, / }).getAttribute("aria-pressed")).toBe("false");
    expect(await articles.count()).toBeLessThan(before);
    await page.reload();
    await settled(page);
    expect(await page.getByRole("button", { name: /^Thinking, / }).getAttribute("aria-pressed")).toBe("false");
    await page.getByRole("button", { name: /1 error/ }).click();
    await page.waitForURL(/errors=1/);
    expect(await articles.count()).toBe(1);
  });

  it("finds a text with f and goes on with n", async () => {
    const { page } = await open();
    await page.locator("main h1").focus();
    await page.keyboard.press("f");
    await page.keyboard.type("extremes");
    await page.getByText(/of \d+$/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/m=\d+/);
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
    await pane.getByText(/before this message|at this message/).waitFor();
    await pane.getByRole("button", { name: "Files" }).click();
    await pane.getByRole("searchbox").fill("README");
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

  it("moves along the timeline by keys, and tells where it is", async () => {
    const { page } = await open();
    const slider = page.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("End");
    await page.waitForURL(/m=25/);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^Message 26 of 26, /);
    await page.keyboard.press("Home");
    await page.waitForURL(/m=0/);
    const splitter = page.getByRole("separator");
    const before = Number(await splitter.getAttribute("aria-valuenow"));
    await splitter.focus();
    await page.keyboard.press("ArrowRight");
    expect(Number(await splitter.getAttribute("aria-valuenow"))).toBeGreaterThan(before);
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

describeUi("dashboard: a session of 20,000 messages", () => {
  let long: LongSession;
  const get = useStage({
    fill: async (home) => {
      long = await writeLongSession(home, 20_000, Date.now() - 30_000);
    },
  });

  it("opens with few requests and few nodes, and jumps anywhere", async () => {
    const stage = get();
    const { page } = stage;
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("/messages") && asked.push(request.url()));
    await load(stage, `/sessions/${long.id}`);
    await page.locator("article .prose").first().waitFor();
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThanOrEqual(1_500);
    await page.getByRole("slider").focus();
    await page.keyboard.press("End");
    await page.locator("article[aria-current=true] pre, article[aria-current=true] .prose").first().waitFor();
    await expect.poll(() => isInView(stage, "article[aria-current=true]")).toBe(true);
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThanOrEqual(1_500);
    await load(stage, `/sessions/${long.id}?m=9999`);
    await page.locator("article[aria-current=true] pre, article[aria-current=true] .prose").first().waitFor();
    await expect.poll(() => isInView(stage, "article[aria-current=true]")).toBe(true);
  });

  it("never moves the row being read while scrolling up over rows it has not measured", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, `/sessions/${long.id}?m=12000`);
    await page.locator("article[aria-current=true]").waitFor();
    const moved = await page.evaluate(async () => {
      const box = document.querySelector("[data-transcript]") as HTMLElement;
      const worst: number[] = [];
      for (let step = 0; step < 40; step++) {
        const mark = [...box.querySelectorAll("article")].find(
          (one) => one.getBoundingClientRect().top > box.getBoundingClientRect().top + 50,
        ) as HTMLElement;
        const { seq } = mark.dataset;
        const top = mark.getBoundingClientRect().top;
        box.scrollTop -= 200;
        const frame = () => new Promise(requestAnimationFrame);
        const off = () => {
          const again = box.querySelector(`article[data-seq="${seq}"]`);
          return again ? Math.abs(again.getBoundingClientRect().top - top - 200) : 0;
        };
        // Rows that come into being because others were measured are measured a frame later.
        await frame();
        await frame();
        await new Promise((resolve) => setTimeout(resolve));
        // A body that came since the frame was drawn is measured with the next: what moved for a reader is off then as well.
        const first = off();
        if (first > 2) await frame().then(frame);
        worst.push(Math.min(first, off()));
      }
      return Math.max(...worst);
    });
    expect(moved).toBeLessThanOrEqual(2);
  });

  it("takes in what is written while a reader is elsewhere without moving a pixel, and follows at the end", async () => {
    const stage = get();
    const { page } = stage;
    await load(stage, `/sessions/${long.id}?tail=1&m=5000`);
    await page
      .getByText(/^(live|following)$/)
      .first()
      .waitFor();
    const place = () => page.evaluate(() => (document.querySelector("[data-transcript]") as HTMLElement).scrollTop);
    await page.locator("article[aria-current=true] .prose, article[aria-current=true] pre").first().waitFor();
    await settled(page).catch(() => {});
    const before = await place();
    await appendMessages(long, 5, "while you read");
    await page.getByRole("button", { name: /Newest \(5 new\)/ }).waitFor();
    expect(await place()).toBe(before);
    await page.getByRole("button", { name: /Newest/ }).click();
    await page.locator("article").getByText("while you read 4").waitFor();
    await appendMessages(long, 1, "at the end");
    await page.locator("article").getByText("at the end 0").waitFor();
    await expect.poll(() => isInView(stage, "article:last-of-type")).toBe(true);
    await page.mouse.move(500, 400);
    await page.mouse.wheel(0, -400);
    await page.waitForFunction(() => {
      const box = document.querySelector("[data-transcript]") as HTMLElement;
      return box.scrollHeight - box.scrollTop - box.clientHeight > 100;
    });
    // A wheel scrolls by and by, and rows that come are measured.
    let up = await place();
    await expect
      .poll(async () => {
        const before = up;
        await painted(page);
        up = await place();
        return up - before;
      })
      .toBe(0);
    await appendMessages(long, 1, "after leaving");
    await page.getByRole("button", { name: /Newest \(1 new\)/ }).waitFor();
    expect(await place()).toBe(up);
  });
});

function isInView({ page }: Stage, selector: string): Promise<boolean> {
  return page.evaluate((wanted) => {
    const all = [...document.querySelectorAll(wanted)];
    const box = document.querySelector("[data-transcript]")?.getBoundingClientRect();
    return all.some((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return box !== undefined && bottom > box.top && top < box.bottom;
    });
  }, selector);
}
