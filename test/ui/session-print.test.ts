/** A session on paper: all of it, whatever was on the screen; afterwards everything is as before. */
import { expect, it } from "vitest";
import { describeUi, type Stage, useStage, visit } from "./browser.ts";
import { writeLongSession } from "./long-session.ts";

/** What is on the page at the moment of printing: the print dialog of a test writes it down. */
const printed = ({ page }: Stage, act: () => Promise<void>) =>
  page
    .evaluate(() => {
      const state = window as unknown as { paper?: { rows: number; bodies: number; text: string } };
      state.paper = undefined;
      window.print = () => {
        const list = document.querySelector("[data-print]");
        state.paper = {
          rows: list?.querySelectorAll("article").length ?? 0,
          bodies: list?.querySelectorAll("article:not(:has([aria-busy]))").length ?? 0,
          text: list?.textContent ?? "",
        };
        window.dispatchEvent(new Event("afterprint"));
      };
    })
    .then(act)
    .then(() =>
      page.waitForFunction(
        () => (window as unknown as { paper?: { rows: number; bodies: number; text: string } }).paper,
      ),
    )
    .then((paper) => paper.jsonValue())
    .then((paper) => {
      if (!paper) throw new Error("Nothing was printed");
      return paper;
    });

const isInView = (one: Element): boolean => {
  const { top, bottom } = one.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
};

describeUi("dashboard: printing a session", () => {
  const ids: string[] = [];
  const get = useStage({
    fill: async (home) => {
      ids.push((await writeLongSession(home, 180)).id, (await writeLongSession(home, 2_300, undefined, 1)).id);
    },
  });

  it("prints every message from the menu and by keys, and leaves the screen as it was", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${ids[0]}?m=90`);
    // The selected row exists before the list has gone there: only with its text in view has it arrived.
    const text = page.locator("article[aria-current=true] :is(.prose, pre)").first();
    await expect.poll(() => text.evaluate(isInView)).toBe(true);
    const mounted = await page.locator("article").count();
    expect(mounted).toBeLessThan(60);
    const place = () => page.evaluate(() => document.querySelector("[data-transcript]")?.scrollTop);
    const before = await place();
    const byMouse = await printed(stage, async () => {
      await page.getByRole("button", { name: "Session actions" }).click();
      await page.getByRole("menuitem", { name: /^Print/ }).click();
    });
    // Turns of nine messages, each of three calls with its result in one row: six rows.
    expect(byMouse.rows).toBe(120);
    expect(byMouse.bodies).toBe(120);
    expect(byMouse.text).toContain("Step 0: ");
    expect(byMouse.text).toContain("Step 19: ");
    expect(byMouse.text).toContain("24→const row23 = 23;");
    await page.locator("[data-print]").waitFor({ state: "detached" });
    await expect.poll(() => page.locator("article").count()).toBe(mounted);
    await expect.poll(place).toBe(before);
    await page.locator("main h1").focus();
    const byKeys = await printed(stage, () => page.keyboard.press("Control+p"));
    expect(byKeys.rows).toBe(120);
    expect(stage.problems()).toEqual([]);
  });

  it("is many pages on paper, also from the browser's own menu, and what the filters leave out is reported", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${ids[0]}`);
    const pages = (pdf: Buffer) => pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    await printed(stage, () => page.keyboard.press("Control+p"));
    const all = pages(await page.pdf());
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--add"))).toBe(
      "#ebf8ee",
    );
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
    expect(all).toBeGreaterThan(5);
    await page.locator("[data-print]").waitFor({ state: "detached" });
    await visit(stage, `/sessions/${ids[0]}?kinds=user`);
    const paper = await printed(stage, () => page.keyboard.press("Control+p"));
    expect(paper.rows).toBe(20);
    expect(paper.text).toContain("With filters: 20 of 180 messages.");
    expect(pages(await page.pdf())).toBeLessThan(all / 3);
    stage.problems();
  });

  it("prints the first 2,000 messages of a very long one and says where the whole is to be had", async () => {
    const stage = get();
    await visit(stage, `/sessions/${ids[1]}`);
    const paper = await printed(stage, () => stage.page.keyboard.press("Control+p"));
    expect(paper.text).toMatch(/The first 2,000 of 2,3\d\d messages\. For the whole session, use Export redacted\./);
    expect(paper.rows).toBeGreaterThan(1_300);
    expect(paper.rows).toBeLessThan(1_340);
    expect(paper.bodies).toBe(paper.rows);
  });

  it("asked for before the session is there, prints all of it when it is, and nothing where the reader has left", async () => {
    const stage = get();
    const { page } = stage;
    let answer = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await visit(stage, "/projects");
    await page.route("**/outline*", async (route) => {
      await gate;
      // Who asked first has left.
      await route.continue().catch(() => {});
    });
    const open = (path: string) =>
      page.evaluate((address) => {
        history.pushState(null, "", address);
        dispatchEvent(new PopStateEvent("popstate"));
      }, path);
    const paper = await printed(stage, async () => {
      await open(`/sessions/${ids[0]}`);
      await page.getByRole("button", { name: "Session actions" }).waitFor();
      await page.keyboard.press("Control+p");
      await open("/projects");
      await page.getByRole("heading", { level: 1, name: /^Code/ }).waitFor();
      await open(`/sessions/${ids[1]}`);
      await page.getByRole("button", { name: "Session actions" }).waitFor();
      await page.keyboard.press("Control+p");
      answer();
    });
    expect(paper.rows).toBeGreaterThan(1_300);
    expect(paper.bodies).toBe(paper.rows);
    await page.unroute("**/outline*");
  });
});
