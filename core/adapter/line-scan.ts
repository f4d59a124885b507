/** The lines of a log as bytes, for callers that need few of them: nothing is decoded or parsed. */
import { type ByteSource, createCutter, fileSource, isPacked, zstdSource } from "../utils/jsonl.ts";

/** Bytes `from` to `to` of `bytes` are one line without its newline; `offset` is where it begins in the log. Valid during the call only. */
type OnLine = (bytes: Buffer, from: number, to: number, offset: number) => void;

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
    while (cutter.next(onLine)) await new Promise<void>((resolve) => setImmediate(resolve));
    const rest = damaged ? undefined : cutter.rest();
    if (rest?.whole) onLine(rest.bytes, rest.from, rest.to, rest.offset);
  } finally {
    cutter.close();
  }
}
