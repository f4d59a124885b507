/** What the built-in adapters share beyond `sessarc/adapter`. `#internal/adapter` resolves inside this package alone. */

export { withFolders } from "../adapter/folders.ts";
export { rowsIn, rowsOf, scanLines } from "../adapter/line-scan.ts";
export type { SkippedRows } from "../adapter/read-log.ts";
export { readShell } from "../adapter/shell-input.ts";
export { toolActions } from "../adapter/tool-action.ts";
export { commandOf, mainArgument, pathsIn } from "../adapter/tool-call.ts";
export { wholeRead } from "../adapter/tool-read.ts";
export type { EventBatches, LogLine, UsageSummary } from "../contract/adapter.ts";
export type { RecordedCall, RecordedRead, TextEdit } from "../contract/tool-action.ts";
export { countsAt, describeLeftOut, latestTime } from "../session/figures.ts";
export type { LeftOut, LiveFrame } from "../session/session.ts";
export type { Cursor, TailEnd } from "../session/tail.ts";
export type { LooseUsage } from "../session/usage.ts";
export { type LedgerEntry, mergeUsage, possible, replyHash, slotOf, toTokens } from "../session/usage.ts";
export { lastWritten } from "../storage/sqlite-file.ts";
export { BoundedMap } from "../utils/bounded.ts";
export { codeOf, isGone } from "../utils/gone.ts";
export { hash53 } from "../utils/hash.ts";
export { isJson, toJsonText, toToolInput } from "../utils/json.ts";
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
export { marks, pages } from "../utils/marks.ts";
export { isInside, movedPath } from "../utils/path.ts";
export { openRegular, readRegularSync } from "../utils/regular.ts";
export { renameIds } from "../utils/rename-ids.ts";
export { alone, nearest } from "../utils/text.ts";
export { earliest, isBefore, latest, msToIso, type Span, widen } from "../utils/time.ts";
