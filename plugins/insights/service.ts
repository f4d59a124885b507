/** Service "insights": what the routes of this plugin share. */
import type { Kernel } from "sessarc";
import { type Answers, createAnswers } from "./answers.ts";
import { type Cube, createCube } from "./figures/cube.ts";
import type { StatelessQuery, StatelessReport } from "./figures/stateless.ts";
import type { Pricing } from "./prices/pricing.ts";

export interface Insights {
  readonly cube: Cube;
  readonly answers: Answers;
  readonly pricing: Pricing;
  /** The report of GET /usage straight from the logs. */
  stateless(query: StatelessQuery): Promise<StatelessReport>;
}

export function createInsights(kernel: Kernel, pricing: Pricing): Insights {
  const archive = kernel.inject("archive");
  const { db } = kernel.storage;
  return {
    pricing,
    answers: createAnswers(),
    cube: createCube(archive, { all: (sql, params) => db.all(sql, params) }),
    stateless: async (query) => (await import("./figures/stateless.ts")).readStateless(kernel, query),
  };
}
