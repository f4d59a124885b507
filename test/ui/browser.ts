/** A real browser over a real service, for tests of the dashboard. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, ConsoleMessage, Locator, Page, Request } from "playwright-core";
import type { Plugin } from "sessarc";
import { loadConfig, type Served, serve } from "sessarc/serve";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject } from "vitest";
import archive from "../../plugins/archive/index.ts";
import blame from "../../plugins/blame/index.ts";
import budget from "../../plugins/budget/index.ts";
import causality from "../../plugins/causality/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import dashboard from "../../plugins/dashboard/index.ts";
import demo, { writeDemo } from "../../plugins/demo/index.ts";
import feedback from "../../plugins/feedback/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import git from "../../plugins/git/index.ts";
import health from "../../plugins/health/index.ts";
import insights from "../../plugins/insights/index.ts";
import live, { type TurnTimes } from "../../plugins/live/index.ts";
import hub from "../../plugins/mcp-hub/index.ts";
import metrics from "../../plugins/metrics/index.ts";
import notes from "../../plugins/notes/index.ts";
import notices from "../../plugins/notices/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import recall from "../../plugins/recall/index.ts";
import replay from "../../plugins/replay/index.ts";
import report from "../../plugins/report/index.ts";
import rescue from "../../plugins/rescue/index.ts";
import rules from "../../plugins/rules/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import skills from "../../plugins/skills/index.ts";
import team from "../../plugins/team/index.ts";
import traces from "../../plugins/traces/index.ts";
import undelete from "../../plugins/undelete/index.ts";
import { builtDashboard, DASHBOARD } from "../built.ts";
import { testEnv } from "../kernel.ts";
import { NO_BROWSER, openBrowser } from "./chromium.ts";
import { answered, read, watchTraffic } from "./traffic.ts";

/** On a build server a test that fails is tried once more, and the report lists it: what a busy machine breaks once stops no change. */
export const describeUi = (name: string, tests: () => void): void => {
  describe.skipIf(NO_BROWSER)(name, { retry: process.env.CI ? 1 : 0 }, () => {
    afterEach(({ task }) => {
      if (task.result?.retryCount) console.warn(`tried twice: ${name} > ${task.name}`);
    });
    tests();
  });
};

/** Of one wait for the page: only for what never comes, so long that a busy machine does not meet it. */
const LIMIT = 60_000;

const SIZE = { width: 1440, height: 900 };
/** Nothing is animated: while something moves, the browser draws sixty times a second. */
const PLAIN = { media: null, colorScheme: null, reducedMotion: "reduce", forcedColors: null } as const;

export interface Stage {
  page: Page;
  context: BrowserContext;
  url: string;
  home: string;
  served: Served;
  /** Starts the service again, after `served.close()`, at the same address and with the same data. */
  start(): Promise<void>;
  /** What went wrong in the page since the last call: errors, requests to other origins, failed answers. */
  problems(): string[];
}

export interface StageOptions {
  /** Fills the home before the service starts. Default: the sample data. */
  fill?: (home: string) => Promise<unknown>;
  /** Imports everything before the page opens. Default true. */
  imported?: boolean;
  plugins?: readonly Plugin[];
  /** Goes on without a plugin that does not start. Default: the stage fails. */
  onBroken?: "leave-out";
  /** Imports what is written while the test runs. Default false. */
  sync?: boolean;
  /** When a turn of a session counts as over. Default: as the product has it. */
  turns?: TurnTimes | undefined;
  /** With the service worker, whose requests `page.route` does not see. Default: without. */
  worker?: boolean;
}

/** One service, one browser for all tests of a block; set again for a second try. */
export function useStage(options: StageOptions = {}): () => Stage {
  let standing: Standing | undefined;
  beforeAll(async () => {
    standing = await setUp(options);
  });
  beforeSecondTry(async () => {
    await standing?.end();
    standing = await setUp(options);
  });
  afterAll(() => standing?.close());
  return () => {
    if (!standing) throw new Error("The stage is not set");
    return standing.stage;
  };
}

/** A first try that failed leaves a service that is away, a page that waits, an archive that was changed: the next begins with none of it. */
function beforeSecondTry(renew: () => Promise<void>): void {
  beforeEach(async ({ task }) => {
    if (task.result?.retryCount) await renew();
  });
}

