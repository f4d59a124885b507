/** Counts of the last totals: in memory, and on disk so that a start does not count them again. */
import { createHash } from "node:crypto";
import { BoundedMap, type Kernel } from "sessarc";
import type { Entry } from "./entry.ts";

/** Messages that match, by key of a session. A session that changed has another key. */
export type KnownCounts = Map<string, number>;

export type Derived = ReturnType<Kernel["storage"]["derived"]>;

/** Questions in memory, and files on disk. A question whose file is taken by another one replaces it. */
const QUESTIONS = 32;
/** Changes when the same question finds other messages: counts stored by another version are not used. */
const VERSION = 1;

interface Stored {
  question: string;
  counts: [key: string, messages: number][];
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
    const stored = this.#known.get(question) ?? new Map((await this.#read(question))?.counts);
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
    for (const { key } of entries) {
      const messages = known.get(key);
      if (messages !== undefined) counts.push([key, messages]);
    }
    this.#known.set(question, new Map(counts));
    await this.#derived.set(toFile(question), JSON.stringify({ question, counts } satisfies Stored));
  }

  async #read(question: string): Promise<Stored | undefined> {
    const bytes = await this.#derived?.get(toFile(question));
    const stored = bytes && (JSON.parse(bytes.toString("utf8")) as Stored);
    return stored?.question === question ? stored : undefined;
  }
}

function toFile(question: string): string {
  const hash = createHash("sha256").update(question).digest().readUInt32LE(0);
  return `counts-${VERSION}-${hash % QUESTIONS}.json`;
}
