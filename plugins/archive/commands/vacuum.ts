import { accepted, type CommandContext, formatBytes, send, UsageError } from "sessarc/terminal";
import type { Room } from "../catalogue/room.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0) throw new UsageError("It takes no arguments: `sessarc vacuum`");
  const isDry = ctx.flags["dry-run"] === true;
  if (ctx.flags.logs === true) {
    if (isDry) throw new UsageError("--logs removes: leave out --dry-run");
    const answer = await send<{ bytes: number }>(ctx, "DELETE", "/rescue/logs", { all: true }, ctx.signal);
    const { bytes } = answer;
    if (!ctx.json) ctx.out(`Stored logs removed: ${formatBytes(bytes)}`);
  }
  const method = isDry ? "GET" : "POST";
  const answer = await (await accepted(await ctx.fetch("/vacuum", { method, signal: ctx.signal }))).json();
  if (ctx.json) {
    ctx.out(JSON.stringify(answer));
  } else if (isDry) {
    const { bytes, free } = answer as Room;
    ctx.out(`${formatBytes(free)} of ${formatBytes(bytes)} are empty`);
  } else {
    const { before, after } = answer as { before: number; after: number };
    ctx.out(
      after < before
        ? `The catalogue takes ${formatBytes(after)}, ${formatBytes(before - after)} less than before`
        : `Nothing is empty: the catalogue takes ${formatBytes(after)}`,
    );
  }
  return 0;
}
