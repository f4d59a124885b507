import { mustYield, yieldNow } from "sessarc";

/** Values by a key, in the order in which keys first come. Requests come in between. */
export async function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Promise<Map<K, V[]>> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const list = groups.get(key);
    if (list) list.push(value);
    else groups.set(key, [value]);
    if (mustYield()) await yieldNow();
  }
  return groups;
}
