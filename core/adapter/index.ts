/** Public entry `sessarc/adapter`: what adapters are made of. Re-exports only; everything is in `sessarc` as well. */

export * from "../contract/adapter.ts";
export * from "../contract/mcp-config.ts";
export * from "../contract/tool-action.ts";
export { SessarcError } from "../errors/error.ts";
export * from "../session/session.ts";
export type { Cursor, Tail, TailEnd } from "../session/tail.ts";
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
} from "../session/usage.ts";
export { openSqliteFile, type SqliteFile, sqliteVersion } from "../storage/sqlite-file.ts";
export type { SqlValue } from "../storage/types.ts";
export { BoundedMap } from "../utils/bounded.ts";
export { codeOf, isGone } from "../utils/gone.ts";
export { hash53 } from "../utils/hash.ts";
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
} from "../utils/json.ts";
export { parseDocument } from "../utils/json-document.ts";
export {
  bytesAt,
  isStartOf,
  isUnreadable,
  listFolder,
  namesInSlices,
  readFolder,
  readFolderInSlices,
  takeClosed,
} from "../utils/log-files.ts";
export { marks, pages } from "../utils/marks.ts";
export { openRegular, readRegular, readRegularSync } from "../utils/regular.ts";
export { alone, countUnknown, nearest, toTitle } from "../utils/text.ts";
export { earliest, isBefore, latest, msToIso, type Span, toIso, widen } from "../utils/time.ts";
export { defineAdapter } from "./define.ts";
export { withFolders } from "./folders.ts";
export { scanLines } from "./line-scan.ts";
export { BRACED_VARIABLE, ENV_VARIABLE, mcpServers, mcpTexts, mcpValues } from "./mcp-server.ts";
export { readLines } from "./read-lines.ts";
export { readEventBatches, readParsed } from "./read-log.ts";
export { createRereadTail, type Draft, type OpenSession, type Rereader } from "./reread-tail.ts";
export { tailRevised } from "./revised-tail.ts";
export { readShell } from "./shell-input.ts";
export { tailParsed } from "./tail-log.ts";
export { toolActions } from "./tool-action.ts";
export { type CallArguments, commandOf, type EditText, mainArgument, pathsIn, toolCall } from "./tool-call.ts";
export { wholeRead } from "./tool-read.ts";
