/** GET /usage: tokens and cost by time, session, model, project, tool or kind of session. */
import { defineRoute, type Kernel, SessarcError } from "sessarc";
import * as v from "valibot";
import { zoneOf } from "../figures/buckets.ts";
import { KINDS } from "../figures/cube-session.ts";
import { day, toRange } from "../figures/range.ts";
import { GROUPS, isByDays, report, reportOfAll, type UsageReport } from "../figures/report.ts";

/** Rows of an answer that is kept. */
const KEPT_ROWS = 5_000;

const usage = defineRoute({
  method: "GET",
  path: "/usage",
  summary: "Tokens and estimated cost by day, week, month, session, model, project, tool or kind of session",
  query: v.object({
    by: v.optional(v.picklist(GROUPS), "day"),
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
  }),
  agent: {
    description:
      "Tokens and estimated cost of archived coding-assistant sessions, grouped by day, model, project and so on.",
  },
  handler: async ({ kernel, query }): Promise<UsageReport> => {
    const { cube, answers, pricing } = kernel.inject("insights");
    const zone = zoneOf(query.tz);
    const range = toRange(query.from, query.to);
    if (query.tool !== undefined) await kernel.inject("archive").checkTool(query.tool);
    const figures = await cube.figures();
    const { generation, sessions: all } = figures;
    const { by } = query;
    const compute = async () => {
      const chosenFrom = [query.tool, query.kind, query.project, query.session];
      if (isByDays(by) && chosenFrom.every((one) => one === undefined))
        return reportOfAll(by, figures, zone, range, pricing);
      const projects = by === "project" ? await kernel.inject("archive").store.projects() : [];
      const chosen = query.project === undefined ? undefined : await projectIds(kernel, query.project);
      const { tool, kind, session: id } = query;
      const sessions = all.filter(
        (session) =>
          (tool === undefined || session.tool === tool) &&
          (kind === undefined || session.kind === kind) &&
          (id === undefined || session.id === id || session.root === id) &&
          (!chosen || chosen.has(session.project)),
      );
      const names = new Map(projects.map((project) => [project.id, project.name]));
      return report(by, sessions, zone, range, names, pricing);
    };
    // A row for each of very many sessions: kept, a few such answers would hold more than everything else.
    if (by === "session" && all.length > KEPT_ROWS) return compute();
    return answers.get(JSON.stringify(["usage", query, zone.name]), generation, compute);
  },
});

export const usageRoutes = [usage] as const;

/** Throws PROJECT_NOT_FOUND when nothing is named so. */
async function projectIds(kernel: Kernel, wanted: string): Promise<Set<string>> {
  const ids = await kernel.inject("archive").store.projectIds(wanted);
  if (ids.length === 0) throw new SessarcError("PROJECT_NOT_FOUND", { id: wanted });
  return new Set(ids);
}
