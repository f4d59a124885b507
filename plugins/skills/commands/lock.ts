/** `skills.lock`: where each skill comes from and what it holds, so that another machine installs the same. */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isInside, writeFileAtomic } from "sessarc/files";
import { ApiError, type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import * as v from "valibot";
import type { Drift } from "../ops/drift.ts";
import type { GitImport } from "../ops/import.ts";
import type { Skill } from "../types.ts";
import { FOREIGN_LOCK, writeForeignLock } from "./skills-lock.ts";

const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "is not a SHA-256"));
const entrySchema = v.strictObject({
  /** Address of a repository, or a folder; a relative one is below the folder of the lock. */
  source: v.pipe(v.string(), v.nonEmpty("is empty")),
  /** Folder of the repository. */
  path: v.optional(v.string()),
  /** Branch or tag that updates follow; absent: what the repository's HEAD names. */
  ref: v.optional(v.string()),
  /** Commit in full; absent for folders, and in a lock written by hand. */
  revision: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, "is not a commit in full"))),
  contentHash: v.optional(hash),
});
const lockSchema = v.strictObject({ version: v.literal(1), skills: v.record(v.string(), entrySchema) });

type Entry = v.InferOutput<typeof entrySchema>;
type Lock = v.InferOutput<typeof lockSchema>;

export const toFile = (ctx: CommandContext) =>
  resolve(ctx.cwd, typeof ctx.flags.lock === "string" ? ctx.flags.lock : "skills.lock");

/** Writes the lock: all skills of the store, or the ones named, which are added to those that it lists already. */
export async function lock(ctx: CommandContext, ids: readonly string[]): Promise<number> {
  const file = toFile(ctx);
  const { skills } = await ctx.get<{ skills: Skill[] }>("/skills");
  const missing = ids.find((id) => !skills.some((skill) => skill.id === id));
  if (missing !== undefined) throw new UsageError(`No skill ${missing} is stored`);
  const chosen = ids.length === 0 ? skills : skills.filter((skill) => ids.includes(skill.id));
  const written: Lock = ids.length === 0 ? { version: 1, skills: {} } : await readLock(file, true);
  for (const skill of chosen) {
    const entry = await readEntry(ctx, skill, file);
    if (entry) written.skills[skill.id] = entry;
    else ctx.err(`${printable(skill.id)} comes with sessarc and is not locked.`);
  }
  // First: where the other program's file cannot be read, nothing is written.
  await lockBeside(ctx, join(dirname(file), FOREIGN_LOCK), chosen);
  await writeLock(file, written);
  if (ctx.json) ctx.out(JSON.stringify(written));
  else ctx.out(`Wrote ${Object.keys(written.skills).length} skills to ${printable(file)}`);
  return 0;
}

/** The same skills for the other program, in its own file. Its hash is of the files as they are: an edited skill has none. */
async function lockBeside(ctx: CommandContext, file: string, skills: readonly Skill[]): Promise<void> {
  const entries = [];
  for (const { id, origin, drift } of skills) {
    if (!origin || id === "sessarc") continue;
    const isEdited = drift === "local" || drift === "both";
    const hash = isEdited
      ? null
      : (await ctx.get<{ hash: string }>(`/skills/${encodeURIComponent(id)}/folder-hash`)).hash;
    entries.push({ id, origin, hash });
  }
  await writeForeignLock(file, entries);
}

/**
 * Imports what the lock lists and the store lacks. A stored skill is never replaced. With `--frozen` the lock is not written, and has to
 * name the revision and content of each.
 */
