/** A skill's folder as a list of entries with hashes. Links are never followed, special files never opened. */
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { codeOf, isInside } from "sessarc/files";

export interface FileEntry {
  path: string;
  kind: "file";
  /** Permission bits. */
  mode: number;
  size: number;
  /** SHA-256 of the bytes, hex. */
  hash: string;
}
interface LinkEntry {
  path: string;
  kind: "link";
  target: string;
}
interface FolderEntry {
  path: string;
  kind: "folder";
  mode: number;
}
/** `path` is relative, with slashes. */
export type TreeEntry = FileEntry | LinkEntry | FolderEntry;

export interface Tree {
  /** Sorted by path. */
  entries: TreeEntry[];
  /** SHA-256 over the sorted files and links: path, executable or not, digest of the bytes. Folders and other bits are not in it. */
  hash: string;
  /** Bytes of all files. */
  size: number;
  /** Entries that were left out: `.git`, sockets, pipes, devices. */
  skipped: string[];
}

export const LIMITS = { files: 2_000, bytes: 50 * 2 ** 20, depth: 16 } as const;

type TreeProblem = "too-large" | "leaves-root" | "unreadable";

/** Why a folder cannot be taken as it is. */
export class TreeError extends Error {
  override readonly name = "TreeError";
  readonly code: TreeProblem;
  constructor(code: TreeProblem, message: string) {
    super(message);
    this.code = code;
  }
}

const CHUNK = 256 * 1024;
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Set-user-id and its like are nothing a skill needs. */
const MODE_BITS = 0o777;

/**
 * Reads the folder `root` (a real path) step by step. `keep` gets each file's bytes by hash, `stamp` what the system says. Throws TreeError: over the limits, a link
 * that leads outside or nowhere, or something unreadable.
 */
export function* readTree(root: string, keep?: Map<string, Buffer>, stamp = newStamp()): Generator<void, Tree> {
  const entries: TreeEntry[] = [];
  const skipped: string[] = [];
  let size = 0;
  for (const { path, full, stat } of walk(root)) {
    stampEntry(stamp, path, stat);
    if (isGit(path)) skipped.push(path);
    else if (stat.isDirectory()) entries.push({ path, kind: "folder", mode: stat.mode & MODE_BITS });
    else if (stat.isSymbolicLink()) entries.push({ path, kind: "link", target: targetInside(root, full, path) });
    else if (stat.isFile()) {
      size += stat.size;
      if (size > LIMITS.bytes) throw tooLarge(`It is over ${LIMITS.bytes / 2 ** 20} MiB`);
      entries.push(yield* readFile(full, path, keep));
    } else skipped.push(path);
    yield;
  }
  entries.sort(byPath);
  return { entries, hash: toHash(entries), size, skipped: skipped.sort() };
}

/** The content hash of sorted entries. */
export function toHash(entries: readonly TreeEntry[]): string {
  const hash = createHash("sha256");
  for (const entry of entries) {
    if (entry.kind === "file") hash.update(`${entry.path}\0${entry.mode & 0o111 ? "x" : "-"}\0${entry.hash}\n`);
    else if (entry.kind === "link") hash.update(`${entry.path}\0l\0${entry.target}\n`);
  }
  return hash.digest("hex");
}

export const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

export const toDigest = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** What the system says of every entry: equal stamps mean equal trees, unless something changed in the moment of looking. */
export interface Stamp {
  hash: Hash;
  /** ms of the latest change. */
  newest: number;
}

export const newStamp = (): Stamp => ({ hash: createHash("sha256"), newest: 0 });

function stampEntry(stamp: Stamp, path: string, { mode, size, mtimeMs, ctimeMs, ino }: Stats): void {
  stamp.newest = Math.max(stamp.newest, ctimeMs, mtimeMs);
  stamp.hash.update(`${path}\0${mode}\0${size}\0${mtimeMs}\0${ctimeMs}\0${ino}\n`);
}

/** The stamp of a folder without reading its files: that of `readTree`. Throws TreeError. */
export function* stampTree(root: string): Generator<void, Stamp> {
  const stamp = newStamp();
  for (const { path, stat } of walk(root)) {
    stampEntry(stamp, path, stat);
    yield;
  }
  return stamp;
}

interface FoundEntry {
  path: string;
  full: string;
  stat: Stats;
}

/** Every entry below `root`, links not followed, `.git` not entered. Throws TreeError: over the limits, or not to be read. */
function* walk(root: string): Generator<FoundEntry> {
  const folders: { path: string; depth: number }[] = [{ path: "", depth: 0 }];
  let count = 0;
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    for (const name of attempt(() => readdirSync(join(root, folder.path)), folder.path)) {
      const path = folder.path === "" ? name : `${folder.path}/${name}`;
      const full = join(root, path);
      const stat = attempt(() => lstatSync(full), path);
      if (++count > LIMITS.files) throw tooLarge(`It has over ${LIMITS.files} files`);
      if (stat.isDirectory() && !isGit(name)) {
        if (folder.depth + 1 > LIMITS.depth) throw tooLarge(`${path} is deeper than ${LIMITS.depth} folders`);
        folders.push({ path, depth: folder.depth + 1 });
      }
      yield { path, full, stat };
    }
  }
}

const isGit = (path: string) => path.slice(path.lastIndexOf("/") + 1).toLowerCase() === ".git";

function* readFile(full: string, path: string, keep?: Map<string, Buffer>): Generator<void, FileEntry> {
  const fd = attempt(() => openSync(full, READ), path);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new TreeError("unreadable", `${path} changed while it was read`);
    const hash = createHash("sha256");
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(1, stat.size - size + 1)));
      const count = attempt(() => readSync(fd, chunk, 0, chunk.length, null), path);
      if (count === 0) break;
      size += count;
      if (size > LIMITS.bytes) throw tooLarge(`${path} grows while it is read`);
      hash.update(chunk.subarray(0, count));
      if (keep) chunks.push(chunk.subarray(0, count));
      if (count === CHUNK) yield;
    }
    const digest = hash.digest("hex");
    keep?.set(digest, Buffer.concat(chunks));
    return { path, kind: "file", mode: stat.mode & MODE_BITS, size, hash: digest };
  } finally {
    closeSync(fd);
  }
}

/** A link is kept as a link when what it leads to, through every other link, is inside the skill. */
function targetInside(root: string, full: string, path: string): string {
  const target = attempt(() => readlinkSync(full), path);
  let real: string;
  try {
    real = realpathSync.native(full);
  } catch {
    throw new TreeError("leaves-root", `${path} is a link that leads nowhere`);
  }
  if (/^([/\\]|[a-z]:)/i.test(target) || !isInside(root, real))
    throw new TreeError("leaves-root", `${path} is a link that leads outside`);
  return target;
}

const tooLarge = (message: string) => new TreeError("too-large", message);

/** One call of the file system; its failure said of the entry. */
function attempt<T extends Stats | string[] | string | number>(call: () => T, path: string): T {
  try {
    return call();
  } catch (error) {
    throw new TreeError("unreadable", `${path === "" ? "The folder" : path}: ${codeOf(error)}`);
  }
}
