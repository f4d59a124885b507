/** Entries of skills, checked: hosts refuse a whole list for one that breaks a rule of the extension or of Agent Skills. */
import type { Skill } from "@modelcontextprotocol/server/ext/skills";
import { isRecord, type JsonRecord } from "sessarc";
import { isPlainUri, lastPart, toRoot } from "./uris.ts";

export type { Skill };

/** What every host takes of one skill; a larger one is not served. */
const MOST_FILES = 512;
const MOST_BYTES = 16 * 2 ** 20;
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Why an entry cannot be served; undefined: it is valid, and a `Skill`. */
export function skillProblem(entry: JsonRecord): string | undefined {
  const { uri, frontmatter, resources } = entry;
  const root = typeof uri === "string" && isPlainUri(uri) ? toRoot(uri) : undefined;
  if (typeof uri !== "string" || root === undefined)
    return "its uri is not the plain address of a SKILL.md in a folder";
  if (!isRecord(frontmatter)) return "it has no frontmatter";
  const { name, description, compatibility, metadata } = frontmatter;
  if (typeof name !== "string" || name.length > 64 || !NAME.test(name))
    return "its name is not 1 to 64 lower-case letters, digits and single inner hyphens";
  if (lastPart(root) !== name) return `its name, ${name}, is not the last folder of its uri`;
  if (!isText(description, 1_024)) return "its description is not a text of 1 to 1024 characters";
  if (compatibility !== undefined && !isText(compatibility, 500))
    return "its compatibility is not a text of 1 to 500 characters";
  if (metadata !== undefined && !(isRecord(metadata) && Object.values(metadata).every((it) => typeof it === "string")))
    return "its metadata is not a list of names with a text each";
  return resources === "dynamic" ? undefined : resourcesProblem(uri, root, resources);
}

function resourcesProblem(uri: string, root: string, resources: unknown): string | undefined {
  if (!Array.isArray(resources)) return 'its resources are neither a list nor "dynamic"';
  if (resources.length > MOST_FILES) return `it has more than ${MOST_FILES} files`;
  const seen = new Set<string>();
  let bytes = 0;
  for (const file of resources) {
    if (!isRecord(file) || typeof file.uri !== "string") return "a file of it has no uri";
    if (!isPlainUri(file.uri) || !file.uri.startsWith(`${root}/`)) return `the file ${file.uri} is not in its folder`;
    if (seen.has(file.uri)) return `the file ${file.uri} is listed twice`;
    if (typeof file.digest !== "string" || !DIGEST.test(file.digest))
      return `the digest of ${file.uri} is not a SHA-256`;
    if (!Number.isSafeInteger(file.size) || Number(file.size) < 0)
      return `the size of ${file.uri} is not a number of bytes`;
    seen.add(file.uri);
    bytes += Number(file.size);
  }
  if (!seen.has(uri)) return "its files do not include its SKILL.md";
  return bytes > MOST_BYTES ? `it is larger than ${MOST_BYTES / 2 ** 20} MiB` : undefined;
}

const isText = (value: unknown, most: number) =>
  typeof value === "string" && value.trim() !== "" && [...value].length <= most;

/** The entry with each of its addresses changed. */
export function withUris(skill: Skill, change: (uri: string) => string): Skill {
  const { resources } = skill;
  const files = resources === "dynamic" ? resources : resources.map((file) => ({ ...file, uri: change(file.uri) }));
  return { ...skill, uri: change(skill.uri), resources: files };
}

/** An entry as it is, once `skillProblem` found nothing. */
export function toSkill(entry: JsonRecord): Skill | undefined {
  return isSkill(entry) ? entry : undefined;
}

const isSkill = (entry: JsonRecord): entry is JsonRecord & Skill => skillProblem(entry) === undefined;

const FOLDER = "inode/directory";

/** The direct children of a folder, made of the files that entries list; undefined where no file is below it. */
export function childrenOf(skills: readonly Skill[], folder: string): JsonRecord[] | undefined {
  const children = new Map<string, JsonRecord>();
  for (const { resources } of skills) {
    if (resources === "dynamic") continue;
    for (const { uri, size } of resources) {
      if (!uri.startsWith(`${folder}/`)) continue;
      const end = uri.indexOf("/", folder.length + 1);
      const child = end < 0 ? uri : uri.slice(0, end);
      const name = lastPart(child);
      children.set(
        child,
        end < 0 ? { uri: child, name, mimeType: mimeType(name), size } : { uri: child, name, mimeType: FOLDER },
      );
    }
  }
  const sorted = [...children].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, child]) => child);
  return sorted.length > 0 ? sorted : undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown",
  txt: "text/plain",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  py: "text/x-python",
  sh: "application/x-sh",
  js: "text/javascript",
  mjs: "text/javascript",
  ts: "text/typescript",
  html: "text/html",
  css: "text/css",
  csv: "text/csv",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  pdf: "application/pdf",
};

export function mimeType(name: string): string {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return (Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined) ?? "application/octet-stream";
}
