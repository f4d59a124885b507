/** GET /search/total: what the first page of a search does not wait for. */

import { defineRoute, type Kernel, toEvents } from "sessarc";
import * as v from "valibot";
import { TOP_LEVEL } from "../catalogue/filter.ts";
import { isEmpty } from "../search/query.ts";
import type { Count, TotalAnswer, TotalProgress } from "../search/total.ts";
import { chooseProjects, chooseSessions, filterQuery, toQuery } from "./search-filters.ts";

export interface SearchTotal {
  query: string;
  sessions: number;
  /** 0 where the query is empty: then sessions are listed, not searched. */
  messages: number;
  /** `gte` where something was found and a transcript could not be read. */
  relation: "eq" | "gte";
  /** Of each kind: sessions with a match of it. */
  facets: { tools: Count[]; projects: Count[]; kinds: Count[] };
  tookMs: number;
  stats: TotalAnswer["stats"] | null;
  /** Sessions of which a chunk could not be read: it was left out. */
  damaged: number;
}

/** Frames of the same as events. */
export type SearchTotalFrame = ({ type: "progress" } & TotalProgress) | ({ type: "done" } & SearchTotal);

export const searchTotal = defineRoute({
  method: "GET",
  path: "/search/total",
  meta: { team: true },
  summary:
    "How many sessions and messages a search finds in all, by tool and project; with `Accept: text/event-stream` as it is counted",
  query: v.object(filterQuery),
  handler: async ({ kernel, query: input, event, signal }): Promise<SearchTotal | Response> => {
    const ask = (onProgress?: (progress: TotalProgress) => void, end = signal) => count(kernel, input, end, onProgress);
    if (event.req.headers.get("accept")?.includes("text/event-stream") !== true) return ask();
    const send = (out: { send(frame: object): void }, frame: SearchTotalFrame) => out.send(frame);
    return toEvents(async (out) => {
      const total = await ask((progress) => send(out, { type: "progress", ...progress }), out.gone);
      send(out, { type: "done", ...total });
      out.close();
    });
  },
});

type Input = v.InferOutput<v.ObjectSchema<typeof filterQuery, undefined>>;

async function count(
  kernel: Kernel,
  input: Input,
  signal: AbortSignal,
  onProgress: ((progress: TotalProgress) => void) | undefined,
): Promise<SearchTotal> {
  const started = performance.now();
  const archive = kernel.inject("archive/open");
  const query = toQuery(input);
  if (isEmpty(query)) {
    const sessions = await archive.store.count({ topLevel: true });
    const [tools, byProject] = await Promise.all([listed(kernel, "tool"), listed(kernel, "project_id")]);
    const facets = { tools, projects: byProject, kinds: [] };
    return {
      query: input.q,
      ...{ sessions, messages: 0, relation: "eq", facets, stats: null, damaged: 0 },
      tookMs: since(started),
    };
  }
  const projects = new Map((await archive.store.projects()).map((project) => [project.id, project]));
  const scope = { query, projects: chooseProjects(query, projects), sessions: await chooseSessions(kernel, query) };
  const { tools, projects: byProject, kinds, ...rest } = await archive.index.total({ ...scope, signal, onProgress });
  return { query: input.q, ...rest, facets: { tools, projects: byProject, kinds }, tookMs: since(started) };
}

/** Of the sessions that an empty query lists, how many each tool or project has. */
const listed = ({ storage }: Kernel, column: "tool" | "project_id"): Promise<Count[]> =>
  storage.db.all<Count>(
    `select ${column} as id, count(*) as sessions, 0 as messages from session where ${TOP_LEVEL} group by ${column} order by sessions desc, id`,
  );

const since = (started: number) => Math.round((performance.now() - started) * 100) / 100;
