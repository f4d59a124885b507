/** One line on stderr that is rewritten; on anything but a terminal it stays silent. */
import { formatBytes, formatDuration } from "./format.ts";
import { fitColumns, printable } from "./style.ts";

/** How far the work is; shown as a share of `total`. */
export interface ProgressState {
  done: number;
  total: number;
  bytes?: number | undefined;
  bytesTotal?: number | undefined;
  /** Bytes per second. */
  rate?: number | undefined;
  etaMs?: number | null | undefined;
  current?: string | null | undefined;
}

/** A line on a terminal that is written over (`createProgress`). */
export interface Progress {
  update(state: ProgressState): void;
  /** Removes the line. Safe to call twice. */
  clear(): void;
}

const BAR = 24;
const INTERVAL = 80;

/** `write` gets raw text with control sequences and is only called when `tty` is true. */
export function createProgress(options: {
  tty: boolean;
  columns?: number;
  write(text: string): void;
  now?: () => number;
}): Progress {
  const now = options.now ?? Date.now;
  let shown = false;
  let last = Number.NEGATIVE_INFINITY;
  return {
    update(state) {
      if (!options.tty || state.total === 0 || (now() - last < INTERVAL && state.done < state.total)) return;
      last = now();
      shown = true;
      options.write(`\r\u001b[2K${fitColumns(progressLine(state), (options.columns || 80) - 1)}`);
    },
    clear() {
      if (shown) options.write("\r\u001b[2K");
      shown = false;
    },
  };
}

/** `━━━━━────── 42 %  12/30  12 MiB/s  3 s left  codex:abc` */
export function progressLine(state: ProgressState): string {
  const share = state.bytesTotal
    ? (state.bytes ?? 0) / state.bytesTotal
    : state.total > 0
      ? state.done / state.total
      : 1;
  const part = Math.min(1, Math.max(0, share));
  const filled = Math.round(part * BAR);
  return [
    `${"━".repeat(filled)}${"─".repeat(BAR - filled)} ${String(Math.floor(part * 100)).padStart(3)} %`,
    `${state.done}/${state.total}`,
    ...(state.rate ? [`${formatBytes(Math.round(state.rate))}/s`] : []),
    ...(typeof state.etaMs === "number" && state.etaMs > 0
      ? [`${formatDuration(Math.ceil(state.etaMs / 1000) * 1000)} left`]
      : []),
    ...(state.current ? [printable(state.current)] : []),
  ].join("  ");
}
