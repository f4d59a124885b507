/** The kernel: hooks, a registry, storage and an HTTP app that plugins fill. It has no product feature. */
import type { Worker } from "node:worker_threads";
import { BACKGROUND } from "../background/state.ts";
import { resolveConfig } from "../config/config.ts";
import { machineEnv } from "../config/env.ts";
import { type Setting, settle } from "../config/keys.ts";
import type { Access } from "../contract/access.ts";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { CoreConfig, ResolvedConfig } from "../contract/config.ts";
import type { Front } from "../contract/front.ts";
import type { HttpApp, Kernel, ServedAddress, Services } from "../contract/kernel.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import type { PluginProblem } from "../contract/reports.ts";
import { isSessarcError, leftOut, SessarcError } from "../errors/error.ts";
import { createAccess } from "../http/access.ts";
import type { Callable } from "../http/call.ts";
import { toRequest } from "../http/in-process.ts";
import { createTraffic } from "../http/traffic.ts";
import { hasArchive } from "../storage/present.ts";
import type { Storage } from "../storage/types.ts";
import { toMessage } from "../utils/async.ts";
import { debugError } from "../utils/debug.ts";
import { nearest } from "../utils/text.ts";
import { VERSION } from "../utils/version.ts";
import { createPool, type Pool } from "../workers/pool.ts";
import { createDoor, type Door } from "./admit.ts";
import { runStep } from "./boot.ts";
import { builtin } from "./builtin.ts";
import { type Closer, createCloser } from "./close.ts";
import { createHooks, type Hooks, type Notify } from "./hooks.ts";
import { findAdapter, isBuiltIn, type LoadedPlugin, toOwner } from "./load.ts";
import { createRegistry, type WritableRegistry } from "./registry.ts";
import { owned, strayProblem } from "./stray.ts";
import { type Blocked, blockedBefore, blockedFile, type Patience, startWatchdog } from "./watchdog.ts";

/** What `createKernel` takes. */
export interface KernelOptions {
  /** Plugins and plugin entries, in any order. The configuration's plugins are not added automatically. */
  plugins?: readonly (Plugin | PluginEntry)[] | undefined;
  config?: CoreConfig | undefined;
  /** Takes what is wrong with plugins' keys of the configuration, which are left out then. Default: it is thrown. */
  onConfigError?: ((error: SessarcError) => void) | undefined;
  /** Not all plugins are given: a key of the configuration that none of them declares is no mistake. */
  partial?: boolean | undefined;
  env?: AdapterEnv | undefined;
  /** Storage that is already open; it stays open when the kernel closes. */
  storage?: Storage | undefined;
  /** Limit of a plugin's import and setup, and of each part's close. Built-in plugins and migrations take what they take. Default 10 s. */
  timeoutMs?: number | undefined;
  /** How long an adapter may give nothing before its scan or its session fails. Default 60 s. */
  silenceMs?: number | undefined;
  /**
   * What becomes of a plugin that cannot be loaded, is not valid, throws or hangs: `throw` fails the start with an error that names it,
   * `leave-out` continues without it and reports it (`registry.problems`, the log). Built-in plugins are never left out. Default: throw.
   */
  onBroken?: "throw" | "leave-out" | undefined;
  /** How long a plugin may block the thread, with `leave-out`. Default: it is reported after 10 s, the process is ended after 30 s. */
  patience?: Patience | undefined;
  /** What is in front of its routes. Default: the local service's filter (Host, Origin, access). */
  front?: Front | undefined;
  /** Gets one line for each failed request and listener. Default: stderr. */
  log?: ((line: string) => void) | undefined;
}

/** How long running requests get to finish when the kernel closes. */
const DRAIN_MS = 2_000;
/** How long all of it may take before a snapshot is given up: at 5 s a signal's patience ends. */
const CLOSE_MS = 3_500;

/**
 * Loads the plugins, sorts them by `dependsOn`, opens storage, and starts each one: migrations, hooks, `setup`. A failure
 * closes what was opened and throws an error that names the plugin. The HTTP app is built when it is first needed.
 */
export async function createKernel(options: KernelOptions = {}): Promise<Kernel> {
  return (await bootKernel(options)).kernel;
}

/**
 * The same, with the routes beside it: for the command line, which calls them without HTTP. `thread` runs the
 * catalogue, for a service that answers other requests while SQL runs; its creator ends it when this rejects.
 */
