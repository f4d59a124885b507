/** `sessarc skills install`: by sessarc's lock, or by `skills-lock.json` where that is the only one or the one that is named. */
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { type CommandContext, printable, UsageError } from "sessarc/terminal";
import type { Skill } from "../types.ts";
import { importEntry, install as installOwn, toFile } from "./lock.ts";
import { FOREIGN_LOCK, type ForeignSkill, readForeignLock } from "./skills-lock.ts";

export async function install(ctx: CommandContext): Promise<number> {
  const own = toFile(ctx);
  const beside = resolve(ctx.cwd, FOREIGN_LOCK);
  const isNamed = basename(own) === FOREIGN_LOCK;
  const isOnly = ctx.flags.lock === undefined && !existsSync(own) && existsSync(beside);
  return isNamed || isOnly ? installForeign(ctx, isNamed ? own : beside) : installOwn(ctx);
}

interface Outcome {
  installed: string[];
  unchanged: string[];
  failed: { id: string; reason: string }[];
}

async function installForeign(ctx: CommandContext, file: string): Promise<number> {
  if (ctx.flags.frozen === true)
    throw new UsageError(`${FOREIGN_LOCK} names no revision: --frozen needs a skills.lock`);
  const wanted = await readForeignLock(file);
  if (!wanted) throw new UsageError(`There is no ${file}`);
  const done: Outcome = { installed: [], unchanged: [], failed: [] };
  const { skills } = await ctx.get<{ skills: Skill[] }>("/skills");
  for (const [id, skill] of wanted) {
    const isThere = skills.some((one) => one.id === id);
    const reason = isThere ? undefined : await take(ctx, id, skill, file);
    if (reason !== undefined) done.failed.push({ id, reason });
    else if (!(await isAsLocked(ctx, id, skill)))
      done.failed.push({
        id,
        reason: `the ${isThere ? "stored" : "imported"} skill holds other files than the lock says`,
      });
    else (isThere ? done.unchanged : done.installed).push(id);
  }
  if (ctx.json) ctx.out(JSON.stringify(done));
  else {
    for (const id of done.installed) ctx.out(`Installed ${printable(id)}`);
    for (const id of done.unchanged) ctx.out(`${printable(id)} is as the lock says`);
    for (const { id, reason } of done.failed) ctx.err(`${printable(id)}: ${printable(reason)}`);
  }
  return done.failed.length > 0 ? 1 : 0;
}

/** Why it was not imported as this skill. */
async function take(
  ctx: CommandContext,
  id: string,
  { from }: ForeignSkill,
  file: string,
): Promise<string | undefined> {
  if ("reason" in from) return from.reason;
  const got = await importEntry(ctx, from, file);
  if (typeof got === "string") return got;
  return got.id === id ? undefined : `it was imported as ${got.id}: the lock has another name for it`;
}

async function isAsLocked(ctx: CommandContext, id: string, { hash }: ForeignSkill): Promise<boolean> {
  if (hash === undefined) return true;
  return (await ctx.get<{ hash: string }>(`/skills/${encodeURIComponent(id)}/folder-hash`)).hash === hash;
}
