/** Sessions by what they cost: kept in memory, since prices change and no column could follow them. Only changed sessions are looked at again. */

import type { Database } from "sessarc";
import { Slices } from "#internal";
import { marks, pages } from "#internal/adapter";
import type { Changes } from "./changes.ts";
import { costsOf, type Prices, type Timed } from "./cost.ts";
import { inOrder, type PagePlace } from "./pages.ts";

/** `value`: millionths of a dollar; −1 for tokens of which nobody knows the price. */
type Entry = Readonly<PagePlace>;

/** Rows read between two looks at the clock. */
const PAGE = 200;
const COLUMNS = "rowid, id, usage, started_at, sort_at";

export class CostOrder {
  #order: readonly Entry[] = [];
  #generation = -1;
  #stamp: string | undefined;
  #running: Promise<void> | undefined;
  readonly #db: Database;
  readonly #prices: () => Prices | undefined;
  readonly #changes: Changes;

  constructor(db: Database, prices: () => Prices | undefined, changes: Changes) {
    this.#db = db;
    this.#prices = prices;
    this.#changes = changes;
  }

  /** All sessions, the dearest first. */
  async all(): Promise<readonly Entry[]> {
    const stale = () => this.#generation !== this.#changes.generation || this.#stamp !== this.#prices()?.stamp;
    // A flight under way may have begun too early; an import changes something all the time.
    for (let tries = 0; stale() && tries < 2; tries++) {
      this.#running ??= this.#refresh().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    }
    return this.#order;
  }

  async #refresh(): Promise<void> {
    const target = this.#changes.generation;
    const prices = this.#prices();
    const known = this.#generation >= 0 && this.#stamp === prices?.stamp;
    const changed = known ? this.#changes.since(this.#generation) : undefined;
    // Runs of growing length, so that no merge is long but the last few.
    const runs: Entry[][] = changed ? [this.#order.filter((one) => !changed.has(one.id))] : [];
    const slices = new Slices();
    for await (const rows of changed ? this.#some([...changed]) : this.#all()) {
      runs.push((await priced(this.#db, prices, rows)).sort(byCost));
      while (runs.length > 1 && (runs.at(-1)?.length ?? 0) * 2 > (runs.at(-2)?.length ?? 0)) mergeLast(runs);
      if (slices.due) await slices.turn();
    }
    while (runs.length > 1) {
      mergeLast(runs);
      await slices.turn();
    }
    this.#order = runs[0] ?? [];
    this.#generation = target;
    this.#stamp = prices?.stamp;
  }

  async *#all(): AsyncGenerator<Row[]> {
    for (let after = 0; ; ) {
      const sql = `select ${COLUMNS} from session where rowid > ? order by rowid limit ${PAGE}`;
      const rows = await this.#db.all<Row>(sql, [after]);
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last.rowid;
    }
  }

  async *#some(ids: readonly string[]): AsyncGenerator<Row[]> {
    for (const page of pages(ids, PAGE))
      yield await this.#db.all<Row>(`select ${COLUMNS} from session where id in (${marks(page)})`, page);
  }
}

type Row = Timed & { rowid: number };

async function priced(db: Database, prices: Prices | undefined, rows: readonly Row[]): Promise<Entry[]> {
  const costs = prices && (await costsOf(db, prices, rows));
  return rows.map(({ id }) => {
    const cost = costs?.get(id);
    const unknown = !cost || (cost.microdollars === 0 && cost.unpriced.length > 0);
    return { id, value: unknown ? -1 : cost.microdollars };
  });
}

const byCost = inOrder("cost");

function mergeLast(runs: Entry[][]): void {
  const b = runs.pop() ?? [];
  const a = runs.pop() ?? [];
  const both: Entry[] = [];
  let j = 0;
  for (const one of a) {
    for (; j < b.length && byCost(b[j] as Entry, one) < 0; j++) both.push(b[j] as Entry);
    both.push(one);
  }
  for (; j < b.length; j++) both.push(b[j] as Entry);
  runs.push(both);
}