/** Of the blocks that only look: files share their process, and in it this one. It ends with the process. */
let shared: Standing | undefined;

async function sharedStage(isSecondTry = false): Promise<Stage> {
  // Its page is gone where the browser has crashed.
  if (shared && (isSecondTry || shared.stage.page.isClosed())) {
    await shared.end();
    shared = undefined;
  }
  shared ??= await setUp({}, inject("stages"));
  return shared.stage;
}

/**
 * The sample data for a block that writes nothing, neither in the archive nor in settings, or takes it back: such blocks share a service and its loaded
 * page, which is a third of what a stage takes.
 */
export function useSharedStage(): () => Stage {
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = await sharedStage();
    await stage.page.setViewportSize(SIZE);
    await stage.page.emulateMedia(PLAIN);
    await forget(stage.page, stage.url);
    stage.problems();
  });
  beforeSecondTry(async () => {
    stage = await sharedStage(true);
  });
  return () => {
    if (!stage) throw new Error("The stage is not set");
    return stage;
  };
}

/** What was left in the browser is gone, from its storage and from the page, which writes there when it is left. */
async function forget(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/favicon.svg`);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
}

interface Standing {
  stage: Stage;
  close(): Promise<void>;
  /** As `close`, whatever state it is in; its page is for no other stage. */
  end(): Promise<void>;
}

async function setUp(options: StageOptions, parent = tmpdir()): Promise<Standing> {
  await builtDashboard();
  const folder = await mkdtemp(join(parent, "sessarc-ui-"));
  const home = join(folder, "home");
  await mkdir(home);
  await (options.fill ?? ((dir: string) => writeDemo({ home: dir })))(home);
  const env = testEnv(home);
  const config = await loadConfig({ cwd: home, env, flags: { port: 0, dataDir: join(folder, "data") } });
  // What is imported is what a test imports.
  if (options.sync !== true) config.sync = false;
  const plugins = () => [
    claude(),
    codex(),
    cursor(),
    opencode(),
    gemini(),
    copilot(),
    archive(),
    insights(),
    causality(),
    live({ turns: options.turns }),
    git(),
    blame(),
    security(),
    share(),
    hub(),
    skills(),
    recall(),
    replay(),
    budget(),
    rescue(),
    rules(),
    health(),
    metrics(),
    notes(),
    notices(),
    report(),
    feedback(),
    demo(),
    team({ retryMs: 1 }),
    traces(),
    undelete(),
    ...(options.plugins ?? []),
    dashboard({ dir: DASHBOARD }),
  ];
  const run = (settings: typeof config) =>
    serve({ config: settings, env, plugins: plugins(), log: () => {}, graceMs: 200, onBroken: options.onBroken });
  const served = await run(config);
  const url = served.url.replace(/\/$/, "");
  if (options.imported !== false)
    await served.kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
  const page = await (options.worker ? newPage("allow") : takePage());
  const seen: string[] = [];
  const onError = (error: Error) => void seen.push(`page: ${error.message}`);
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === "error") seen.push(`console: ${message.text()} ${message.location().url}`);
  };
  const onRequest = (request: Request) => {
    if (!request.url().startsWith(`${url}/`) && !/^(data|blob):/.test(request.url()))
      seen.push(`foreign: ${request.url()}`);
  };
  page.on("pageerror", onError).on("console", onConsole).on("request", onRequest);
  const set: Stage = {
    page,
    context: page.context(),
    url,
    home,
    served,
    start: async () => {
      set.served = await run({ ...config, port: Number(new URL(url).port) });
    },
    problems: () => seen.splice(0),
  };
  const close = async (leave: () => Promise<void>) => {
    page.off("pageerror", onError).off("console", onConsole).off("request", onRequest);
    await leave();
    await set.served.close();
    await rm(folder, { recursive: true, force: true });
  };
  const dismiss = () => page.context().close();
  return {
    stage: set,
    close: () => close(options.worker ? dismiss : () => givePage(page, url)),
    end: () => close(() => dismiss().catch(() => {})).catch(() => {}),
  };
}

/** Of a stage that is closed, for the next one: its process is warm, which is half of what a first load takes. */
let spare: Page | undefined;
/** Those with something that cannot be taken back. */
const unfit = new WeakSet<Page>();

async function takePage(): Promise<Page> {
  const taken = spare;
  spare = undefined;
  return taken && !taken.isClosed() ? taken : newPage("block");
}

/** Where the reader of every page is. Not UTC: for an hour or two of each day, another day. */
const ZONE = "Europe/Berlin";

/** The reader's day, so many days ago, as `2026-11-22`. */
export function dayAgo(days: number): string {
  const today = new Date().toLocaleDateString("sv-SE", { timeZone: ZONE });
  return new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
}

async function newPage(serviceWorkers: "allow" | "block"): Promise<Page> {
  const browser = await openBrowser();
  const context = await browser.newContext({
    viewport: SIZE,
    locale: "en-GB",
    timezoneId: ZONE,
    reducedMotion: PLAIN.reducedMotion,
    serviceWorkers,
  });
  await watchTraffic(context);
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  const add = page.addInitScript.bind(page);
  page.addInitScript = (...args) => {
    unfit.add(page);
    return add(...args);
  };
  return page;
}

/** Leaves a page as a new one is, or closes it where that cannot be. */
async function givePage(page: Page, url: string): Promise<void> {
  const context = page.context();
  if (unfit.has(page)) return context.close();
  try {
    for (const other of context.pages()) if (other !== page) await other.close();
    // A route may still wait for an answer that is no longer wanted: its end is no error of the next stage.
    const behavior = "ignoreErrors";
    await Promise.all([
      page.unrouteAll({ behavior }),
      context.unrouteAll({ behavior }),
      context.clearPermissions(),
      context.clearCookies(),
      // What is below it would be hovered in the next stage, too.
      page.mouse.move(0, 0),
    ]);
    await page.setViewportSize(SIZE);
    await page.emulateMedia(PLAIN);
    await forget(page, url);
    spare = page;
  } catch {
    // Its page or its service is gone: that is what the test was about.
    await context.close();
  }
}

/** Loads an address as a link from outside does, and waits until its heading stands and nothing is loading. */
export async function load({ page, url }: Stage, path: string): Promise<void> {
  await page.goto(url + path);
  await settled(page);
}
/** Stands at an address with nothing left of the screen before: loads it only where nothing is loaded yet. */
export async function visit(stage: Stage, path: string): Promise<void> {
  const { page, url } = stage;
  const isLoaded = page.url().startsWith(`${url}/`) && (await page.locator("main h1").count()) > 0;
  if (!isLoaded) return load(stage, path);
  const screen = (address: string) => new URL(address, url).pathname.split("/")[1];
  if (screen(page.url()) === screen(path)) await go(stage, "/nowhere/at/all");
  await go(stage, path);
}
/** Goes to an address within the loaded page, as its own links do: a third of the work. */
export async function go({ page }: Stage, path: string): Promise<void> {
  await page.evaluate((address) => {
    history.pushState(null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await settled(page);
}
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector("main h1", { state: "attached" });
  // What an answer brings may ask for more, at once or when it is drawn: still is what stays still.
  for (let still = 0; still < 2; still++) {
    if ((await answered(page, LIMIT)) || (await read(page))) still = 0;
    await painted(page);
  }
}

/** Resolves when what changed is laid out and drawn: a new width, a new theme. */
export const painted = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

/** Types into a filter, until `left` of the rows are there: what is clicked before that moves away under the pointer. */
export async function narrow(field: Locator, text: string, rows: Locator, left = 1): Promise<void> {
  await field.fill(text);
  await expect.poll(() => rows.count()).toBe(left);
}

/** Id of a sample session whose title holds `text`. */
export async function sessionId({ served }: Stage, text: string): Promise<string> {
  const answer = (await (await served.kernel.fetch("/api/sessions?limit=200")).json()) as {
    sessions: { id: string; name: string | null; title: string | null; firstPrompt: string | null }[];
  };
  const found = answer.sessions.find((one) =>
    `${one.name ?? ""}${one.title ?? ""}${one.firstPrompt ?? ""}`.includes(text),
  );
  if (!found) throw new Error(`No session "${text}"`);
  return found.id;
}
export async function projectId({ served }: Stage, name: string): Promise<string> {
  const answer = (await (await served.kernel.fetch("/api/projects")).json()) as { id: string; name: string }[];
  const found = answer.find((one) => one.name === name);
  if (!found) throw new Error(`No project "${name}"`);
  return found.id;
}
