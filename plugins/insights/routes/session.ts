/** GET /sessions/:id/figures and /sessions/:id/context: what one session touched and cost, and how full its context was. */
import { defineRoute, type SessionUsage, type TokenUsage } from "sessarc";
import { plainUsage } from "#internal";
import { placedIn } from "../figures/paths.ts";
import { repliesOf } from "../figures/replies.ts";
import type { Cost } from "../prices/pricing.ts";
import { promptsRoute } from "./prompts.ts";

export interface SessionFigures {
  /** Dearest first. */
  models: { model: string; usage: TokenUsage; cost: Cost }[];
  /** Most touched first; absolute where the session's folder is known. The archive keeps 2,000 of a session. */
  files: { path: string; reads: number; edits: number }[];
}

export interface SessionContext {
  /** Why there are no replies: the log is gone, or says nothing of the tokens of single replies. Null when there are some. */
  missing: "log" | "replies" | null;
  /**
   * Prompt of each reply in tokens: input, cache reads and cache writes. In order of the log; of more than 1,000 only the largest of
   * each stretch. Replies copied from a parent session are left out.
   */
  replies: { at: string | null; model: string; tokens: number }[];
  /** Replies in the log. */
  count: number;
  /** Tokens the model of most replies takes, by the price table; null when it does not say, or says less than was sent. */
  window: number | null;
}

const POINTS = 1_000;

const figures = defineRoute({
  method: "GET",
  path: "/sessions/:id/figures",
  summary: "Cost by model and files touched of one session",
  handler: async ({ kernel, params }): Promise<SessionFigures> => {
    const archive = kernel.inject("archive");
    const { cost } = kernel.inject("pricing");
    const row = await archive.row(params.id);
    const usage = plainUsage(JSON.parse(row.usage) as SessionUsage);
    const priced = archive.usageByPrice(row);
    const { files } = JSON.parse(row.facts) as { files: Record<string, [number, number]> };
    return {
      models: Object.entries(usage)
        .map(([model, tokens]) => ({ model, usage: tokens, cost: cost(priced[model] ?? {}) }))
        .sort((a, b) => b.cost.microdollars - a.cost.microdollars || b.usage.output - a.usage.output),
      files: mergeFiles(files, row.cwd).sort(
        (a, b) => b.edits + b.reads - (a.edits + a.reads) || b.edits - a.edits || (a.path < b.path ? -1 : 1),
      ),
    };
  },
});

const context = defineRoute({
  method: "GET",
  path: "/sessions/:id/context",
  summary: "How full the context was at each reply, read from the log",
  handler: async ({ kernel, params }): Promise<SessionContext> => {
    const archive = kernel.inject("archive");
    const row = await archive.row(params.id);
    const adapter = archive.adapter(row.tool);
    const none = { replies: [], count: 0, window: null };
    if (!adapter || row.missing) return { ...none, missing: "log" };
    const replies = await repliesOf(adapter, archive.ref(row), kernel);
    if (!replies) return { ...none, missing: "log" };
    const points = replies
      .filter((one) => !one.inherited)
      .map(({ at, model, usage }) => ({ at: at ?? null, model, tokens: promptOf(usage) }))
      .filter((one) => one.tokens > 0);
    if (points.length === 0) return { ...none, missing: "replies" };
    const most = points.reduce((max, { tokens }) => Math.max(max, tokens), 0);
    const window = kernel.inject("pricing").windowOf(usualOf(points.map((one) => one.model)));
    return {
      missing: null,
      replies: thin(points),
      count: points.length,
      window: window !== undefined && window >= most ? window : null,
    };
  },
});

export const sessionRoutes = [figures, context, promptsRoute] as const;

const promptOf = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: TokenUsage) =>
  input + cacheRead + cacheWrite5m + cacheWrite1h;

function usualOf(models: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const model of models) counts.set(model, (counts.get(model) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

function mergeFiles(files: Record<string, [number, number]>, cwd: string | null): SessionFigures["files"] {
  const merged = new Map<string, SessionFigures["files"][number]>();
  for (const [named, [reads, edits]] of Object.entries(files)) {
    const path = placedIn(named, cwd);
    const known = merged.get(path);
    if (known) {
      known.reads += reads;
      known.edits += edits;
    } else merged.set(path, { path, reads, edits });
  }
  return [...merged.values()];
}

function thin<T extends { tokens: number }>(points: readonly T[]): T[] {
  if (points.length <= POINTS) return [...points];
  const size = points.length / POINTS;
  return Array.from({ length: POINTS }, (_, i) => points.slice(Math.floor(i * size), Math.floor((i + 1) * size))).map(
    (part) => part.reduce((a, b) => (b.tokens > a.tokens ? b : a)),
  );
}