export async function bootKernel(options: KernelOptions, thread?: Worker): Promise<Callable> {
  const { timeoutMs = 10_000, log = (line: string) => process.stderr.write(`${line}\n`) } = options;
  const registry = createRegistry(options.silenceMs);
  const report = (plugin: string, error: unknown) => {
    const problem = toProblem(plugin, error);
    registry.report(problem);
    log(leftOut(problem));
    debugError("plugins", plugin, error);
  };
  const door = createDoor(registry, options.onBroken === "leave-out" ? report : undefined);
  const { env = machineEnv(), config: core = resolveConfig({}, {}, env) } = options;
  const closer = createCloser(timeoutMs);
  const events = createHooks({ startMs: timeoutMs, otherMs: options.silenceMs ?? 60_000 });
  const refuse = watchPlugins(options, core.dataDir, closer, registry);
  const open = async () => options.storage ?? openStorage(core, closer, log, thread);
  // The catalogue's thread opens the catalogue while this thread loads the plugins. An error of the plugins is reported before one of the catalogue.
  const opening = thread && open();
  opening?.catch(() => {});
  try {
    let settings: readonly Setting[] = [];
    const plugins = await door.admit(
      [builtin(registry, () => settings), ...(options.plugins ?? [])],
      timeoutMs,
      refuse,
    );
    const partial = options.partial === true || registry.problems.length > 0;
    const settled = await settle(core, registry.configKeys, partial).catch((error: unknown) => {
      if (!options.onConfigError || !isSessarcError(error)) throw error;
      options.onConfigError(error);
      return settle({ ...core, given: { ...core.given, keys: {} } }, registry.configKeys, true);
    });
    const { config } = settled;
    settings = settled.settings;
    if (options.config) placeAdapters(registry, config, report);
    const parts = await openParts({ config, env, ...events }, opening ?? open(), closer);
    const starting = { plugin: "kernel" };
    const others = plugins.flatMap(({ plugin, source }) =>
      source && !isBuiltIn(source) ? [[plugin.name, source.specifier] as const] : [],
    );
    const kernel = assemble(parts, registry, closer, starting, log, new Map(others), options.front);
    await startAll(plugins, door, kernel, registry, starting, timeoutMs);
    return { kernel, routes: registry.routes };
  } catch (error) {
    await opening?.catch(() => {});
    await closer.close(async () => {}).catch((failed) => log(`Closing after a failed start: ${toMessage(failed)}`));
    throw error;
  }
}

/** Starts the watchdog where a plugin is loaded that is not built in. Answers what is left out, since it blocked an earlier process. */
function watchPlugins(
  { plugins = [], onBroken, patience }: KernelOptions,
  dataDir: string,
  closer: Closer,
  registry: WritableRegistry,
): (entry: PluginEntry) => Error | undefined {
  if (plugins.every((it) => !("specifier" in it) || isBuiltIn(it))) return () => undefined;
  const toError = ({ plugin, file, member, ms }: Blocked) =>
    new SessarcError("PLUGIN_BLOCKED", { plugin, file, step: member, ms, record: blockedFile(dataDir) });
  if (onBroken === "leave-out") {
    const onBlocked = (blocked: Blocked) =>
      registry.report({ ...toProblem(blocked.plugin, toError(blocked)), count: 1 });
    const watchdog = startWatchdog(dataDir, onBlocked, patience);
    closer.add("the watchdog", () => watchdog.stop());
  }
  return ({ specifier }) => {
    const blocked = blockedBefore(dataDir, specifier);
    return blocked && toError(blocked);
  };
}

/** Folders of the configuration, and those the user added. */
function placeAdapters(
  registry: WritableRegistry,
  { roots, sources }: ResolvedConfig,
  report: (tool: string, error: unknown) => void,
): void {
  // A kernel with a single plugin's adapters cannot know.
  const tools = [...registry.adapters.keys()];
  for (const tool of Object.keys(roots)) {
    if (tools.length === 0 || registry.adapters.has(tool)) continue;
    const near = nearest(tool, tools);
    const params = { key: `roots.${tool}`, where: "the configuration", nearest: near && `roots.${near}` };
    report(`adapter:${tool}`, new SessarcError("CONFIG_UNKNOWN_KEY", params));
  }
  for (const name of new Set([...Object.keys(roots), ...Object.keys(sources)])) {
    registry.setFolders(name, { own: !roots[name], dirs: [...(roots[name] ?? []), ...(sources[name] ?? [])] });
  }
}

