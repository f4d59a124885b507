/** Sessions ordered by cost. Prices change, so no column can hold it: costs are cached per session and recomputed for changed sessions only. */

import { type Database, marks, pages } from "sessarc";
import type { Changes } from "./changes.ts";
import { type Prices, readCosts, type Timed } from "./cost.ts";
import { byCost, type PagePlace } from "./pages.ts";

/** Sessions priced in one event-loop turn: a few ms. */
const PAGE = 500;

export class CostOrder {
  /** Millionths of a dollar; −1 for tokens without a known price. */
  readonly #costs = new Map<string, number>();
  #order: readonly PagePlace[] = [];
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

  /** All sessions, the most expensive first. */
  async all(): Promise<readonly PagePlace[]> {
    const stale = () => this.#generation !== this.#changes.generation || this.#stamp !== this.#prices()?.stamp;
    // A refresh under way may have begun before the last change. An import changes sessions all the time, so two refreshes are enough.
    for (let tries = 0; stale() && tries < 2; tries++) {
      this.#running ??= this.#refresh().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    }
    return this.#order;
  }

  async #refresh(): Promise<void> {
    const { generation } = this.#changes;
    const prices = this.#prices();
    const isKnown = this.#generation >= 0 && this.#stamp === prices?.stamp;
    const changed = isKnown ? this.#changes.since(this.#generation) : undefined;
    const ids = changed
      ? [...changed]
      : (await this.#db.all<{ id: string }>("select id from session")).map((row) => row.id);
    if (!changed) this.#costs.clear();
    for (const id of ids) this.#costs.delete(id);
    for (const page of pages(ids, PAGE)) {
      const rows = await this.#db.all<Timed>(
        `select id, usage, started_at, sort_at from session where id in (${marks(page)})`,
        page,
      );
      const costs = prices && (await readCosts(this.#db, prices, rows));
      for (const { id } of rows) {
        const cost = costs?.get(id);
        const isUnknown = !cost || (cost.microdollars === 0 && cost.unpriced.length > 0);
        this.#costs.set(id, isUnknown ? -1 : cost.microdollars);
      }
    }
    this.#order = [...this.#costs].map(([id, value]) => ({ id, value })).sort(byCost);
    this.#generation = generation;
    this.#stamp = prices?.stamp;
  }
}
