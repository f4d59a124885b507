/** `sessarc team revoke <machine>`: a stolen or retired machine. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { Device, EndedMachine } from "../../wire/answers.ts";
import { isConfirmed, textFlag } from "./_ask.ts";
import { reportEnded } from "./_ended.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...more] = ctx.args;
  if (wanted === undefined || more.length > 0)
    throw new UsageError("Name one machine: `sessarc team revoke <machine>`");
  const server = textFlag(ctx, "server");
  const { devices } = await ctx.get<{ devices: Device[] }>("/team/people", { server });
  const stolen = ctx.flags.stolen === true;
  // Of one that has no access any more others may have theirs.
  const found = devices.filter(
    ({ id, name, revokedAt }) =>
      (id === wanted || name === wanted) && (revokedAt === null || (stolen && id === wanted)),
  );
  const [device] = found;
  if (!device || found.length > 1) {
    ctx.err(
      found.length > 1
        ? `${found.length} machines are named ${printable(wanted)}: pass the id of one, as \`sessarc team people\` lists it.`
        : `No machine with access has the name or id ${printable(wanted)}; \`sessarc team people\` lists them.`,
    );
    return 3;
  }
  const also = stolen ? ", and of every machine of its person that joined by its invitations," : "";
  if (!(await isConfirmed(ctx, `End the access of ${printable(device.name)}${also} at once?`))) return 1;
  const body = { server, device: device.id, stolen };
  const ended = await send<EndedMachine>(ctx, "POST", "/team/revoke", body, ctx.signal);
  if (ctx.json) {
    ctx.out(JSON.stringify(ended));
    return 0;
  }
  ctx.out(`${printable(device.name)} has no access any more. What it pushed stays.`);
  reportEnded(
    ctx,
    ended,
    ended.machines.filter(({ id }) => id !== device.id),
  );
  if (ended.invited.length > 0) {
    ctx.err(`Other machines joined by its invitations. \`sessarc team revoke <id>\` ends one that you do not know:`);
    for (const one of ended.invited) ctx.err(printable(`  ${one.id}  ${one.name}, ${one.personName}`));
  }
  return 0;
}
