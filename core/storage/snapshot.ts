/**
 * The snapshot `catalog.db`: an ordinary SQLite file. Two header fields that SQLite leaves to applications carry what recovery needs:
 * `user_version` the number of the last batch in it, `application_id` a checksum of the whole file.
 *
 * A large one ends with a checksum for each block, which SQLite does not look at: it is read block by block, so that opening it costs the
 * same whatever it holds. trailer: checksums (4 bytes each) | size | size of a block | checksum of the checksums | "SESSARCB"
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { Slices } from "../utils/slices.ts";
import { BLOCK, CHECKSUM_AT, type Frozen, PagedFile, type Source, sumOf } from "./paged-file.ts";

const USER_VERSION = 60;
const HEADER = "SQLite format 3\0";
const MAGIC = Buffer.from("SESSARCB", "latin1");
const TRAILER = 24;
/** From this many bytes on a snapshot is read block by block; never on Windows, where an open file cannot be replaced. */
export const LARGE = process.platform === "win32" ? Number.POSITIVE_INFINITY : 4 << 20;
/** Blocks written at once. */
const AT_ONCE = 64;

export interface SnapshotHead {
  /** Number of the last batch in it. */
  batch: number;
  checksum: number;
}

/** Undefined when the file is not one we wrote, or not as we wrote it. `image` is as given afterwards. */
export function readSnapshotHead(image: Uint8Array): SnapshotHead | undefined {
  const head = headOf(image);
  const sum = crc32(image.subarray(BLOCK), sumOf(image.subarray(0, BLOCK), 0));
  return head?.checksum === sum ? head : undefined;
}

function headOf(image: Uint8Array): SnapshotHead | undefined {
  if (image.length < 100 || Buffer.from(image.subarray(0, 16)).toString("latin1") !== HEADER) return undefined;
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  return { batch: view.getUint32(USER_VERSION), checksum: view.getUint32(CHECKSUM_AT) };
}

/** Writes the image as it was frozen, piece by piece; the first block last, because it holds the checksum of all. */
export async function writeSnapshot(
  file: FileHandle,
  frozen: Frozen,
  batch: number,
  from = LARGE,
): Promise<SnapshotHead & { bytes: number; sums: Uint32Array | undefined }> {
  const { size } = frozen;
  const count = Math.ceil(size / BLOCK);
  const sums = new Uint32Array(count);
  const write = async (bytes: Uint8Array, at: number) => {
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  };
  let checksum = 0;
  let first = Buffer.alloc(0);
  for (let i = 0; i < count; i += AT_ONCE) {
    const piece = Buffer.alloc(Math.min(AT_ONCE * BLOCK, size - i * BLOCK));
    for (let n = i; n < Math.min(i + AT_ONCE, count); n++) {
      piece.set(frozen.block(n), (n - i) * BLOCK);
      const block = piece.subarray((n - i) * BLOCK, (n - i + 1) * BLOCK);
      if (n === 0) block.writeUInt32BE(batch, USER_VERSION);
      if (n === 0) block.writeUInt32BE(0, CHECKSUM_AT);
      sums[n] = sumOf(block, n);
    }
    checksum = crc32(piece, checksum);
    if (i === 0) first = piece;
    else await write(piece, i * BLOCK);
  }
  const large = size >= from;
  const trailer = large ? trailerOf(size, sums) : Buffer.alloc(0);
  checksum = crc32(trailer, checksum);
  if (large) await write(trailer, size);
  first.writeUInt32BE(checksum, CHECKSUM_AT);
  await write(first, 0);
  return { batch, checksum, bytes: size + trailer.length, sums: large ? sums : undefined };
}

/** Reads all of a snapshot that is read block by block. Throws CATALOG_DAMAGED. */
export async function checkSnapshot(path: string): Promise<void> {
  const open = openSource(path);
  if (!open) return;
  const file = new PagedFile(open.source, 0);
  const slices = new Slices();
  try {
    for (let at = 0; at < file.size; at += BLOCK) {
      file.subarray(at, at + 1);
      if (file.damage) throw file.damage;
      if (slices.due) await slices.turn();
    }
  } finally {
    file.close();
  }
}

function trailerOf(size: number, sums: Uint32Array): Buffer {
  const table = Buffer.alloc(sums.length * 4);
  for (const [i, sum] of sums.entries()) table.writeUInt32LE(sum, i * 4);
  const end = Buffer.alloc(TRAILER);
  end.writeDoubleLE(size, 0);
  end.writeUInt32LE(BLOCK, 8);
  end.writeUInt32LE(crc32(end.subarray(0, 12), crc32(table)), 12);
  MAGIC.copy(end, 16);
  return Buffer.concat([table, end]);
}

/** What a large snapshot that says so is read from. Undefined: it must be read whole. Throws what the system says. */
export function openSource(path: string): { source: Source; head: SnapshotHead; bytes: number } | undefined {
  const fd = openSync(path, "r");
  let source: Source | undefined;
  try {
    const { size: bytes } = fstatSync(fd);
    const read = (length: number, at: number) => {
      const buffer = Buffer.alloc(length);
      return readSync(fd, buffer, 0, length, at) === length ? buffer : undefined;
    };
    const end = bytes >= TRAILER ? read(TRAILER, bytes - TRAILER) : undefined;
    if (!end?.subarray(16).equals(MAGIC) || end.readUInt32LE(8) !== BLOCK) return undefined;
    const size = end.readDoubleLE(0);
    const table = read(Math.ceil(size / BLOCK) * 4, size);
    if (!table || size + table.length + TRAILER !== bytes) return undefined;
    if (crc32(end.subarray(0, 12), crc32(table)) !== end.readUInt32LE(12)) return undefined;
    const sums = Uint32Array.from({ length: table.length / 4 }, (_, i) => table.readUInt32LE(i * 4));
    const first = read(Math.min(BLOCK, size), 0);
    const head = first && headOf(first);
    if (!head || sumOf(first, 0) !== sums[0]) return undefined;
    source = { path, fd, size, sums };
    return { source, head, bytes };
  } finally {
    if (!source) closeSync(fd);
  }
}
