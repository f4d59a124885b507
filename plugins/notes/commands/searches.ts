/** `sessarc mark search`. */
import {
  type CommandContext,
  createStyle,
  formatTable,
  printable,
  send,
  sessionTitle,
  UsageError,
} from "sessarc/terminal";
import type { SavedSearch } from "../searches.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action = "list", name, ...words] = ctx.args;
  switch (action) {
    case "list":
      if (name !== undefined) break;
      return list(ctx, await ctx.get<SavedSearch[]>("/searches"));
    case "save":
      if (name === undefined || words.length === 0) break;
      return list(ctx, await send<SavedSearch[]>(ctx, "PUT", "/searches", { name, query: words.join(" ") }));
    case "remove":
      if (name === undefined || words.length > 0) break;
      return removed(ctx, await send<SavedSearch[]>(ctx, "DELETE", `/searches?name=${encodeURIComponent(name)}`));
    case "run":
      if (name === undefined || words.length > 0) break;
      return search(ctx, name);
  }
  throw new UsageError("`sessarc mark search` takes list, save <name> <query…>, run <name>, or remove <name>");
}

function list(ctx: CommandContext, searches: readonly SavedSearch[]): number {
  if (ctx.json) ctx.answer(searches);
  else if (searches.length === 0) ctx.err("No saved searches. `sessarc mark search save failed is:error` saves one.");
  else
    ctx.out(
      formatTable<SavedSearch>(
        [
          { title: "name", value: ({ name }) => printable(name) },
          { title: "search", value: ({ query }) => printable(query), shrink: true },
        ],
        searches,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  return searches.length > 0 ? 0 : 3;
}

function removed(ctx: CommandContext, searches: readonly SavedSearch[]): number {
  if (ctx.json) ctx.answer(searches);
  else ctx.out("Removed.");
  return 0;
}

interface Found {
  results: {
    session: {
      id: string;
      name: string | null;
      title: string | null;
      firstPrompt: string | null;
      endedAt: string | null;
    };
    matchCount: number;
  }[];
  total: { sessions: number };
}

async function search(ctx: CommandContext, name: string): Promise<number> {
  const saved = (await ctx.get<SavedSearch[]>("/searches")).find(
    (one) => one.name.toLowerCase() === name.toLowerCase(),
  );
  if (!saved) {
    ctx.err(printable(`No search is saved as ${JSON.stringify(name)}; \`sessarc mark search\` lists them.`));
    return 3;
  }
  const limit = typeof ctx.flags.limit === "string" ? ctx.flags.limit : "20";
  const answer = await ctx.get<Found>("/search", { q: saved.query, limit }, ctx.signal);
  if (ctx.json) ctx.answer(answer);
  else if (answer.results.length > 0)
    ctx.out(
      formatTable<Found["results"][number]>(
        [
          { title: "last", value: ({ session }) => session.endedAt?.slice(0, 10) ?? "" },
          { title: "id", value: ({ session }) => session.id.slice(session.id.indexOf(":") + 1).slice(0, 8) },
          {
            title: "session",
            value: ({ session }) => sessionTitle(session),
            shrink: true,
          },
          { title: "messages", align: "right", value: ({ matchCount }) => (matchCount > 0 ? String(matchCount) : "") },
        ],
        answer.results,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  if (!ctx.json) ctx.err(printable(`${answer.results.length} of ${answer.total.sessions} sessions for ${saved.query}`));
  return answer.results.length > 0 ? 0 : 3;
}
