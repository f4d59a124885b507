/**
 * A map that keeps its `limit` newest entries: setting a key makes it the newest, and what was set longest ago goes when there is no room.
 * For caches that keep what was asked for last, set the entry again when it is read.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly limit: number;

  constructor(limit: number, entries: Iterable<readonly [K, V]> = []) {
    super();
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`A map holds 1 entry or more, not ${limit}`);
    this.limit = limit;
    for (const [key, value] of entries) this.set(key, value);
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.limit) {
      const [oldest] = this.keys();
      this.delete(oldest as K);
    }
    return this;
  }
}
