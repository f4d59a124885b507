/** Public entry of `sessarc`: re-exports only. Nothing here may load a heavy package. */

export { type Access, type Discovery, readDiscovery, type Scope } from "./access.ts";
export * from "./adapter.ts";
export type { KernelRoutes } from "./builtin.ts";
export { UsageError } from "./cli/args.ts";
export { ApiError } from "./cli/client.ts";
export { formatBytes, formatCount, formatDuration, formatMoney, formatShort } from "./cli/format.ts";
export { createProgress, type Progress, type ProgressState } from "./cli/progress.ts";
export { createStyle, fitColumns, printable, type Style, widthOf } from "./cli/style.ts";
export { type Column, formatTable } from "./cli/table.ts";
export * from "./command.ts";
export {
  type ConfigFlags,
  defineConfig,
  isLoopback,
  type ResolvedConfig,
  resolveConfig,
  type UserConfig,
} from "./config.ts";
export { type LoadConfigOptions, loadConfig } from "./config-file.ts";
export { machineEnv } from "./env.ts";
export * from "./error.ts";
export { type AdapterFolders, withFolders } from "./folders.ts";
export { createKernel, type KernelOptions } from "./kernel.ts";
export { scanLines } from "./line-scan.ts";
export { type LineParser, readEventBatches, readLines, readParsed, tailParsed } from "./lines.ts";
export * from "./plugin.ts";
export type { PluginInfo, RegisteredRoute, Registry } from "./registry.ts";
export { createRereadTail, type Draft, type OpenSession, type Rereader } from "./reread-tail.ts";
export { type Reading, tailRevised } from "./revised-tail.ts";
export * from "./route.ts";
export { closeOnSignals, type Served, type ServeOptions, serve } from "./serve.ts";
export * from "./session.ts";
export { readSettings, type Settings, writeSettings } from "./settings-file.ts";
export type { StatusReport } from "./status.ts";
export { Chunk, decodeChunk, type LazyEvent } from "./storage/chunk.ts";
export { openSqliteFile, type SqliteFile, type SqliteFileOptions, sqliteVersion } from "./storage/sqlite-file.ts";
export {
  type ChunkEntry,
  createTranscripts,
  type DriverConfig,
  type PartIndex,
  type TranscriptOptions,
  type TranscriptPart,
  type Transcripts,
} from "./storage/transcripts.ts";
export type { Database, SqlValue, Statement, Storage } from "./storage/types.ts";
export { pathsIn } from "./tool-input.ts";
export * from "./types.ts";
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
} from "./usage.ts";
export { type ExecOptions, type ExecResult, exec } from "./utils/exec.ts";
export { hash53 } from "./utils/hash.ts";
export {
  isJson,
  isRecord,
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
export { bytesAt, isGone, isStartOf, readFolder } from "./utils/log-files.ts";
export { isInside, resolveInside } from "./utils/path.ts";
export { createRing, type Ring } from "./utils/ring.ts";
export { countUnknown, nearest, toTitle } from "./utils/text.ts";
export { earliest, isBefore, latest, msToIso, type Span, toIso, widen } from "./utils/time.ts";
export { VERSION } from "./version.ts";
export type { Pool, PoolTask } from "./workers/pool.ts";
