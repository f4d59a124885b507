/** `sessarc team tokens`: read tokens, and the end of one. */
import { type CommandContext, createStyle, formatTable, printable, send, UsageError } from "sessarc/terminal";
import type { ReadToken } from "../../wire/answers.ts";
import { isConfirmed, textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0) throw new UsageError("`sessarc team tokens` takes no words; --revoke <id> ends a token");
  const server = textFlag(ctx, "server");
  const id = textFlag(ctx, "revoke");
  if (id !== undefined) {
    if (!(await isConfirmed(ctx, `End the read token ${printable(id)} at once?`))) return 1;
    const answer = await send(ctx, "POST", "/team/tokens/revoke", { server, token: id }, ctx.signal);
    ctx.out(ctx.json ? JSON.stringify(answer) : `${printable(id)} reads nothing any more.`);
    return 0;
  }
  const { tokens } = await ctx.get<{ tokens: ReadToken[] }>("/team/tokens", { server });
  if (ctx.json) ctx.out(JSON.stringify({ tokens }));
  else if (tokens.length === 0) ctx.err("There is no read token. `sessarc team token` makes one.");
  else
    ctx.out(
      formatTable<ReadToken>(
        [
          { title: "token", value: ({ id }) => printable(id) },
          { title: "name", value: ({ name }) => printable(name), shrink: true },
          { title: "person", value: ({ person }) => printable(person.name), shrink: true },
          { title: "until", value: ({ expiresAt }) => printable(expiresAt.slice(0, 10)) },
          { title: "last used", value: ({ usedAt }) => printable(usedAt?.slice(0, 10) ?? "never") },
        ],
        tokens,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  return 0;
}
