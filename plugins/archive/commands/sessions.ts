import {
  type CommandContext,
  createStyle,
  formatCount,
  formatTable,
  printable,
  sessionTitle,
  UsageError,
} from "sessarc/terminal";
import type { Project, Session } from "../catalogue/types.ts";
import { startOf } from "../search/day.ts";
import { dayFlag, numberFlag, textFlag } from "./_flags.ts";
import { computeCost, localTime, shortIds } from "./_session.ts";

interface Page {
  sessions: Session[];
  total: number;
  nextCursor: string | null;
}

export async function run(ctx: CommandContext): Promise<number> {
  const since = dayFlag(ctx, "since");
  const until = dayFlag(ctx, "until");
  if (since && until && until < since) throw new UsageError(`The range ends before it begins: ${since} to ${until}`);
  const page = await ctx.get<Page>(
    "/sessions",
    {
      q: ctx.args.join(" ").trim() || undefined,
      project: textFlag(ctx, "project"),
      tool: textFlag(ctx, "tool"),
      after: since && startOf(since).toISOString(),
      before: until && startOf(until, 1).toISOString(),
      subagents: ctx.flags.subagents === true ? undefined : "0",
      sort: textFlag(ctx, "sort"),
      limit: String(numberFlag(ctx, "limit", 1, 1000) ?? 20),
    },
    ctx.signal,
  );
  if (ctx.json) ctx.answer(page);
  else await print(ctx, page);
  return page.sessions.length > 0 ? 0 : 3;
}

async function print(ctx: CommandContext, { sessions, total }: Page): Promise<void> {
  if (sessions.length === 0) {
    ctx.err("No such session. `sessarc import` reads the logs.");
    return;
  }
  const projects = await ctx.get<Project[]>("/projects", { git: "0" }, ctx.signal);
  const names = new Map(projects.map((project) => [project.id, project.name]));
  const ids = shortIds(sessions.map((session) => session.id));
  const table = formatTable<Session>(
    [
      { title: "id", value: (it) => printable(ids.get(it.id) ?? it.id) },
      { title: "last active", value: (it) => localTime(it.endedAt ?? it.startedAt) },
      { title: "tool", value: (it) => it.tool },
      { title: "project", value: (it) => printable(names.get(it.projectId) ?? ""), shrink: true },
      { title: "messages", align: "right", value: (it) => formatCount(it.messageCount) },
      { title: "cost", align: "right", value: computeCost },
      { title: "title", value: sessionTitle, shrink: true },
    ],
    sessions,
    { head: createStyle(ctx.colour).dim, width: ctx.columns },
  );
  ctx.out(table);
  if (total > sessions.length) ctx.err(`${formatCount(sessions.length)} of ${formatCount(total)}; --limit shows more`);
}