/** The parts below the plugins; each is registered for closing as soon as it is open. */
interface Parts {
  config: ResolvedConfig;
  env: AdapterEnv;
  access: Access;
  pool: Pool;
  storage: Storage;
  hooks: Hooks;
  notify: Notify;
}

async function openParts(
  given: Pick<Parts, "config" | "env" | "hooks" | "notify">,
  opening: Promise<Storage>,
  closer: Closer,
): Promise<Parts> {
  const { auth, dataDir } = given.config;
  const pool = createPool();
  const storage = await opening;
  closer.add("the worker pool", () => pool.close());
  const access = await createAccess(auth, dataDir);
  if (access.required) closer.add("the discovery file", () => access.retract());
  // An error of the catalogue is reported directly, not as a failure of the first plugin that uses it.
  await storage.db.ready;
  return { ...given, access, pool, storage };
}

/** With these the archive can still be read. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  STORAGE_READ_ONLY: "cannot be written",
  STORAGE_FULL: "is on a full disk",
};

/** Takes the archive's lock; closing the catalogue gives it back. */
async function openStorage(
  { dataDir, storage: { driver } }: CoreConfig,
  closer: Closer,
  log: (line: string) => void,
  thread: Worker | undefined,
): Promise<Storage> {
  const { createStorage } = await import("../storage/index.ts");
  const options = { dataDir, driver, onNotice: log, thread };
  const storage = await createStorage(options).catch((error: unknown) => {
    const why = isSessarcError(error) ? UNWRITABLE[error.code] : undefined;
    if (why === undefined || !hasArchive(dataDir)) throw error;
    log(`${dataDir} ${why}: the archive is open for reading only`);
    return createStorage({ ...options, readOnly: true });
  });
  let began = 0;
  closer.closing.addEventListener(
    "abort",
    () => {
      began = performance.now();
    },
    { once: true },
  );
  closer.add("the catalogue", () => storage.db.close(Math.max(0, began + CLOSE_MS - performance.now())));
  return storage;
}

function assemble(
  { config, env, access, pool, storage, hooks, notify }: Parts,
  registry: WritableRegistry,
  closer: Closer,
  starting: { readonly plugin: string },
  log: (line: string) => void,
  sources: ReadonlyMap<string, string>,
  front: Front | undefined,
): Kernel {
  hooks.hook("request:error", (error, { method, path, errorId }) => {
    log(`${errorId} ${method} ${path}: ${toReason(error)}`);
    debugError("http", `${method} ${path} failed`, error);
  });
  hooks.hook("listener:failed", (error, { hook }) => {
    log(`A listener of ${hook} failed: ${toReason(error)}`);
    const plugin = failedPlugin(error);
    if (plugin !== undefined) registry.report({ ...toProblem(plugin, error), count: 1 });
  });
  const traffic = createTraffic();
  let address: ServedAddress | undefined;
  let app: Promise<HttpApp> | undefined;

  const kernel: Kernel = {
    hooks,
    registry,
    storage,
    config,
    env,
    pool,
    access,
    notify,
    startedAt: Date.now(),
    closing: closer.closing,
    get address() {
      return address;
    },
    async announce(served) {
      address = served;
      const background = env.env[BACKGROUND] === "1";
      await storage.lock?.update({ port: served.port, url: served.url, version: VERSION, background });
      return access.publish(served.url, served.port);
    },
    app() {
      app ??= import("../http/app.ts").then((http) => http.createApp(kernel, registry.routes, traffic, front));
      return app;
    },
    fetch: async (path, init) => (await kernel.app()).fetch(toRequest(kernel, path, init)),
    provide: (name, service) => registry.addService(name, service, starting.plugin),
    inject: (name) => inject(registry.services, name),
    find: (name) => find(registry.services, name),
    async watch(root, onChange, onPolling) {
      const { watchRoot } = await import("./watch.ts");
      // The kernel is closing: nothing would stop what begins now.
      if (kernel.closing.aborted) return async () => {};
      const onError = (error: unknown) => notify("listener:failed", error, { hook: "watch" });
      const begun = watchRoot(root, onChange, { onError, onPolling, signal: kernel.closing });
      const stop = async () => (await begun)();
      const forget = closer.add(`the watch of ${root}`, stop);
      await begun.catch((error) => {
        forget();
        throw error;
      });
      return () => {
        forget();
        return stop();
      };
    },
    stray(error) {
      const problem = strayProblem(error, sources);
      if (problem) registry.report({ ...problem, count: 1 });
      void notify("listener:failed", error, { hook: problem ? `plugin ${problem.plugin}` : "nothing that waits" });
    },
    onClose: (fn) => void closer.add(`plugin "${starting.plugin}"`, fn),
    close: () =>
      closer.close(async () => {
        await traffic.settled(DRAIN_MS);
        await notify("kernel:close", kernel);
      }),
  };
  return kernel;
}

