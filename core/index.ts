/** Public entry of `sessarc`: re-exports only. Nothing here may load a heavy package. */
export * from "./adapter.ts";
export { UsageError } from "./cli/args.ts";
export { formatBytes, formatCount, formatDuration, formatMoney, formatShort } from "./cli/format.ts";
export { createProgress, type Progress, type ProgressState } from "./cli/progress.ts";
export { createStyle, fitColumns, printable, type Style, widthOf } from "./cli/style.ts";
export { type Column, formatTable } from "./cli/table.ts";
export * from "./command.ts";
export { type LineParser, readEventBatches, readLines, readParsed, tailParsed } from "./lines.ts";
export * from "./plugin.ts";
export * from "./session.ts";
export { Chunk } from "./storage/chunk.ts";
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
export { isJson, isRecord, type JsonRecord, toText, toToolInput } from "./utils/json.ts";
export { type Span, toIso, widen } from "./utils/time.ts";
export type { Pool, PoolTask } from "./workers/pool.ts";
