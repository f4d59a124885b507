/** `sessarc mcp search` and `sessarc mcp add --from`: servers of a list that the user names. */
import { type CommandContext, createStyle, formatTable, printable, UsageError } from "sessarc/terminal";
import { type ListedServer, type ListedWay, searchServers } from "../directory/directory.ts";
import { type ServiceInput, toSlug } from "../entry.ts";

const textFlag = (ctx: CommandContext, name: string) => {
  const value = ctx.flags[name];
  return typeof value === "string" ? value : undefined;
};

export async function search(ctx: CommandContext, words: readonly string[]): Promise<number> {
  const servers = await find(ctx, words);
  if (ctx.json) ctx.out(JSON.stringify({ servers }));
  else
    ctx.out(
      formatTable(
        [
          { title: "server", value: ({ name }) => printable(name) },
          { title: "kind", value: ({ ways }) => [...new Set(ways.map(({ transport }) => transport))].join(", ") },
          { title: "about", value: ({ title, description }) => printable(description ?? title ?? ""), shrink: true },
        ],
        servers,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  return servers.length > 0 ? 0 : 3;
}

/** The list that `--registry` names: nothing is asked without one. */
async function find(ctx: CommandContext, words: readonly string[]): Promise<ListedServer[]> {
  const source = textFlag(ctx, "registry");
  if (source === undefined)
    throw new UsageError(
      "Name a list of servers: --registry <file or address>, such as https://registry.modelcontextprotocol.io/v0/servers",
    );
  try {
    return await searchServers(source, words, ctx.signal);
  } catch (error) {
    if (error instanceof Error) throw new UsageError(error.message);
    throw error;
  }
}

/** The service that an entry of the list describes. Secrets come from variables of this environment. */
export async function serviceFrom(ctx: CommandContext, name: string, id: string | undefined): Promise<ServiceInput> {
  const server = (await find(ctx, [name])).find((one) => one.name === name);
  if (!server) throw new UsageError(`The list has no server ${name}; see \`sessarc mcp search\``);
  const transport = textFlag(ctx, "transport");
  const way = server.ways.find((one) => transport === undefined || one.transport === transport);
  if (!way)
    throw new UsageError(
      `The list names no way to start or reach ${name}${transport === undefined ? "" : ` over ${transport}`}. Add it with its command or address: sessarc mcp add <id>`,
    );
  if (way.missing.length > 0)
    throw new UsageError(`${name} needs ${way.missing.join(", ")}: add it with its ${way.url ? "address" : "command"}`);
  const values = toValues(ctx, server.name, way);
  const service = { id: id ?? toSlug(server.name.split("/").at(-1) ?? ""), transport: way.transport };
  return way.url === undefined
    ? { ...service, command: way.command ?? null, args: [...way.args], env: values }
    : { ...service, url: way.url, headers: values };
}

function toValues({ env }: CommandContext, name: string, way: ListedWay): Record<string, string> {
  const unset: string[] = [];
  const values = way.values.flatMap((one) => {
    // A header's name is written as a variable's: X-Api-Key is X_API_KEY.
    const variable = way.url === undefined ? one.name : one.name.replace(/[^A-Za-z0-9]/g, "_").toUpperCase();
    const value = env.env[variable] ?? (one.value?.includes("{") ? undefined : one.value);
    if (value !== undefined) return [[one.name, value] as const];
    if (one.isRequired) unset.push(one.description === undefined ? variable : `${variable} (${one.description})`);
    return [];
  });
  if (unset.length > 0)
    throw new UsageError(`${name} needs these variables, which are not set in this environment: ${unset.join(", ")}`);
  return Object.fromEntries(values);
}