async function startAll(
  plugins: readonly LoadedPlugin[],
  door: Door,
  kernel: Kernel,
  registry: WritableRegistry,
  starting: { plugin: string },
  timeoutMs: number,
): Promise<void> {
  await migrateBuiltIn(plugins, kernel);
  for (const it of plugins) {
    const { plugin } = it;
    starting.plugin = plugin.name;
    const started = performance.now();
    let unhook = () => {};
    const run = () =>
      start(it, kernel, timeoutMs, (remove) => {
        unhook = remove;
      });
    if (!(await door.start(it, run, () => unhook()))) continue;
    const ms = Math.round((performance.now() - started) * 10) / 10;
    registry.booted(plugin.name, ms);
    await kernel.notify("plugin:loaded", { name: plugin.name, ms });
  }
  starting.plugin = "kernel";
  await kernel.notify("kernel:ready", kernel);
}

/** A first start creates the tables of all built-in plugins in one write: separate writes would each wait for the disk. */
async function migrateBuiltIn(plugins: readonly LoadedPlugin[], { storage }: Kernel): Promise<void> {
  const { migrateFirst } = await import("../storage/migrate.ts");
  const ours = plugins.flatMap(({ plugin, source }) => (isBuiltIn(source) ? plugin : []));
  await migrateFirst(storage.db, ours).catch(() => {
    // Nothing was applied: the first plugin whose steps cannot be is named below.
  });
}

async function start(
  it: LoadedPlugin,
  kernel: Kernel,
  ms: number,
  hooked: (remove: () => void) => void,
): Promise<void> {
  const { plugin, source } = it;
  const { name, migrations, hooks } = plugin;
  const owner = toOwner(it);
  // Reported now, not by the first caller.
  kernel.registry.adapters.get(findAdapter(plugin)?.name ?? "")?.roots(kernel.env);
  if (migrations?.length) {
    const { migrate } = await import("../storage/migrate.ts");
    // No time limit: the time migrations take grows with the archive.
    await runStep(owner, "its migrations", undefined, () => migrate(kernel.storage.db, name, migrations));
  }
  const listen = () => hooks && hooked(kernel.hooks.addHooks(hooks));
  const setup = () => plugin.setup?.(kernel);
  if (isBuiltIn(source) || name === "kernel") {
    listen();
    await runStep(owner, "setup", undefined, setup);
  } else {
    owned(owner, "its hooks", listen)();
    await runStep(owner, "setup", ms, owned(owner, "setup", setup));
  }
}

function inject<K extends keyof Services>(services: ReadonlyMap<string, unknown>, name: K): Services[K] {
  const service = find(services, name);
  if (service === undefined) throw new SessarcError("SERVICE_MISSING", { service: name });
  return service;
}

/** `provide` takes each name with its own type. */
const find = <K extends keyof Services>(services: ReadonlyMap<string, unknown>, name: K) =>
  services.get(name) as Services[K] | undefined;

/** The plugin whose hook threw or took too long; undefined for anything else. */
function failedPlugin(error: unknown): string | undefined {
  if (!isSessarcError(error) || (error.code !== "PLUGIN_TIMEOUT" && error.code !== "PLUGIN_FAILED")) return undefined;
  return (error as SessarcError<"PLUGIN_TIMEOUT" | "PLUGIN_FAILED">).params.plugin;
}

function toProblem(plugin: string, error: unknown): PluginProblem {
  const known = isSessarcError(error) ? error : undefined;
  return { plugin, code: known?.code ?? "PLUGIN_FAILED", message: toMessage(error), fix: known?.fix ?? null };
}

/** An error of the catalogue is expected: the log has its remedy, not its stack. */
const toReason = (error: unknown): string =>
  isSessarcError(error) ? [error.message, error.fix].filter(Boolean).join(". ") : toDetail(error);

const toDetail = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
