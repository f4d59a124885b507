/**
 * Sessions that a filter lets through which no index answers: looked for in slices, so that a rare word among a hundred thousand sessions
 * holds nobody up, and kept for the next page until something changes.
 */

import type { Database } from "sessarc";
import { Slices, sortInSlices } from "#internal";
import { BoundedMap, marks, pages } from "#internal/adapter";
import type { Changes } from "./changes.ts";
import { type SessionFilter, where } from "./filter.ts";
import { type ColumnSort, inOrder, type PagePlace, SORTS } from "./pages.ts";

/** Answers kept; one of all of a hundred thousand sessions takes 15 MB. */
const KEPT = 2;
/** Rows looked at between two looks at the clock: each some 1 µs in the index, and 4 to 20 elsewhere. */
const IN_INDEX = 2_000;
const IN_ROWS = 400;
/** What the index `session_narrow` knows of a filter and an order. */
const NARROW: readonly (keyof SessionFilter)[] = [
  "project",
  "tool",
  "since",
  "until",
  "parent",
  "forkedFrom",
  "topLevel",
  "kind",
  "errors",
];
const NARROW_SORTS: readonly ColumnSort[] = ["recent", "oldest", "errors"];
/** What of a filter is read where the index of the order, or of the one project, stands. */
const QUICK: readonly (keyof SessionFilter)[] = ["parent", "forkedFrom", "topLevel", "ids"];

const asked = (filter: SessionFilter) =>
  (Object.keys(filter) as (keyof SessionFilter)[]).filter(
    (key) => key !== "sort" && key !== "limit" && filter[key] !== undefined && filter[key] !== false,
  );

export const isFiltered = (filter: SessionFilter): boolean => asked(filter).length > 0;

/** One statement reads a page of it, and little else. */
export function isQuick(filter: SessionFilter, sort: ColumnSort): boolean {
  const inTime = sort === "recent" || sort === "oldest";
  return asked(filter).every((key) => QUICK.includes(key) || (key === "project" && inTime));
}

export class Matching {
  readonly #db: Database;
  readonly #changes: Changes;
  readonly #kept = new BoundedMap<string, Answer>(KEPT);

  constructor(db: Database, changes: Changes) {
    this.#db = db;
    this.#changes = changes;
  }

  /** All of them, in order. What changes while they are looked for is there as it was or as it is. */
  async of(filter: SessionFilter, sort: ColumnSort): Promise<readonly PagePlace[]> {
    const { since, places } = this.#sinceThen(filter, sort);
    const wanted = filter.since;
    const found = await places;
    return wanted === undefined || wanted === since ? found : found.filter(({ at }) => at >= wanted);
  }

  /**
   * Those since `filter.since` or an earlier time. "The last days" begin a little later each time somebody asks: a list of before holds all that
   * are wanted now, and what is too old is told by its time.
   */
  #sinceThen(filter: SessionFilter, sort: ColumnSort): Answer {
    const { generation } = this.#changes;
    const question = JSON.stringify([sort, { ...filter, since: undefined }]);
    const kept = this.#kept.get(question);
    const known = kept && begin(kept.since) <= begin(filter.since) ? kept : undefined;
    if (known?.generation === generation) {
      this.#kept.set(question, known); // the newest last
      return known;
    }
    const changed = known && this.#changes.since(known.generation);
    const { since } = known && changed ? known : filter;
    // After a few changes the others still stand where they stood.
    const places =
      known && changed ? this.#edit(known.places, [...changed], { ...filter, since }, sort) : this.#look(filter, sort);
    const answer = { generation, since, places };
    this.#kept.set(question, answer);
    places.catch(() => {
      if (this.#kept.get(question)?.places === places) this.#kept.delete(question);
    });
    return answer;
  }

