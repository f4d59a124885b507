/**
 * A map that keeps its `limit` newest entries: setting a key makes it the newest, and what was set longest ago goes when there is no room.
 * With `use` instead of `get` it keeps what was asked for last.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly limit: number;
  /** An iterator before the oldest entry. A new iterator would pass over all deleted entries, which made `set` of a full map linear. */
  #oldest: Iterator<K> | undefined;
  /** Entries set since one had to go. */
  #kept = 0;

  constructor(limit: number, entries: Iterable<readonly [K, V]> = []) {
    super();
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`A map holds 1 entry or more, not ${limit}`);
    this.limit = limit;
    for (const [key, value] of entries) this.set(key, value);
  }

  /** The value of `key`, which becomes the newest entry. */
  use(key: K): V | undefined {
    const value = this.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.limit) {
      this.#oldest ??= this.keys();
      this.delete(this.#oldest.next().value);
      this.#kept = 0;
    } else if (this.#oldest && ++this.#kept >= this.limit) {
      // One that stands still would hold all that the map was made of since.
      this.#oldest = undefined;
      this.#kept = 0;
    }
    return this;
  }
}
