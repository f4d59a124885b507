/** `sessarc team join <link>`. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { TeamStatus } from "../client.ts";
import { ask, canAsk, textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [link, ...more] = ctx.args;
  if (link === undefined || more.length > 0)
    throw new UsageError("Pass one invitation link: `sessarc team join <link>`");
  const space = textFlag(ctx, "space");
  const body = { link, name: textFlag(ctx, "name"), space };
  let status = await send<TeamStatus>(ctx, "POST", "/team/join", body, ctx.signal);
  const server = status.servers.find(({ address }) => link.startsWith(address));
  if (!server) throw new Error("The server that was joined is not listed");
  if (space === undefined && server.spaces.length > 1 && canAsk(ctx)) {
    const chosen = await askSpace(ctx, server);
    if (chosen !== undefined)
      status = await send(ctx, "PUT", "/team/projects", { server: server.address, space: chosen, usual: true });
  }
  if (ctx.json) ctx.out(JSON.stringify(status));
  else {
    const { name } = server.person;
    ctx.out(`Joined ${server.address} as ${printable(name)}. Nothing was pushed.`);
    ctx.out("Choose what may leave this machine: `sessarc team projects <project>…`, then `sessarc push --dry-run`.");
  }
  return 0;
}

async function askSpace(
  ctx: CommandContext,
  { spaces, space }: TeamStatus["servers"][number],
): Promise<string | undefined> {
  ctx.err("Where do your projects go?");
  for (const [i, one] of spaces.entries())
    ctx.err(`  ${i + 1}  ${printable(one.name)}${one.kind === "private" ? " (only you can read it)" : ""}`);
  const usual = spaces.findIndex(({ id }) => id === space) + 1;
  for (;;) {
    const answer = await ask(ctx, `Number [${usual}]: `);
    if (answer === "") return undefined;
    const chosen = spaces[Number(answer) - 1];
    if (chosen) return String(chosen.id);
    ctx.err(`Type a number from 1 to ${spaces.length}.`);
  }
}
