import type { Kernel, Services } from "sessarc";
import { BoundedMap } from "#internal/adapter";
import { type Answers, createAnswers } from "./answers.ts";
import { type TroubledCall, troubledCalls } from "./figures/calls.ts";
import { type Cube, createCube } from "./figures/cube.ts";
import { createKept } from "./figures/kept.ts";
import type { StatelessQuery, StatelessReport } from "./figures/stateless.ts";
import type { Pricing } from "./prices/pricing.ts";

type Row = Awaited<ReturnType<Services["archive"]["row"]>>;

/** Lists of calls kept, one a session; they change only with its text. */
const KEEP = 400;

export interface Insights {
  readonly cube: Cube;
  readonly answers: Answers;
  readonly pricing: Pricing;
  /** Calls of a session that failed, or took `slow` ms and more; the latest first. */
  troubled(row: Row, slow: number | undefined): Promise<readonly TroubledCall[]>;
  /** The report of GET /usage straight from the logs. */
  stateless(query: StatelessQuery): Promise<StatelessReport>;
}

export function createInsights(kernel: Kernel, pricing: Pricing): Insights {
  const archive = kernel.inject("archive");
  const { db, readOnly } = kernel.storage;
  const kept = new BoundedMap<string, Promise<TroubledCall[]>>(KEEP);
  return {
    pricing,
    troubled(row, slow) {
      const key = `${row.id} ${row.generation} ${row.parts} ${slow}`;
      let calls = kept.get(key);
      if (!calls) {
        calls = troubledCalls(archive.chunks(row), slow);
        calls.catch(() => kept.delete(key));
      }
      kept.set(key, calls);
      return calls;
    },
    answers: createAnswers(),
    cube: createCube(
      archive,
      kernel.inject("importer"),
      db,
      createKept(db, { folder: kernel.storage.derived("figures").folder, readOnly }),
    ),
    stateless: async (query) => (await import("./figures/stateless.ts")).readStateless(kernel, query),
  };
}
