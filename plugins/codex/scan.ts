/** Finds rollouts below `sessions` (year/month/day) and `archived_sessions` (flat) from directory entries and stat alone. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { BoundedMap, isRecord, type SessionRef, toText } from "sessarc";
import { bytesAt, namesInSlices, readFolderInSlices, readLines, withoutCopies } from "sessarc/adapter";
import { idIn } from "./origin.ts";

/** Entries handled before other work gets its turn: about 5 ms. */
const SLICE = 400;
const DEPTH = 4;
/** A first line holds the base instructions, some 20 KB; its id precedes them. */
const HEAD = 64 * 1024;

interface Found {
  path: string;
  size: number;
  mtime: number;
  companions: string[];
}

/** Ids that had to be read from a file: path → size, time and id. */
type HeadCache = BoundedMap<string, { size: number; mtime: number; id: string | undefined }>;
export const createHeadCache = (): HeadCache => new BoundedMap(10_000);

/** `names`: the users' names of threads, by id. */
export async function* scanRollouts(
  root: string,
  heads: HeadCache,
  names: ReadonlyMap<string, string>,
): AsyncGenerator<SessionRef> {
  const files: Found[] = [];
  let entries = 0;
  const walk = async (dir: string, depth: number): Promise<void> => {
    const list = await readFolderInSlices(dir);
    const siblings = await namesInSlices(list);
    for (const entry of list) {
      if (++entries % SLICE === 0) await nextTurn();
      const path = join(dir, entry.name);
      if (entry.isDirectory() && depth < DEPTH) await walk(path, depth + 1);
      if (!entry.isFile() || !/\.jsonl(\.zst)?$/.test(entry.name)) continue;
      if (entry.name.endsWith(".zst") && siblings.has(entry.name.slice(0, -4))) continue; // the plain file is preferred
      const stat = statSync(path, { throwIfNoEntry: false });
      if (!stat?.isFile()) continue;
      const companions = siblings.has(`${entry.name}.zst`) ? [`${path}.zst`] : [];
      files.push({ path, size: stat.size, mtime: stat.mtimeMs, companions });
    }
  };
  await walk(root, 0);
  const groups = new Map<string, Found[]>();
  for (const found of files) {
    if (++entries % SLICE === 0) await nextTurn();
    const key = idIn(found.path) ?? (await idInHead(found, heads)) ?? keyOfPath(root, found.path);
    const group = groups.get(key);
    if (group) group.push(found);
    else groups.set(key, [found]);
  }
  for (const [key, group] of groups) {
    if (++entries % SLICE === 0) await nextTurn();
    const [first, ...others] = group.length === 1 ? group : withoutCopies(group);
    if (first) yield toRef(key, first, names.get(key));
    for (const found of others) yield toRef(`${key}~${toHash(found.path.slice(root.length))}`, found);
  }
}

function toRef(key: string, { path, size, mtime, companions }: Found, title?: string): SessionRef {
  const ref: SessionRef = { tool: "codex", key, path, size, mtime, exclusive: true, companions };
  return title === undefined ? ref : { ...ref, title };
}

async function idInHead(found: Found, heads: HeadCache): Promise<string | undefined> {
  const known = heads.get(found.path);
  if (known && known.size === found.size && known.mtime === found.mtime) return known.id;
  const id = toId(await readHead(found.path));
  heads.set(found.path, { size: found.size, mtime: found.mtime, id });
  return id;
}

async function readHead(path: string): Promise<string> {
  if (!path.endsWith(".zst")) return bytesAt(path, 0, HEAD).toString("utf8");
  try {
    for await (const line of readLines(path)) return line;
  } catch {
    // Damaged: the path names it then, and reading it counts the damage.
  }
  return "";
}

function toId(head: string): string | undefined {
  const line = head.slice(0, head.indexOf("\n") < 0 ? undefined : head.indexOf("\n"));
  const id = findId(line) ?? /"id":\s*"([^"]+)"/.exec(line)?.[1];
  return id && /^[\w.-]{1,100}$/.test(id) ? id : undefined;
}

function findId(line: string): string | undefined {
  try {
    const row: unknown = JSON.parse(line.replace(/^\uFEFF/, ""));
    if (!isRecord(row)) return undefined;
    return toText(isRecord(row.payload) ? row.payload.id : row.id);
  } catch {
    return undefined; // longer than the head, or cut
  }
}

function keyOfPath(root: string, path: string): string {
  const stem = basename(path).replace(/\.jsonl(\.zst)?$/, "");
  return `${stem.replace(/[^\w.-]/g, "-").slice(0, 60)}~${toHash(path.slice(root.length))}`;
}

function toHash(text: string): string {
  return createHash("sha1").update(text.replaceAll("\\", "/")).digest("hex").slice(0, 10);
}
