/** GET /usage: tokens and cost by time, session, model, project, tool or kind of session. */

import { defineRoute, type Kernel, SessarcError } from "sessarc";
import * as v from "valibot";
import { streamJson } from "#internal";
import { Blocks } from "../figures/blocks.ts";
import { zoneOf } from "../figures/buckets.ts";
import { KINDS } from "../figures/cube-session.ts";
import { day, toRange } from "../figures/range.ts";
import { type Choice, firstRows, GROUPS, isByTime, report, reportOfDays, type UsageReport } from "../figures/report.ts";
import { sessionRows, writeRows } from "../figures/session-rows.ts";

/** Sessions of an answer by session that is kept. */
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
  handler: async ({ kernel, query }): Promise<UsageReport | Response> => {
    const { cube, answers, pricing } = kernel.inject("insights");
    const zone = zoneOf(query.tz);
    const range = toRange(query.from, query.to);
    const { limit, ...asked } = query;
    const { by, tool, kind, session: id } = asked;
    const archive = kernel.inject("archive");
    if (tool !== undefined) await archive.checkTool(tool);
    // First: an answer is kept for these figures, and names that change meanwhile come with newer ones.
    const figures = await cube.figures();
    const chosen = query.project === undefined ? undefined : await projectIds(kernel, query.project);
    const projects = by === "project" ? await archive.projects() : [];
    const { generation, blocks } = figures;
    const isOfGroups = chosen === undefined && id === undefined;
    const choice = (): Choice => ({
      blocks:
        id === undefined
          ? blocks
          : Blocks.of(blocks.sessions.filter((session) => session.id === id || session.root === id)),
      accept: (origin) =>
        (tool === undefined || origin.tool === tool) &&
        (kind === undefined || origin.kind === kind) &&
        (!chosen || chosen.has(origin.project)),
    });
    const question = ["usage", asked, zone.name];
    if (by === "session") {
      const compute = () => sessionRows(choice(), zone, range, pricing.now, limit);
      // A place for each of very many sessions: kept, a few such answers would hold more than everything else.
      const rows = await ((limit ?? blocks.size) > KEPT_ROWS
        ? compute()
        : answers.get(JSON.stringify([...question, limit]), generation, compute));
      return streamJson(writeRows(rows));
    }
    const all = await answers.get(JSON.stringify(question), generation, async () => {
      if (isByTime(by) && isOfGroups) return reportOfDays(by, figures, zone, range, pricing.now, { tool, kind });
      const names = new Map(projects.map((project) => [project.id, project.name]));
      return report(by, choice(), zone, range, names, pricing.now);
    });
    return firstRows(all, limit);
  },
});

export const usageRoutes = [usage] as const;

/** Throws PROJECT_NOT_FOUND when nothing is named so. */
async function projectIds(kernel: Kernel, wanted: string): Promise<Set<string>> {
  const ids = await kernel.inject("archive").projectIds(wanted);
  if (ids.length === 0) throw new SessarcError("PROJECT_NOT_FOUND", { id: wanted });
  return new Set(ids);
}
