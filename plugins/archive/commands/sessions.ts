import {
  ApiError,
  type Column,
  type CommandContext,
  createStyle,
  fitColumns,
  formatAge,
  formatCount,
  formatTable,
  printable,
  sessionTitle,
  toShortIds,
  UsageError,
} from "sessarc/terminal";
import type { Project, Session } from "../catalogue/types.ts";
import { startOf } from "../search/day.ts";
import { dayFlag, numberFlag, textFlag } from "./_flags.ts";
import { computeCost, nothingListed, toArgument } from "./_session.ts";

interface Page {
  sessions: Session[];
  total: number;
  nextCursor: string | null;
}

export async function run(ctx: CommandContext): Promise<number> {
  const page = await ctx.get<Page>("/sessions", toQuery(ctx), ctx.signal);
  if (ctx.json) ctx.answer(page);
  else await print(ctx, page);
  return page.sessions.length > 0 ? 0 : 3;
}

function toQuery(ctx: CommandContext): Record<string, string | undefined> {
  const since = dayFlag(ctx, "since");
  const until = dayFlag(ctx, "until");
  if (since && until && until < since) throw new UsageError(`The range ends before it begins: ${since} to ${until}`);
  return {
    q: ctx.args.join(" ").trim() || undefined,
    project: textFlag(ctx, "project"),
    tool: textFlag(ctx, "tool"),
    after: since && startOf(since).toISOString(),
    before: until && startOf(until, 1).toISOString(),
    subagents: ctx.flags.subagents === true ? undefined : "0",
    sort: textFlag(ctx, "sort"),
    limit: String(numberFlag(ctx, "limit", 1, 1000) ?? 20),
  };
}

/** The text fits no session, and is the name of a project that has some. */
async function projectMeant(ctx: CommandContext): Promise<string | undefined> {
  const { q, project, ...others } = toQuery(ctx);
  if (q === undefined || project !== undefined) return undefined;
  const found = await ctx
    .get<Page>("/sessions", { ...others, project: q, limit: "1" }, ctx.signal)
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.code === "PROJECT_NOT_FOUND") return undefined;
      throw error;
    });
  if (!found || found.total === 0) return undefined;
  const count = `${formatCount(found.total)} ${found.total === 1 ? "session" : "sessions"}`;
  return `No session's title fits, but a project is named so: \`sessarc sessions --project ${toArgument(q)}\` lists its ${count}.`;
}

/** Columns from which what else is known of a session has room beside its title. */
const WIDE = 120;

/** Of a title: what a person chooses by. Some assistants' ids are long, and a cut one names nothing. */
const LEAST = 28;

/** Of a title, also where no terminal gives a width: a prompt of hundreds of characters pads every row. */
const LONGEST = 120;

async function print(ctx: CommandContext, { sessions, total }: Page): Promise<void> {
  if (sessions.length === 0) {
    ctx.err((await projectMeant(ctx)) ?? (await nothingListed(ctx, "session")));
    return;
  }
  const projects = await ctx.get<Project[]>("/projects", { git: "0" }, ctx.signal);
  const names = new Map(projects.map((project) => [project.id, project.name]));
  const ids = toShortIds(sessions.map((session) => session.id));
  const more: Column<Session>[] = [
    { title: "assistant", value: (it) => it.tool },
    { title: "messages", align: "right", value: (it) => formatCount(it.messageCount) },
    { title: "cost", align: "right", value: computeCost },
  ];
  const table = formatTable<Session>(
    [
      { title: "age", align: "right", value: (it) => formatAge(it.endedAt ?? it.startedAt) },
      { title: "project", value: (it) => printable(names.get(it.projectId) ?? ""), shrink: true, most: 16 },
      {
        title: "title",
        value: (it) => fitColumns(sessionTitle({ ...it, id: "(untitled)" }), LONGEST),
        shrink: true,
        least: LEAST,
      },
      ...(ctx.columns === undefined || ctx.columns >= WIDE ? more : []),
      { title: "id", value: (it) => printable(ids.get(it.id) ?? it.id) },
    ],
    sessions,
    { head: createStyle(ctx.colour).dim, width: ctx.columns },
  );
  ctx.out(table);
  if (total > sessions.length) ctx.err(`${formatCount(sessions.length)} of ${formatCount(total)}; --limit shows more`);
  if (ctx.flags.subagents !== true) {
    const { total: all } = await ctx.get<Page>(
      "/sessions",
      { ...toQuery(ctx), subagents: undefined, limit: "1" },
      ctx.signal,
    );
    if (all > total)
      ctx.err(
        `${formatCount(all - total)} ${all - total === 1 ? "sub-agent is" : "sub-agents are"} left out; --subagents shows them`,
      );
  }
}
