/** The lines of a log as text. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { createCutter, fileSource, isPacked, zstdSource } from "../utils/jsonl.ts";
import { toText } from "./line-reader.ts";

/**
 * The lines of a file as text: split at byte 0x0A only; a BOM, trailing CRs and blank lines are left out.
 * `start` and `end` are byte offsets (`end` exclusive); lines longer than `maxLine` bytes (64 MB) are left out.
 * A `.zst` file is inflated (then the offsets do not apply). Rejects with the file system's error when it cannot be opened.
 */
export async function* readLines(
  path: string,
  opts: { start?: number; end?: number; maxLine?: number } = {},
): AsyncGenerator<string, void> {
  const source = isPacked(path) ? await zstdSource(path) : fileSource(path, opts.start, opts.end);
  const cutter = createCutter(source, opts.start, opts.maxLine);
  let lines: string[] = [];
  const take = (bytes: Buffer, from: number, to: number, offset: number) => {
    const text = toText(bytes, from, to, offset);
    if (text !== "") lines.push(text);
  };
  try {
    while (cutter.next(take)) {
      yield* lines;
      lines = [];
      await nextTurn();
    }
    const rest = cutter.rest();
    if (rest?.whole) take(rest.bytes, rest.from, rest.to, rest.offset);
    yield* lines;
  } finally {
    cutter.close();
  }
}
