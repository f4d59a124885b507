/** Public entry `sessarc/adapter`: what adapters are made of. Re-exports only; everything is in `sessarc` as well. */

export type {
  Adapter,
  AdapterCapabilities,
  AdapterDefinition,
  AdapterEnv,
  LineParser,
  NewEvent,
  OpenLog,
  Retention,
  ToolRole,
} from "../contract/adapter.ts";
// Types that `defineAdapter` returns: a package that emits declarations names them.
export type { AdapterPlugin, PluginFactory } from "../contract/plugin.ts";
export type { ToolAction } from "../contract/tool-action.ts";
export { SessarcError } from "../errors/error.ts";
export {
  EVENT_KINDS,
  type EventKind,
  type LimitReading,
  type SessionEvent,
  type SessionLink,
  type SessionRef,
  type SessionSummary,
  type SessionUsage,
  type TokenUsage,
  type UsageEntry,
  type UsageEvidence,
} from "../session/session.ts";
export {
  addUsage,
  createLedger,
  emptyUsage,
  type Ledger,
  type LedgerSummary,
  toCount,
} from "../session/usage.ts";
export { openSqliteFile, type SqliteFile, sqliteVersion } from "../storage/sqlite-file.ts";
export type { SqlValue } from "../storage/types.ts";
export {
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
} from "../utils/json.ts";
export { parseDocument } from "../utils/json-document.ts";
export { readRegular } from "../utils/regular.ts";
export { countUnknown, toTitle } from "../utils/text.ts";
export { toIso } from "../utils/time.ts";
export { apiUsage, withoutCache } from "./api-usage.ts";
export {
  createDraft,
  createSessionLog,
  type EventFields,
  type LogFacts,
  type SessionDraft,
  type SessionLog,
} from "./collector.ts";
export { contentParts, contentText, partsText } from "./content.ts";
export { dataFolders } from "./data-folders.ts";
export { defineAdapter } from "./define.ts";
export {
  type DocumentSessions,
  type DocumentSessionsDefinition,
  documentSessions,
  type FileStamp,
  fileStamp,
  readDocument,
  type SessionPlace,
} from "./document-sessions.ts";
export { editorFolders } from "./editor-folders.ts";
export { type ListElement, readList, readListElement } from "./json-array.ts";
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
} from "./log-folder.ts";
export { peekLog } from "./peek-log.ts";
export {
  type ProtoMessage,
  type ProtoShape,
  type ProtoType,
  type ProtoValue,
  protoAll,
  protoFirst,
  readProto,
} from "./protobuf.ts";
export { readLines } from "./read-lines.ts";
export { readRows } from "./read-log.ts";
export {
  type DatabaseSession,
  presentColumns,
  rowMarks,
  type SqliteSessions,
  type SqliteSessionsDefinition,
  sessionRows,
  sqliteSessions,
} from "./sqlite-sessions.ts";
export { storedOutput } from "./stored-output.ts";
export { toolCall } from "./tool-call.ts";
export { uriToPath } from "./uri.ts";
export { unzstd } from "./zstd.ts";
