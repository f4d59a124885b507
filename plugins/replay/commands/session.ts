/** Which session a person means. */
import { type CommandContext, printable, UsageError } from "sessarc";

interface Listed {
  id: string;
  parentId: string | null;
}

/** The id as given, or the one session whose id holds the text; undefined, said, when there is none. */
export async function findSession(ctx: CommandContext, wanted: string): Promise<string | undefined> {
  const found: Listed[] = [];
  let cursor: string | undefined;
  do {
    const page: { sessions: Listed[]; nextCursor?: string | null } = await ctx.get("/sessions", {
      limit: "1000",
      cursor,
    });
    if (page.sessions.some((session) => session.id === wanted)) return wanted;
    found.push(...page.sessions.filter((session) => session.id.includes(wanted)));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  // The ids of sub-agents hold that of their session.
  const own = found.filter((session) => session.parentId === null);
  const [only, ...others] = own.length > 0 ? own : found;
  if (!only) ctx.err(`No session ${printable(wanted)}`);
  if (others.length > 0)
    throw new UsageError(`${JSON.stringify(wanted)} fits ${others.length + 1} sessions: name one whole`);
  return only?.id;
}
