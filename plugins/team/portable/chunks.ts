/** Lines in chunks that are named by their content: what is there already is not sent again, and a session that grew has few new ones. */
import { createHash } from "node:crypto";

/** Bytes of a chunk before compression. */
export const CHUNK_BYTES = 1 << 20;

export interface Chunk {
  /** Of `bytes`. */
  sha256: string;
  bytes: Buffer;
}

/**
 * Cuts between lines, so that lines that are added change the last chunk alone. A line that is longer than a chunk is cut itself. Memory
 * is one chunk and one line.
 */
export async function* toChunks(
  lines: Iterable<string> | AsyncIterable<string>,
  most = CHUNK_BYTES,
): AsyncGenerator<Chunk> {
  let waiting: Buffer[] = [];
  let size = 0;
  const take = () => {
    const chunk = toChunk(Buffer.concat(waiting));
    waiting = [];
    size = 0;
    return chunk;
  };
  for await (const line of lines) {
    const bytes = Buffer.from(`${line}\n`);
    if (size > 0 && size + bytes.length > most) yield take();
    let at = 0;
    for (; bytes.length - at > most; at += most) yield toChunk(bytes.subarray(at, at + most));
    waiting.push(bytes.subarray(at));
    size += bytes.length - at;
  }
  if (size > 0) yield take();
}

const toChunk = (bytes: Buffer): Chunk => ({ sha256: createHash("sha256").update(bytes).digest("hex"), bytes });

/** The lines of chunks, a chunk's at a time. What is after the last newline is no line. */
export async function* linesOf(
  chunks: readonly string[],
  load: (sha256: string) => Promise<Uint8Array>,
): AsyncGenerator<string[]> {
  let begun: Buffer[] = [];
  for (const sha256 of chunks) {
    const bytes = Buffer.from(await load(sha256));
    const end = bytes.lastIndexOf(10);
    if (end < 0) {
      begun.push(bytes);
      continue;
    }
    const text = Buffer.concat([...begun, bytes.subarray(0, end)]).toString("utf8");
    begun = end + 1 < bytes.length ? [bytes.subarray(end + 1)] : [];
    yield text.split("\n");
  }
}
