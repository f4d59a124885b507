/** The kernel's surface and its three augmentable registries. */
import type { Storage } from "../storage/types.ts";
import type { MaybePromise } from "../utils/async.ts";
import type { Pool } from "../workers/pool.ts";
import type { Access } from "./access.ts";
import type { AdapterEnv } from "./adapter.ts";
import type { ResolvedConfig, SettingKey } from "./config.ts";
import type { Registry } from "./registry.ts";
import type { DoctorReport, StatusReport } from "./reports.ts";

/** `"GET /sessions/:id"` -> its params, query, body and response. Each plugin's index.ts adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by augmentation
export interface ApiRoutes {}
/** Objects one plugin provides and another injects, by name. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by augmentation
export interface Services {}

/**
 * Hooks, `noun:verb`. Present tense runs before, may change its payload, and aborts when it throws (`hooks.callHook`);
 * past tense only informs, and a listener that throws is reported while the rest still run (`kernel.notify`).
 */
export interface KernelHooks {
  "kernel:ready": (kernel: Kernel) => MaybePromise<void>;
  "kernel:close": (kernel: Kernel) => MaybePromise<void>;
  "plugin:loaded": (info: { name: string; ms: number }) => MaybePromise<void>;
  /** Keys that can change did; `kernel.config` holds them already. */
  "settings:changed": (info: { keys: readonly SettingKey[] }) => MaybePromise<void>;
  /** GET /api/status: plugins add their section by setting a key of `report`. */
  "status:collect": (report: StatusReport) => MaybePromise<void>;
  /** `sessarc doctor`: plugins push their checks, and repair when `report.fix` is set. */
  "doctor:check": (report: DoctorReport) => MaybePromise<void>;
  "request:done": (info: { method: string; path: string; status: number; ms: number }) => MaybePromise<void>;
  "request:error": (error: unknown, info: { method: string; path: string; errorId: string }) => MaybePromise<void>;
  "listener:failed": (error: unknown, info: { hook: string }) => MaybePromise<void>;
}

/** Listeners of a plugin, by hook. */
export type PluginHooks = Partial<KernelHooks>;

interface HookRegistry {
  /** Answers a function that takes the listener off again. */
  hook<K extends keyof KernelHooks>(name: K, listener: KernelHooks[K]): () => void;
  addHooks(hooks: PluginHooks): () => void;
  /** Runs the listeners sequentially; an error of one ends the call. For present-tense hooks. */
  callHook<K extends keyof KernelHooks>(name: K, ...args: Parameters<KernelHooks[K]>): MaybePromise<void>;
}

/** What answers requests; an H3 app of h3. */
export interface HttpApp {
  fetch(request: Request): Response | Promise<Response>;
}

/** How late a change is seen in a folder for which the system reports no changes. */
export interface Polling {
  /** The system's reason; null where polling was requested. */
  reason: string | null;
  /** ms between two checks of the recently changed files, from the last rounds. */
  recentMs: number;
  /** ms until every file was checked once. */
  allMs: number;
}

/** A settled change of a watched file, each path once. */
export interface FileChange {
  type: "create" | "update" | "delete";
  path: string;
}

export interface ServedAddress {
  host: string;
  port: number;
  /** `http://127.0.0.1:41730/` */
  url: string;
}

/** What setup, hooks, handlers and commands get: hooks, registry, storage, watching, services of other plugins. */
export interface Kernel {
  /** The h3 app over all routes, made (and h3 loaded) when first asked for: commands that never serve do not pay for it. */
  app(): Promise<HttpApp>;
  readonly hooks: HookRegistry;
  readonly registry: Registry;
  readonly storage: Storage;
  readonly config: ResolvedConfig;
  readonly env: AdapterEnv;
  readonly pool: Pool;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** Aborts when the kernel begins to close; streams end on it. */
  readonly closing: AbortSignal;
  /** Token mode: who may call, and the scoped tokens that installed hooks and clients carry. */
  readonly access: Access;
  /** The address being served, once `serve` listens. */
  readonly address: ServedAddress | undefined;
  /** Sets the address where the service listens: requests are checked against it, and the lock and (in token mode) the discovery file name it. Returns the one-time login link of token mode. */
  announce(address: ServedAddress): Promise<string | undefined>;
  provide<K extends keyof Services>(name: K, service: Services[K]): void;
  /** Throws SERVICE_MISSING naming the service. */
  inject<K extends keyof Services>(name: K): Services[K];
  /** The same for a plugin that may be missing, or start later: undefined while it is not there. Ask each time. */
  find<K extends keyof Services>(name: K): Services[K] | undefined;
  /** Runs the listeners of a past-tense hook one by one; one that throws is reported on `listener:failed`. */
  notify<K extends keyof KernelHooks>(name: K, ...args: Parameters<KernelHooks[K]>): Promise<void>;
  /**
   * Calls back with settled changes below `root`, a folder, or of `root`, a file with those that a database has beside it; returns a function
   * that stops it. `onPolling` is called when the system reports no changes and `root` is polled, and again after each round. Throws
   * WATCH_FAILED where nothing is at `root`.
   */
  watch(
    root: string,
    onChange: (changes: FileChange[]) => MaybePromise<void>,
    onPolling?: (polling: Polling) => void,
  ): Promise<() => Promise<void>>;
  /** Reports an uncaught error on `listener:failed` and, if it comes from a plugin, among that plugin's problems. */
  stray(error: unknown): void;
  /** Runs at close, last registered first. */
  onClose(fn: () => MaybePromise<void>): void;
  /** In-process client: the same app, the same filter, no socket. `path` starts with `/`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}
