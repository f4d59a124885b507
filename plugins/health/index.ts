/** Health: what in sessions cost time or tokens for nothing. */

import { defineIndexer, definePlugin, defineRoute, type RoutesOf } from "sessarc";
import type { Command } from "sessarc/terminal";
import * as v from "valibot";
import { createHealth, type Finding, type Health, type Waste } from "./health.ts";
import { migrations } from "./schema.ts";

export type { Ending, Finding, Health, HealthFilter, SessionWaste, Waste } from "./health.ts";
export type { FindingKind } from "./state.ts";

const LIMIT = 5;
const time = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => !Number.isNaN(Date.parse(text)), "must be a time in ISO 8601"),
    v.transform((text) => Date.parse(text)),
  ),
);

export const routes = [
  defineRoute({
    method: "GET",
    path: "/health",
    meta: { team: true },
    summary: "What wastes time and tokens over all sessions, the largest of each kind first",
    query: v.object({
      /** Sessions that ended at or after this time, and began before that one. */
      after: time,
      before: time,
      /** Id. */
      project: v.optional(v.string()),
      /** Of each kind; default 5. */
      limit: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^\d{1,2}$/, "must be 1 to 99"),
          v.transform(Number),
          v.minValue(1, "must be 1 to 99"),
        ),
      ),
    }),
    handler: ({ kernel, query: { after, before, project, limit } }): Promise<Waste[]> =>
      kernel.inject("health").all({ since: after, until: before, project }, limit ?? LIMIT),
  }),
  defineRoute({
    method: "GET",
    path: "/sessions/:id/health",
    meta: { team: true },
    summary: "Loops, retries, repeated reads, undone edits, waits and compactions of a session, each with its messages",
    handler: ({ kernel, params }): Promise<Finding[]> => kernel.inject("health").session(params.id),
  }),
] as const;

const command: Command = {
  name: "health",
  summary: "What wastes time and tokens: loops, retries, repeated reads",
  group: "cost",
  example: "--since 7d",
  usage: "[--since d] [--limit n]\n<session|last>",
  options: { since: { type: "string" }, limit: { type: "string", short: "n" } },
  help: {
    since: "Only sessions active on or after this day: 2026-11-01, or 7d for seven days ago",
    limit: "Findings of each kind, 1 to 99 (default 5)",
  },
  current: () => true,
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "health",
  dependsOn: ["archive"],
  routes,
  migrations,
  indexers: [
    defineIndexer({
      name: "findings",
      version: 3,
      module: "sessarc/plugins/health/indexer",
      tables: ["health_finding", "health_file", "health_tool"],
    }),
  ],
  commands: [command],
  setup(kernel) {
    kernel.provide("health", createHealth(kernel));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    health: Health;
  }
}
