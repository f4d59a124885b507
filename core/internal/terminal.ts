/** What the built-in commands share beyond `sessarc/terminal`. `#internal/terminal` resolves inside this package alone. */

export { isRedacted, REDACTED_HELP, REDACTED_OPTIONS } from "../terminal/assistant.ts";
export { formatBytes, formatCount, formatDuration, formatMoney, formatShort } from "../terminal/format.ts";
export { accepted, readFrames } from "../terminal/frames.ts";
export type { ProgressState } from "../terminal/progress.ts";
export { send } from "../terminal/send.ts";
export { widthOf } from "../terminal/style.ts";
export { attend } from "../utils/exec.ts";
