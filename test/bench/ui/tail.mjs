/** A session that grows by 20 messages a second while its middle is being read. */
import { sleep } from "./stage.mjs";

const SECONDS = 5;
const RATE = 20;

export async function tail(stage, row) {
  const { page, url, growing } = stage;
  await page.goto(`${url}/sessions/${growing.id}?tail=1&m=10000`);
  await page.waitForSelector("article[aria-current=true]");
  await page.getByText("live", { exact: true }).first().waitFor();
  await page.waitForLoadState("load");
  await sleep(1_500);
  await page.evaluate(() => {
    const box = document.querySelector("[data-transcript]");
    const place = () => ({
      top: box.scrollTop,
      row: document.querySelector("article[aria-current=true]").getBoundingClientRect().top,
    });
    const from = place();
    window.__moved = { px: 0, frames: 0, on: true };
    const step = () => {
      const now = place();
      const moved = window.__moved;
      moved.px = Math.max(moved.px, Math.abs(now.top - from.top), Math.abs(now.row - from.row));
      moved.frames++;
      if (moved.on) requestAnimationFrame(step);
    };
    step();
  });
  const before = await stage.work();
  for (let i = 0; i < SECONDS * RATE; i++)
    await Promise.all([stage.append(growing, 1, `message ${i}`), sleep(1_000 / RATE)]);
  await page.getByRole("button", { name: new RegExp(`\\(${SECONDS * RATE} new\\)`) }).waitFor();
  const ms = (await stage.work()) - before;
  const { px, frames } = await page.evaluate(() => {
    window.__moved.on = false;
    return window.__moved;
  });
  row("live, 20 messages a second: movement of what is read", px, "px", 0);
  row("live: script, layout, style a frame", ms / frames, "ms", 4);
  row("live: script, layout, style a message", ms / (SECONDS * RATE), "ms", 4);
}
