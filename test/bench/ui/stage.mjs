/** A home with five sessions of 20,000 messages, the built service on it, a browser with an empty cache. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";
import { CLI, environment, start } from "../_service.mjs";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const UI = process.env.SESSARC_UI ?? join(ROOT, "dist/ui");
const SESSIONS = 5;

/** Undefined, and reports it, where there is no chromium. */
export async function openStage() {
  const executablePath = [
    process.env.CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/chromium-headless-shell",
  ].find((path) => path && existsSync(path));
  if (!executablePath) {
    console.log("No chromium (set CHROMIUM=…): sizes only");
    return;
  }
  const { chromium } = await import("playwright-core");
  const log = await createJiti(fileURLToPath(import.meta.url)).import("../../ui/long-session.ts");
  const dir = await mkdtemp(join(tmpdir(), "sessarc-bench-ui-"));
  const data = join(dir, "data");
  const long = [];
  // The last of them is the one that grows: it ended just now.
  for (let nth = 0; nth < SESSIONS; nth++)
    long.push(await log.writeLongSession(dir, 20_000, Date.now() - 60_000 - (SESSIONS - 1 - nth) * 86_400_000, nth));
  await new Promise((resolve) =>
    spawn(process.execPath, [CLI, "import", "--all"], { env: environment(dir, data), stdio: "ignore" }).on(
      "close",
      resolve,
    ),
  );
  const service = await start(dir, data);
  const { url } = service;
  const context = await chromium.launchPersistentContext(join(dir, "chromium"), {
    executablePath,
    viewport: { width: 1440, height: 900 },
    // Its filling of caches is no part of what is measured.
    serviceWorkers: "block",
    args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
  });
  const page = await context.newPage();
  let foreign = 0;
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) foreign++;
  });
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable");
  return {
    url,
    page,
    context,
    long: long[0],
    growing: long.at(-1),
    append: log.appendMessages,
    foreign: () => foreign,
    /** Main thread, ms since the page began: script, layout and style. */
    async work() {
      const { metrics } = await cdp.send("Performance.getMetrics");
      const of = (name) => metrics.find((one) => one.name === name)?.value ?? 0;
      return (of("ScriptDuration") + of("LayoutDuration") + of("RecalcStyleDuration")) * 1000;
    },
    async close() {
      await context.close();
      await service.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export { percentile } from "../_service.mjs";
