/** Chromium: where it is, how it is started, and how a test file comes to it. */
import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder for what lasts as long as the run. */
    stages: string | undefined;
  }
}

/** Undefined on a machine without one. */
export const EXECUTABLE = [
  process.env.CHROMIUM,
  // The same browser without windows: a quarter less of a processor.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));

/** True: tests of the dashboard are skipped. On a build server (CI=true) they fail instead. */
export const NO_BROWSER = EXECUTABLE === undefined && process.env.CI !== "true";

const OPTIONS = {
  handleSIGTERM: false,
  ...(EXECUTABLE === undefined ? {} : { executablePath: EXECUTABLE }),
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // Pages live for seconds: what these two cost is never earned back.
    "--in-process-gpu",
    "--js-flags=--no-turbofan --no-maglev",
  ],
};

/** Of this process, as all its files share it. It speaks over a pipe, which ends with the process, and so does the browser. */
let shared: Promise<Browser> | undefined;

/** The browser of all files of this process: close what you open in it, and not the browser. */
export function openBrowser(): Promise<Browser> {
  if (EXECUTABLE === undefined) throw new Error("No chromium: set CHROMIUM to its path");
  shared ??= launch();
  return shared;
}

async function launch(): Promise<Browser> {
  // A second of a processor: not for the process that only asks whether there is a browser.
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch(OPTIONS);
  // One that has crashed takes no further test with it.
  browser.once("disconnected", () => {
    shared = undefined;
  });
  // Vitest ends its processes so: the browser takes its profile with it.
  process.once("SIGTERM", () => void browser.close().finally(() => process.exit()));
  return browser;
}
