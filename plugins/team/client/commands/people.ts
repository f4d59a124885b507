/** `sessarc team people`. */
import { type CommandContext, createStyle, formatTable, printable, UsageError } from "sessarc/terminal";
import type { Device, Person } from "../../wire/answers.ts";
import type { TeamPeople } from "../client.ts";
import { textFlag } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  if (ctx.args.length > 0) throw new UsageError("`sessarc team people` takes no words");
  const answer = await ctx.get<TeamPeople>("/team/people", {
    server: textFlag(ctx, "server"),
  });
  if (ctx.json) {
    ctx.out(JSON.stringify(answer));
    return 0;
  }
  const { people, devices, spaces, logs } = answer;
  const head = createStyle(ctx.colour).dim;
  const named = (ids: readonly number[]) => spaces.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
  ctx.out(
    formatTable<Person>(
      [
        { title: "person", value: ({ name }) => printable(name), shrink: true },
        { title: "id", value: ({ id }) => printable(id) },
        { title: "spaces", value: (one) => printable(named(one.spaces).join(", ")), shrink: true },
      ],
      people,
      { head, width: ctx.columns },
    ),
  );
  const toName = (id: string) => people.find((person) => person.id === id)?.name ?? id;
  ctx.out("");
  ctx.out(
    formatTable<Device>(
      [
        { title: "machine", value: ({ name }) => printable(name), shrink: true },
        { title: "id", value: ({ id }) => printable(id) },
        { title: "person", value: ({ person }) => printable(toName(person)), shrink: true },
        { title: "may", value: ({ scopes }) => printable(scopes.join(", ")) },
        { title: "last seen", value: ({ seenAt }) => printable(seenAt?.slice(0, 10) ?? "") },
        { title: "", value: ({ revokedAt }) => (revokedAt === null ? "" : "revoked") },
      ],
      devices,
      { head, width: ctx.columns },
    ),
  );
  if (logs.waiting > 0)
    ctx.out(`\nThe server will parse ${counted(logs.waiting)} again: an older version made their messages.`);
  if (logs.failed > 0)
    ctx.out(`\nThe server could not parse ${counted(logs.failed)} again; their messages are unchanged.`);
  return 0;
}

const counted = (count: number) => (count === 1 ? "1 log" : `${count} logs`);
