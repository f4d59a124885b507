/** `sessarc serve`: one service per archive, a line when it answers, an orderly end. */
import { AsyncResource } from "node:async_hooks";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { CoreConfig } from "../contract/config.ts";
import type { Kernel } from "../contract/kernel.ts";
import { findAdapter } from "../kernel/load.ts";
import type { Served } from "../serve/serve.ts";
import { hasArchive } from "../storage/present.ts";
import { UsageError } from "../terminal/errors.ts";
import { toMessage } from "../utils/async.ts";
import type { CoreContext } from "./context.ts";
import { createDemoHome, type DemoHome, hasLogs } from "./demo.ts";
import { restWhenIdle } from "./rest.ts";

export async function run(given: CoreContext): Promise<number> {
  const of = sampleOf(given);
  const ctx = of === undefined ? given : { ...given, signal: untilInputEnds(given) };
  const demo = await chooseDemo(ctx);
  try {
    if (demo) return await start(ctx, { ...ctx.config, dataDir: demo.dataDir, roots: {}, sources: {} }, demo.env, demo);
    return (await joinRunning(ctx)) ?? (await start(ctx, ctx.config, ctx.io.env, undefined));
  } finally {
    await demo?.remove();
  }
}

/** The service whose dashboard shows this one's sample data. */
function sampleOf({ flags }: CoreContext): string | undefined {
  const of = flags["sample-of"];
  if (of === undefined) return undefined;
  if (flags.demo !== true || typeof of !== "string" || !/^https?:/.test(of) || !URL.canParse(of))
    throw new UsageError("--sample-of takes an address, and goes with --demo");
  return of;
}

/** Aborts with the process that started this one, however that ended: the pipe between them closes. */
function untilInputEnds({ io, signal }: CoreContext): AbortSignal {
  const ended = new AbortController();
  void (async () => {
    // Nothing is sent.
    for await (const _ of io.stdin?.() ?? []);
  })().finally(() => ended.abort());
  return AbortSignal.any([signal, ended.signal]);
}

async function chooseDemo(ctx: CoreContext): Promise<DemoHome | undefined> {
  if (ctx.flags.demo === true) return createDemoHome(ctx.io.env);
  if (ctx.flags["or-demo"] !== true || (await isRunning(ctx))) return undefined;
  const { loadPlugins } = await import("../kernel/load.ts");
  const adapters = (await loadPlugins(ctx.plugins, () => {})).flatMap(({ plugin }) => findAdapter(plugin) ?? []);
  if ((await hasLogs(adapters, ctx.io.env)) || (await hasSessions(ctx))) return undefined;
  ctx.err("No logs of any assistant were found on this machine: showing sample data from a throw-away folder.");
  return createDemoHome(ctx.io.env);
}

async function isRunning(ctx: CoreContext): Promise<boolean> {
  const { readLock } = await import("../storage/lock.ts");
  return (await readLock(ctx.config.dataDir)) !== undefined;
}

/** An earlier start may have left an archive without any. */
async function hasSessions(ctx: CoreContext): Promise<boolean> {
  if (!hasArchive(ctx.config.dataDir)) return false;
  const { total } = await ctx.get<{ total: number }>("/sessions", { limit: "1" });
  await ctx.release();
  return total > 0;
}

/** Prints the address of the service that has this archive open, and opens it. Undefined when there is no such service. */
async function joinRunning(ctx: CoreContext): Promise<number | undefined> {
  const { readLock } = await import("../storage/lock.ts");
  const lock = await readLock(ctx.config.dataDir);
  if (lock?.url === undefined) return undefined;
  ctx.out(`sessarc is already running at ${lock.url} (pid ${lock.pid})`);
  const { readDiscovery } = await import("../http/access.ts");
  const login = (await readDiscovery(ctx.config.dataDir))?.login;
  await open(ctx, login ?? lock.url);
  return 0;
}

