/** GET /sessions/:id/figures and /sessions/:id/context: what one session touched and cost, and how full its context was. */
import { defineRoute, type TokenUsage } from "sessarc";
import type { SessionContext } from "../figures/context.ts";
import { placedIn } from "../figures/paths.ts";
import type { Cost } from "../prices/pricing.ts";
import { promptsRoute } from "./prompts.ts";

export interface SessionFigures {
  /** Dearest first. */
  models: { model: string; usage: TokenUsage; cost: Cost }[];
  /** Most touched first; absolute where the session's folder is known. The archive keeps 2,000 of a session. */
  files: { path: string; reads: number; edits: number }[];
}

const figures = defineRoute({
  method: "GET",
  path: "/sessions/:id/figures",
  meta: { team: true },
  summary: "Cost by model and files touched of one session",
  handler: async ({ kernel, params }): Promise<SessionFigures> => {
    const archive = kernel.inject("archive");
    const { cost } = kernel.inject("pricing");
    const row = await archive.get(params.id);
    const priced = await archive.usageByPrice(row.id);
    const { files } = await archive.facts(row.id);
    return {
      models: Object.entries(row.usage)
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
  meta: { team: true },
  summary: "How full the context was at each reply, read from the log",
  handler: ({ kernel, params }): Promise<SessionContext> => kernel.inject("insights").context(params.id),
});

export const sessionRoutes = [figures, context, promptsRoute] as const;

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
