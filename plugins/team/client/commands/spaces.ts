/** `sessarc team spaces`: lists them, creates one, adds people. */
import { type CommandContext, createStyle, formatTable, printable, send } from "sessarc/terminal";
import type { Person, SharedSpace } from "../../wire/answers.ts";
import { textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [name, ...people] = ctx.args;
  const server = textFlag(ctx, "server");
  if (name !== undefined) await send(ctx, "POST", "/team/spaces", { server, name, people }, ctx.signal);
  const all = await ctx.get<{ people: Person[]; spaces: SharedSpace[] }>("/team/people", { server });
  // In the order in which they joined, as `team people` lists them.
  const toNames = ({ people: ids }: SharedSpace) =>
    all.people.filter(({ id }) => ids.includes(id)).map((one) => one.name);
  if (ctx.json) ctx.out(JSON.stringify({ spaces: all.spaces }));
  else
    ctx.out(
      formatTable<SharedSpace>(
        [
          { title: "space", value: (one) => printable(one.name), shrink: true },
          { title: "kind", value: ({ kind }) => printable(kind) },
          { title: "people", value: (one) => printable(toNames(one).join(", ")), shrink: true },
        ],
        all.spaces,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  return 0;
}
