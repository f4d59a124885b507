/** Git's object formats. Names inside trees are bytes: held as latin1 strings, one char per byte, and shown as UTF-8. */
import { SessarcError } from "sessarc";
import type { Objects } from "../process/batch.ts";

/** A commit as the wire shows it. */
export interface Commit {
  hash: string;
  parents: string[];
  /** The author's name. */
  author: string;
  /** Committer time, ISO 8601 UTC. */
  at: string;
  /** The first paragraph of the message on one line. */
  subject: string;
}

export interface CommitObject extends Commit {
  tree: string;
}

export interface TreeEntry {
  /** Six octal digits: `100644`, `100755`, `120000` link, `040000` folder, `160000` submodule. */
  mode: string;
  name: string;
  hash: string;
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

const FOLDER = "040000";
/** Commits and folders past this (some 200,000 entries in one folder) are not read. */
const META_BYTES = 8 * 1024 * 1024;
/** A commit's headers and subject end before this; the rest of a long message is not read. */
const HEAD_BYTES = 256 * 1024;

export const toBytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
export const toText = (bytes: string) => (isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8"));

export async function readCommit(objects: Objects, hash: string, shallow: ReadonlySet<string>): Promise<CommitObject> {
  const commit = parseCommit(hash, await readMeta(objects, hash, "commit"));
  return shallow.has(hash) ? { ...commit, parents: [] } : commit;
}

/** The entry at exactly these bytes, folders included. */
export async function entryAt(objects: Objects, tree: string, path: string): Promise<TreeEntry | undefined> {
  const parts = path.split("/");
  let hash = tree;
  for (const [index, part] of parts.entries()) {
    if (part === "") return undefined;
    const wanted = Buffer.from(part, "latin1");
    const [entry] = toEntries(await readMeta(objects, hash, "tree"), hash.length / 2, wanted);
    if (index === parts.length - 1 || entry?.mode !== FOLDER) return index === parts.length - 1 ? entry : undefined;
    hash = entry.hash;
  }
  return undefined;
}

/**
 * The entry a client means by `path`: these bytes; else the first name that is shown like this (names that are no
 * UTF-8 are shown with U+FFFD); else, read as percent-encoded bytes, these.
 */
export async function findEntry(
  objects: Objects,
  tree: string,
  path: string | Uint8Array,
): Promise<{ path: string; entry: TreeEntry } | undefined> {
  const bytes = typeof path === "string" ? toBytes(path) : Buffer.from(path).toString("latin1");
  const exact = await entryAt(objects, tree, bytes);
  if (exact) return { path: bytes, entry: exact };
  const shown = toText(bytes);
  const found = shown.includes("\uFFFD") ? await searchShown(objects, tree, shown.split("/"), 0, new Set()) : undefined;
  if (found) return found;
  const decoded = bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const named = decoded === bytes ? undefined : await entryAt(objects, tree, decoded);
  return named && { path: decoded, entry: named };
}

/** Percent-encoded bytes of a name that is no UTF-8; undefined for all others. */
export function percentForm(path: string): string | undefined {
  if (isAscii(path) || toBytes(toText(path)) === path) return undefined;
  return path.replace(/[^\w./~ -]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

export function parseCommit(hash: string, data: Buffer): CommitObject {
  const text = data.toString("latin1", 0, HEAD_BYTES);
  const gap = text.indexOf("\n\n");
  const commit = { hash, tree: "", parents: [] as string[], author: "", at: toIso(0), subject: "" };
  let encoding = "utf-8";
  let author = "";
  for (const line of (gap < 0 ? text : text.slice(0, gap)).split("\n")) {
    const space = line.indexOf(" ");
    const [key, value] = [line.slice(0, space), line.slice(space + 1)];
    if (key === "tree") commit.tree ||= value;
    else if (key === "parent") commit.parents.push(value);
    else if (key === "author") author ||= value;
    else if (key === "committer") commit.at = toIso(Number(/> (-?\d+)/.exec(value)?.[1] ?? 0));
    else if (key === "encoding") encoding = value;
  }
  const message = gap < 0 ? "" : text.slice(gap + 2).replace(/^(?:[ \t\r]*\n)+/, "");
  const first = message.split(/\n[ \t\r]*(?:\n|$)/, 1)[0] ?? "";
  commit.author = decode(author.slice(0, Math.max(0, author.indexOf("<"))).trimEnd(), encoding);
  commit.subject = decode(first, encoding)
    .split("\n")
    .map((line) => line.trimEnd())
    .join(" ")
    .trim();
  return commit;
}

/** Entries of a tree object: `<mode> <name> NUL <hash>`, concatenated. With `wanted` only the one of that name. */
function toEntries(data: Buffer, hashBytes: number, wanted?: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let i = 0; i < data.length; ) {
    const zero = data.indexOf(0, i);
    if (zero < 0) break;
    const space = data.indexOf(32, i);
    const next = zero + 1 + hashBytes;
    if (!wanted || data.compare(wanted, 0, wanted.length, space + 1, zero) === 0) {
      entries.push({
        mode: data.toString("latin1", i, space).padStart(6, "0"),
        name: data.toString("latin1", space + 1, zero),
        hash: data.toString("hex", zero + 1, next),
      });
      if (wanted) break;
    }
    i = next;
  }
  return entries;
}

/** Depth first, since several shown names can be alike; `seen` keeps folders that repeat themselves linear. */
async function searchShown(
  objects: Objects,
  tree: string,
  parts: readonly string[],
  index: number,
  seen: Set<string>,
): Promise<{ path: string; entry: TreeEntry } | undefined> {
  const part = parts[index];
  if (!part || seen.has(`${index} ${tree}`)) return undefined;
  seen.add(`${index} ${tree}`);
  for (const entry of toEntries(await readMeta(objects, tree, "tree"), tree.length / 2)) {
    if (toText(entry.name) !== part) continue;
    if (index === parts.length - 1) return { path: entry.name, entry };
    if (entry.mode !== FOLDER) continue;
    const found = await searchShown(objects, entry.hash, parts, index + 1, seen);
    if (found) return { path: `${entry.name}/${found.path}`, entry: found.entry };
  }
  return undefined;
}

async function readMeta(objects: Objects, hash: string, type: string): Promise<Buffer> {
  const object = await objects.contents(hash, META_BYTES);
  if (!object?.data || object.type !== type) throw new SessarcError("OBJECT_MISSING", { hash });
  return object.data;
}

function decode(latin1: string, encoding: string): string {
  const bytes = Buffer.from(latin1, "latin1");
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return bytes.toString("utf8"); // an unknown encoding
  }
}

/** Any second git accepts, clamped to what a Date can say. */
function toIso(seconds: number): string {
  const ms = Math.max(-8.64e15, Math.min(8.64e15, seconds * 1000));
  return new Date(Number.isFinite(ms) ? ms : 0).toISOString();
}
