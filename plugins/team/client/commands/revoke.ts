/** `sessarc team revoke <machine>`: a stolen or retired machine. */
import { type CommandContext, printable, UsageError } from "sessarc";
import { send } from "#internal/terminal";
import type { Device } from "../wire.ts";
import { isConfirmed, textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...more] = ctx.args;
  if (wanted === undefined || more.length > 0)
    throw new UsageError("Name one machine: `sessarc team revoke <machine>`");
  const server = textFlag(ctx, "server");
  const { devices } = await ctx.get<{ devices: Device[] }>("/team/people", { server });
  const found = devices.filter(({ id, name, revokedAt }) => revokedAt === null && (id === wanted || name === wanted));
  const [device] = found;
  if (!device || found.length > 1) {
    ctx.err(
      found.length > 1
        ? `${found.length} machines are named ${printable(wanted)}: pass the id of one, as \`sessarc team people\` lists it.`
        : `No machine with access has the name or id ${printable(wanted)}; \`sessarc team people\` lists them.`,
    );
    return 3;
  }
  if (!(await isConfirmed(ctx, `End the access of ${printable(device.name)} at once?`))) return 1;
  const answer = await send(ctx, "POST", "/team/revoke", { server, device: device.id }, ctx.signal);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else ctx.out(`${printable(device.name)} has no access any more. What it pushed stays.`);
  return 0;
}
