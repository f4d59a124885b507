/** `sessarc team status`. */
import { type CommandContext, createStyle, formatTable, printable } from "sessarc/terminal";
import type { TeamStatus } from "../client.ts";
import { countAll } from "./_ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const status = await ctx.get<TeamStatus>("/team", { ask: ctx.flags.ask === true ? "1" : "0" });
  if (ctx.json) ctx.out(JSON.stringify(status));
  else if (status.servers.length === 0) ctx.err("This machine is in no team. `sessarc team join <link>` joins one.");
  else for (const server of status.servers) show(ctx, server);
  if (status.servers.length === 0) return 3;
  return status.servers.some(({ problem }) => problem) ? 1 : 0;
}

export function show(ctx: CommandContext, server: TeamStatus["servers"][number]): void {
  const style = createStyle(ctx.colour);
  const toName = (space: number) => server.spaces.find(({ id }) => id === space)?.name ?? `space ${space}`;
  ctx.out(`${style.bold(server.address)}  ${printable(server.person.name)}, machine ${printable(server.machine)}`);
  ctx.out(
    `spaces: ${printable(server.spaces.map(({ name }) => name).join(", "))}; projects go to ${printable(toName(server.space))}`,
  );
  const last = server.lastAt === null ? "" : `, last ${server.lastAt.slice(0, 16).replace("T", " ")} UTC`;
  const gone = server.withdrawn > 0 ? `, ${server.withdrawn} withdrawn` : "";
  ctx.out(`${countAll(server.pushed, "session")} pushed${last}${gone}`);
  if (server.moved > 0)
    ctx.err(
      `${countAll(server.moved, "session")} on the server moved to projects that are not pushed: \`sessarc push\` names them.`,
    );
  if (server.projects.length === 0) ctx.out("No project is chosen: nothing leaves this machine.");
  else {
    const columns = [
      { title: "project", value: (one: (typeof server.projects)[number]) => printable(one.name), shrink: true },
      { title: "space", value: (one: (typeof server.projects)[number]) => printable(toName(one.space)), shrink: true },
      {
        title: "sessions",
        align: "right" as const,
        value: (one: (typeof server.projects)[number]) => String(one.sessions),
      },
    ];
    ctx.out(formatTable(columns, server.projects, { head: style.dim, width: ctx.columns }));
  }
  if (server.problem) ctx.err(printable(`${server.problem.message}. ${server.problem.fix ?? ""}`.trim()));
}
