/** Rows of an answer, in parts. */
import type { SqlValue } from "./types.ts";

/** Receives rows of an answer: for each row its values in the order of `columns`. */
export type TakeRows = (columns: readonly string[], rows: SqlValue[][]) => void;

/** Adds one object for each of `rows` to `objects`. */
export function addObjects(objects: object[], columns: readonly string[], rows: readonly SqlValue[][]): void {
  for (const values of rows) {
    const object: Record<string, SqlValue> = {};
    for (const [i, column] of columns.entries()) object[column] = values[i] ?? null;
    objects.push(object);
  }
}
