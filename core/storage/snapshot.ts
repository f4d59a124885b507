/**
 * The snapshot `catalog.db`: an ordinary SQLite file. Two header fields that SQLite leaves to applications carry what recovery needs:
 * `user_version` the number of the last batch in it, `application_id` a checksum of the whole file.
 *
 * A large one ends with a checksum for each block, which SQLite does not look at: it is read block by block, so that opening it costs the
 * same whatever it holds. trailer: checksums (4 bytes each) | size | size of a block | checksum of the checksums | "SESSARCB"
 */
import { closeSync, fstatSync, readSync, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { openRegularSync } from "../utils/regular.ts";
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
/** And before the disk has to have them: what it is given at the end is waited for, whoever wants to end sooner. */
const SYNCED = 2_048;

/** When a catalogue is read block by block, and how many of them stay in memory; tests set it, so that a small one is large. */
export interface Blocks {
  /** Bytes of the snapshot. */
  from?: number;
  keep?: number;
}

export interface SnapshotHead {
  /** Number of the last batch in it. */
  batch: number;
  checksum: number;
}

/** Undefined when the file is not one we wrote, or not as we wrote it. `image` is as given afterwards. */
export async function readSnapshotHead(image: Uint8Array): Promise<SnapshotHead | undefined> {
  const slices = new Slices();
  let sum = sumOf(image.subarray(0, BLOCK), 0);
  for (let at = BLOCK; at < image.length; at += AT_ONCE * BLOCK) {
    sum = crc32(image.subarray(at, at + AT_ONCE * BLOCK), sum);
    if (slices.due) await slices.turn();
  }
  const head = headOf(image);
  return head?.checksum === sum ? head : undefined;
}

function headOf(image: Uint8Array): SnapshotHead | undefined {
  if (image.length < 100 || Buffer.from(image.subarray(0, 16)).toString("latin1") !== HEADER) return undefined;
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  return { batch: view.getUint32(USER_VERSION), checksum: view.getUint32(CHECKSUM_AT) };
}

/** Writes the image as it was frozen, piece by piece; the first block last, because it holds the checksum of all. `signal` ends it between two. */
export async function writeSnapshot(
  file: FileHandle,
  frozen: Frozen,
  batch: number,
  { from = LARGE, signal }: { from?: number | undefined; signal?: AbortSignal | undefined } = {},
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
    signal?.throwIfAborted();
    if (i > 0 && i % SYNCED === 0) await file.datasync();
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

/** Reads all of a snapshot that is read block by block. Throws CATALOG_DAMAGED; what cannot be opened, or is not there, is told by who opens it. */
export async function checkSnapshot(path: string): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
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

/** A snapshot that is read block by block. */
export interface Opened {
  source: Source;
  head: SnapshotHead;
  /** Of the file. */
  bytes: number;
}

/** What a large snapshot that says so is read from. Undefined: it does not say so. Throws what the system says. */
export function openSource(path: string): Opened | undefined {
  const fd = openRegularSync(path);
  let source: Source | undefined;
  try {
    const { size: bytes } = fstatSync(fd);
    const take = (length: number, at: number) => {
      const buffer = Buffer.alloc(length);
      return readSync(fd, buffer, 0, length, at) === length ? buffer : undefined;
    };
    const end = bytes >= TRAILER ? take(TRAILER, bytes - TRAILER) : undefined;
    if (!end?.subarray(16).equals(MAGIC) || end.readUInt32LE(8) !== BLOCK) return undefined;
    const size = end.readDoubleLE(0);
    const length = Math.ceil(size / BLOCK) * 4;
    // Looked at first: a damaged one is no place to read from.
    const table = size + length + TRAILER === bytes && take(length, size);
    if (!table) return undefined;
    if (crc32(end.subarray(0, 12), crc32(table)) !== end.readUInt32LE(12)) return undefined;
    const sums = Uint32Array.from({ length: table.length / 4 }, (_, i) => table.readUInt32LE(i * 4));
    const first = take(Math.min(BLOCK, size), 0);
    const head = first && headOf(first);
    if (!head || sumOf(first, 0) !== sums[0]) return undefined;
    source = { path, fd, size, sums, users: 1 };
    return { source, head, bytes };
  } finally {
    if (!source) closeSync(fd);
  }
}
