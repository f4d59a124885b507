/** Frames while a session of 20,000 messages is scrolled, at several speeds and by several means, beside a list of plain text. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { percentile, ROOT, sleep } from "./stage.mjs";

const BOX = "[data-transcript]";
/** A frame longer than this was seen. */
const LONG = 33;

/** Notes each frame: when the browser began it, when its script ran, where the list stood, how many nodes there were. */
const begin = (page) =>
  page.evaluate((selector) => {
    const box = document.querySelector(selector);
    const notes = { starts: [], runs: [], tops: [], nodes: 0, on: true };
    window.__notes = notes;
    const step = (at) => {
      notes.starts.push(at);
      notes.runs.push(performance.now());
      notes.tops.push(box.scrollTop);
      if (notes.starts.length % 20 === 0) notes.nodes = Math.max(notes.nodes, document.querySelectorAll("*").length);
      if (notes.on) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }, BOX);
const end = (page) =>
  page.evaluate(() => {
    window.__notes.on = false;
    return window.__notes;
  });
const gaps = (times) => times.slice(1).map((time, i) => time - times[i]);

/** Scripted: a step with each frame. */
const byScript = (frames, step) => (page) =>
  page.evaluate(
    async ([selector, count, px]) => {
      const box = document.querySelector(selector);
      const by = px ?? (box.scrollHeight - box.scrollTop) / count;
      for (let i = 0; i < count; i++) {
        box.scrollTop += by;
        await new Promise(requestAnimationFrame);
      }
    },
    [BOX, frames, step],
  );
/** The wheel of a mouse, `turns` times 60 a second. */
const byWheel = (turns, step) => async (page) => {
  await page.mouse.move(400, 400);
  for (let i = 0; i < turns; i++) await Promise.all([page.mouse.wheel(0, step), sleep(16)]);
  await sleep(100);
};
const byKey = (times) => async (page) => {
  await page.focus(BOX);
  for (let i = 0; i < times; i++) await Promise.all([page.keyboard.press("PageDown"), sleep(120)]);
  await sleep(200);
};

async function measure(page, way) {
  await page.evaluate((selector) => {
    document.querySelector(selector).scrollTop = 0;
  }, BOX);
  await page.waitForLoadState("networkidle");
  await sleep(400);
  await begin(page);
  await way(page);
  const { starts, runs, tops, nodes } = await end(page);
  const frames = gaps(starts);
  return {
    count: frames.length,
    p95: percentile(frames, 95),
    script: percentile(gaps(runs), 95),
    long: (frames.filter((ms) => ms > LONG).length / frames.length) * 100,
    up: gaps(tops).filter((px) => px < -2),
    nodes,
  };
}

/** What this machine and browser draw at best: 20,000 rows of plain text in a bare virtual list. Told, not judged. */
export async function floor({ context }, row) {
  const dir = await mkdtemp(join(ROOT, "node_modules", ".sessarc-bare-"));
  const page = await context.newPage();
  try {
    await mkdir(join(dir, "src"));
    await writeFile(join(dir, "src/index.html"), `<div id="app"></div><script type="module" src="/main.js"></script>`);
    await writeFile(
      join(dir, "src/main.js"),
      `import { createApp, h, ref } from "vue";
       import { Virtualizer } from "virtua/vue";
       const data = Array.from({ length: 20000 }, (_, i) => i);
       const style = "height:100vh;width:760px;overflow-y:auto;overflow-anchor:none;font:13px/20px sans-serif";
       const text = (i) => i + " the limit is clamped to one and the failing assertion compares".repeat(1 + (i * 7) % 5);
       const item = ({ item: i }) => h("article", { key: i, style: "padding:6px 16px" }, text(i));
       createApp({ setup() {
         const box = ref();
         return () => h("div", { ref: box, "data-transcript": "", style }, box.value && h(Virtualizer, { data, scrollRef: box.value, bufferSize: 240 }, { default: item }));
       } }).mount("#app");`,
    );
    const { build, preview } = await import("vite");
    const config = {
      root: join(dir, "src"),
      configFile: false,
      logLevel: "silent",
      build: { outDir: join(dir, "out") },
    };
    await build(config);
    const server = await preview({ ...config, preview: { port: 0, host: "127.0.0.1" } });
    await page.goto(`http://127.0.0.1:${server.httpServer.address().port}/`);
    await page.waitForSelector(`${BOX} article`);
    const found = await measure(page, byScript(240, 300));
    row("bare list of plain text, 300 px a frame: p95 of a frame", found.p95, "ms");
    row("bare list of plain text: p95 as its script sees it", found.script, "ms");
    await server.close();
  } finally {
    await page.close();
    await rm(dir, { recursive: true, force: true });
  }
}

export async function scroll({ page, work }, row) {
  const ways = [
    ...[100, 300, 600].map((px) => [`${px} px a frame`, byScript(240, px)]),
    ...[100, 300, 600].map((px) => [`wheel ${px} px`, byWheel(150, px)]),
    ["Page Down", byKey(30)],
    ["thumb, all of it in 4 s", byScript(240, undefined)],
  ];
  let nodes = 0;
  const up = [];
  for (const [name, way] of ways) {
    const before = await work();
    const found = await measure(page, way);
    row(`scroll, ${name}: p95 of a frame`, found.p95, "ms", 20);
    row(`scroll, ${name}: frames over ${LONG} ms`, found.long, "%", 2);
    row(`scroll, ${name}: p95 as a script sees it`, found.script, "ms", name === "300 px a frame" ? 20 : undefined);
    row(`scroll, ${name}: script, layout, style a frame`, ((await work()) - before) / found.count, "ms", 16);
    nodes = Math.max(nodes, found.nodes);
    up.push(...found.up.map((px) => `${name} ${Math.round(px)} px`));
  }
  row(`scroll: upward jumps over 2 px${up.length > 0 ? ` (${up.join(", ")})` : ""}`, up.length, "", 0);
  row("scroll: nodes", nodes, "", 1_500);
}
