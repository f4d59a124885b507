/** `service.log`: what the service writes, a line with its time each; at 5 MB it becomes `service.log.1`. */
import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

export const LOG_FILE = "service.log";
const MOST_BYTES = 5 * 2 ** 20;
/** A longer line is cut: nothing that the service writes is that long. */
const MOST_LINE = 16_384;

export interface LogFile {
  /** Adds text; whole lines are written at once, the rest with its end. */
  write(text: string): void;
  /** Writes what is left without a line end. */
  flush(): void;
  /** The last lines, for a reason. */
  last(): string[];
}

export function openLog(dataDir: string, now = () => new Date()): LogFile {
  const path = join(dataDir, LOG_FILE);
  let size = sizeOf(path);
  let rest = "";
  const last: string[] = [];
  const line = (text: string) => {
    last.push(text);
    if (last.length > 5) last.shift();
    const bytes = Buffer.from(`${now().toISOString()} ${text.slice(0, MOST_LINE)}\n`);
    try {
      if (size + bytes.length > MOST_BYTES) {
        renameSync(path, `${path}.1`);
        size = 0;
      }
      appendFileSync(path, bytes, { mode: 0o600 });
      size += bytes.length;
    } catch {
      // A full disk, or a data directory that is gone: the service goes on without its log.
    }
  };
  return {
    write(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) line(one);
    },
    flush() {
      if (rest !== "") line(rest);
      rest = "";
    },
    last: () => last.slice(),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
