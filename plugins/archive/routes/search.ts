/** GET /search. */
import { defineRoute, type Kernel } from "sessarc";
import * as v from "valibot";
import type { Project, Session } from "../catalogue/types.ts";
import { toTitle } from "../search/entry.ts";
import { compile, type Match, titleRanges } from "../search/match.ts";
import { isEmpty, type Query } from "../search/query.ts";
import type { SearchRequest } from "../search/search.ts";
import { type FoundTrace, searchTraces, type Trace } from "../search/traces.ts";
import { plainMatches, redactedQuery, redactMatches, redactSession } from "./redacted.ts";
import { chooseProjects, chooseSessions, filterQuery, toQuery } from "./search-filters.ts";
import { readPlace, writePlace } from "./search-place.ts";
import { searchTotal } from "./search-total.ts";

/** A search stops after this long and says that its total is a lower bound. */
const BUDGET_MS = 2_000;

export interface SearchResult {
  session: Session;
  project: Project;
  matchCount: number;
  matchRelation: "eq" | "gte";
  matches: Match[];
  /** What the session is called, on one line, and the stretches of it to mark: those that are words of the query. */
  title: { text: string; ranges: [number, number][] };
}

/** A session of which only the prompts are left. */
export interface TraceResult {
  trace: Trace;
  project: Project | null;
  matches: Match[];
}

const search = defineRoute({
  method: "GET",
  path: "/search",
  meta: { team: true },
  summary: "Find messages by words and filters, grouped per session; without a query, recent sessions",
  query: v.object({
    limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/), v.transform(Number), v.minValue(1), v.maxValue(1000))),
    cursor: v.optional(v.string()),
    ...filterQuery,
    sort: v.optional(v.picklist(["recent", "relevance"])),
    redacted: redactedQuery,
  }),
  agent: {
    description:
      "Search all archived coding-assistant sessions. Words are all required; quotes make phrases; filters: tool:, project:, kind:, model:, path:, after:, before:, is:error, tag:, is:bookmarked.",
  },
  handler: async ({ kernel, query: input, signal }) => {
    const started = performance.now();
    const archive = kernel.inject("archive/open");
    const query = toQuery(input);
    for (const tool of query.tool.flat()) await archive.checkTool(tool, true);
    const limit = input.limit ?? 10;
    const isRedacted = input.redacted === "1";
    const compiled = compile(query);
    const show = async (found: Session) => {
      const session = isRedacted ? await redactSession(kernel, found) : found;
      const text = toTitle(session);
      return { session, title: { text, ranges: titleRanges(text, compiled) } };
    };
    const projects = new Map((await archive.store.projects()).map((project) => [project.id, project]));
    if (isEmpty(query)) {
      const { sessions, total, nextCursor } = await archive.store.page({ topLevel: true, limit }, input.cursor);
      const results: SearchResult[] = [];
      for (const session of sessions) {
        const project = projects.get(session.projectId);
        if (project)
          results.push({ ...(await show(session)), project, matchCount: 0, matchRelation: "eq", matches: [] });
      }
      return {
        query: input.q,
        recent: true,
        total: { sessions: total, relation: "eq" as const },
        tookMs: since(started),
        results,
        nextCursor,
        stats: null,
        damaged: 0,
        traces: null,
        suggestion: null,
      };
    }
    const chosen = chooseProjects(query, projects);
    // Beside the first page: they are few.
    const traces = input.cursor === undefined ? await searchTraces(kernel, query, projects, chosen) : null;
    const shownTraces = traces && {
      total: traces.length,
      results: await Promise.all(traces.slice(0, limit).map((found) => showTrace(kernel, found, query, isRedacted))),
    };
    if (query.traces)
      return {
        query: input.q,
        recent: false,
        total: { sessions: 0, relation: "eq" as const },
        tookMs: since(started),
        results: [],
        nextCursor: null,
        stats: null,
        damaged: 0,
        traces: shownTraces,
        suggestion: null,
      };
    const toRequest = async (query: Query): Promise<SearchRequest> => ({
      query,
      projects: chosen,
      sessions: await chooseSessions(kernel, query),
      limit,
      cursor: input.cursor === undefined ? undefined : readPlace(input.cursor),
      sort: input.sort ?? "recent",
      budgetMs: BUDGET_MS,
      signal,
    });
    const asked = await toRequest(query);
    const answer = await archive.index.search(asked);
    // Words of other texts are not for those who may read none of them.
    const maySuggest = answer.results.length === 0 && !asked.cursor && !shownTraces?.total && !isRedacted;
    const suggestion = maySuggest
      ? await archive.index.suggest(input.q ?? "", asked, (q) => toRequest(toQuery({ ...input, q })))
      : null;
    const sessions = new Map(
      (await archive.store.list({ ids: answer.results.map((hit) => hit.id) })).map((session) => [session.id, session]),
    );
    const results: SearchResult[] = [];
    for (const { id, projectId, matches: found, ...hits } of answer.results) {
      const session = sessions.get(id);
      const project = projects.get(projectId);
      if (!session || !project) continue;
      const matches = isRedacted ? await redactMatches(kernel, found, query) : plainMatches(found);
      results.push({ ...(await show(session)), project, ...hits, matches });
    }
    return {
      query: input.q,
      recent: false,
      total: answer.total,
      tookMs: since(started),
      results,
      nextCursor: answer.next && writePlace(answer.next),
      stats: answer.stats,
      damaged: answer.damaged,
      traces: shownTraces,
      /** Where nothing was found: the query with its words as the archive spells them, which finds something. */
      suggestion,
    };
  },
});

async function showTrace(
  kernel: Kernel,
  { trace, project, matches }: FoundTrace,
  query: Query,
  isRedacted: boolean,
): Promise<TraceResult> {
  if (!isRedacted) return { trace, project, matches: plainMatches(matches) };
  const title = trace.title && (await kernel.inject("redactor").title(trace.title, trace.title.length));
  return { trace: { ...trace, title }, project, matches: await redactMatches(kernel, matches, query) };
}

export const searchRoutes = [search, searchTotal] as const;

const since = (started: number) => Math.round((performance.now() - started) * 100) / 100;
