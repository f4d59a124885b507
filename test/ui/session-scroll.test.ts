/** What scrolling and growing may cost in a session of 20,000 messages: counted in rows, nodes, drawings and requests, not in time. */
import { expect, it } from "vitest";
import { describeUi, settled, useStage, visit } from "./browser.ts";
import { appendMessages, type LongSession, writeLongSession } from "./long-session.ts";

describeUi("dashboard: scrolling a session of 20,000 messages", () => {
  let long: LongSession;
  const get = useStage({
    fill: async (home) => {
      long = await writeLongSession(home, 20_000, Date.now() - 30_000);
    },
  });

  it("mounts a row when it comes near, leaves those that stay alone, and draws the timeline not at all", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${long.id}`);
    await page.locator("article .prose").first().waitFor();
    const seen = await page.evaluate(async () => {
      const box = document.querySelector("[data-transcript]") as HTMLElement;
      const canvas = document.querySelector("[data-timeline] canvas") as HTMLElement;
      const isNew = new Set<Element>();
      const mounted: string[] = [];
      const counts = { touched: 0, coloured: 0, up: 0, nodes: 0, drawn: Number(canvas.dataset.drawn) };
      const observer = new MutationObserver((records) => {
        for (const { addedNodes, target } of records) {
          if ((target as Element).matches("code.shiki")) counts.coloured++;
          const article = (target as Element).closest("article");
          if (article && !isNew.has(article) && box.contains(article)) counts.touched++;
          for (const node of addedNodes) {
            if (!(node instanceof HTMLElement)) continue;
            const row = node.localName === "article" ? node : node.querySelector("article");
            if (!row) continue;
            isNew.add(row);
            mounted.push((row as HTMLElement).dataset.seq ?? "");
          }
        }
      });
      // To the page the scrolling takes no time: on a busy machine two frames are so far apart that it rests in between.
      const now = performance.now();
      performance.now = () => now;
      // Until the page hears of the first step it is at rest, and colours.
      box.scrollTop += 300;
      await new Promise(requestAnimationFrame);
      observer.observe(box, { subtree: true, childList: true });
      for (let step = 0, top = box.scrollTop; step < 120; step++) {
        box.scrollTop += 300;
        await new Promise(requestAnimationFrame);
        isNew.clear();
        if (box.scrollTop < top - 2) counts.up++;
        top = box.scrollTop;
        counts.nodes = Math.max(counts.nodes, document.querySelectorAll("*").length);
      }
      observer.disconnect();
      Reflect.deleteProperty(performance, "now");
      const last = [...box.querySelectorAll("article")].at(-1)?.getAttribute("aria-posinset");
      return { ...counts, drawn: Number(canvas.dataset.drawn) - counts.drawn, mounted, last: Number(last) };
    });
    expect(seen.up).toBe(0);
    expect(seen.nodes).toBeLessThanOrEqual(1_500);
    expect(seen.drawn).toBe(0);
    // One that had begun may end.
    expect(seen.coloured).toBeLessThanOrEqual(1);
    const distinct = new Set(seen.mounted).size;
    expect(distinct).toBeGreaterThan(100);
    expect(distinct).toBeLessThanOrEqual(seen.last + 1);
    // A row at the edge may come twice: those before it turn out higher than guessed, it goes, and is scrolled to again.
    expect(seen.mounted.length).toBeLessThan(distinct * 1.5);
    // Bodies that came late fill a few; redrawing what stays would be thousands.
    expect(seen.touched).toBeLessThan(seen.mounted.length);
    // At rest the colours come.
    await page.locator("article .shiki").first().waitFor();
  });

  it("asks for bodies where a dragged thumb comes to rest, not along its way", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${long.id}?m=0`);
    const asked: string[] = [];
    const note = (request: { url(): string }) => request.url().includes("/messages") && asked.push(request.url());
    page.on("request", note);
    await page.evaluate(async () => {
      // To the page the drag takes no time: on a busy machine two frames are so far apart that the thumb rests in between.
      const { setTimeout, clearTimeout } = window;
      const held = new Map<number, Parameters<typeof setTimeout>>();
      let ids = 1e9;
      Object.assign(window, {
        setTimeout: (...timer: Parameters<typeof setTimeout>) => held.set(++ids, timer) && ids,
        clearTimeout: (id: number) => held.delete(id) || clearTimeout(id),
      });
      const box = document.querySelector("[data-transcript]") as HTMLElement;
      for (let step = 0; step < 40; step++) {
        box.scrollTop += 20_000;
        await new Promise(requestAnimationFrame);
      }
      Object.assign(window, { setTimeout, clearTimeout });
      for (const timer of held.values()) setTimeout(...timer);
    });
    await page.locator("article .prose").first().waitFor();
    await settled(page);
    page.off("request", note);
    expect(asked.length).toBeGreaterThan(0);
    // 800,000 px are more than fifty pages.
    expect(asked.length).toBeLessThanOrEqual(10);
    expect(await page.locator("article [aria-busy=true]").count()).toBe(0);
  });

  it("takes bursts of live messages without moving or redrawing a row that is being read", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${long.id}?tail=1&m=9999`);
    await page
      .getByText(/^(live|following)$/)
      .first()
      .waitFor();
    await page.locator("article[aria-current=true] .prose, article[aria-current=true] pre").first().waitFor();
    await page.locator("article .shiki").first().waitFor();
    await page.evaluate(() => {
      const box = document.querySelector("[data-transcript]") as HTMLElement;
      const place = () => [
        box.scrollTop,
        ...[...box.querySelectorAll("article")].map((one) => one.getBoundingClientRect().top),
      ];
      const from = place().join();
      const seen = { moved: 0, frames: 0, redrawn: 0, on: true };
      (window as unknown as { seen: typeof seen }).seen = seen;
      new MutationObserver((records) => {
        for (const { target } of records)
          if ((target as Element).closest?.("article") && !(target as Element).closest("code")) seen.redrawn++;
      }).observe(box, { subtree: true, childList: true });
      const step = () => {
        seen.frames++;
        if (place().join() !== from) seen.moved++;
        if (seen.on) requestAnimationFrame(step);
      };
      step();
    });
    for (let burst = 1; burst <= 3; burst++) {
      await appendMessages(long, 20, `burst ${burst}`);
      await page.getByRole("button", { name: new RegExp(`Newest \\(${burst * 20} new\\)`) }).waitFor();
    }
    const seen = await page.evaluate(() => {
      const { seen } = window as unknown as { seen: { moved: number; frames: number; redrawn: number; on: boolean } };
      seen.on = false;
      return seen;
    });
    expect(seen.frames).toBeGreaterThan(1);
    expect(seen.moved).toBe(0);
    expect(seen.redrawn).toBe(0);
    await page.getByRole("button", { name: /Newest/ }).click();
    await page.locator("article").getByText("burst 3 19").waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
