/** Public entry `sessarc/adapter`: what adapters are made of, and what features ask adapters. Re-exports only. */
export { apiUsage, withoutCache } from "../adapter/api-usage.ts";
export {
  createDraft,
  createSessionLog,
  type EventFields,
  type LogFacts,
  type SessionDraft,
  type SessionLog,
} from "../adapter/collector.ts";
export { contentParts, contentText, partsText } from "../adapter/content.ts";
export { dataFolders } from "../adapter/data-folders.ts";
export { defineAdapter } from "../adapter/define.ts";
export {
  type DocumentSessions,
  type DocumentSessionsDefinition,
  documentSessions,
  type FileStamp,
  fileStamp,
  readDocument,
  type SessionPlace,
} from "../adapter/document-sessions.ts";
export { withFolders } from "../adapter/folders.ts";
export { type ListElement, readList, readListElement } from "../adapter/json-array.ts";
export { rowsIn, scanLines, toRows } from "../adapter/line-scan.ts";
export {
  type FoundLog,
  findLogs,
  folderIn,
  headRows,
  readRecord,
  rememberByFile,
  textBeside,
  toRef,
  withUniqueKeys,
} from "../adapter/log-folder.ts";
export { peekLog } from "../adapter/peek-log.ts";
export { readLines } from "../adapter/read-lines.ts";
export { readRows, type SkippedRows } from "../adapter/read-log.ts";
export { readShell } from "../adapter/shell-input.ts";
export {
  type DatabaseSession,
  presentColumns,
  rowMarks,
  type SqliteSessions,
  type SqliteSessionsDefinition,
  sessionRows,
  sqliteSessions,
} from "../adapter/sqlite-sessions.ts";
export { storedOutput } from "../adapter/stored-output.ts";
export { createTodos } from "../adapter/todos.ts";
export { toolActions } from "../adapter/tool-action.ts";
export { mainArgument, pathsIn, toCommand, toolCall } from "../adapter/tool-call.ts";
export { wholeRead } from "../adapter/tool-read.ts";
export { uriToPath } from "../adapter/uri.ts";
export { unzstd } from "../adapter/zstd.ts";
export type {
  Adapter,
  AdapterDefinition,
  AdapterEnv,
  EventBatches,
  LineParser,
  LogLine,
  NewEvent,
  OpenLog,
  Retention,
  ToolRole,
  UsageSummary,
} from "../contract/adapter.ts";
// A type that `defineAdapter` returns: a package that emits declarations names it.
export type { AdapterPlugin } from "../contract/plugin.ts";
export type { AdapterFolders } from "../contract/registry.ts";
export type { RecordedCall, RecordedRead, TextEdit, ToolAction } from "../contract/tool-action.ts";
export { loadAdapter } from "../kernel/load.ts";
export { countsAt, describeLeftOut, latestTime } from "../session/figures.ts";
export { classed, classedUsage, classOfKey, plainModel, plainUsage } from "../session/price-class.ts";
export type { Cursor, TailEnd } from "../session/tail.ts";
export {
  addUsage,
  createLedger,
  emptyUsage,
  type Ledger,
  type LedgerSummary,
  type LooseUsage,
  mergeUsage,
  possible,
  replyHash,
  toCount,
  toSlot,
  toTokens,
} from "../session/usage.ts";
export { lastWritten, openSqliteFile, type SqliteFile, sqliteVersion } from "../storage/sqlite-file.ts";
export { hash53 } from "../utils/hash.ts";
export { toJsonText, toToolInput } from "../utils/json.ts";
export { parseDocument } from "../utils/json-document.ts";
export {
  bytesAt,
  isUnreadable,
  listFolder,
  namesInSlices,
  readFolder,
  readFolderInSlices,
  takeClosed,
  withoutCopies,
} from "../utils/log-files.ts";
export { movedPath } from "../utils/path.ts";
export { renameIds } from "../utils/rename-ids.ts";
export { countUnknown, toTitle } from "../utils/text.ts";
export { earliest, isBefore, latest, msToIso, type Span, widen } from "../utils/time.ts";
