/** Public entry `sessarc/terminal`: what commands print with. Re-exports only; everything is in `sessarc` as well. */

export { ApiError, UsageError } from "./errors.ts";
export { createProgress, type Progress } from "./progress.ts";
export { createStyle, printable, type Style } from "./style.ts";
export { type Column, formatTable } from "./table.ts";
