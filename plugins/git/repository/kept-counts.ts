/** How many commits HEADs had: after a start nothing is counted again that did not move. */
import { createQueue, type Derived, isRecord, toList } from "sessarc";

interface KeptCount {
  head: string;
  /** Stamp of the shallow marks: with other ones a HEAD has another number of commits. */
  shallow: string;
  count: number;
}

export interface CountFileOptions {
  store: Pick<Derived, "get" | "set">;
  onError(error: unknown): void;
}

const KEY = "commits.json";

/** By git folder. */
export class CountFile {
  readonly #options: CountFileOptions | undefined;
  readonly #saving = createQueue();
  #closed = false;

  /** Undefined: nothing is kept. */
  constructor(options: CountFileOptions | undefined) {
    this.#options = options;
  }

  /** None where nothing is kept, or not by this version. */
  async load(): Promise<[gitDir: string, kept: KeptCount][]> {
    const bytes = await this.#options?.store.get(KEY);
    return toList(bytes && (JSON.parse(bytes.toString()) as unknown)).flatMap((row) => {
      if (!isRecord(row)) return [];
      const { gitDir, head, shallow, count } = row;
      const isOurs = typeof gitDir === "string" && typeof shallow === "string" && isHash(head) && isCount(count);
      return isOurs ? [[gitDir, { head, shallow, count }]] : [];
    });
  }

  /** Replaces what is kept, one write after another. */
  save(kept: readonly (readonly [gitDir: string, kept: KeptCount])[]): void {
    if (!this.#options || this.#closed) return;
    const { store, onError } = this.#options;
    const rows = kept.map(([gitDir, one]) => ({ gitDir, ...one }));
    void this.#saving(() => store.set(KEY, JSON.stringify(rows)).catch(onError));
  }

  /** Resolves when what was saved is written; nothing is from then on. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#saving.idle();
  }
}

const isHash = (value: unknown): value is string =>
  typeof value === "string" && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
