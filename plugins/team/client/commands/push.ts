/** `sessarc push`. */
import type { CommandContext } from "sessarc/terminal";
import { listFlag, textFlag } from "./_ask.ts";
import { print, pushOnce } from "./_push.ts";
import { findSince } from "./_since.ts";
import { watch } from "./_watch.ts";

const INTERRUPTED = 130;

export async function run(ctx: CommandContext): Promise<number> {
  const names = listFlag(ctx, "session");
  const find = (name: string) => ctx.get<{ session: { id: string } }>("/sessions/find", { name });
  const sessions = await Promise.all(names.map(async (name) => (await find(name)).session.id));
  const projects = listFlag(ctx, "project");
  const body = {
    server: textFlag(ctx, "server"),
    ...(projects.length > 0 && { projects }),
    ...(sessions.length > 0 && { sessions }),
    since: findSince(ctx),
    dryRun: ctx.flags["dry-run"] === true,
    again: ctx.flags.again === true,
  };
  if (ctx.flags.watch === true) {
    await watch(ctx, body);
    return INTERRUPTED;
  }
  const pushed = await pushOnce(ctx, body);
  if (!pushed) return INTERRUPTED;
  print(ctx, pushed);
  return pushed.done.failed.length > 0 ? 1 : 0;
}