  async #look(filter: SessionFilter, sort: ColumnSort): Promise<readonly Found[]> {
    const { column } = SORTS[sort];
    const isByTime = column === "sort_at" && filter.since !== undefined && asked(filter).length === 1;
    const { sql, params } = where(isByTime ? {} : filter);
    const isNarrow = NARROW_SORTS.includes(sort) && asked(filter).every((key) => NARROW.includes(key));
    const portions = isByTime ? this.#byTime(filter.since ?? 0) : isNarrow ? this.#byId() : this.#byRow();
    const began = this.#changes.generation;
    const found = new Map<string, Found>();
    const slices = new Slices();
    for await (const { from, bounds } of portions) {
      const rows = await this.#db.all<Found>(
        `select id, ${column} as value, sort_at as at from session ${from} ${sql === "" ? "where" : `${sql} and`} ${bounds.sql}`,
        [...params, ...bounds.params],
      );
      // One that is replaced meanwhile comes again.
      for (const row of rows) found.set(row.id, row);
      if (slices.due) await slices.turn();
    }
    const places = await sortInSlices([...found.values()], inOrder(sort));
    const late = isByTime ? this.#changes.since(began) : [];
    // One that went back in time meanwhile may stand where the look had been.
    return late ? this.#edit(places, [...late], filter, sort) : this.#look(filter, sort);
  }

  /** The same, after some sessions changed. */
  async #edit(
    old: Promise<readonly Found[]> | readonly Found[],
    changed: readonly string[],
    filter: SessionFilter,
    sort: ColumnSort,
  ): Promise<readonly Found[]> {
    if (changed.length === 0) return old;
    const gone = new Set(changed);
    const places = (await old).filter(({ id }) => !gone.has(id));
    const { sql, params } = where(filter);
    const slices = new Slices();
    for (const ids of pages(changed, IN_ROWS)) {
      const rows = await this.#db.all<Found>(
        `select id, ${SORTS[sort].column} as value, sort_at as at from session ${sql === "" ? "where" : `${sql} and`} id in (${marks(ids)})`,
        [...params, ...ids],
      );
      places.push(...rows);
      if (slices.due) await slices.turn();
    }
    return sortInSlices(places, inOrder(sort));
  }

  async *#byId(): AsyncGenerator<Portion> {
    for (let after = ""; ; ) {
      const end = await this.#db.get<{ id: string }>(
        `select id from session indexed by session_narrow where id > ? order by id limit 1 offset ${IN_INDEX - 1}`,
        [after],
      );
      const bounds = end ? { sql: "id > ? and id <= ?", params: [after, end.id] } : { sql: "id > ?", params: [after] };
      yield { from: "indexed by session_narrow", bounds };
      if (!end) return;
      after = end.id;
    }
  }

  /** All since a time, the oldest first: one that goes on meanwhile comes again. */
  async *#byTime(since: number): AsyncGenerator<Portion> {
    const from = "indexed by session_sort";
    for (let start: PagePlace | undefined; ; ) {
      const [after, params] = start
        ? ["sort_at >= ? and (sort_at <> ? or id < ?)", [start.value, start.value, start.id]]
        : ["sort_at >= ?", [since]];
      const end: PagePlace | undefined = await this.#db.get<PagePlace>(
        `select id, sort_at as value from session ${from} where ${after} order by sort_at, id desc limit 1 offset ${IN_INDEX - 1}`,
        params,
      );
      const upTo = end ? " and sort_at <= ? and (sort_at <> ? or id >= ?)" : "";
      yield { from, bounds: { sql: after + upTo, params: end ? [...params, end.value, end.value, end.id] : params } };
      if (!end) return;
      start = end;
    }
  }

  async *#byRow(): AsyncGenerator<Portion> {
    const most = async () =>
      (await this.#db.get<{ most: number | null }>("select max(rowid) as most from session"))?.most ?? 0;
    for (let after = 0; after < (await most()); after += IN_ROWS)
      yield { from: "not indexed", bounds: { sql: "rowid > ? and rowid <= ?", params: [after, after + IN_ROWS] } };
  }
}

/** As of a moment: `generation` of the archive. */
interface Answer {
  generation: number;
  /** What `filter.since` was. */
  since: number | undefined;
  places: Promise<readonly Found[]>;
}

/** `at`: ms, what `since` goes by. */
interface Found extends PagePlace {
  at: number;
}

const begin = (since: number | undefined): number => since ?? Number.NEGATIVE_INFINITY;

/** Some of all sessions. */
interface Portion {
  from: string;
  bounds: { sql: string; params: (string | number)[] };
}
