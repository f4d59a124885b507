import { mkdir, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandContext, UsageError } from "sessarc/terminal";
import { writeDemo } from "./write.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [folder, ...rest] = ctx.args;
  if (folder === undefined || rest.length > 0) throw new UsageError("Name one folder: `sessarc demo <folder>`");
  const now = typeof ctx.flags.date === "string" ? new Date(ctx.flags.date) : new Date();
  if (Number.isNaN(now.getTime()))
    throw new UsageError(`--date takes 2026-11-20 or 2026-11-20T12:00:00Z, not ${JSON.stringify(ctx.flags.date)}`);
  const home = resolve(ctx.cwd, folder);
  await mkdir(home, { recursive: true });
  if ((await readdir(home)).length > 0) {
    ctx.err(`${home} is not empty: name a new folder.`);
    return 1;
  }
  const demo = await writeDemo({ home, now, setup: true });
  ctx.out(ctx.json ? JSON.stringify(demo) : `${demo.sessions} sample sessions in ${demo.home}`);
  return 0;
}
