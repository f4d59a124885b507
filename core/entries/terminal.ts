/** Public entry `sessarc/terminal`: commands, and what they print with. Re-exports only. */
export type { Command, CommandContext, CommandGroup, QuickCommand, QuickIo } from "../contract/plugin.ts";
export { isRedacted, REDACTED_HELP, REDACTED_OPTIONS } from "../terminal/assistant.ts";
export { ApiError, UsageError } from "../terminal/errors.ts";
export { formatAge, formatBytes, formatCount, formatDuration, formatMoney, formatShort } from "../terminal/format.ts";
export { accepted, readFrames } from "../terminal/frames.ts";
export { createProgress, type Progress, type ProgressState } from "../terminal/progress.ts";
export { send } from "../terminal/send.ts";
export { toShortIds } from "../terminal/session-id.ts";
export { sessionTitle } from "../terminal/session-title.ts";
export { createStyle, fitColumns, printable, type Style, widthOf, wrapColumns } from "../terminal/style.ts";
export { type Column, formatTable } from "../terminal/table.ts";
export { nearest, oneLine } from "../utils/text.ts";
