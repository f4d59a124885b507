/** The lines of a log as bytes, for callers that need few of them: nothing is decoded or parsed. */
import { splitRows } from "../utils/joined-rows.ts";
import { type ByteSource, createCutter, fileSource, isPacked, zstdSource } from "../utils/jsonl.ts";

/**
 * Bytes `from` to `to` of `bytes` are one line without its newline; `offset` is where it begins in the log, `isEnded` is false for a last line that has
 * no newline. Valid during the call only.
 */
type OnLine = (bytes: Buffer, from: number, to: number, offset: number, isEnded: boolean) => void;

/**
 * Hands over each line of `path` (`.zst` inflated), a last one without its newline too. Cuts as the reader of whole sessions does:
 * over-long lines are left out, damaged compressed data ends the log. Blocks for one chunk of 1 MiB at a time.
 */
export async function scanLines(path: string, onLine: OnLine): Promise<void> {
  let damaged = false;
  const source: ByteSource = isPacked(path) ? await zstdSource(path) : fileSource(path);
  const cutter = createCutter({
    close: () => source.close(),
    read(into, at) {
      if (!isPacked(path)) return source.read(into, at);
      try {
        return source.read(into, at);
      } catch {
        damaged = true; // as far as it goes; the reader of the session counts it
        return 0;
      }
    },
  });
  try {
    const onWhole = (bytes: Buffer, from: number, to: number, offset: number) => onLine(bytes, from, to, offset, true);
    while (cutter.next(onWhole)) await new Promise<void>((resolve) => setImmediate(resolve));
    const rest = damaged ? undefined : cutter.rest();
    if (rest?.whole) onLine(rest.bytes, rest.from, rest.to, rest.offset, false);
  } finally {
    cutter.close();
  }
}

/** The rows on a line of a log, as `toRows` gives those of bytes. */
export const rowsIn = (line: string): object[] => toRows(Buffer.from(line), true).map(({ row }) => row);

/** The rows of a line as the reader of whole sessions finds them: one, or several where a kill left them on one line. */
export function toRows(line: Buffer, isEnded: boolean): { row: object; from: number; to: number }[] {
  const start = line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? 3 : 0;
  try {
    const row: unknown = JSON.parse(line.toString("utf8", start));
    return typeof row === "object" && row !== null && !Array.isArray(row) ? [{ row, from: 0, to: line.length }] : [];
  } catch {
    return splitRows(line, isEnded).rows;
  }
}
