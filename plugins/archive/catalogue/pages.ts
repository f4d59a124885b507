/** Pages of sessions: a cursor says behind which session to go on, so that what comes or goes meanwhile moves nothing. */

import type { SqlValue } from "sessarc";
import { invalidCursor } from "#internal";

const SORTS = {
  recent: { column: "sort_at", descending: true },
  oldest: { column: "sort_at", descending: false },
  messages: { column: "message_count", descending: true },
  active: { column: "active_ms", descending: true },
  errors: { column: "error_count", descending: true },
  size: { column: "source_bytes", descending: true },
} as const;

/** Orders that the catalogue has a column and an index for. */
export type ColumnSort = keyof typeof SORTS;
export type SessionSort = ColumnSort | "cost";
export const SESSION_SORTS = [...(Object.keys(SORTS) as ColumnSort[]), "cost"] as const;

/** The last session of a page, as its list is ordered. */
export interface PagePlace {
  value: number;
  id: string;
}

export function orderOf(sort: ColumnSort): string {
  const { column, descending } = SORTS[sort];
  return `${column}${descending ? " desc" : ""}, id`;
}

/** The most expensive first, then by id. */
export const byCost = (a: PagePlace, b: PagePlace): number =>
  b.value - a.value || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Index of the first place after `place`, of places by cost. */
export function behindIn(places: readonly PagePlace[], place: PagePlace): number {
  const at = places.findIndex((one) => byCost(one, place) > 0);
  return at < 0 ? places.length : at;
}

/** Condition for what comes behind `place`. */
export function behind(sort: ColumnSort, { value, id }: PagePlace): { sql: string; params: SqlValue[] } {
  const { column, descending } = SORTS[sort];
  return {
    // The first condition is where the index is entered.
    sql: `${column} ${descending ? "<=" : ">="} ? and (${column} <> ? or id > ?)`,
    params: [value, value, id],
  };
}

type Ordered = { id: string } & Record<(typeof SORTS)[ColumnSort]["column"], number>;

export function placeOf(sort: ColumnSort, row: Ordered): PagePlace {
  return { value: row[SORTS[sort].column], id: row.id };
}

/** A cursor: `<sort>:<value>:<id>`. */
export const cursorOf = (sort: SessionSort, { value, id }: PagePlace): string => `${sort}:${value}:${id}`;

/** Throws INVALID_INPUT for an invalid cursor of this order. */
export function readCursor(sort: SessionSort, cursor: string): PagePlace {
  const [, of, value, id] = /^([a-z]+):(-?\d{1,16}(?:\.\d{1,6})?):(.+)$/s.exec(cursor) ?? [];
  if (of === sort && id !== undefined) return { value: Number(value), id };
  throw invalidCursor();
}
