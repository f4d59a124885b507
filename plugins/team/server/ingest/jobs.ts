/** The jobs of this node: one at a time under the tenant's lock, large sessions beside them. */
import type { TeamWriter } from "../../types.ts";
import type { Weight } from "./limits.ts";
import { createQueue } from "./queue.ts";
import { type Push, toId } from "./sessions.ts";

export interface PushOutcome {
  /** Id on the server. */
  id: string;
  digest: string;
  outcome: "imported" | "unchanged";
}

/** A push that waits to be imported. */
export interface WaitingPush {
  push: Push;
  weight: Weight;
  done(outcome: PushOutcome): void;
  fail(error: unknown): void;
  /** Aborted when the machine that pushes is gone. */
  signal?: AbortSignal | undefined;
}

export interface Job {
  /** Empty: the server's own. */
  person: string;
  /** `pushes`: of a push, this one and those that are imported together with it. */
  run(writer: TeamWriter, pushes: readonly WaitingPush[]): Promise<void>;
  /** A push that may be imported together with others. */
  push?: WaitingPush;
  /** Runs beside the others instead, and takes the lock itself. `bytes`: of its messages, which are in memory compressed until they are stored. */
  beside?: { bytes: number; run(): Promise<void> } | undefined;
  fail(error: unknown): void;
}

export type Jobs = ReturnType<typeof createJobs>;

/** Pushes imported under one lock, and what they weigh: the others wait for a second. */
const TOGETHER = 24;
const WEIGHT_TOGETHER = 8 * 2 ** 20;
/** Large sessions that are read at once, of different people, and their bytes, unless one alone has more. */
const LARGE_AT_ONCE = 2;
const LARGE_BYTES = 256 * 2 ** 20;

/** `locked`: runs work under the tenant's lock. */
export function createJobs(locked: <T>(work: (writer: TeamWriter) => Promise<T>) => Promise<T>) {
  const queue = createQueue<Job>();
  let working: Promise<void> | undefined;
  const beside = new Set<Promise<void>>();
  let besideBytes = 0;

  const canStart = ({ beside: large }: Job) =>
    !large || beside.size === 0 || (beside.size < LARGE_AT_ONCE && besideBytes + large.bytes <= LARGE_BYTES);

  async function work(): Promise<void> {
    for (;;) {
      const first = queue.take(canStart);
      if (!first) return;
      if (first.beside) {
        goBeside(first, first.beside);
        continue;
      }
      const taken = [first];
      const pushes = first.push ? [first.push] : [];
      // The same session twice is two imports.
      const ids = new Set(pushes.map(({ push }) => toId(push)));
      let weight = first.push?.weight.sum ?? 0;
      const fits = ({ push, beside }: Job) =>
        push !== undefined && !beside && !ids.has(toId(push.push)) && weight + push.weight.sum <= WEIGHT_TOGETHER;
      while (first.push && taken.length < TOGETHER) {
        const next = queue.take(fits);
        if (!next?.push) break;
        ids.add(toId(next.push.push));
        weight += next.push.weight.sum;
        pushes.push(next.push);
        taken.push(next);
      }
      try {
        await locked((writer) => first.run(writer, pushes));
      } catch (error) {
        for (const job of taken) job.fail(error);
      }
    }
  }

  function wake(): void {
    working ??= work().finally(() => {
      working = undefined;
      // What was added since the queue was found empty.
      if (queue.size > 0 && beside.size === 0) wake();
    });
  }

  /** The person's next jobs wait for it, the others' do not. */
  function goBeside(job: Job, { bytes, run }: NonNullable<Job["beside"]>): void {
    queue.hold(job.person);
    besideBytes += bytes;
    const running = run()
      .catch((error: unknown) => job.fail(error))
      .finally(() => {
        beside.delete(running);
        besideBytes -= bytes;
        queue.free(job.person);
        wake();
      });
    beside.add(running);
  }

  return {
    add(job: Job): void {
      queue.add(job);
      wake();
    },

    /** Takes out a job that was given up. False: it was taken already. */
    drop: (job: Job): boolean => queue.drop(job),

    get waiting(): number {
      return queue.size;
    },

    /** Resolves when no job is under way. */
    async idle(): Promise<void> {
      while (working || beside.size > 0) await Promise.all([working, ...beside]);
    },
  };
}
