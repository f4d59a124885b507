/** Lists of values in statements. SQLite takes 32,766 variables in one: a list that may be long goes by pages. */

/** A question mark for each value, for `in (…)` and `values (…)`. */
export const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");

/** `values` in lists of `size`, the last one shorter. By default as many as a statement answers in a millisecond or two. */
export function* pages<T>(values: readonly T[], size = 500): Generator<T[]> {
  for (let i = 0; i < values.length; i += size) yield values.slice(i, i + size);
}
