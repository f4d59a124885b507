import { mkdir, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandContext } from "sessarc";
import { writeDemo } from "./write.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [folder, ...rest] = ctx.args;
  const now = typeof ctx.flags.date === "string" ? new Date(ctx.flags.date) : new Date();
  if (folder === undefined || rest.length > 0 || Number.isNaN(now.getTime())) {
    ctx.err("Give one folder, and a date as 2026-11-20 or 2026-11-20T12:00:00Z");
    return 2;
  }
  const home = resolve(folder);
  await mkdir(home, { recursive: true });
  if ((await readdir(home)).length > 0) {
    ctx.err(`${home} is not empty`);
    return 1;
  }
  const demo = await writeDemo({ home, now });
  ctx.out(ctx.json ? JSON.stringify(demo) : `${demo.sessions} sample sessions in ${demo.home}`);
  return 0;
}
