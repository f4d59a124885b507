/** Transcripts that were found missing or damaged, and their mending from the logs. */
import type { Kernel } from "sessarc";
import type { Importer } from "./importer.ts";

export class Damage {
  readonly #kernel: Kernel;
  readonly #importer: () => Importer;
  readonly #ids = new Set<string>();
  #mending: Promise<unknown> = Promise.resolve();

  constructor(kernel: Kernel, importer: () => Importer) {
    this.#kernel = kernel;
    this.#importer = importer;
  }

  /** Sessions that are known to be damaged and were not mended. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** A transcript could not be read. Its log is read anew, once, where it is still there. */
  found(id: string): void {
    if (this.#ids.has(id) || this.#kernel.closing.aborted) return;
    this.#ids.add(id);
    const mended = this.#mend(id).catch((error: unknown) =>
      this.#kernel.notify("listener:failed", error, { hook: `mend ${id}` }),
    );
    this.#mending = Promise.all([this.#mending, mended]);
  }

  /** Resolves when what was found so far is mended, or cannot be. */
  async settled(): Promise<void> {
    await this.#mending;
  }

  /** Sessions were stored anew. */
  mended(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id);
  }

  #mend(id: string): Promise<unknown> {
    const { db } = this.#kernel.storage;
    return this.#importer().run(async (scan) => {
      // As if counted by an older version: its log is read again whoever imports it next, and nothing of it is an earlier text.
      await db.run("update session set format = 0 where id = ?", [id]);
      const one = scan.found.get(id);
      if (!one) return [];
      one.stored = "other";
      return [one];
    }, new Set());
  }
}
