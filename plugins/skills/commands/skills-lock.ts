/**
 * `skills-lock.json` of the widely used `skills` command line (version 1): read where there is no lock of sessarc's, and written beside it.
 * It names no revision; `computedHash` is its custom hash.
 */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isInside, writeFileAtomic } from "sessarc/files";
import { UsageError } from "sessarc/terminal";
import * as v from "valibot";
import type { Origin } from "../types.ts";

export const FOREIGN_LOCK = "skills-lock.json";

const text = v.pipe(v.string(), v.maxLength(4_096));
/** Fields of later versions of that program are retained. */
const entrySchema = v.looseObject({
  source: v.pipe(text, v.nonEmpty("is empty")),
  sourceType: text,
  sourceUrl: v.optional(text),
  ref: v.optional(text),
  skillPath: v.optional(text),
  computedHash: v.optional(text),
});
const lockSchema = v.looseObject({ version: v.literal(1), skills: v.record(v.string(), entrySchema) });

type ForeignEntry = v.InferOutput<typeof entrySchema>;
type ForeignLock = v.InferOutput<typeof lockSchema>;

/** Where a skill is to be had, as sessarc's lock has it; or why it cannot be had from there. */
export type Source = { source: string; path?: string; ref?: string } | { reason: string };

export interface ForeignSkill {
  from: Source;
  /** As that program computes it; undefined where the lock has none. */
  hash: string | undefined;
}

/** Undefined if the file is missing. Throws UsageError if it cannot be read: it is left unchanged. */
async function readLock(file: string): Promise<ForeignLock | undefined> {
  const content = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
  if (content === undefined) return undefined;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), lockSchema), content);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new UsageError(`${file} is not a lock of skills: ${v.getDotPath(issue) ?? ""} ${issue.message}`);
}

/** Its skills by name; undefined where there is no such file. */
export async function readForeignLock(file: string): Promise<Map<string, ForeignSkill> | undefined> {
  const lock = await readLock(file);
  if (!lock) return undefined;
  return new Map(
    Object.entries(lock.skills).map(([name, entry]) => [
      name,
      { from: toSource(entry, dirname(file)), hash: entry.computedHash },
    ]),
  );
}

function toSource({ source, sourceType, sourceUrl, ref, skillPath }: ForeignEntry, base: string): Source {
  const path = skillPath === undefined ? undefined : dirname(skillPath.replaceAll("\\", "/"));
  const below = path === undefined || path === "." ? {} : { path };
  const at = ref === undefined ? {} : { ref };
  switch (sourceType) {
    case "github":
      return {
        source: source.includes(":") ? source : `https://github.com/${source.replace(/\.git$/, "")}`,
        ...below,
        ...at,
      };
    case "git":
    case "gitlab":
      return sourceUrl === undefined
        ? { reason: `${FOREIGN_LOCK} has no sourceUrl for it` }
        : { source: sourceUrl, ...below, ...at };
    case "local": {
      const folder = resolve(base, source);
      // The lock names the folder that was searched, or the skill's own.
      if (below.path === undefined) return { source: folder };
      const skill = join(folder, below.path);
      return isInside(folder, skill) ? { source: skill } : { reason: "its skillPath leaves its source" };
    }
    default:
      return { reason: `it comes from ${sourceType}, which only that program installs` };
  }
}

/** Adds these skills; those of others, and fields that sessarc does not know, stay as they are. `hash` null: the entry is left out. */
export async function writeForeignLock(
  file: string,
  skills: readonly { id: string; origin: Origin; hash: string | null }[],
): Promise<void> {
  const lock = (await readLock(file)) ?? { version: 1, skills: {} };
  const entries: Record<string, ForeignEntry> = { ...lock.skills };
  for (const { id, origin, hash } of skills)
    if (hash !== null) entries[id] = { ...entries[id], ...toEntry(origin, dirname(file)), computedHash: hash };
  const sorted = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFileAtomic(file, `${JSON.stringify({ ...lock, skills: sorted }, null, 2)}\n`, { mode: 0o644 });
}

function toEntry({ kind, url, ref, path }: Origin, base: string): ForeignEntry {
  if (kind !== "git" || url === null) {
    const folder = path ?? "";
    const source =
      isAbsolute(folder) && isInside(base, folder) ? `./${relative(base, folder).replaceAll("\\", "/")}` : folder;
    return { source, sourceType: "local" };
  }
  const skillPath = path === null || path === "" ? "SKILL.md" : `${path}/SKILL.md`;
  const at = ref === null ? {} : { ref };
  const short = /^https:\/\/github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1];
  if (short !== undefined) return { source: short, ...at, sourceType: "github", skillPath };
  return { source: url, sourceUrl: url, ...at, sourceType: "git", skillPath };
}
