/** Pages of sessions: a cursor says behind which session to go on, so that what comes or goes meanwhile moves nothing. */

import { invalidCursor, type SqlValue } from "sessarc";

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
  /** Its log has no time at all. */
  undated?: boolean;
}

/**
 * A list by time in two parts: sessions without any time come last, in either direction. The time of their file says when it was
 * written or copied, not when they were active.
 */
const BY_TIME = [
  { undated: false, sql: "coalesce(ended_at, started_at) is not null" },
  { undated: true, sql: "ended_at is null and started_at is null" },
] as const;
const isByTime = (sort: SessionSort) => sort === "recent" || sort === "oldest";

/** Conditions of the parts of a list, in order, from the one that holds `place` on; one without a condition where the list is not by time. */
export const partsFrom = (sort: ColumnSort, place: PagePlace | undefined): (string | undefined)[] =>
  isByTime(sort) ? BY_TIME.slice(place?.undated ? 1 : 0).map(({ sql }) => sql) : [undefined];

export function toOrder(sort: ColumnSort): string {
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

type Ordered = { id: string; started_at: string | null; ended_at: string | null } & Record<
  (typeof SORTS)[ColumnSort]["column"],
  number
>;

export function toPlace(sort: ColumnSort, row: Ordered): PagePlace {
  const undated = isByTime(sort) && row.started_at === null && row.ended_at === null;
  return { value: row[SORTS[sort].column], id: row.id, undated };
}

/** A cursor: `<sort>:<value>:<id>`, and `<sort>:u<value>:<id>` for a session without any time. */
export const toCursor = (sort: SessionSort, { value, id, undated }: PagePlace): string =>
  `${sort}:${undated ? "u" : ""}${value}:${id}`;

/** Throws INVALID_INPUT for an invalid cursor of this order. */
export function readCursor(sort: SessionSort, cursor: string): PagePlace {
  const [, of, mark, value, id] = /^([a-z]+):(u?)(-?\d{1,16}(?:\.\d{1,6})?):(.+)$/s.exec(cursor) ?? [];
  const undated = mark === "u";
  if (of === sort && id !== undefined && (!undated || isByTime(sort))) return { value: Number(value), id, undated };
  throw invalidCursor();
}
