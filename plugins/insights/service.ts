import type { Kernel, Services } from "sessarc";
import { BoundedMap } from "#internal/adapter";
import { type Answers, createAnswers } from "./answers.ts";
import { type TroubledCall, troubledCalls } from "./figures/calls.ts";
import { writeReadings } from "./figures/limits.ts";
import { type Asked, type Known, readKnown } from "./figures/questions.ts";
import type { Scope } from "./figures/sql.ts";
import type { StatelessQuery, StatelessReport } from "./figures/stateless.ts";
import type { Reading } from "./figures/windows.ts";
import { fillFigures } from "./figures/write.ts";
import type { Pricing } from "./prices/pricing.ts";

type Row = Awaited<ReturnType<Services["archive"]["row"]>>;

/** Lists of calls kept, one a session; they change only with its text. */
const KEEP = 400;

export interface Insights {
  readonly answers: Answers;
  readonly pricing: Pricing;
  /** The answer to `question` about the archive as it is, made once until something changes. `compute` gets what questions need. */
  answer<T>(question: unknown, scope: Scope, compute: (asked: Asked) => Promise<T>): Promise<T>;
  /** What questions need. */
  asked(scope: Scope): Promise<Asked>;
  /** Reads now what the first question would wait for. */
  warm(): Promise<void>;
  /** Calls of a session that failed, or took `slow` ms and more; the latest first. */
  troubled(row: Row, slow: number | undefined): Promise<readonly TroubledCall[]>;
  /** How often readings of limits were stored in this process: another number may be another answer. */
  readonly readings: number;
  /** Stores what providers reported about their limits. */
  storeReadings(readings: readonly Reading[]): Promise<void>;
  /** The report of GET /usage straight from the logs. */
  stateless(query: StatelessQuery): Promise<StatelessReport>;
}

export function createInsights(kernel: Kernel, pricing: Pricing): Insights {
  const archive = kernel.inject("archive");
  const { db, readOnly } = kernel.storage;
  const kept = new BoundedMap<string, Promise<TroubledCall[]>>(KEEP);
  const answers = createAnswers();
  const known = (generation: number): Promise<Known> =>
    answers.get("known", generation, async () => {
      if (!readOnly) await fillFigures(db);
      return readKnown(db);
    });
  const asked = async (scope: Scope, generation: number): Promise<Asked> => ({
    scope,
    prices: pricing.now,
    known: await known(generation),
  });
  let readings = 0;
  return {
    get readings() {
      return readings;
    },
    async storeReadings(list) {
      if (readOnly || list.length === 0) return;
      await db.batch(writeReadings(list));
      readings++;
    },
    pricing,
    answers,
    warm: async () => void (await known(archive.generation)),
    answer(question, scope, compute) {
      const { generation } = archive;
      const key = JSON.stringify([question, scope.zone.name, scope.range, scope.choice]);
      return answers.get(key, generation, async () => compute(await asked(scope, generation)));
    },
    asked: (scope) => asked(scope, archive.generation),
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
    stateless: async (query) => (await import("./figures/stateless.ts")).readStateless(kernel, query),
  };
}
