/** Home from cold, a walk by mouse and keys (INP), changes of screen, and search while typing. */
import { gzipSync } from "node:zlib";
import { percentile, sleep } from "./stage.mjs";

export async function home({ page, url }, row) {
  const scripts = [];
  const fonts = [];
  const note = (response) => {
    if (!/\.(js|woff2)$/.test(response.url())) return;
    (response.url().endsWith(".js") ? scripts : fonts).push(response.body());
  };
  page.on("response", note);
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  const kB = async (list, pack) => (await Promise.all(list)).reduce((sum, body) => sum + pack(body).length, 0) / 1000;
  row("Home, all JS fetched cold, gzip", await kB(scripts, gzipSync), "kB", 130);
  row("fonts fetched cold", await kB(fonts, (body) => body), "kB", 100);
  page.off("response", note);
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  const { fcp, lcp, cls } = await page.evaluate(async () => ({
    fcp: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    lcp: await new Promise((resolve) =>
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({
        type: "largest-contentful-paint",
        buffered: true,
      }),
    ),
    cls: await new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value;
      }).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => resolve(sum), 300);
    }),
  }));
  row("Home, first contentful paint", fcp, "ms", 600);
  row("Home, largest contentful paint", lcp, "ms", 1_000);
  row("Home, layout shift × 100", cls * 100, "", 2);
}

/** Each interaction's longest event, from input to the next paint. What took less than 16 ms is not reported and counts as 16. */
export async function walk({ page, url, long }, row) {
  await page.goto(`${url}/sessions/${long.id}`);
  await page.waitForSelector("article .prose");
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => {
    window.__longest = new Map();
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId)
          window.__longest.set(interactionId, Math.max(duration, window.__longest.get(interactionId) ?? 0));
    }).observe({ type: "event", durationThreshold: 16 });
  });
  const press = async (...keys) => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await sleep(150);
    }
  };
  const type = (text) => page.keyboard.type(text, { delay: 60 });
  const click = async (name) => {
    await page.getByRole("button", { name }).first().click();
    await sleep(200);
  };
  await press("Control+k");
  await type("long");
  await sleep(300);
  await press("ArrowDown", "ArrowUp", "Escape");
  for (const kind of [/^Thinking, /, /^Result, /]) for (const _ of "xx") await click(kind);
  await press("f");
  await type("timer");
  await sleep(400);
  await press("Enter", "Escape");
  for (const nth of [1, 3, 2]) {
    const place = await page.locator("article").nth(nth).boundingBox();
    if (place) await page.mouse.click(place.x + 300, place.y + 8);
    await sleep(200);
  }
  await page.locator("main h1").focus();
  await press("j", "j", "j", "k", "J", "K", "n", "d", "o");
  for (const view of ["Overview", "Read"]) {
    await page.getByText(view, { exact: true }).first().click();
    await sleep(400);
  }
  await page.locator("main h1").focus();
  await press("g", "s");
  await page.waitForURL(/\/search/);
  await sleep(300);
  await type("clamped assertion");
  await sleep(500);
  const { longest, count } = await page.evaluate(() => ({
    longest: [...window.__longest.values()],
    count: performance.interactionCount,
  }));
  const all = [...longest, ...Array.from({ length: Math.max(0, (count ?? 0) - longest.length) }, () => 16)];
  row("walk: interactions", all.length, "");
  row("walk: INP, p75", percentile(all, 75), "ms", 200);
  row("walk: INP, slowest", Math.max(...all), "ms", 500);
}

/** From the click to the content of a screen seen before. */
export async function routes({ page, url }, row) {
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  const go = (path, content) =>
    page.evaluate(
      async ([to, wanted]) => {
        const from = performance.now();
        document.querySelector(`nav a[href="${to}"]`).click();
        while (location.pathname !== to || !document.querySelector(wanted)) await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        return performance.now() - from;
      },
      [path, content],
    );
  const there = [];
  for (let round = 0; round < 3; round++) {
    for (const [path, content] of [
      ["/projects", "main table tbody tr"],
      ["/search", "main a[data-result]"],
      ["/", "main a[href^='/sessions/']"],
    ]) {
      const ms = await go(path, content);
      // The first time is not from the cache.
      if (round > 0) there.push(ms);
      await page.waitForLoadState("networkidle");
    }
  }
  row("change of screen with cached data, slowest of 6", Math.max(...there), "ms", 150);
}

/** From the last key of a word to its marks in the results, painted, in an archive of 100,000 messages. */
export async function search({ page, url }, row) {
  await page.goto(`${url}/search`);
  await page.waitForLoadState("networkidle");
  const times = [];
  for (const word of ["clamped", "failing", "assertion", "compares", "created", "before", "timer", "limit"]) {
    const field = page.getByRole("searchbox").first();
    await field.selectText();
    const painted = page.evaluate(async (wanted) => {
      let last = 0;
      const note = () => {
        last = performance.now();
      };
      addEventListener("keydown", note, true);
      const isShown = () =>
        [...document.querySelectorAll("main ol mark")].some((mark) => mark.textContent.toLowerCase() === wanted);
      while (!isShown()) await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      removeEventListener("keydown", note, true);
      return performance.now() - last;
    }, word);
    await page.keyboard.type(word, { delay: 20 });
    times.push(await painted);
    await page.waitForLoadState("networkidle");
  }
  row("search, last key to results painted, median of 8", percentile(times, 50), "ms", 250);
  row("search, last key to results painted, slowest of 8", Math.max(...times), "ms", 250);
}
