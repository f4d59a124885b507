/**
 * The snapshot `catalog.db`: an ordinary SQLite file. Two header fields that SQLite leaves to applications contain what recovery needs:
 * `user_version` the number of the last batch in it, `application_id` a checksum of the whole file, made of the checksums of its pages.
 */
import { closeSync, fstatSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { SessarcError } from "../errors/error.ts";
import { openRegularSync } from "../utils/regular.ts";
import { CatalogFile, type Frozen, PAGE, readWhole, type Source } from "./catalog-file.ts";

const USER_VERSION = 60;
const CHECKSUM = 68;
const HEADER = "SQLite format 3\0";
/** Where a file that is open cannot be replaced. */
export const IS_WINDOWS = process.platform === "win32";
/** Pages written at once. */
const AT_ONCE = 64;
/** Pages between two fsyncs: a close that must not wait long would wait for all of them at the end. */
const SYNCED = 2_048;

export interface SnapshotHead {
  /** Number of the last batch in it. */
  batch: number;
  checksum: number;
}

/** A snapshot on its way to its place. */
export interface Written extends SnapshotHead, Pick<Source, "size" | "sums"> {}

/** The snapshot at `path`, open and checked as a whole. Throws CATALOG_DAMAGED for a file that we did not write, or not like this. */
export function openSnapshot(path: string): { source: Source; head: SnapshotHead } {
  const fd = openRegularSync(path);
  try {
    const { size } = fstatSync(fd);
    const sums = new Uint32Array(Math.ceil(size / PAGE));
    const piece = Buffer.allocUnsafe(Math.min(size, AT_ONCE * PAGE));
    const first = Buffer.alloc(Math.min(size, PAGE));
    for (let at = 0; at < size; at += piece.length) {
      const bytes = piece.subarray(0, Math.min(piece.length, size - at));
      readWhole(fd, bytes, at);
      for (let i = 0; i < bytes.length; i += PAGE) sums[(at + i) / PAGE] = crc32(bytes.subarray(i, i + PAGE));
      if (at === 0) bytes.copy(first);
    }
    const head = headOf(first);
    if (!head || head.checksum !== checksumOf(sums, first)) {
      const reason = `${path}: it does not fit its checksum, or another program has written to it`;
      throw new SessarcError("CATALOG_DAMAGED", { reason });
    }
    return { source: { path, fd, size, sums }, head };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The checksum of the whole file: of its pages' checksums, where the field counts as zero in the first page. Zeroes it in `first`. */
function checksumOf(sums: Uint32Array, first: Buffer): number {
  first.writeUInt32BE(0, CHECKSUM);
  return crc32([crc32(first), ...sums.subarray(1)].join());
}

const headOf = (bytes: Buffer): SnapshotHead | undefined =>
  bytes.length >= 100 && bytes.toString("latin1", 0, 16) === HEADER
    ? { batch: bytes.readUInt32BE(USER_VERSION), checksum: bytes.readUInt32BE(CHECKSUM) }
    : undefined;

/** Throws CATALOG_DAMAGED unless the snapshot at `path` is whole. */
export function checkSnapshot(path: string): void {
  closeSync(openSnapshot(path).source.fd);
}

/** The catalogue as `source` has it. On Windows all of it is read, and the file closed. */
export function fileOf(source: Source): CatalogFile {
  if (!IS_WINDOWS) return new CatalogFile(source);
  const bytes = new Uint8Array(source.size);
  readWhole(source.fd, bytes, 0);
  closeSync(source.fd);
  return new CatalogFile(bytes);
}

/** Writes the file as it was frozen, piece by piece; the first piece last, because it contains the checksum. `signal` ends it between two. */
export async function writeSnapshot(
  file: FileHandle,
  frozen: Frozen,
  batch: number,
  signal?: AbortSignal,
): Promise<Written> {
  const { size } = frozen;
  const count = Math.ceil(size / PAGE);
  const write = async (bytes: Uint8Array, at: number) => {
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  };
  const sums = new Uint32Array(count);
  let first = Buffer.alloc(0);
  for (let i = 0; i < count; i += AT_ONCE) {
    signal?.throwIfAborted();
    if (i > 0 && i % SYNCED === 0) await file.datasync();
    const piece = Buffer.alloc(Math.min(AT_ONCE * PAGE, size - i * PAGE));
    for (let n = i; n < Math.min(i + AT_ONCE, count); n++) {
      const page = frozen.page(n);
      piece.set(page, (n - i) * PAGE);
      sums[n] = crc32(page);
    }
    if (i === 0) first = piece;
    else await write(piece, i * PAGE);
  }
  const page = first.subarray(0, PAGE);
  page.writeUInt32BE(batch, USER_VERSION);
  const checksum = checksumOf(sums, page);
  page.writeUInt32BE(checksum, CHECKSUM);
  sums[0] = crc32(page);
  await write(first, 0);
  return { batch, checksum, size, sums };
}

/** The snapshot that was just written to `path`. Undefined: another owner has replaced it since. */
export function openWritten(path: string, { size, sums }: Written): Source | undefined {
  const fd = openRegularSync(path);
  const first = new Uint8Array(Math.min(PAGE, size));
  try {
    readWhole(fd, first, 0);
    if (crc32(first) === sums[0]) return { path, fd, size, sums };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}
