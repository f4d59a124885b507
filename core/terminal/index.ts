/** Public entry `sessarc/terminal`: what commands print with. Re-exports only; everything is in `sessarc` as well. */

export { isRedacted, REDACTED_HELP, REDACTED_OPTIONS } from "./assistant.ts";
export { ApiError, UsageError } from "./errors.ts";
export { formatBytes, formatCount, formatDuration, formatMoney } from "./format.ts";
export { accepted, readFrames } from "./frames.ts";
export { createProgress, type Progress, type ProgressState } from "./progress.ts";
export { createStyle, printable, type Style } from "./style.ts";
export { type Column, formatTable } from "./table.ts";
