/** Cuts bytes into lines at 0x0A, before any decoding: U+2028 inside a string and UTF-8 across two reads cannot break a row. */
import { closeSync, readSync } from "node:fs";
import { openRegularSync } from "./regular.ts";

/** Longest line that is read; longer ones are skipped and counted. */
const MAX_LINE = 64 * 1024 * 1024;
/** Small, so that the events of one chunk are gone before the young generation is collected. */
const CHUNK = 256 * 1024;

/** Where bytes come from. `read` fills `into` from `at` on and returns how many bytes it wrote; 0 is the end. Synchronous: one chunk at a time. */
export interface ByteSource {
  read(into: Buffer, at: number): number;
  close(): void;
}

export interface LineCutter {
  /** Reads one chunk and passes each complete line in it, without its `\n`. False when the source is at its end. */
  next(onLine: (bytes: Buffer, from: number, to: number, offset: number) => void): boolean;
  /** After the end: the bytes behind the last `\n`, if any. `whole` is false when they were over the limit and dropped. */
  rest(): { bytes: Buffer; from: number; to: number; offset: number; whole: boolean } | undefined;
  /** Lines dropped for their length so far. */
  readonly tooLong: number;
  /** Bytes taken from the source so far. */
  readonly bytesRead: number;
  close(): void;
}

/** One idle buffer is kept, so that a thousand small files, also many that are open at once, do not cost a thousand allocations. */
let spare: Buffer | undefined;
const NONE = Buffer.alloc(0);

/** `offset` is what the first byte of `source` counts as. Memory: one chunk, growing to the longest line. */
export function createCutter(source: ByteSource, offset = 0, maxLine = MAX_LINE): LineCutter {
  let buffer: Buffer = NONE;
  let from = 0; // start of the unfinished line
  let to = 0; // end of the valid bytes
  let base = offset; // offset of buffer[0] in the source
  let dropping = false; // inside a line over the limit
  let tooLong = 0;
  let bytesRead = 0;
  /** Nothing in the buffer is needed any more: until the next chunk others may have it. */
  const release = () => {
    if (buffer.length === CHUNK) spare = buffer;
    buffer = NONE;
    base += to;
    from = to = 0;
  };
  return {
    get tooLong() {
      return tooLong;
    },
    get bytesRead() {
      return bytesRead;
    },
    next(onLine) {
      if (buffer.length === 0) {
        buffer = spare ?? Buffer.allocUnsafe(CHUNK);
        spare = undefined;
      }
      if (from > 0) {
        buffer.copyWithin(0, from, to);
        base += from;
        to -= from;
        from = 0;
      }
      if (to === buffer.length) {
        const grown = Buffer.allocUnsafe(Math.min(buffer.length * 2, maxLine + CHUNK));
        buffer.copy(grown, 0, 0, to);
        buffer = grown;
      }
      const count = source.read(buffer, to);
      if (count === 0) {
        if (from === to) release();
        return false;
      }
      bytesRead += count;
      let search = to;
      to += count;
      const valid = buffer.subarray(0, to);
      for (;;) {
        const newline = valid.indexOf(10, search);
        if (newline < 0) break;
        if (dropping) dropping = false;
        else if (newline - from > maxLine) tooLong++;
        else onLine(buffer, from, newline, base + from);
        from = search = newline + 1;
      }
      if (!dropping && to - from > maxLine) {
        dropping = true;
        tooLong++;
      }
      if (dropping) from = to;
      if (from === to) release();
      return true;
    },
    rest() {
      if (dropping) return { bytes: buffer, from: to, to, offset: base + to, whole: false };
      return from < to ? { bytes: buffer, from, to, offset: base + from, whole: true } : undefined;
    },
    close() {
      release();
      source.close();
    },
  };
}

/**
 * A plain file, by path or open descriptor (closed with the source), from `start` to `end` (exclusive; default the end
 * of the file, as far as it is when it is reached).
 */
export function fileSource(file: string | number, start = 0, end = Number.POSITIVE_INFINITY): ByteSource {
  const fd = typeof file === "number" ? file : openRegularSync(file);
  let position = start;
  return {
    read(into, at) {
      const room = Math.min(into.length - at, end - position);
      const count = room > 0 ? readSync(fd, into, at, room, position) : 0;
      position += count;
      return count;
    },
    close: () => closeSync(fd),
  };
}

/** Whether a log is compressed, by its name. */
export const isPacked = (path: string): boolean => /\.zstd?$/.test(path);

/** A zstandard file, inflated as it is read. Throws on damaged data. Loads fzstd on first use. */
export async function zstdSource(path: string): Promise<ByteSource> {
  const { Decompress } = await import("fzstd");
  const inner = fileSource(path);
  // Small bites: a hostile block of 4 bytes inflates to 128 KB.
  const packed = Buffer.allocUnsafe(4096);
  const ready: Uint8Array[] = [];
  let ended = false;
  const stream = new Decompress((chunk) => {
    if (chunk.length > 0) ready.push(chunk);
  });
  return {
    read(into, at) {
      while (ready.length === 0 && !ended) {
        const count = inner.read(packed, 0);
        ended = count === 0;
        stream.push(Uint8Array.prototype.slice.call(packed, 0, count), ended);
      }
      let written = 0;
      while (ready[0] && at + written < into.length) {
        const part = ready[0].subarray(0, into.length - at - written);
        into.set(part, at + written);
        written += part.length;
        if (part.length === ready[0].length) ready.shift();
        else ready[0] = ready[0].subarray(part.length);
      }
      return written;
    },
    close: () => inner.close(),
  };
}
