/** `sessarc team remove <person>`: who leaves the team. */
import { type CommandContext, printable, send, UsageError } from "sessarc/terminal";
import type { EndedPerson } from "../../wire/answers.ts";
import { countAll, isConfirmed, textFlag } from "./_ask.ts";
import { reportEnded } from "./_ended.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [person, ...more] = ctx.args;
  const give = textFlag(ctx, "give");
  const deletes = ctx.flags["delete-private"] === true;
  if (person === undefined || more.length > 0) throw new UsageError("Name one person: `sessarc team remove <person>`");
  if ((give !== undefined) === deletes)
    throw new UsageError(
      "Say what becomes of the private space: --give PERSON lets that person read it, --delete-private deletes it",
    );
  const what = give === undefined ? "delete the private space" : `let ${give} read the private space`;
  const question = `End the access of ${person} with all machines, tokens and invitations at once, and ${what}?`;
  if (!(await isConfirmed(ctx, printable(question)))) return 1;
  const body = { server: textFlag(ctx, "server"), person, ...(give === undefined ? { delete: true } : { give }) };
  const ended = await send<EndedPerson>(ctx, "POST", "/team/remove", body, ctx.signal);
  if (ctx.json) {
    ctx.out(JSON.stringify(ended));
    return 0;
  }
  ctx.out(printable(`${person} has no access any more. What was pushed to shared spaces stays.`));
  reportEnded(ctx, ended, ended.machines);
  if (give === undefined) ctx.out(`  deleted: ${countAll(ended.sessions, "private session")}`);
  else ctx.out(printable(`  ${give} reads the private space from now on.`));
  return 0;
}