async function start(
  ctx: CoreContext,
  config: CoreConfig,
  env: AdapterEnv,
  demo: DemoHome | undefined,
): Promise<number> {
  const { serve } = await import("../serve/serve.ts");
  const strays = catchStrays(ctx);
  const served = await serve({ config, env, plugins: ctx.plugins, onBroken: "leave-out", log: ctx.err }).catch(
    (error) => {
      strays.stop();
      throw error;
    },
  );
  ctx.io.leaveFolder?.();
  strays.report(served.kernel);
  if (demo)
    served.kernel.hooks.hook("status:collect", (report) => {
      report.sample = { of: sampleOf(ctx) ?? null };
    });
  const rest = restWhenIdle();
  let inBackground = false;
  try {
    if (demo) ctx.err(await importDemo(served.kernel, ctx));
    const of = sampleOf(ctx);
    ctx.out(
      of === undefined ? `sessarc ready at ${served.url}` : JSON.stringify({ url: served.loginUrl ?? served.url }),
    );
    if (served.loginUrl) ctx.err(`Log in with this link, once: ${served.loginUrl}`);
    await open(ctx, served.loginUrl ?? served.url);
    const isFirst = !demo && ctx.flags.import !== false;
    const first = isFirst ? beginFirst(served.kernel, ctx) : Promise.resolve(false);
    const handedOver = first.then((wanted) => (wanted ? true : aborted(ctx.signal).then(() => false)));
    inBackground = await Promise.race([aborted(ctx.signal).then(() => false), handedOver]);
  } finally {
    rest.stop();
    await stop(ctx, served);
    strays.stop();
  }
  if (inBackground) {
    const { startInBackground } = await import("../background/control.ts");
    const { serveArgs } = await import("./background.ts");
    const { lock } = await startInBackground(config.dataDir, await serveArgs(ctx), env);
    ctx.out(`sessarc runs in the background at ${lock.url}: \`sessarc status\`, \`sessarc stop\``);
  }
  return 0;
}

/** Over an archive without sessions: imports everything, then asks about login. True: the service is to go on in the background. */
async function beginFirst(kernel: Kernel, ctx: CoreContext): Promise<boolean> {
  const { askAboutLogin, isEmpty, runFirst } = await import("./first-run.ts");
  if (!(await isEmpty(kernel))) return false;
  await runFirst(kernel, ctx);
  if (ctx.signal.aborted || (await isEmpty(kernel))) return false;
  const { serveArgs } = await import("./background.ts");
  return askAboutLogin(ctx, await serveArgs(ctx));
}

/** Catches errors from before the plugins start; they are reported once there is a kernel. */
function catchStrays({ io }: CoreContext): { report(kernel: Kernel): void; stop(): void } {
  let kernel: Kernel | undefined;
  const waiting: (() => void)[] = [];
  const stop = io.onStray?.((error) => {
    // Bound now: the owner is known only at this moment.
    if (kernel) kernel.stray(error);
    else waiting.push(AsyncResource.bind(() => kernel?.stray(error)));
  });
  return {
    report(started) {
      kernel = started;
      for (const say of waiting.splice(0)) say();
    },
    stop: () => stop?.(),
  };
}

async function stop(ctx: CoreContext, served: Served): Promise<void> {
  if (ctx.tty) ctx.err("stopping…");
  await served.close();
}

async function importDemo(kernel: Kernel, ctx: CoreContext): Promise<string> {
  const answer = (await send(kernel, "POST", "/import", { all: true })) as { imported: number; failed: unknown[] };
  const { fillDemo } = await import("sessarc/plugins/demo");
  // The rest of the sample data stands without it.
  await fillDemo((method, path, body) => send(kernel, method, path, body)).catch((error: unknown) =>
    ctx.err(`Sample skills are left out: ${toMessage(error)}`),
  );
  const failed = answer.failed.length > 0 ? `, ${answer.failed.length} could not be read` : "";
  return `${answer.imported} sample sessions imported${failed}; they are removed when the service stops`;
}

async function send(kernel: Kernel, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await kernel.fetch(`/api${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
}

async function open(ctx: CoreContext, url: string): Promise<void> {
  const wanted = ctx.flags.open === true || (ctx.config.open && ctx.io.stdout.isTTY === true);
  if (!wanted) return;
  const { openBrowser } = await import("./open.ts");
  if (!(await openBrowser(url, ctx.io.env))) ctx.err(`Open ${url} in your browser.`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
