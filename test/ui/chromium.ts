/** Chromium: where it is, how it is started, and how a test file comes to it. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserServer, chromium } from "playwright-core";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the run's browser listens. */
    browser: string | undefined;
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
  ...(EXECUTABLE === undefined ? {} : { executablePath: EXECUTABLE }),
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};

/** The one browser of a run; each file has a context of its own in it. */
export const startBrowser = (): Promise<BrowserServer> => chromium.launchServer(OPTIONS);

/** Connects to the run's browser; starts one where there is none, as when a file is added to a watched run. */
export async function openBrowser(endpoint: string | undefined): Promise<Browser> {
  if (EXECUTABLE === undefined) throw new Error("No chromium: set CHROMIUM to its path");
  return endpoint === undefined ? chromium.launch(OPTIONS) : chromium.connect(endpoint);
}
