/** Lines in pieces that are named by their content: what is there already need not be sent again. */
import { createHash } from "node:crypto";

/** Lines of at most 1 MiB, named by their content. */
export interface Piece {
  /** Of `bytes`, 64 hex digits. */
  sha256: string;
  bytes: Buffer;
}

interface PieceCutter {
  /** Adds a line. Returns the pieces that are full now. */
  add(line: string): Piece[];
  /** The rest. */
  end(): Piece[];
}

/** Bytes of a piece at most. */
const PIECE_BYTES = 1 << 20;

/** Cuts between lines, so that added lines change the last piece alone; a line longer than a piece is cut itself. Memory is a piece and a line. */
export function createPieces(): PieceCutter {
  let waiting: Buffer[] = [];
  let size = 0;
  const take = (): Piece[] => {
    if (size === 0) return [];
    const piece = toPiece(Buffer.concat(waiting));
    waiting = [];
    size = 0;
    return [piece];
  };
  return {
    add(line) {
      const bytes = Buffer.from(`${line}\n`);
      const full = size + bytes.length > PIECE_BYTES ? take() : [];
      let at = 0;
      for (; bytes.length - at > PIECE_BYTES; at += PIECE_BYTES)
        full.push(toPiece(bytes.subarray(at, at + PIECE_BYTES)));
      waiting.push(bytes.subarray(at));
      size += bytes.length - at;
      return full;
    },
    end: take,
  };
}

const toPiece = (bytes: Buffer): Piece => ({ sha256: createHash("sha256").update(bytes).digest("hex"), bytes });

/** Bytes of a line at most: a text of 16 Mi characters and its frame. */
const LINE_BYTES = 24 << 20;

/** The lines of pieces, a piece's at a time. Bytes after the last newline are not a line. A line that is longer than 24 MiB is empty. */
export async function* linesOfPieces(
  names: readonly string[],
  load: (sha256: string) => Promise<Uint8Array>,
): AsyncGenerator<string[]> {
  let begun: Buffer[] = [];
  let size = 0;
  for (const name of names) {
    const bytes = Buffer.from(await load(name));
    const end = bytes.lastIndexOf(10);
    if (end < 0) {
      size += bytes.length;
      if (size <= LINE_BYTES) begun.push(bytes);
      else begun = [];
      continue;
    }
    // Of a line that is too long only the end of its last piece is there, which is left out.
    const from = size > LINE_BYTES ? bytes.indexOf(10) : 0;
    const text = Buffer.concat([...begun, bytes.subarray(from, end)]).toString("utf8");
    begun = end + 1 < bytes.length ? [bytes.subarray(end + 1)] : [];
    size = bytes.length - end - 1;
    yield text.split("\n");
  }
}
