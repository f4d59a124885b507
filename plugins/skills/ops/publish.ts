/** Stored skills as files with digests, for those who serve them to others: exactly what is in the store now. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "sessarc";
import { type FileEntry, toDigest } from "../content/tree.ts";
import type { Inspected } from "../scan/inspect.ts";
import type { Shelf } from "./shelf.ts";

export interface PublishedSkill {
  id: string;
  /** Every field as the author wrote it. */
  frontmatter: Record<string, unknown>;
  /** Every file, sorted by path. `sha256` in hex, `size` in bytes. */
  files: { path: string; size: number; sha256: string }[];
}

export interface Published {
  skills: PublishedSkill[];
  leftOut: { id: string; reason: string }[];
}

/** `only`: the id of one skill. */
export async function readPublished(shelf: Shelf, only: string | undefined): Promise<Published> {
  const published: Published = { skills: [], leftOut: [] };
  for (const { id } of await shelf.catalog.skills()) {
    if (only !== undefined && id !== only) continue;
    const looked = await shelf.look(id);
    const reason = whyNot(looked);
    if (reason !== undefined) published.leftOut.push({ id, reason });
    else if (!("fault" in looked))
      published.skills.push({
        id,
        frontmatter: looked.front.fields,
        files: toFiles(looked).map(({ path, size, hash }) => ({ path, size, sha256: hash })),
      });
  }
  return published;
}

export async function readPublishedFile(shelf: Shelf, id: string, path: string): Promise<Buffer | undefined> {
  await shelf.row(id);
  const looked = await shelf.look(id);
  if ("fault" in looked) throw new SessarcError("SKILL_UNREADABLE", { id, reason: looked.fault.message });
  // Only a path of the list is ever opened: what a caller writes never becomes one.
  const file = toFiles(looked).find((one) => one.path === path);
  if (!file || whyNot(looked) !== undefined) return undefined;
  const bytes = await readPlain(join(shelf.realOf(id), file.path));
  if (!bytes || toDigest(bytes) !== file.hash)
    throw new SessarcError("SKILL_UNREADABLE", { id, reason: `${path} changed while it was read` });
  return bytes;
}

/**
 * The hash that the widely used `skills` command line writes into `skills-lock.json`: SHA-256 over path and bytes of each file in the order
 * of its sort, without `node_modules`.
 */
export async function readFolderHash(shelf: Shelf, id: string): Promise<string> {
  const row = await shelf.row(id);
  const { tree } = await shelf.present(row);
  const files = tree.entries.filter(({ kind, path }) => kind === "file" && !/(^|\/)node_modules\//.test(path));
  const hash = createHash("sha256");
  for (const { path } of files.sort((a, b) => a.path.localeCompare(b.path))) {
    const bytes = await readPlain(join(shelf.realOf(id), path));
    if (!bytes) throw new SessarcError("SKILL_UNREADABLE", { id, reason: `${path} changed while it was read` });
    hash.update(path).update(bytes);
  }
  return hash.digest("hex");
}

/** The bytes of a file; undefined if it is gone or replaced by a link. */
async function readPlain(path: string): Promise<Buffer | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(path, flags).catch(() => undefined);
  try {
    return await handle?.readFile();
  } catch {
    return undefined;
  } finally {
    await handle?.close();
  }
}

const toFiles = (looked: Exclude<Inspected, { fault: unknown }>): FileEntry[] =>
  looked.tree.entries.filter((entry) => entry.kind === "file");

/** Others compare each file with its digest, and the frontmatter with what they read: what is not a plain file or plain YAML fails there. */
function whyNot(looked: Inspected): string | undefined {
  if ("fault" in looked) return looked.fault.message;
  const { tree, front } = looked;
  if (front.lenient) return "its frontmatter is not valid YAML";
  const link = tree.entries.find(({ kind }) => kind === "link");
  if (link) return `${link.path} is a link, and only files can be served`;
  if (!isJson(front.fields)) return "its frontmatter has a value that JSON cannot hold";
  return undefined;
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "object" && value !== null) return Object.values(value).every(isJson);
  return value === null || typeof value === "string" || typeof value === "boolean";
}
