/** Transcripts that were found missing or damaged, and their repair from the logs. */
import type { Kernel } from "sessarc";
import type { Importer } from "./importer.ts";

export class Damage {
  readonly #kernel: Kernel;
  readonly #importer: () => Importer;
  readonly #ids = new Set<string>();
  #repairing: Promise<unknown> = Promise.resolve();

  constructor(kernel: Kernel, importer: () => Importer) {
    this.#kernel = kernel;
    this.#importer = importer;
  }

  /** Sessions that are known to be damaged and are not repaired. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** A transcript could not be read. Its log is read again, once, if it is still there. */
  found(id: string): void {
    if (this.#ids.has(id) || this.#kernel.closing.aborted) return;
    this.#ids.add(id);
    const repaired = this.#repair(id).catch((error: unknown) =>
      this.#kernel.notify("listener:failed", error, { hook: `repair ${id}` }),
    );
    this.#repairing = Promise.all([this.#repairing, repaired]);
  }

  /** Resolves when every repair so far has succeeded or failed. */
  async settled(): Promise<void> {
    await this.#repairing;
  }

  /** Sessions were stored again. */
  repaired(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id);
  }

  #repair(id: string): Promise<unknown> {
    const { db } = this.#kernel.storage;
    return this.#importer().run(async (scan) => {
      // As if counted by an older version: the next import reads its log again, and nothing of it becomes an earlier text.
      await db.run("update session set format = 0 where id = ?", [id]);
      const one = scan.found.get(id);
      if (!one) return [];
      one.stored = "other";
      return [one];
    }, new Set());
  }
}
