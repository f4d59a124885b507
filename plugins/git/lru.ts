/** Keeps the values used last. */
export class Lru<V> {
  readonly #max: number;
  readonly #values = new Map<string, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  set(key: string, value: V): V {
    this.#values.delete(key);
    this.#values.set(key, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#max) break;
      this.#values.delete(oldest);
    }
    return value;
  }
}
