/** `sessarc team access`. */
import { type Column, type CommandContext, createStyle, formatTable, printable, UsageError } from "sessarc/terminal";
import type { AccessLog } from "../client.ts";
import { textFlag } from "./_ask.ts";

type Entry = AccessLog["entries"][number];

const COLUMNS: readonly Column<Entry>[] = [
  { title: "time (UTC)", value: ({ at }) => printable(at.slice(0, 19).replace("T", " ")) },
  { title: "person", value: ({ person }) => printable(person ?? ""), shrink: true },
  { title: "machine", value: ({ machine }) => printable(machine ?? ""), shrink: true },
  { title: "request", value: ({ method, path }) => printable(`${method} ${path}`), shrink: true, least: 16 },
  {
    title: "answer",
    value: ({ status, code }) => printable(code === null ? String(status) : `${status} ${code}`),
    shrink: true,
  },
];

export async function run(ctx: CommandContext): Promise<number> {
  const [person, ...more] = ctx.args;
  if (more.length > 0) throw new UsageError("Name one person: `sessarc team access [<person>]`");
  const log = await ctx.get<AccessLog>("/team/access", { server: textFlag(ctx, "server"), person });
  if (ctx.json) ctx.out(JSON.stringify(log));
  else ctx.out(formatTable(COLUMNS, log.entries, { head: createStyle(ctx.colour).dim, width: ctx.columns }));
  return log.entries.length > 0 ? 0 : 3;
}
