/** Public entry of `sessarc`: re-exports only. Nothing here may load a heavy package. */
export { defineAdapter } from "./adapter/define.ts";
export { withFolders } from "./adapter/folders.ts";
export { scanLines } from "./adapter/line-scan.ts";
export { readLines } from "./adapter/read-lines.ts";
export { readEventBatches, readParsed } from "./adapter/read-log.ts";
export { createRereadTail, type Draft, type OpenSession, type Rereader } from "./adapter/reread-tail.ts";
export { type Reading, tailRevised } from "./adapter/revised-tail.ts";
export { tailParsed } from "./adapter/tail-log.ts";
export { toolActions } from "./adapter/tool-action.ts";
export { pathsIn } from "./adapter/tool-input.ts";
export {
  type ConfigFlags,
  defineConfig,
  isLoopback,
  type LoadedConfig,
  resolveConfig,
  type UserConfig,
} from "./config/config.ts";
export { machineEnv } from "./config/env.ts";
export { type LoadConfigOptions, loadConfig } from "./config/file.ts";
export { readSettings, type Settings, writeSettings } from "./config/settings.ts";
export type { Access, Scope } from "./contract/access.ts";
export * from "./contract/adapter.ts";
export * from "./contract/command.ts";
export type { ResolvedConfig } from "./contract/config.ts";
export * from "./contract/kernel.ts";
export * from "./contract/plugin.ts";
export type { AdapterFolders, Registry } from "./contract/registry.ts";
export type { DoctorCheck, PluginInfo, PluginProblem, StatusReport } from "./contract/reports.ts";
export * from "./contract/route.ts";
export * from "./contract/tool-action.ts";
export * from "./errors/error.ts";
export { systemReason } from "./errors/system.ts";
export { type Discovery, readDiscovery } from "./http/access.ts";
export { type EventWriter, eventsResponse, toEvents } from "./http/events.ts";
export type { KernelRoutes } from "./kernel/builtin.ts";
export { PLUGIN_API } from "./kernel/compatibility.ts";
export { createKernel, type KernelOptions } from "./kernel/kernel.ts";
export { loadAdapter } from "./kernel/load.ts";
export { type Client, type ClientOptions, createClient, UnreachableError } from "./serve/client.ts";
export { closeOnSignals, type Served, type ServeOptions, serve } from "./serve/serve.ts";
export * from "./session/session.ts";
export type { Cursor, Tail, TailEnd } from "./session/tail.ts";
export {
  addUsage,
  createLedger,
  emptyUsage,
  type Ledger,
  type LedgerEntry,
  type LedgerSummary,
  type LooseUsage,
  mergeUsage,
  slotOf,
  toCount,
} from "./session/usage.ts";
export { Chunk, decodeChunk, type LazyEvent } from "./storage/chunk.ts";
export type { DriverConfig } from "./storage/driver.ts";
export { openSqliteFile, type SqliteFile, type SqliteFileOptions, sqliteVersion } from "./storage/sqlite-file.ts";
export type { ChunkEntry, PartIndex, TranscriptPart, Transcripts } from "./storage/transcript-types.ts";
export { createTranscripts, type TranscriptOptions } from "./storage/transcripts.ts";
export type { Database, SqlValue, Statement, Storage } from "./storage/types.ts";
export { ApiError, UsageError } from "./terminal/errors.ts";
export { formatBytes, formatCount, formatDuration, formatMoney, formatShort } from "./terminal/format.ts";
export { createProgress, type Progress, type ProgressState } from "./terminal/progress.ts";
export { createStyle, fitColumns, printable, type Style, widthOf } from "./terminal/style.ts";
export { type Column, formatTable } from "./terminal/table.ts";
export type { MaybePromise } from "./utils/async.ts";
export { BoundedMap } from "./utils/bounded.ts";
export { debugError } from "./utils/debug.ts";
export { type ExecOptions, type ExecResult, exec } from "./utils/exec.ts";
export { codeOf, isGone } from "./utils/gone.ts";
export { hash53 } from "./utils/hash.ts";
export {
  isJson,
  isRecord,
  type Json,
  type JsonRecord,
  parseRecord,
  toItems,
  toJson,
  toJsonText,
  toList,
  toNumber,
  toRecord,
  toText,
  toToolInput,
} from "./utils/json.ts";
export { parseDocument } from "./utils/json-document.ts";
export { bytesAt, isStartOf, isUnreadable, readFolder } from "./utils/log-files.ts";
export { isInside, resolveInside } from "./utils/path.ts";
export { createRing, type Ring } from "./utils/ring.ts";
export { countUnknown, nearest, toTitle } from "./utils/text.ts";
export { earliest, isBefore, latest, msToIso, type Span, toIso, widen } from "./utils/time.ts";
export { VERSION } from "./utils/version.ts";
export type { Pool, PoolTask } from "./workers/pool.ts";
