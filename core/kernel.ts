/** The kernel: hooks, a registry, storage and an HTTP app that plugins fill. It has no feature of its own. */
import type { H3 } from "h3";
import { createAccess } from "./access.ts";
import type { AdapterEnv } from "./adapter.ts";
import { loadPlugins, messageOf, runStep, sortPlugins } from "./boot.ts";
import { builtin } from "./builtin.ts";
import { createCloser } from "./close.ts";
import { type ResolvedConfig, resolveConfig } from "./config.ts";
import { machineEnv } from "./env.ts";
import { SessarcError } from "./error.ts";
import { createHooks } from "./hooks.ts";
import type { Plugin, PluginEntry } from "./plugin.ts";
import { createRegistry } from "./registry.ts";
import type { Lock } from "./storage/lock.ts";
import type { Storage } from "./storage/types.ts";
import { createTraffic } from "./traffic.ts";
import type { Kernel, ServedAddress, Services } from "./types.ts";
import { createPool } from "./workers/pool.ts";

/** How long running requests get to finish when the kernel closes. */
const DRAIN_MS = 2_000;

export interface KernelOptions {
  /** Plugins and plugin entries, in any order. The configuration's own are not added by themselves. */
  plugins?: readonly (Plugin | PluginEntry)[] | undefined;
  config?: ResolvedConfig | undefined;
  env?: AdapterEnv | undefined;
  /** Storage that is already open; it stays open when the kernel closes. */
  storage?: Storage | undefined;
  /** Limit of each plugin's start, and of each part's close. Default 10 s. */
  timeoutMs?: number | undefined;
  /** Gets one line for each failed request and listener. Default: stderr. */
  log?: ((line: string) => void) | undefined;
}

/**
 * Loads the plugins, sorts them by `dependsOn`, opens storage, and starts each one: migrations, hooks, `setup`. A failure
 * closes what was started and throws an error that names the plugin. The HTTP app is built on the first request.
 */
export async function createKernel(options: KernelOptions = {}): Promise<Kernel> {
  const env = options.env ?? machineEnv();
  const config = options.config ?? resolveConfig({}, {}, env);
  const timeoutMs = options.timeoutMs ?? 10_000;
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  const [loaded, access] = await Promise.all([
    loadPlugins([builtin(), ...(options.plugins ?? [])]).then(sortPlugins),
    createAccess(config.auth, config.dataDir),
  ]);
  const registry = createRegistry();
  for (const { plugin, source } of loaded) registry.add(plugin, source);

  const { hooks, notify } = createHooks();
  const closer = createCloser(timeoutMs);
  const traffic = createTraffic();
  let starting = "kernel";
  const lock = options.storage ? undefined : await takeLock(config.dataDir, closer.add);
  if (access.required) closer.add("the discovery file", () => access.retract());
  const storage = options.storage ?? (await openStorage(config, closer.add, notify));
  const pool = createPool();
  closer.add("the worker pool", () => pool.close());
  let address: ServedAddress | undefined;
  let app: Promise<H3> | undefined;

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
      await lock?.update({ port: served.port, url: served.url });
      return access.publish(served.url, served.port);
    },
    app() {
      app ??= import("./http.ts").then((http) => http.createApp(kernel, traffic));
      return app;
    },
    provide(name, service) {
      registry.addService(name, service, starting);
    },
    inject: (name) => inject(registry.services, name),
    async watch(root, onChange) {
      const { watchRoot } = await import("./watch.ts");
      const stop = await watchRoot(root, onChange, {
        onError: (error) => notify("listener:failed", error, { hook: "watch" }),
      });
      const forget = closer.add(`the watch of ${root}`, stop);
      return async () => {
        forget();
        await stop();
      };
    },
    onClose(fn) {
      closer.add(`plugin "${starting}"`, fn);
    },
    fetch: async (path, init) => (await kernel.app()).fetch(toRequest(kernel, path, init)),
    close: () =>
      closer.close(async () => {
        await traffic.settled(DRAIN_MS);
        await notify("kernel:close", kernel);
      }),
  };
  hooks.hook("request:error", (error, { method, path, errorId }) =>
    log(`${errorId} ${method} ${path}: ${detailOf(error)}`),
  );
  hooks.hook("listener:failed", (error, { hook }) => log(`A listener of ${hook} failed: ${detailOf(error)}`));

  try {
    for (const { plugin } of loaded) {
      starting = plugin.name;
      const started = performance.now();
      await start(plugin, kernel, timeoutMs);
      const ms = Math.round((performance.now() - started) * 10) / 10;
      registry.booted(plugin.name, ms);
      await notify("plugin:loaded", { name: plugin.name, ms });
    }
    starting = "kernel";
    await notify("kernel:ready", kernel);
    return kernel;
  } catch (error) {
    await kernel.close().catch((closing) => log(`Closing after a failed start: ${messageOf(closing)}`));
    throw error;
  }
}

async function start(plugin: Plugin, kernel: Kernel, ms: number): Promise<void> {
  const { migrations, hooks, setup } = plugin;
  if (migrations?.length) {
    const { migrate } = await import("./storage/migrate.ts");
    await runStep(plugin.name, "its migrations", ms, () => migrate(kernel.storage.db, plugin.name, migrations));
  }
  if (hooks) kernel.hooks.addHooks(hooks);
  if (setup) await runStep(plugin.name, "setup", ms, () => setup.call(plugin, kernel));
}

type OnClose = (what: string, fn: () => unknown) => unknown;

async function takeLock(dataDir: string, onClose: OnClose): Promise<Lock> {
  const { acquireLock } = await import("./storage/lock.ts");
  const lock = await acquireLock(dataDir);
  onClose("the lock", () => lock.release());
  return lock;
}

async function openStorage(config: ResolvedConfig, onClose: OnClose, notify: Kernel["notify"]): Promise<Storage> {
  const { createStorage } = await import("./storage/index.ts");
  const { dataDir } = config;
  const { driver } = config.storage;
  const storage = await createStorage({ dataDir, driver });
  onClose("the catalogue", async () => {
    const started = performance.now();
    await storage.db.close();
    await notify("storage:flushed", { bytes: storage.db.stats.snapshotBytes, ms: performance.now() - started });
  });
  return storage;
}

function inject<K extends keyof Services>(services: ReadonlyMap<string, unknown>, name: K): Services[K] {
  if (services.has(name)) return services.get(name) as Services[K];
  throw new SessarcError("SERVICE_MISSING", { service: name, plugin: PROVIDERS[name] });
}

/** Which built-in plugin has a service, for the error message alone. */
const PROVIDERS: Readonly<Record<string, string>> = {
  archive: "archive",
  git: "git",
  pricing: "insights",
  rules: "security",
  redactor: "security",
  scanner: "security",
};

/** A request of this process: our own Host, JSON when it carries text, and the token when one is asked for. */
function toRequest(kernel: Kernel, path: string, init: RequestInit = {}): Request {
  const { host, port } = kernel.address ?? kernel.config;
  const headers = new Headers(init.headers);
  const setDefault = (name: string, value: string) => headers.has(name) || headers.set(name, value);
  setDefault("host", `${host.includes(":") ? `[${host}]` : host}:${port}`);
  if (typeof init.body === "string") setDefault("content-type", "application/json");
  if (kernel.access.token) setDefault("authorization", `Bearer ${kernel.access.token}`);
  return new Request(new URL(path, `http://127.0.0.1:${port}`), { ...init, headers });
}

const detailOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
