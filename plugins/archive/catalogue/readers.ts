/** Who reads transcripts right now: what a reader began with stays until it has ended, whatever an import replaces meanwhile. */

export class Readers {
  readonly #active = new Set<object>();
  readonly #waiting = new Set<{ readers: Set<object>; remove: () => Promise<void> }>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Before rows are read whose parts will be. Returns the function that ends the read; calling it twice is harmless. */
  begin(): () => void {
    const reader = {};
    this.#active.add(reader);
    return () => {
      if (!this.#active.delete(reader)) return;
      for (const one of this.#waiting) {
        one.readers.delete(reader);
        if (one.readers.size > 0) continue;
        this.#waiting.delete(one);
        one.remove().catch(this.#onError);
      }
    };
  }

  /** Removes files without a row: at once, or when the last of the current readers has ended. */
  async retire(remove: () => Promise<void>): Promise<void> {
    if (this.#active.size === 0) await remove();
    else this.#waiting.add({ readers: new Set(this.#active), remove });
  }

  /** Removes what still waits: there will be no more readers. */
  async close(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { remove } of waiting) await remove();
  }
}
