/**
 * A session of 20,000 messages: it opens and jumps, and neither scrolling nor growing moves what is being read. What that may cost is counted in rows,
 * nodes, drawings and requests, not in time.
 */
import { expect, it } from "vitest";
import { describeUi, load, painted, type Stage, settled, useStage, visit } from "./browser.ts";
import { appendMessages, type LongSession, writeLongSession } from "./long-session.ts";

describeUi("dashboard: a session of 20,000 messages", () => {
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

  it("opens where it was left however late the answers come: asks for nothing of its beginning, and does not forget the place", async () => {
    const stage = get();
    const { page } = stage;
    const left = () =>
      page.evaluate(() => JSON.parse(localStorage.getItem("sessarc:positions") ?? "[]")[0]?.[1] as number | undefined);
    const leave = async () => {
      await page.evaluate(() => {
        history.pushState(null, "", "/nowhere/at/all");
        dispatchEvent(new PopStateEvent("popstate"));
      });
      await page.locator("[data-transcript]").waitFor({ state: "detached" });
    };
    await visit(stage, `/sessions/${long.id}?m=12345`);
    await page.locator("article[aria-current=true] .prose, article[aria-current=true] pre").first().waitFor();
    await settled(page);
    await leave();
    const place = await left();
    expect(place).toBeGreaterThan(12_300);
    const asked: number[] = [];
    let answer = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/messages?*", async (route) => {
      asked.push(Number(new URL(route.request().url()).searchParams.get("after") ?? -1));
      await gate;
      // Who asked first has left.
      await route.continue().catch(() => {});
    });
    await page.goto(`${stage.url}/sessions/${long.id}`);
    await page.locator("article").first().waitFor();
    // What was drawn is measured, and what is in view told.
    await painted(page);
    await painted(page);
    await leave();
    expect(await left()).toBe(place);
    await page.goto(`${stage.url}/sessions/${long.id}`);
    await page.locator("article").first().waitFor();
    answer();
    await settled(page);
    await leave();
    expect(await left()).toBe(place);
    expect(asked.length).toBeGreaterThan(0);
    expect(Math.min(...asked)).toBeGreaterThan(11_900);
    await page.unroute("**/messages?*");
  });

  it("opens with few requests and few nodes, and jumps anywhere", async () => {
    const stage = get();
    const { page } = stage;
    // Nothing is left of the page before that may still ask, nor of the place it was at.
    await page.goto(`${stage.url}/favicon.svg`);
    await page.evaluate(() => localStorage.removeItem("sessarc:positions"));
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("/messages") && asked.push(request.url()));
    await load(stage, `/sessions/${long.id}`);
    await page.locator("article .prose").first().waitFor();
    expect(asked.length).toBeLessThanOrEqual(1);
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThanOrEqual(1_500);
    await page.getByRole("slider").focus();
    await page.keyboard.press("End");
    await page.locator("article[aria-current=true] pre, article[aria-current=true] .prose").first().waitFor();
    await expect.poll(() => isInView(stage, "article[aria-current=true]")).toBe(true);
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThanOrEqual(1_500);
    await visit(stage, `/sessions/${long.id}?m=9999`);
    await page.locator("article[aria-current=true] pre, article[aria-current=true] .prose").first().waitFor();
    await expect.poll(() => isInView(stage, "article[aria-current=true]")).toBe(true);
  });

  it("never moves the row being read while scrolling up over rows it has not measured", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${long.id}?m=12000`);
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
        // A body that is new since the frame was drawn is measured with the next: what moved for a reader is off then as well.
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
    // What the burst wrote is not new any more.
    await stage.served.kernel.fetch("/api/sync?wait=1", { method: "POST" });
    await visit(stage, `/sessions/${long.id}?tail=1&m=5000`);
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
    await page.locator("[data-transcript]").hover();
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
