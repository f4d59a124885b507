/** What changed in the archive and when, so that caches over all sessions reread only the changed ones. */

/** Sessions remembered; a cache that is further behind rereads all. */
const REMEMBERED = 2_000;

export class Changes {
  #generation = 0;
  #log: { generation: number; ids: readonly string[] }[] = [];
  #remembered = 0;
  /** Changes up to this generation are forgotten. */
  #forgotten = 0;

  /** Grows with every change: equal numbers mean equal answers. */
  get generation(): number {
    return this.#generation;
  }

  /** Sessions that were stored, changed or removed; undefined: any may have been. */
  mark(ids?: readonly string[]): void {
    this.#generation++;
    if (!ids) {
      this.#forget();
      return;
    }
    this.#log.push({ generation: this.#generation, ids });
    for (this.#remembered += ids.length; this.#remembered > REMEMBERED; ) {
      const oldest = this.#log.shift();
      if (!oldest) break;
      this.#remembered -= oldest.ids.length;
      this.#forgotten = oldest.generation;
    }
  }

  /** Ids of all sessions that changed after `generation`; undefined when that is no longer known. */
  since(generation: number): ReadonlySet<string> | undefined {
    if (generation < this.#forgotten) return undefined;
    const ids = new Set<string>();
    for (let i = this.#log.length - 1; i >= 0; i--) {
      const entry = this.#log[i];
      if (!entry || entry.generation <= generation) break;
      for (const id of entry.ids) ids.add(id);
    }
    return ids;
  }

  #forget(): void {
    this.#log = [];
    this.#remembered = 0;
    this.#forgotten = this.#generation;
  }
}
