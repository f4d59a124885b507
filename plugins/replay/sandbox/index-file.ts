/**
 * The sandbox's files as they were when they were last compared, and where each content is stored. Commands change files without
 * saying which: the difference of two looks is what they changed.
 */
import { chmod, lstat, opendir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Blobs } from "sessarc";
import { codeOf, isGone, writeFileAtomic } from "sessarc/files";
import { FILE_LIMIT } from "./tree.ts";

/** Where a content is: a blob of the sandbox, an object of the repository, a link's target; `lost`: too large to keep. */
export type Source = { mode: number } & ({ blob: string } | { git: string } | { link: string } | { lost: true });

/** `null`: not there. */
export interface Delta {
  path: string;
  before: Source | null;
  after: Source | null;
}

interface IndexEntry {
  /** Inode, size and times: equal means unchanged. */
  sign: string;
  source: Source;
}
export type Index = Map<string, IndexEntry>;

/** Files of a sandbox that are compared; changes to further files are neither shown nor undone, and the response reports that. */
const FILES = 200_000;

/** One pass over all names: about 30 µs a file. Hands the thread back at every folder and file. */
async function look(tree: string): Promise<{ found: Map<string, string>; complete: boolean }> {
  const found = new Map<string, string>();
  let complete = true;
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (found.size >= FILES) return { found, complete: false };
    const entries = await allowed(join(tree, folder), 0o700, (path) => opendir(path, { bufferSize: 256 }));
    if (!entries) continue;
    const names: string[] = [];
    for await (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() || entry.isSymbolicLink()) names.push(path);
    }
    for (let i = 0; i < names.length; i += 64)
      await Promise.all(
        names.slice(i, i + 64).map(async (path) => {
          const info = await lstat(join(tree, path), { bigint: true }).catch((error: unknown) => {
            if (!isGone(error)) complete = false;
          });
          if (info) found.set(path, toSign(info));
        }),
      );
  }
  return { found, complete };
}

const toSign = (info: { ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint; mode: bigint }) =>
  `${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}:${info.mode}`;

/** Compares all files with `index`, stores the contents of those that changed in `blobs`, and returns the changes. */
export async function refresh(
  tree: string,
  index: Index,
  blobs: Blobs,
): Promise<{ index: Index; changes: Delta[]; complete: boolean }> {
  const { found, complete } = await look(tree);
  const next: Index = new Map();
  const changes: Delta[] = [];
  for (const [path, sign] of found) {
    const known = index.get(path);
    if (known?.sign === sign) {
      next.set(path, known);
      continue;
    }
    const source = await keep(join(tree, path), blobs);
    if (!source) continue;
    next.set(path, { sign, source });
    if (!known || !same(known.source, source)) changes.push({ path, before: known?.source ?? null, after: source });
  }
  for (const [path, { source }] of index) if (!next.has(path)) changes.push({ path, before: source, after: null });
  return { index: next, changes, complete };
}

/** Undefined when the file went away meanwhile. */
async function keep(path: string, blobs: Blobs): Promise<Source | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (!info) return undefined;
  const mode = info.mode & 0o777;
  if (info.isSymbolicLink()) return { mode, link: await readlink(path) };
  if (info.size > FILE_LIMIT) return { mode, lost: true };
  const data = await allowed(path, mode | 0o400, (place) => readFile(place));
  return data === undefined ? undefined : { mode, blob: await blobs.put(data) };
}

/** Commands may take rights from what is theirs, and so ours: it is given them back. Undefined when it is gone. */
async function allowed<T>(path: string, mode: number, task: (path: string) => Promise<T>): Promise<T | undefined> {
  try {
    return await task(path).catch(async (error: unknown) => {
      if (codeOf(error) !== "EACCES") throw error;
      await chmod(path, mode);
      return task(path);
    });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function same(a: Source, b: Source): boolean {
  return JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
}

export async function readIndex(file: string): Promise<Index> {
  return new Map(JSON.parse(await readFile(file, "utf8")) as [string, IndexEntry][]);
}

export async function writeIndex(file: string, index: Index): Promise<void> {
  await writeFileAtomic(file, JSON.stringify([...index]));
}
