/** Public entry `sessarc/terminal`: commands, and what they print with. Re-exports only. */
export type { Command, CommandContext, QuickCommand, QuickIo } from "../contract/plugin.ts";
export { isRedacted, REDACTED_HELP, REDACTED_OPTIONS } from "../terminal/assistant.ts";
export { ApiError, UsageError } from "../terminal/errors.ts";
export { formatBytes, formatCount, formatDuration, formatMoney, formatShort } from "../terminal/format.ts";
export { accepted, readFrames } from "../terminal/frames.ts";
export { createProgress, type Progress, type ProgressState } from "../terminal/progress.ts";
export { send } from "../terminal/send.ts";
export { sessionTitle } from "../terminal/session-title.ts";
export { createStyle, printable, type Style, widthOf } from "../terminal/style.ts";
export { type Column, formatTable } from "../terminal/table.ts";
export { oneLine } from "../utils/text.ts";
