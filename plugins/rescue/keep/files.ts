/** A log as it is, cut into chunks. Runs in the pool. */
import { type FileHandle, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, isGone, openRegular } from "sessarc/files";
import { Cutter, type Piece } from "./cut.ts";
import { addUp } from "./pack.ts";

/** A stored file of a session: the chunks that give its bytes. */
export interface KeptFile {
  /** Where the log was. Empty for rows of a database. */
  path: string;
  mode: number;
  size: number;
  mtime: number;
  /** Hash of the last bytes: a log that grew has the same bytes there. */
  tail: string;
  /** Where the last chunk begins: a log that grew is cut again from there. */
  last: number;
  /** SHA-256 of each chunk, base64url. */
  chunks: string[];
}

/** `cut`: the chunks that were cut now, among them all that may not be stored yet. */
export interface CutFile extends KeptFile {
  cut: Piece[];
}

/** Removes what is not to be stored: as many bytes, undefined where there is nothing of it. */
export type MaskBytes = (bytes: Uint8Array) => { bytes: Uint8Array } | undefined;

/** Bytes read at once. */
const BLOCK = 4 * 2 ** 20;
const TAIL = 4096;
/** Files of one session, and bytes of those beside the log: more is not the assistant's own. */
const MOST_FILES = 2_000;
const MOST_BESIDE = 64 * 2 ** 20;
const DEPTH = 6;

/**
 * The files of a session, as they are now. `known`: what is stored already; of a log that only grew, the new bytes alone are cut.
 * `grows`: whether the log is one that only grows. `except`: files that are separate sessions.
 */
export async function cutFiles(
  { path, companions = [] }: { path: string; companions?: readonly string[] | undefined },
  {
    known,
    grows,
    except,
    mask,
  }: { known: readonly KeptFile[]; grows: boolean; except: ReadonlySet<string>; mask: MaskBytes | undefined },
): Promise<CutFile[]> {
  const byPath = new Map(known.map((file) => [file.path, file]));
  const files: CutFile[] = [await cutFile(path, byPath.get(path), grows, mask)];
  let beside = 0;
  for (const other of await filesBelow(companions)) {
    if (other === path || except.has(other)) continue;
    if (files.length >= MOST_FILES) break;
    const size = (await lstat(other).catch(gone))?.size ?? 0;
    if (beside + size > MOST_BESIDE) continue;
    const file = await cutFile(other, byPath.get(other), false, mask).catch(gone);
    if (file) files.push(file);
    beside += size;
  }
  return files;
}

/** Rows of a database. */
export function cutRows(bytes: Uint8Array): CutFile[] {
  const cutter = new Cutter(0);
  cutter.add(Buffer.from(bytes));
  const cut = cutter.finish();
  return [{ path: "", mode: 0o600, size: bytes.length, mtime: 0, tail: "", ...toChunks([], cut) }];
}

/** Throws the system's error for a file that cannot be read. */
async function cutFile(
  path: string,
  known: KeptFile | undefined,
  grows: boolean,
  mask: MaskBytes | undefined,
): Promise<CutFile> {
  const handle = await openRegular(path);
  try {
    const { size, mtimeMs: mtime, mode } = await handle.stat();
    if (known && known.size === size && known.mtime === mtime) return { ...known, cut: [] };
    const tailAt = async (end: number) => addUp(await readRange(handle, Math.max(0, end - TAIL), end));
    if (mask) {
      // All of it is read: something is to be removed that may be anywhere.
      const bytes = await readMasked(handle, mask);
      const [file] = cutRows(bytes);
      if (file) return { ...file, path, mode: mode & 0o777, mtime, tail: await tailAt(size) };
    }
    const grew = grows && known && known.size > 0 && known.size <= size && (await tailAt(known.size)) === known.tail;
    const stays = grew ? known.chunks.slice(0, -1) : [];
    let end = grew ? known.last : 0;
    const cutter = new Cutter(end);
    while (end < size) {
      const bytes = await readRange(handle, end, Math.min(end + BLOCK, size));
      if (bytes.length === 0) break;
      cutter.add(bytes);
      end += bytes.length;
    }
    const cut = cutter.finish();
    return { path, mode: mode & 0o777, size: end, mtime, tail: await tailAt(end), ...toChunks(stays, cut) };
  } finally {
    await handle.close();
  }
}

/** Of a file whose first chunks are `stays`, and the others were cut now. */
export const toChunks = (stays: readonly string[], cut: Piece[]) => ({
  chunks: [...stays, ...cut.map(({ hash }) => hash)],
  last: cut.at(-1)?.from ?? 0,
  cut,
});

/** All bytes, without what was removed. */
export async function readMasked(handle: FileHandle, mask: MaskBytes): Promise<Buffer> {
  const { size } = await handle.stat();
  const bytes = await readRange(handle, 0, size);
  return Buffer.from(mask(bytes)?.bytes ?? bytes);
}

/** Bytes [from, to), fewer where the file is shorter. */
export async function readRange(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  let at = 0;
  while (at < bytes.length) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

/** Regular files at and below `places`, by name; links are left out. */
async function filesBelow(places: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const walk = async (path: string, depth: number): Promise<void> => {
    if (found.length > MOST_FILES) return;
    const info = await lstat(path).catch(gone);
    if (info?.isFile()) found.push(path);
    if (!info?.isDirectory() || depth === 0) return;
    for (const name of ((await readdir(path).catch(gone)) ?? []).sort()) await walk(join(path, name), depth - 1);
  };
  for (const place of places) await walk(place, DEPTH);
  return found;
}

/** For `.catch`: it was removed, or may not be read. */
export function gone(error: unknown): undefined {
  if (!isGone(error) && !CLOSED.has(codeOf(error))) throw error;
}
const CLOSED = new Set(["EACCES", "EPERM", "EFTYPE", "ENOTDIR", "ELOOP"]);
