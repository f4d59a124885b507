import { attend, isFolder } from "sessarc/files";
import { type CommandContext, formatCount, UsageError } from "sessarc/terminal";
import type { Brief } from "../handoff/brief.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [name, ...more] = ctx.args;
  if (name === undefined || more.length > 0) throw new UsageError("Name one session: `sessarc handoff <session|last>`");
  const to = text(ctx, "to");
  const isStarted = ctx.flags.start === true;
  if (isStarted && to === undefined) throw new UsageError("Say which assistant to start: --to codex");
  const { session } = await ctx.get<{ session: { id: string } }>("/sessions/find", { name }, ctx.signal);
  const path = `/sessions/${encodeURIComponent(session.id)}/handoff`;
  const brief = await ctx.get<Brief>(path, { to, tokens: text(ctx, "tokens") }, ctx.signal);
  if (ctx.json) {
    ctx.answer(brief);
    return 0;
  }
  if (!isStarted) {
    ctx.out(brief.text);
    // OSC 52: the terminal puts it into the clipboard, over a remote shell as well.
    if (ctx.flags.copy === true) ctx.errRaw(`\u001b]52;c;${Buffer.from(brief.text).toString("base64")}\u0007`);
    ctx.err(`About ${formatCount(brief.tokens)} tokens. Secrets are masked.`);
    return 0;
  }
  if (!brief.start) {
    ctx.err(`sessarc does not know how ${to} is started with a prompt. Without --start the brief is printed.`);
    return 1;
  }
  const cwd = brief.cwd !== null && (await isFolder(brief.cwd)) ? brief.cwd : undefined;
  const [file = "", ...args] = brief.start;
  return attend(file, args, { cwd, env: ctx.env.env });
}

function text(ctx: CommandContext, name: string): string | undefined {
  const value = ctx.flags[name];
  return typeof value === "string" ? value : undefined;
}
