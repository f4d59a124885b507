/**
 * SQLite's write-ahead log, read by hand. sql.js never reads a `-wal` file: it opens the main file without an error and shows
 * old rows, or none. Here the committed pages of the log are laid over the main file's.
 *
 * Format: https://www.sqlite.org/fileformat2.html#walformat
 */
import { endianness } from "node:os";

export const WAL_HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;

interface Wal {
  pageSize: number;
  /** Pages of the database after the last commit. */
  pageCount: number;
  /** Page number (from 1) -> where its newest committed content starts in the log. */
  pages: Map<number, number>;
}

/**
 * Reads the frames up to the last valid commit. Undefined when there is none: an empty, reset or torn log adds nothing.
 *
 * A frame counts when its salts are the header's and the running checksum fits; the first that does not ends the log.
 */
export function parseWal(wal: Uint8Array): Wal | undefined {
  if (wal.length < WAL_HEADER) return undefined;
  const view = new DataView(wal.buffer, wal.byteOffset, wal.byteLength);
  const magic = view.getUint32(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return undefined;
  const pageSize = view.getUint32(8);
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0) return undefined;

  const sum = createChecksum(wal, magic === MAGIC_LITTLE);
  sum.add(0, 24);
  if (!sum.is(view.getUint32(24), view.getUint32(28))) return undefined;

  const salt1 = view.getUint32(16);
  const salt2 = view.getUint32(20);
  const pages = new Map<number, number>();
  let uncommitted: [page: number, offset: number][] = [];
  let pageCount = 0;
  for (let frame = WAL_HEADER; frame + FRAME_HEADER + pageSize <= wal.length; frame += FRAME_HEADER + pageSize) {
    if (view.getUint32(frame + 8) !== salt1 || view.getUint32(frame + 12) !== salt2) break;
    sum.add(frame, 8);
    sum.add(frame + FRAME_HEADER, pageSize);
    if (!sum.is(view.getUint32(frame + 16), view.getUint32(frame + 20))) break;
    uncommitted.push([view.getUint32(frame), frame + FRAME_HEADER]);
    const commit = view.getUint32(frame + 4);
    if (commit === 0) continue;
    for (const [page, offset] of uncommitted) pages.set(page, offset);
    uncommitted = [];
    pageCount = commit;
  }
  return pageCount === 0 ? undefined : { pageSize, pageCount, pages };
}

/** Lays the log over `main` (in place where it fits) and returns the database as of the last commit. */
export function overlayWal(main: Uint8Array, wal: Uint8Array, log: Wal): Uint8Array {
  const { pageSize, pageCount, pages } = log;
  const size = pageSize * pageCount;
  let image = main;
  if (main.length < size) {
    image = new Uint8Array(size);
    image.set(main);
  }
  for (const [page, offset] of pages) {
    if (page <= pageCount) image.set(wal.subarray(offset, offset + pageSize), (page - 1) * pageSize);
  }
  return image.subarray(0, size);
}

/** Bytes 18 and 19 say 2 in a database that keeps a log; 1 lets it be opened without one. */
export function markWithoutWal(image: Uint8Array): void {
  if (image.length > 19) image[18] = image[19] = 1;
}

/** SQLite's rolling checksum over pairs of 32-bit words. */
function createChecksum(bytes: Uint8Array, littleEndian: boolean) {
  // Word-wise access is five times faster than DataView; it needs the machine's byte order and an aligned start.
  const native = (endianness() === "LE") === littleEndian && bytes.byteOffset % 4 === 0;
  const words = native ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2) : undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let s1 = 0;
  let s2 = 0;
  return {
    add(offset: number, length: number): void {
      if (words) {
        for (let i = offset >>> 2, end = (offset + length) >>> 2; i < end; i += 2) {
          s1 = (s1 + (words[i] as number) + s2) | 0;
          s2 = (s2 + (words[i + 1] as number) + s1) | 0;
        }
        return;
      }
      for (let i = offset; i < offset + length; i += 8) {
        s1 = (s1 + view.getUint32(i, littleEndian) + s2) | 0;
        s2 = (s2 + view.getUint32(i + 4, littleEndian) + s1) | 0;
      }
    },
    is: (a: number, b: number): boolean => s1 >>> 0 === a && s2 >>> 0 === b,
  };
}
