/** Public entry of `sessarc`: re-exports only. Nothing here may load a heavy package. */
export * from "./adapter/index.ts";
export {
  type ConfigFlags,
  defineConfig,
  type LoadedConfig,
  resolveConfig,
  type UserConfig,
} from "./config/config.ts";
export { loadConfig } from "./config/file.ts";
export { readSettings, type Settings, writeSettings } from "./config/settings.ts";
export type { Access } from "./contract/access.ts";
export * from "./contract/command.ts";
export type { ResolvedConfig, SettingKey, SettingValues } from "./contract/config.ts";
export * from "./contract/kernel.ts";
export * from "./contract/plugin.ts";
export type { AdapterFolders, Registry } from "./contract/registry.ts";
export type { DoctorCheck, PluginInfo, PluginProblem, StatusReport } from "./contract/reports.ts";
export * from "./contract/route.ts";
export { invalidCursor } from "./errors/cursor.ts";
export * from "./errors/error.ts";
export { readDiscovery } from "./http/access.ts";
export { eventsResponse, toEvents } from "./http/events.ts";
export { streamJson, textStream } from "./http/text-stream.ts";
export type { KernelRoutes } from "./kernel/builtin.ts";
export { PLUGIN_API } from "./kernel/compatibility.ts";
export { createKernel, type KernelOptions } from "./kernel/kernel.ts";
export { loadAdapter } from "./kernel/load.ts";
export type { SettingsAnswer } from "./kernel/settings.ts";
export { type Client, type ClientOptions, createClient, UnreachableError } from "./serve/client.ts";
export { closeOnSignals, type Served, type ServeOptions, serve } from "./serve/serve.ts";
export { answeredCalls } from "./storage/answered-calls.ts";
export { Chunk, decodeChunk, type LazyEvent } from "./storage/chunk.ts";
export type { Bounds } from "./storage/chunk-builder.ts";
export { hasArchive } from "./storage/present.ts";
export { buildSqlite } from "./storage/sqlite-build.ts";
export { storageFailed } from "./storage/storage-error.ts";
export type { ChunkEntry, PartIndex, TranscriptPart, Transcripts } from "./storage/transcript-types.ts";
export { createTranscripts, type TranscriptOptions } from "./storage/transcripts.ts";
export type { Database, Statement, Storage } from "./storage/types.ts";
export * from "./terminal/index.ts";
export { type MaybePromise, messageOf } from "./utils/async.ts";
export { isTempName, tempName, writeFileAtomic } from "./utils/atomic.ts";
export { debugError } from "./utils/debug.ts";
export { type ExecResult, endProcess, exec, startProcess } from "./utils/exec.ts";
export { loadJsonEdits } from "./utils/json-edits.ts";
export * from "./utils/outside-file.ts";
export { isInside, resolveInside } from "./utils/path.ts";
export { createRing } from "./utils/ring.ts";
export { nextSlice, Slices } from "./utils/slices.ts";
export { sortInSlices } from "./utils/sort.ts";
export { keepTomlComments } from "./utils/toml-comments.ts";
export { VERSION } from "./utils/version.ts";
export type { Pool, PoolTask } from "./workers/pool.ts";
