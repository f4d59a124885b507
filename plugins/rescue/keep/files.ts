/** The stored log of one session: its files, each as compressed parts. Runs in the pool. */
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, isGone, openRegular } from "sessarc/files";
import { type Codec, pack, unpack } from "./pack.ts";

/** Bytes [from, to) of a log. */
interface KeptPart {
  /** Name of the stored file. */
  name: string;
  codec: Codec;
  sum: string;
  from: number;
  to: number;
  /** Stored bytes. */
  stored: number;
}

export interface KeptFile {
  /** Where the log was. Empty for rows of a database. */
  path: string;
  mode: number;
  size: number;
  mtime: number;
  /** Hash of the last bytes: a log that grew has the same bytes there. */
  tail: string;
  parts: KeptPart[];
}

/** Bytes of a log that are compressed together at most. */
const PART = 16 * 2 ** 20;
const TAIL = 4096;
/** Files of one session, and bytes of those beside the log: more is not the assistant's own. */
const MOST_FILES = 2_000;
const MOST_BESIDE = 64 * 2 ** 20;
const DEPTH = 6;

/** Stored below `folder`, named after the session. */
export class LogFolder {
  readonly #folder: string;
  constructor(folder: string) {
    this.#folder = folder;
  }

  pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), name);
  }

  /** Stores a piece. */
  async put(session: string, from: number, bytes: Uint8Array): Promise<KeptPart> {
    const { codec, bytes: packed, sum } = await pack(bytes);
    // The sum makes the name unique: a part is never replaced while a row may name it.
    const name = `${toOwner(session)}-${sum.slice(0, 12)}`;
    const path = this.pathOf(name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // No row names it yet, and its name comes from its content: one that a kill cut off is written again.
    await writeFile(path, packed, { mode: 0o600, flush: true });
    return { name, codec, sum, from, to: from + bytes.length, stored: packed.length };
  }

  /** Undefined when a part is missing or damaged. */
  async get({ parts }: KeptFile): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    for (const { name, codec, sum, from, to } of parts) {
      const bytes = await readFile(this.pathOf(name)).catch(gone);
      const piece = bytes && (await unpack({ codec, bytes, sum }).catch(() => undefined));
      if (piece?.length !== to - from) return undefined;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  async remove(names: Iterable<string>): Promise<void> {
    for (const name of names) await rm(this.pathOf(name), { force: true });
  }

  /** Names of all parts. */
  async *names(): AsyncGenerator<string> {
    for (const dir of (await readdir(this.#folder).catch(gone)) ?? [])
      yield* (await readdir(join(this.#folder, dir)).catch(gone)) ?? [];
  }
}

/** What the name of each of a session's parts begins with. */
export const toOwner = (session: string) => createHash("sha256").update(session).digest("hex").slice(0, 24);

/**
 * The files of a session, as they are now. `known`: what is stored already; of a log that only grew, the new bytes alone are compressed.
 * `grows`: whether the log is one that only grows. `except`: files that are separate sessions.
 */
export async function keepFiles(
  folder: LogFolder,
  session: string,
  { path, companions = [] }: { path: string; companions?: readonly string[] | undefined },
  { known, grows, except }: { known: readonly KeptFile[]; grows: boolean; except: ReadonlySet<string> },
): Promise<KeptFile[]> {
  const byPath = new Map(known.map((file) => [file.path, file]));
  const kept: KeptFile[] = [await keepFile(folder, session, path, byPath.get(path), grows)];
  let beside = 0;
  for (const other of await filesBelow(companions)) {
    if (other === path || except.has(other)) continue;
    if (kept.length >= MOST_FILES) break;
    const size = (await lstat(other).catch(gone))?.size ?? 0;
    if (beside + size > MOST_BESIDE) continue;
    const file = await keepFile(folder, session, other, byPath.get(other), false).catch(gone);
    if (file) kept.push(file);
    beside += size;
  }
  return kept;
}

/** Rows of a database. */
export async function keepRows(folder: LogFolder, session: string, bytes: Uint8Array): Promise<KeptFile[]> {
  const parts = [await folder.put(session, 0, bytes)];
  return [{ path: "", mode: 0o600, size: bytes.length, mtime: 0, tail: "", parts }];
}

/** Throws the system's error for a file that cannot be read. */
async function keepFile(
  folder: LogFolder,
  session: string,
  path: string,
  known: KeptFile | undefined,
  grows: boolean,
): Promise<KeptFile> {
  const handle = await openRegular(path);
  try {
    const { size, mtimeMs: mtime, mode } = await handle.stat();
    if (known && known.size === size && known.mtime === mtime) return known;
    const read = async (from: number, to: number) => {
      const bytes = Buffer.alloc(to - from);
      let at = 0;
      while (at < bytes.length) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return bytes.subarray(0, at);
    };
    const tailAt = async (end: number) => toHash(await read(Math.max(0, end - TAIL), end));
    const grew = grows && known && known.size > 0 && known.size <= size && (await tailAt(known.size)) === known.tail;
    const parts = grew ? unfolded(known.parts, size - known.size) : [];
    for (let from = parts.at(-1)?.to ?? 0; from < size; ) {
      const bytes = await read(from, Math.min(from + PART, size));
      if (bytes.length === 0) break;
      parts.push(await folder.put(session, from, bytes));
      from += bytes.length;
    }
    const end = parts.at(-1)?.to ?? 0;
    return { path, mode: mode & 0o777, size: end, mtime, tail: await tailAt(end), parts };
  } finally {
    await handle.close();
  }
}

/**
 * Parts that stay when `added` bytes come: small ones at the end are compressed again together with the new bytes, so that a log that grew a
 * thousand times has as many parts as its size has doubled.
 */
function unfolded(parts: readonly KeptPart[], added: number): KeptPart[] {
  const kept = [...parts];
  let sum = added;
  for (let last = kept.at(-1); last && last.to - last.from <= 2 * sum && sum < PART; last = kept.at(-1)) {
    sum += last.to - last.from;
    kept.pop();
  }
  return kept;
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

const toHash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex").slice(0, 32);

/** For `.catch`: it was removed, or may not be read. */
function gone(error: unknown): undefined {
  if (!isGone(error) && !CLOSED.has(codeOf(error))) throw error;
}
const CLOSED = new Set(["EACCES", "EPERM", "EFTYPE", "ENOTDIR", "ELOOP"]);
