/** A list that keeps its newest `capacity` items. */
interface Ring<T> {
  readonly capacity: number;
  readonly size: number;
  push(item: T): void;
  /** Newest first, at most `limit`. */
  newest(limit?: number): T[];
  clear(): void;
}

export function createRing<T>(capacity: number): Ring<T> {
  if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError(`A ring holds 1 item or more, not ${capacity}`);
  let items: T[] = [];
  let next = 0;
  return {
    capacity,
    get size() {
      return items.length;
    },
    push(item) {
      items[next] = item;
      next = (next + 1) % capacity;
    },
    newest(limit = capacity) {
      const inOrder = items.length < capacity ? items : [...items.slice(next), ...items.slice(0, next)];
      return [...inOrder].reverse().slice(0, Math.max(0, limit));
    },
    clear() {
      items = [];
      next = 0;
    },
  };
}
