/** Public entry of `sessarc`: plugins, routes, errors, the kernel, sessions, values. Re-exports only. Nothing here may load a heavy package. */
export { defineConfig, type UserConfig } from "./config/config.ts";
export { importModule } from "./config/module.ts";
export type { AdapterCapabilities } from "./contract/adapter.ts";
export type { ConfigKey, PluginConfig, SettingValues } from "./contract/config.ts";
export {
  defineIndexer,
  type IndexedSession,
  type IndexerDefinition,
  type IndexerModule,
  type IndexRows,
  type SessionIndexer,
} from "./contract/indexer.ts";
export type { ApiRoutes, FileChange, Kernel, KernelHooks, Polling, Services } from "./contract/kernel.ts";
export { definePlugin, type Plugin, type PluginFactory } from "./contract/plugin.ts";
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
  invalidCursor,
  isSessarcError,
  type Nothing,
  SessarcError,
  toErrorBody,
} from "./errors/error.ts";
export { eventsResponse, toEvents } from "./http/events.ts";
export { rawParam } from "./http/raw-param.ts";
export { streamJson, textStream } from "./http/text-stream.ts";
export { PLUGIN_API } from "./kernel/compatibility.ts";
export {
  EVENT_KINDS,
  type EventKind,
  type LeftOut,
  type LimitReading,
  type LiveFrame,
  type SessionEvent,
  type SessionLink,
  type SessionRef,
  type SessionSummary,
  type SessionUsage,
  type TokenUsage,
  type UsageEntry,
  type UsageEvidence,
} from "./session/session.ts";
export type { Blobs } from "./storage/blobs.ts";
export type { Derived } from "./storage/derived.ts";
export { storageFailed } from "./storage/storage-error.ts";
export type { Database, SqlValue, Statement, Storage } from "./storage/types.ts";
export { unknownAssistant } from "./utils/assistants.ts";
export { type MaybePromise, toMessage } from "./utils/async.ts";
export { BoundedMap } from "./utils/bounded.ts";
export { type Cache, createCache } from "./utils/cache.ts";
export { canonicalJson } from "./utils/canonical.ts";
export { debugError } from "./utils/debug.ts";
export {
  isJson,
  isRecord,
  type Json,
  type JsonRecord,
  parseRecord,
  toItems,
  toJson,
  toList,
  toNumber,
  toRecord,
  toText,
} from "./utils/json.ts";
export { marks, pages } from "./utils/marks.ts";
export { createLimit, createQueue, eachInLanes, type Limit, type Queue } from "./utils/queue.ts";
export { sortInSlices } from "./utils/sort.ts";
export { alone } from "./utils/text.ts";
export { isoAt, toIso } from "./utils/time.ts";
export { ISSUES, VERSION } from "./utils/version.ts";
export { versionNumbers } from "./utils/versions.ts";
export { mustYield, yieldNow } from "./utils/yield.ts";
export type { Pool, PoolTask } from "./workers/pool.ts";
