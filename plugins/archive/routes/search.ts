/** GET /search. */
import { defineRoute, SessarcError } from "sessarc";
import * as v from "valibot";
import type { Project, Session } from "../catalogue/types.ts";
import type { Match } from "../search/match.ts";
import { isEmpty, parseQuery, type Query, toKind, toTime } from "../search/query.ts";

/** A search stops after this long and says that its total is a lower bound. */
const BUDGET_MS = 2_000;

export interface SearchResult {
  session: Session;
  project: Project;
  matchCount: number;
  matchRelation: "eq" | "gte";
  matches: Match[];
}

const search = defineRoute({
  method: "GET",
  path: "/search",
  summary: "Find messages by words and filters, grouped per session; without a query, recent sessions",
  query: v.object({
    q: v.optional(v.pipe(v.string(), v.maxLength(2_000)), ""),
    limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/), v.transform(Number), v.minValue(1), v.maxValue(1000))),
    cursor: v.optional(v.string()),
    project: v.optional(v.string()),
    tool: v.optional(v.string()),
    kind: v.optional(v.string()),
    after: v.optional(v.string()),
    before: v.optional(v.string()),
    errors: v.optional(v.picklist(["0", "1"])),
    sort: v.optional(v.picklist(["recent", "relevance"])),
  }),
  agent: {
    description:
      "Search all archived coding-assistant sessions. Words are all required; quotes make phrases; filters: tool:, project:, kind:, model:, path:, after:, before:, is:error.",
  },
  handler: async ({ kernel, query: input, signal }) => {
    const started = performance.now();
    const archive = kernel.inject("archive");
    const query = parseQuery(input.q);
    addFilters(query, input);
    const limit = input.limit ?? 10;
    const projects = new Map((await archive.store.projects()).map((project) => [project.id, project]));
    if (isEmpty(query)) {
      const { sessions, total, nextCursor } = await archive.store.page({ topLevel: true, limit }, input.cursor);
      const results = sessions.flatMap((session): SearchResult[] => {
        const project = projects.get(session.projectId);
        return project ? [{ session, project, matchCount: 0, matchRelation: "eq", matches: [] }] : [];
      });
      return {
        query: input.q,
        recent: true,
        total: { sessions: total, relation: "eq" as const },
        tookMs: since(started),
        results,
        nextCursor,
        stats: null,
        damaged: 0,
      };
    }
    const answer = await archive.index.search({
      query,
      projects: chooseProjects(query, projects),
      limit,
      cursor: parseCursor(input.cursor),
      sort: input.sort ?? "recent",
      budgetMs: BUDGET_MS,
      signal,
    });
    const sessions = new Map(
      (await archive.store.list({ ids: answer.results.map((hit) => hit.id) })).map((session) => [session.id, session]),
    );
    const results = answer.results.flatMap(({ id, projectId, ...hits }): SearchResult[] => {
      const session = sessions.get(id);
      const project = projects.get(projectId);
      return session && project ? [{ session, project, ...hits }] : [];
    });
    return {
      query: input.q,
      recent: false,
      total: answer.total,
      tookMs: since(started),
      results,
      nextCursor: answer.next ? `${answer.next.sortAt}:${answer.next.id}` : null,
      stats: answer.stats,
      damaged: answer.damaged,
    };
  },
});

export const searchRoutes = [search] as const;

const since = (started: number) => Math.round((performance.now() - started) * 100) / 100;

/** Parameters narrow what the query says: both hold. */
function addFilters(
  query: Query,
  input: {
    project?: string | undefined;
    tool?: string | undefined;
    kind?: string | undefined;
    after?: string | undefined;
    before?: string | undefined;
    errors?: string | undefined;
  },
): void {
  if (input.project) query.project.push([input.project.toLowerCase()]);
  if (input.tool) query.tool.push([input.tool.toLowerCase()]);
  if (input.kind) query.kind.push(input.kind.split(",").map((kind) => toKind(kind.trim())));
  if (input.after) query.after = Math.max(toTime(input.after, "after"), query.after ?? Number.NEGATIVE_INFINITY);
  if (input.before) query.before = Math.min(toTime(input.before, "before"), query.before ?? Number.POSITIVE_INFINITY);
  if (input.errors === "1" && query.error === false) query.kind.push([]);
  else if (input.errors === "1") query.error = true;
}

/** Projects whose id, name or path the `project:` filters name. */
function chooseProjects(query: Query, projects: ReadonlyMap<string, Project>): ReadonlySet<string> | null {
  if (query.project.length === 0 && query.notProject.length === 0) return null;
  const chosen = new Set<string>();
  for (const project of projects.values()) {
    const fits = (wanted: string) =>
      project.id === wanted ||
      project.name.toLowerCase().includes(wanted) ||
      (project.path?.toLowerCase().includes(wanted) ?? false);
    if (!query.project.every((wanted) => wanted.some(fits))) continue;
    if (query.notProject.some(fits)) continue;
    chosen.add(project.id);
  }
  return chosen;
}

function parseCursor(cursor: string | undefined): { sortAt: number; id: string } | undefined {
  if (cursor === undefined) return undefined;
  const split = cursor.indexOf(":");
  const sortAt = Number(cursor.slice(0, split));
  if (split < 1 || !Number.isFinite(sortAt)) {
    throw new SessarcError(
      "INVALID_INPUT",
      { reason: "The cursor is not one this service gave" },
      { issues: [{ path: "cursor", message: "take nextCursor of the last answer" }] },
    );
  }
  return { sortAt, id: cursor.slice(split + 1) };
}