export async function install(ctx: CommandContext): Promise<number> {
  const file = toFile(ctx);
  const frozen = ctx.flags.frozen === true;
  const wanted = await readLock(file, false);
  const { skills } = await ctx.get<{ skills: Skill[] }>("/skills");
  const installed: string[] = [];
  const unchanged: string[] = [];
  const failed: { id: string; reason: string }[] = [];
  let completed = false;
  for (const [id, entry] of Object.entries(wanted.skills)) {
    const there = skills.find((skill) => skill.id === id);
    const isWhole = entry.contentHash !== undefined && (entry.revision !== undefined || isFolder(entry.source));
    if (frozen && !isWhole) failed.push({ id, reason: "the lock does not name its revision and content" });
    else if (there && (entry.contentHash ?? there.contentHash) === there.contentHash) unchanged.push(id);
    else if (there) failed.push({ id, reason: "the stored skill holds other files than the lock says" });
    else {
      const got = await importEntry(ctx, entry, file);
      if (typeof got === "string") failed.push({ id, reason: got });
      else {
        installed.push(id);
        if (got.id !== id)
          failed.push({ id, reason: `it was imported as ${got.id}: the lock has another name for it` });
      }
    }
    const now = isWhole
      ? undefined
      : (await ctx.get<{ skills: Skill[] }>("/skills")).skills.find((one) => one.id === id);
    const whole = now && (await readEntry(ctx, now, file));
    if (frozen || !whole) continue;
    wanted.skills[id] = whole;
    completed = true;
  }
  if (completed) await writeLock(file, wanted);
  if (ctx.json) ctx.out(JSON.stringify({ installed, unchanged, failed }));
  else {
    for (const id of installed) ctx.out(`Installed ${printable(id)}`);
    for (const id of unchanged) ctx.out(`${printable(id)} is as the lock says`);
    for (const { id, reason } of failed) ctx.err(`${printable(id)}: ${printable(reason)}`);
  }
  return failed.length > 0 ? 1 : 0;
}

/** The imported skill, or why it was not imported. What the API refuses concerns one entry; the others go on. */
export async function importEntry(ctx: CommandContext, entry: Entry, file: string): Promise<Skill | string> {
  const { source, contentHash, ...from } = entry;
  try {
    if (isFolder(source))
      return await send<Skill>(ctx, "POST", "/skills/import", { folder: resolve(dirname(file), source), contentHash });
    const { imported, skipped } = await send<GitImport>(ctx, "POST", "/skills/github", {
      ...{ url: source, contentHash },
      ...from,
    });
    return imported[0] ?? skipped[0]?.reason ?? "there is no skill at that place";
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** Undefined for the skill that comes with sessarc. Of an edited skill the version that it was imported as. */
async function readEntry(ctx: CommandContext, skill: Skill, file: string): Promise<Entry | undefined> {
  const { origin } = skill;
  if (!origin || skill.id === "sessarc") return undefined;
  const isEdited = skill.drift === "local" || skill.drift === "both";
  if (isEdited) ctx.err(`${printable(skill.id)} was edited: the lock names the version it was imported as.`);
  const contentHash = isEdited
    ? (await ctx.get<Drift>(`/skills/${encodeURIComponent(skill.id)}/drift`)).base.contentHash
    : skill.contentHash;
  const content = contentHash === null ? {} : { contentHash };
  if (origin.kind !== "git" || origin.url === null)
    return { source: toFolder(origin.path ?? "", dirname(file)), ...content };
  return {
    source: origin.url,
    ...(origin.path === null || origin.path === "" ? {} : { path: origin.path }),
    ...(origin.ref === null ? {} : { ref: origin.ref }),
    ...(origin.commit === null ? {} : { revision: origin.commit }),
    ...content,
  };
}

/** Relative where the folder lies beside or below the lock: both are in one repository then. */
const toFolder = (path: string, base: string) =>
  isInside(base, path) ? `./${relative(base, path).replaceAll("\\", "/")}` : path;

const isFolder = (source: string) => source.startsWith("./") || source.startsWith("../") || isAbsolute(source);

async function readLock(file: string, orEmpty: boolean): Promise<Lock> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    if (orEmpty) return JSON.stringify({ version: 1, skills: {} });
    throw new UsageError(`There is no ${file}. \`sessarc skills lock\` writes it.`);
  });
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), lockSchema), text);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new UsageError(`${file} is not a lock of skills: ${v.getDotPath(issue) ?? ""} ${issue.message}`);
}

async function writeLock(file: string, { version, skills }: Lock): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(skills).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFileAtomic(file, `${JSON.stringify({ version, skills: sorted }, null, 2)}\n`, { mode: 0o644 });
}
