/** Opening a session of 20,000 messages, jumping in it, and what it keeps in memory. */
export async function openLong({ page, url, long }, row) {
  const started = performance.now();
  await page.goto(`${url}/sessions/${long.id}`, { waitUntil: "commit" });
  await page.waitForSelector("article .prose");
  row("20,000 messages: first rows, page load included", performance.now() - started, "ms", 1_500);
  await page.waitForLoadState("networkidle");
}

/** From the key to a row that is in the view with its text; how far from the middle it stands, in px. */
export async function jumpAndHeap({ page }, row) {
  const jumps = [];
  for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
    jumps.push(
      await page.evaluate(async (pressed) => {
        const box = document.querySelector("[data-transcript]").getBoundingClientRect();
        const before = document.querySelector("article[aria-current=true]")?.dataset.seq;
        const from = performance.now();
        const slider = document.querySelector("[data-timeline]");
        slider.dispatchEvent(new KeyboardEvent("keydown", { key: pressed, bubbles: true, shiftKey: true }));
        for (;;) {
          await new Promise(requestAnimationFrame);
          const row = document.querySelector("article[aria-current=true]");
          const place = row?.getBoundingClientRect();
          const isThere =
            row?.querySelector(".prose, pre, p, code, [role=group]") &&
            place.bottom > box.top &&
            place.top < box.bottom;
          if (isThere && row.dataset.seq !== before && !row.querySelector("[aria-busy=true]"))
            return {
              ms: performance.now() - from,
              off: Math.abs((place.top + place.bottom) / 2 - (box.top + box.bottom) / 2),
              edge: pressed === "Home",
            };
        }
      }, key),
    );
    await page.waitForLoadState("networkidle");
  }
  row("jump to a message, slowest of 4", Math.max(...jumps.map((one) => one.ms)), "ms", 100);
  row("jump: off the middle", Math.max(...jumps.filter((one) => !one.edge).map((one) => one.off)), "px", 60);
  await page.evaluate(() => window.gc());
  row(
    "heap with 20,000 messages, after it all",
    await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6),
    "MB",
    120,
  );
}
