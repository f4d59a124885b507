/** Counts of the last totals: in memory, and on disk so that a start does not count them again. */
import { createHash } from "node:crypto";
import { BoundedMap, type Kernel } from "sessarc";
import type { Counted } from "./count-job.ts";
import type { Entry } from "./entry.ts";

/** What was counted in a session. */
export type Known = Pick<Counted, "messages" | "best" | "kinds">;
/** By key of a session: one that changed has another key. */
export type KnownCounts = Map<string, Known>;

export type Derived = ReturnType<Kernel["storage"]["derived"]>;

/** Questions in memory, and files on disk. A question whose file is taken by another one replaces it. */
const QUESTIONS = 32;
/** Changes when the same question finds other messages, or weighs them differently: counts stored by another version are not used. */
const VERSION = 2;

interface Stored {
  question: string;
  counts: [key: string, best: number, ...kinds: number[]][];
}

export class CountCache {
  readonly #derived: Derived | undefined;
  readonly #known = new BoundedMap<string, KnownCounts>(QUESTIONS);

  /** `derived`: undefined: nothing is stored. */
  constructor(derived: Derived | undefined) {
    this.#derived = derived;
  }

  /** The counts of a question, to add to. */
  async of(question: string): Promise<KnownCounts> {
    const stored = this.#known.get(question) ?? new Map((await this.#read(question))?.counts.map(toKnown));
    // Another total of the same question may have read them meanwhile.
    const known = this.#known.get(question) ?? stored;
    this.#known.set(question, known);
    return known;
  }

  /** Stores a question's counts, without those of sessions that are not in the list any more. */
  async store(question: string, entries: readonly Entry[]): Promise<void> {
    const known = this.#known.get(question);
    if (!known || !this.#derived) return;
    const counts: Stored["counts"] = [];
    const kept: KnownCounts = new Map();
    for (const { key } of entries) {
      const one = known.get(key);
      if (!one) continue;
      // Most of what is counted has nothing: nothing is written for it but its key.
      counts.push(one.messages === 0 ? [key, 0] : [key, one.best, ...one.kinds]);
      kept.set(key, one);
    }
    this.#known.set(question, kept);
    await this.#derived.set(toFile(question), JSON.stringify({ question, counts } satisfies Stored));
  }

  async #read(question: string): Promise<Stored | undefined> {
    const bytes = await this.#derived?.get(toFile(question));
    const stored = bytes && (JSON.parse(bytes.toString("utf8")) as Stored);
    return stored?.question === question ? stored : undefined;
  }
}

function toKnown([key, best, ...kinds]: Stored["counts"][number]): [string, Known] {
  return [key, { messages: kinds.reduce((sum, n) => sum + n, 0), best, kinds }];
}

function toFile(question: string): string {
  const hash = createHash("sha256").update(question).digest().readUInt32LE(0);
  return `counts-${VERSION}-${hash % QUESTIONS}.json`;
}
