/** Reports of some days as Markdown, HTML and JSON. */

import { definePlugin, defineRoute, type RoutesOf, SessarcError } from "sessarc";
import type { Command } from "sessarc/terminal";
import * as v from "valibot";
import { makeReport, type Report } from "./report.ts";

export type { Report, ReportDestroyed, ReportProject, ReportTotals, ReportWindow } from "./report.ts";
export type { ReportUnfinished, ReportWasted } from "./wasted.ts";

const day = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => isDay(text), "must be a day such as 2026-11-20"),
  ),
);

export const routes = [
  defineRoute({
    method: "GET",
    path: "/report",
    summary: "What was worked on in some days: projects, cost, windows, failing tools, waste, and what is in git",
    query: v.object({
      /** Local days, both included; default the last seven. */
      from: day,
      to: day,
      /** Zone whose days count; default this machine's. */
      tz: v.optional(v.string()),
      format: v.optional(v.picklist(["json", "md", "html"]), "json"),
      /** `1`: names the sessions and the commands, which may quote prompts. */
      prompts: v.optional(v.picklist(["0", "1"]), "0"),
      /** `0`: does not ask git, and lists no destroyed files. */
      git: v.optional(v.picklist(["0", "1"]), "1"),
    }),
    handler: async ({ kernel, query }): Promise<Report | Response> => {
      const to = query.to ?? toDay(new Date());
      const from = query.from ?? daysBefore(to, 6);
      if (from > to)
        throw new SessarcError(
          "INVALID_INPUT",
          { reason: `The range ends before it begins: ${from} to ${to}` },
          { issues: [{ path: "to", message: "must not be before from" }] },
        );
      const report = await makeReport(kernel, {
        from,
        to,
        tz: query.tz,
        prompts: query.prompts === "1",
        git: query.git === "1",
      });
      if (query.format === "json") return report;
      const { toHtml, toMarkdown } = await import("./document.ts");
      const isPage = query.format === "html";
      return new Response(isPage ? toHtml(report) : toMarkdown(report), {
        headers: {
          "content-type": isPage ? "text/html; charset=utf-8" : "text/markdown; charset=utf-8",
          "content-disposition": `attachment; filename="sessarc-report-${from}-${to}.${query.format}"`,
          "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
        },
      });
    },
  }),
] as const;

const command: Command = {
  name: "report",
  summary: "What was worked on, what it cost, what failed, what is in git",
  group: "cost",
  example: "--last-week",
  usage:
    "[--today|--week|--last-week|--month|--since d [--until d]] [-f text|md|html] [--prompts] [-o file]\n--compare [--today|--week|--last-week|--month|--since d [--until d]]",
  options: {
    today: { type: "boolean" },
    week: { type: "boolean" },
    "last-week": { type: "boolean" },
    month: { type: "boolean" },
    since: { type: "string" },
    until: { type: "string" },
    format: { type: "string", short: "f" },
    compare: { type: "boolean" },
    prompts: { type: "boolean" },
    output: { type: "string", short: "o" },
  },
  help: {
    today: "Today",
    week: "This week from Monday (default: the last seven days)",
    "last-week": "The week before this one, Monday to Sunday",
    month: "This month",
    since: "First day: 2026-11-01, or 7d for seven days ago",
    until: "Last day, included (default: today)",
    format: "text (default on a terminal), md (default elsewhere) or html",
    compare: "One sentence alone: these days and as many right before",
    prompts: "Name sessions and commands in md and html, too: they may quote prompts",
    output: "Write into this file instead of stdout; an existing file is not replaced",
  },
  operands: [],
  values: { format: ["text", "md", "html"], output: "file" },
  current: () => true,
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "report",
  dependsOn: ["archive", "insights", "health", "causality"],
  routes,
  commands: [command],
});

function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
}

const two = (n: number) => String(n).padStart(2, "0");
const toDay = (at: Date) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
function daysBefore(day: string, days: number): string {
  const at = new Date(`${day}T12:00`);
  at.setDate(at.getDate() - days);
  return toDay(at);
}

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
