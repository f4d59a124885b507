/** `sessarc completion <shell>`: a script that completes commands, flags and their values, made from the commands themselves. */
import { bashScript } from "./completion/bash.ts";
import { fishScript } from "./completion/fish.ts";
import { toCompleted } from "./completion/offers.ts";
import { zshScript } from "./completion/zsh.ts";
import type { CoreContext } from "./context.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function run(ctx: CoreContext): Promise<number> {
  const shell = (ctx.args[0] ?? toShell(ctx.io.env.env.SHELL)) as keyof typeof SCRIPTS;
  const commands = await ctx.commands();
  ctx.out(SCRIPTS[shell](commands.map(toCompleted)).trimEnd());
  return 0;
}

/** That of the user, where it is one we know; else bash, whose scripts most others read. */
function toShell(path: string | undefined): string {
  const name = path?.slice(path.lastIndexOf("/") + 1) ?? "";
  return name in SCRIPTS ? name : "bash";
}
