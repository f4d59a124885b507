/** Public entry of `sessarc`: what a plugin author needs. Re-exports only. Nothing here may load a heavy package. */
export * from "./adapter/index.ts";
export { type ConfigFlags, defineConfig, resolveConfig, type UserConfig } from "./config/config.ts";
export { loadConfig } from "./config/file.ts";
export type { ConfigKey, PluginConfig, ResolvedConfig, SettingValues } from "./contract/config.ts";
export {
  defineIndexer,
  type IndexedSession,
  type IndexerDefinition,
  type IndexerModule,
  type IndexRows,
  type SessionIndexer,
} from "./contract/indexer.ts";
export type { ApiRoutes, FileChange, Kernel, KernelHooks, Services } from "./contract/kernel.ts";
export {
  type Command,
  type CommandContext,
  definePlugin,
  type Plugin,
  type PluginEntry,
  type QuickCommand,
  type QuickIo,
} from "./contract/plugin.ts";
export type { Registry } from "./contract/registry.ts";
export type { DoctorCheck, PluginInfo, PluginProblem, StatusReport } from "./contract/reports.ts";
export {
  type AnyRoute,
  defineRoute,
  type Method,
  type Route,
  type RouteContext,
  type RoutesOf,
  type RouteTypes,
  type Schema,
} from "./contract/route.ts";
export {
  defineErrors,
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  type ErrorParams,
  isSessarcError,
  type Nothing,
} from "./errors/error.ts";
export type { KernelRoutes } from "./kernel/builtin.ts";
export { PLUGIN_API } from "./kernel/compatibility.ts";
export { createKernel, type KernelOptions } from "./kernel/kernel.ts";
export { type Client, type ClientOptions, createClient, UnreachableError } from "./serve/client.ts";
export { closeOnSignals, type Served, type ServeOptions, serve } from "./serve/serve.ts";
export type { Database, Statement, Storage } from "./storage/types.ts";
export * from "./terminal/index.ts";
export { VERSION } from "./utils/version.ts";
export type { Pool, PoolTask } from "./workers/pool.ts";
