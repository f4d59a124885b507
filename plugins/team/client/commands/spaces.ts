/** `sessarc team spaces`: lists them, creates one, adds people. */
import { type CommandContext, createStyle, formatTable, printable } from "sessarc";
import { send } from "#internal/terminal";
import type { Person, SharedSpace } from "../api.ts";
import { textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [name, ...people] = ctx.args;
  const server = textFlag(ctx, "server");
  if (name !== undefined) await send(ctx, "POST", "/team/spaces", { server, name, people }, ctx.signal);
  const all = await ctx.get<{ people: Person[]; spaces: SharedSpace[] }>("/team/people", { server });
  const nameOf = (id: string) => all.people.find((person) => person.id === id)?.name ?? id;
  if (ctx.json) ctx.out(JSON.stringify({ spaces: all.spaces }));
  else
    ctx.out(
      formatTable<SharedSpace>(
        [
          { title: "space", value: (one) => printable(one.name) },
          { title: "kind", value: ({ kind }) => kind },
          { title: "people", value: (one) => printable(one.people.map(nameOf).join(", ")) },
        ],
        all.spaces,
        { head: createStyle(ctx.colour).dim },
      ),
    );
  return 0;
}
