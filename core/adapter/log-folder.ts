/** Finding logs below a folder, and the small files beside them. Links are not followed: they could lead out of the root. */
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import type { SessionRef } from "../session/session.ts";
import { BoundedMap } from "../utils/bounded.ts";
import { isRecord, type JsonRecord } from "../utils/json.ts";
import { bytesAt, isUnreadable, readFolderInSlices, withoutCopies } from "../utils/log-files.ts";
import { readRegularSync } from "../utils/regular.ts";
import { mustYield, yieldNow } from "../utils/yield.ts";

/** A larger file beside a log is not read. */
const SIDE = 16 * 1024 * 1024;
const HEAD = 64 * 1024;
const KEPT = 10_000;

/** A log that `findLogs` found below a root. */
export interface FoundLog {
  path: string;
  name: string;
  /** Names of the folders between the root and the file. */
  folders: readonly string[];
  size: number;
  mtime: number;
  born: number;
}

type NewRef = Omit<SessionRef, "tool">;

/**
 * Files below `root` for which `wanted` is true, in the order of their paths; folders of which `wanted` is false (their name ends with
 * `/`) are not entered. Directory entries and one stat per file. A missing root holds nothing. `depth`: folders below the root.
 */
export async function* findLogs(
  root: string,
  wanted: (name: string, folders: readonly string[]) => boolean,
  depth = 8,
): AsyncGenerator<FoundLog> {
  async function* walk(dir: string, folders: readonly string[]): AsyncGenerator<FoundLog> {
    for (const entry of await readFolderInSlices(dir)) {
      if (mustYield()) await yieldNow();
      const { name } = entry;
      const path = join(dir, name);
      if (entry.isDirectory() && folders.length < depth && wanted(`${name}/`, folders))
        yield* walk(path, [...folders, name]);
      if (!entry.isFile() || !wanted(name, folders)) continue;
      const found = statSync(path, { throwIfNoEntry: false });
      if (found?.isFile())
        yield { path, name, folders, size: found.size, mtime: found.mtimeMs, born: found.birthtimeMs };
    }
  }
  yield* walk(root, []);
}

/** The pointer to a log that is one session. `beside`: files whose change is a change of the session. */
export function toRef(key: string, log: FoundLog, beside: readonly string[] = []): NewRef {
  const { path, size, mtime, born } = log;
  const sides = beside.map((file) => statSync(file, { throwIfNoEntry: false })).filter((found) => found?.isFile());
  const ref: NewRef = { key, path, size, mtime, born, exclusive: true };
  if (beside.length === 0) return ref;
  const stamps = [{ size, mtimeMs: mtime }, ...sides].map((found) => `${found?.size}-${found?.mtimeMs}`);
  return { ...ref, version: stamps.join("+"), companions: beside.filter((file) => existsSync(file)) };
}

/**
 * The same pointers with unique keys without blanks. Of two logs of one key that are a session each, a copy or the start of the
 * other is left out; others get a hash of their place below `root`, all but the first.
 */
export function withUniqueKeys(root: string, refs: readonly NewRef[]): NewRef[] {
  const groups = new Map<string, NewRef[]>();
  for (const ref of refs) {
    const key = ref.key.replace(/[\s\p{Cc}]+/gu, "-").slice(0, 200);
    groups.set(key, [...(groups.get(key) ?? []), ref]);
  }
  return [...groups].flatMap(([key, group]) =>
    (group.length > 1 && group.every((ref) => ref.exclusive) ? withoutCopies(group) : group).map((ref, index) => {
      const beside = `${key}~${toHash(ref.path.slice(root.length))}`;
      if (group.length === 1) return { ...ref, key };
      return index === 0 ? { ...ref, key, otherKey: beside } : { ...ref, key: beside, otherKey: key };
    }),
  );
}

const toHash = (text: string): string =>
  createHash("sha1").update(text.replaceAll(sep, "/")).digest("hex").slice(0, 10);

/**
 * The folder of logs that a chosen folder stands for: the first of `places` below it that exists, else `dir` itself when none of them
 * does. A user may name a home, the tool's own folder, or the folder of logs.
 */
export function folderIn(dir: string, ...places: readonly string[]): string {
  return places.map((place) => join(dir, place)).find((path) => existsSync(path)) ?? dir;
}

/** The object in a small JSON file beside a log; undefined when there is none, when it is being written or larger than 16 MB. */
export function readRecord(path: string): JsonRecord | undefined {
  const text = textBeside(path);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // half-written: its next version is read
  }
}

/** The text of a small file beside a log; undefined when there is none. */
export function textBeside(path: string): string | undefined {
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > SIDE) return undefined;
    return readRegularSync(path);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** The first rows of a log, as far as they lie in its first 64 KB whole. */
export function headRows(path: string): JsonRecord[] {
  const lines = bytesAt(path, 0, HEAD)
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split("\n");
  return lines.flatMap((line) => {
    try {
      const row: unknown = JSON.parse(line);
      return isRecord(row) ? [row] : [];
    } catch {
      return []; // cut, or no row
    }
  });
}

/** What `read` makes of a file, read again only when its size or time changed. The 10,000 files asked for last are remembered. */
export function rememberByFile<T>(read: (path: string) => T): (file: Pick<FoundLog, "path" | "size" | "mtime">) => T {
  const known = new BoundedMap<string, { size: number; mtime: number; value: T }>(KEPT);
  return ({ path, size, mtime }) => {
    const past = known.get(path);
    const value = past && past.size === size && past.mtime === mtime ? past.value : read(path);
    known.set(path, { size, mtime, value });
    return value;
  };
}
