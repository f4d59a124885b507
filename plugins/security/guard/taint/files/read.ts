/** Files as sources: their text, or the parts of it that arrive. */
import { constants } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32, gunzipSync, constants as zlib } from "node:zlib";
import { cutParts, type Part, toKey } from "../part.ts";

/** Bytes of a file that are checked. */
const READ_LIMIT = 16 * 2 ** 20;
/** Most files of a call, and of one folder. */
const FILES_LIMIT = 1_000;
const FOLDER_LIMIT = 1_000;
/** Bytes read at once from a file whose size is unknown. */
const UNKNOWN = 4096;

export interface ReadFile {
  /** The path as the call spells it. */
  path: string;
  text: string;
  /** Changes when the file does. */
  version: string;
  /** The file is longer than what was read. */
  cut: boolean;
}

/** Returns the existing files, the smallest first. `cut`: some were left out. */
export async function findSmallestFirst(paths: readonly string[]): Promise<{ there: string[]; cut: boolean }> {
  const sizes = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  const there = paths
    .flatMap((path, n) => {
      const size = sizes[n]?.size;
      return size === undefined ? [] : [{ path, size }];
    })
    .sort((a, b) => a.size - b.size)
    .map(({ path }) => path);
  return { there: there.slice(0, FILES_LIMIT), cut: there.length > FILES_LIMIT };
}

interface ReadPath {
  files: ReadFile[];
  /** Some files of the folder were left out. */
  cut: boolean;
}

/** Reads the beginning of a regular file or only its `parts`; with `folders` also the files of a folder. Follows links. Returns no files if the path cannot be read. */
export async function readPath(path: string, folders: boolean, parts?: readonly Part[]): Promise<ReadPath> {
  const none: ReadPath = { files: [], cut: false };
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return none;
  const one = await readOne(real, path, READ_LIMIT);
  if (one && one !== "folder" && parts) {
    const [text, version] = [cutParts(one.text, parts), `${one.version} ${parts.map(toKey).join()}`];
    return { files: [{ ...one, text, version }], cut: false };
  }
  if (one !== "folder") return one ? { files: [one], cut: false } : none;
  if (!folders) return none;
  const entries = await readdir(real, { withFileTypes: true }).catch(() => []);
  const names = entries.flatMap((entry) => (entry.isFile() || entry.isSymbolicLink() ? [entry.name] : [])).sort();
  const files: ReadFile[] = [];
  let left = READ_LIMIT;
  for (const name of names.slice(0, FOLDER_LIMIT)) {
    if (left <= 0) return { files, cut: true };
    const file = await readOne(join(real, name), join(path, name), left);
    if (!file || file === "folder") continue;
    files.push(file);
    left -= Buffer.byteLength(file.text);
  }
  return { files, cut: names.length > FOLDER_LIMIT };
}

async function readOne(real: string, path: string, limit: number): Promise<ReadFile | "folder" | undefined> {
  // Without this flag, opening a pipe that has no writer would block.
  const file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) return "folder";
    if (!stat.isFile()) return undefined;
    // One byte more than the limit shows that the file is longer. Files of /proc report a size of 0.
    let bytes = Buffer.alloc(Math.min(limit, Math.max(stat.size, UNKNOWN)) + 1);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
      if (filled > limit) break;
      if (filled === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(Math.min(filled, limit + 1 - filled))]);
    }
    const shown = bytes.subarray(0, Math.min(filled, limit));
    const checksum = stat.size === filled ? "" : crc32(shown);
    // Any user can set mtime, but not ctime.
    const version = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${checksum}`;
    return { path, text: decode(unpack(shown, limit)), version, cut: filled > limit };
  } catch {
    // The tool cannot read this file either.
    return undefined;
  } finally {
    await file.close();
  }
}

/** Unpacks gzip. Returns damaged files as they are. */
function unpack(bytes: Buffer, limit: number): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limit, finishFlush: zlib.Z_SYNC_FLUSH });
  } catch {
    return bytes;
  }
}

/** Decodes UTF-8, or UTF-16 by its mark or by the zeroes between letters. */
function decode(bytes: Buffer): string {
  const head = bytes.subarray(0, 512);
  const zeroes = (parity: number) => head.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [even, odd] = [zeroes(0), zeroes(1)];
  const half = head.length / 2;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (odd > half * 0.6 && even < half * 0.1))
    return bytes.toString("utf16le");
  if ((bytes[0] === 0xfe && bytes[1] === 0xff) || (even > half * 0.6 && odd < half * 0.1))
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString("utf16le");
  return bytes.toString("utf8");
}
