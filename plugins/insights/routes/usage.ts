/** GET /usage: tokens and cost by time, session, model, project, branch, work tree, tool or kind of session. */

import { defineRoute, streamJson } from "sessarc";
import * as v from "valibot";
import { type BlockReport, blocks, blocksAt } from "../figures/blocks.ts";
import { toZone } from "../figures/buckets.ts";
import type { Asked } from "../figures/questions.ts";
import { day, toRange } from "../figures/range.ts";
import { GROUPS, report, type UsageReport, writeReport } from "../figures/report.ts";
import { KINDS } from "../figures/sql.ts";
import { readWorktrees } from "../figures/worktrees.ts";

const usage = defineRoute({
  method: "GET",
  path: "/usage",
  meta: { team: true },
  summary:
    "Tokens and estimated cost by day, week, month, session, model, project, branch, work tree, tool, kind of session or window of a plan",
  query: v.object({
    by: v.optional(v.picklist([...GROUPS, "block"]), "day"),
    /** With `by=block`: how long a window is, as 5h (the default), 90m or 7d. */
    length: v.optional(
      v.pipe(
        v.string(),
        v.check((text) => findMinutes(text) !== undefined, "must be quarter-hours up to 31 days, as 5h, 90m or 7d"),
      ),
    ),
    from: day,
    to: day,
    /** Zone whose days count; default this machine's. */
    tz: v.optional(v.string()),
    tool: v.optional(v.string()),
    kind: v.optional(v.picklist(KINDS)),
    /** Id, name or path. */
    project: v.optional(v.string()),
    /** Id: this session and its sub-agents. */
    session: v.optional(v.string()),
    /** Rows at most, the first of them; default all. */
    limit: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,4}$/, "must be 1 to 1000"),
        v.transform(Number),
        v.minValue(1, "must be 1 to 1000"),
        v.maxValue(1000, "must be 1 to 1000"),
      ),
    ),
  }),
  agent: {
    description:
      "Tokens and estimated cost of archived coding-assistant sessions, grouped by day, model, project and so on.",
  },
  handler: async ({ kernel, query }): Promise<UsageReport | BlockReport | Response> => {
    const insights = kernel.inject("insights");
    const { db } = kernel.storage;
    const zone = toZone(query.tz);
    const range = toRange(query.from, query.to);
    const { by, tool, kind, session, limit } = query;
    const archive = kernel.inject("archive");
    if (tool !== undefined) await archive.checkTool(tool);
    const projects = query.project === undefined ? undefined : await archive.projectIds(query.project);
    const scope = { zone, range, choice: { tool, kind, projects, session } };
    if (by === "block") {
      const minutes = findMinutes(query.length ?? PLAN_WINDOW) ?? 0;
      const question = ["blocks", minutes, insights.readings];
      const all = await insights.answer(question, scope, (asked) => blocks(db, asked, minutes));
      return blocksAt(limit === undefined ? all : { ...all, rows: all.rows.slice(0, limit) }, Date.now());
    }
    const compute = async (asked: Asked, rows?: number) => {
      if (by === "worktree") return report(db, by, asked, await readWorktrees(db), rows);
      const names = by === "project" || by === "branch" ? await archive.projects() : [];
      return report(db, by, asked, new Map(names.map(({ id, name }) => [id, name])), rows);
    };
    if (by !== "session") {
      const all = await insights.answer(["usage", by], scope, (asked) => compute(asked));
      return limit === undefined ? all : { ...all, rows: all.rows.slice(0, limit) };
    }
    // Rows of all sessions may hold more than everything else that is cached.
    const rows = await (limit === undefined
      ? insights.asked(scope).then((asked) => compute(asked))
      : insights.answer(["usage", by, limit], scope, (asked) => compute(asked, limit)));
    return streamJson(writeReport(rows));
  },
});

export const usageRoutes = [usage] as const;

/** The window in which plans of assistants count. */
const PLAN_WINDOW = "5h";
const UNITS = { m: 1, h: 60, d: 1440 };
const MOST_MINUTES = 31 * UNITS.d;

/** Minutes of `5h`, `90m` or `7d`; undefined for other texts, and where they are no whole quarter-hours or more than 31 days. */
export function findMinutes(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  const minutes = Number(count) * UNITS[unit as keyof typeof UNITS];
  return minutes > 0 && minutes % 15 === 0 && minutes <= MOST_MINUTES ? minutes : undefined;
}
