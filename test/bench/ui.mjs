/**
 * Budgets of the dashboard: sizes from the build's manifest, times and nodes from a real browser over a session of 20,000 messages.
 * Usage: node test/bench/ui.mjs [--sizes]   needs dist/ (npm run build) and chromium (CHROMIUM=…).
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createJiti } from "jiti";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const UI = process.env.SESSARC_UI ?? join(ROOT, "dist/ui");
const CLI = process.env.SESSARC_CLI ?? join(ROOT, "dist/cli.mjs");
const rows = [];
const row = (name, value, unit, limit) =>
  rows.push({ name, value: Number(value.toFixed(1)), unit, limit, ok: limit === undefined || value <= limit });

sizes();
if (!process.argv.includes("--sizes")) await browser();
for (const { name, value, unit, limit, ok } of rows)
  console.log(
    `${ok ? "ok  " : "OVER"} ${name.padEnd(52)} ${String(value).padStart(9)} ${unit}${limit === undefined ? "" : `  (at most ${limit})`}`,
  );
process.exitCode = rows.every((one) => one.ok) ? 0 : 1;

function sizes() {
  const manifest = JSON.parse(readFileSync(join(UI, ".vite/manifest.json"), "utf8"));
  const gz = (file) => gzipSync(readFileSync(join(UI, file))).length / 1000;
  /** What a page loads before it stands: static imports of its modules. */
  const needs = (keys) => {
    const seen = new Set();
    const visit = (key) => {
      if (seen.has(key)) return;
      seen.add(key);
      for (const next of manifest[key].imports ?? []) visit(next);
    };
    keys.forEach(visit);
    return [...seen].map((key) => manifest[key].file);
  };
  const sum = (files) => files.reduce((total, file) => total + gz(file), 0);
  const entry = "index.html";
  const page = (name) => Object.keys(manifest).find((key) => key.endsWith(`pages/${name}.vue`));
  row("entry and Home, JS gzip", sum(needs([entry, page("home")])), "kB", 90);
  const session = page("session");
  const markdown = Object.keys(manifest).find((key) => key.endsWith("session/markdown.ts"));
  row("session route before the highlighter, JS gzip", sum(needs([entry, session, markdown])), "kB", 190);
  const scripts = Object.values(manifest)
    .filter((one) => one.file.endsWith(".js") && !one.isEntry && !/@shikijs\/langs/.test(one.src ?? ""))
    .map((one) => [gz(one.file), one.file]);
  row(`largest other chunk (${scripts.sort((a, b) => b[0] - a[0])[0][1]})`, scripts[0][0], "kB", 60);
  const css = readdirSync(join(UI, "assets")).filter((name) => name.endsWith(".css"));
  row(
    "CSS gzip",
    css.reduce((total, name) => total + gz(join("assets", name)), 0),
    "kB",
    15,
  );
}

async function browser() {
  const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
    (path) => path && existsSync(path),
  );
  if (!executablePath) {
    console.log("No chromium (set CHROMIUM=…): sizes only");
    return;
  }
  const { chromium } = await import("playwright-core");
  const jiti = createJiti(dirname(fileURLToPath(import.meta.url)));
  const { writeLongSession } = await jiti.import("../ui/long-session.ts");
  const dir = await mkdtemp(join(tmpdir(), "sessarc-bench-ui-"));
  const env = { PATH: process.env.PATH, HOME: dir, SESSARC_DATA_DIR: join(dir, "data") };
  const { id } = await writeLongSession(dir, 20_000);
  await new Promise((resolve) =>
    spawn(process.execPath, [CLI, "import", "--all"], { env, stdio: "ignore" }).on("close", resolve),
  );
  const service = spawn(process.execPath, [CLI, "serve", "--port", "0", "--no-open"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let context;
  try {
    const url = await new Promise((resolve) => {
      let text = "";
      service.stdout.on("data", (chunk) => {
        text += chunk;
        const found = /ready at (\S+)\//.exec(text);
        if (found) resolve(found[1]);
      });
    });
    context = await chromium.launchPersistentContext(join(dir, "chromium"), {
      executablePath,
      viewport: { width: 1440, height: 900 },
      args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
    });
    const page = await context.newPage();
    let foreign = 0;
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:")) foreign++;
    });
    const cdp = await context.newCDPSession(page);
    await cdp.send("Performance.enable");
    await page.goto(url);
    await page.waitForLoadState("networkidle");
    await page.goto(url);
    await page.waitForLoadState("networkidle");
    const home = await page.evaluate(async () => ({
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
    row("Home, first contentful paint", home.fcp, "ms", 600);
    row("Home, largest contentful paint", home.lcp, "ms", 1_000);
    row("Home, layout shift × 100", home.cls * 100, "", 2);
    const started = performance.now();
    await page.goto(`${url}/sessions/${id}`, { waitUntil: "commit" });
    await page.waitForSelector("article .prose");
    row("20,000 messages: first rows, page load included", performance.now() - started, "ms", 1_500);
    await page.waitForLoadState("networkidle");
    const metrics = async () =>
      Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((one) => [one.name, one.value]));
    const before = await metrics();
    const scroll = await page.evaluate(async () => {
      const box = document.querySelector("[data-transcript]");
      const frames = [];
      let last = performance.now();
      let up = 0;
      let nodes = 0;
      for (let i = 0, top = box.scrollTop; i < 240; i++) {
        box.scrollTop += 300;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        frames.push(now - last);
        last = now;
        if (box.scrollTop < top - 2) up++;
        top = box.scrollTop;
        if (i % 20 === 0) nodes = Math.max(nodes, document.querySelectorAll("*").length);
      }
      frames.sort((a, b) => a - b);
      return { p95: frames[228], up, nodes };
    });
    const after = await metrics();
    row(
      "scrolling: script, layout and style a frame",
      ((after.ScriptDuration -
        before.ScriptDuration +
        after.LayoutDuration -
        before.LayoutDuration +
        after.RecalcStyleDuration -
        before.RecalcStyleDuration) /
        240) *
        1000,
      "ms",
      16,
    );
    // Without a graphics card and with other work on the machine the frame itself says little: told, not judged.
    row("scrolling: p95 of a frame (software rendering)", scroll.p95, "ms");
    row("scrolling: upward jumps", scroll.up, "", 0);
    row("scrolling: nodes", scroll.nodes, "", 1_500);
    const jump = await page.evaluate(async () => {
      const from = performance.now();
      const slider = document.querySelector("[data-timeline]");
      slider.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
      for (;;) {
        await new Promise(requestAnimationFrame);
        const row = document.querySelector("article[aria-current=true]");
        if (
          row?.querySelector(".prose, pre") &&
          row.getBoundingClientRect().top > 0 &&
          row.getBoundingClientRect().bottom < innerHeight
        )
          return performance.now() - from;
      }
    });
    row("jump to a message already loaded", jump, "ms", 100);
    await page.evaluate(() => window.gc());
    row("heap after it all", await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6), "MB", 120);
    row("requests to other origins", foreign, "", 0);
  } finally {
    await context?.close();
    service.kill();
    await new Promise((resolve) => service.once("close", resolve));
    await rm(dir, { recursive: true, force: true });
  }
}
