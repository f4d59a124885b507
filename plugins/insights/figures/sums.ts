/** Sums of a row while they are added up, as plain numbers: there may be a million pieces of them. */
import { dot, type Prices, type Rates, toMicrodollars } from "../prices/pricing.ts";
import type { Block } from "./block.ts";
import { QUARTER_MS } from "./buckets.ts";
import { toUsage } from "./cube-session.ts";
import { nameOf } from "./names.ts";
import { FIELDS } from "./packed.ts";
import { Heads, Tally, totalOf, Work } from "./tally.ts";

/** A model at one of its prices. */
export interface Priced {
  readonly model: string;
  /** That of `keyAt`. */
  readonly key: string;
  readonly rates: Rates | undefined;
}

/** What sessions cost as wholes, in columns. */
export interface Costs {
  readonly prices: Prices;
  /** Whole ones; NaN where a price changes with time. */
  readonly microdollars: Float64Array;
  readonly tokens: Float64Array;
  /** Each of them is known. */
  readonly isSteady: boolean;
}
const made = new WeakMap<Block, Costs>();

/** At which price tokens were used. Asks for that of a model that changes with time once a quarter-hour. */
export class PriceKeys {
  readonly #prices: Prices;
  readonly #priced: Priced[] = [];
  readonly #numbers = new Map<string, number>();
  /** By number of the model: of one whose price never changes its number here, else those by quarter-hour. */
  readonly #models: (number | Map<number, number>)[] = [];

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  /** The number of a model whose price never changes; undefined: ask `at`. */
  steady(model: number): number | undefined {
    const known = this.#models[model] ?? this.#look(model);
    return typeof known === "number" ? known : undefined;
  }
  at(model: number, quarter: number): number {
    const known = this.#models[model] ?? this.#look(model);
    if (typeof known === "number") return known;
    let number = known.get(quarter);
    if (number === undefined) {
      number = this.#number(nameOf(model), this.#prices.keyAt(nameOf(model), quarter * QUARTER_MS));
      known.set(quarter, number);
    }
    return number;
  }

  priced(number: number): Priced {
    return this.#priced[number] as Priced;
  }

  /** Of each session of a block as a whole. Kept with the block until prices are others. */
  costsOf(block: Block): Costs {
    let costs = made.get(block);
    if (costs?.prices !== this.#prices) {
      costs = this.#costs(block);
      made.set(block, costs);
    }
    return costs;
  }
  #costs({ length, starts, models, tokens }: Block): Costs {
    const microdollars = new Float64Array(length);
    const totals = new Float64Array(length);
    let isSteady = true;
    for (let i = 0; i < length; i++) {
      let cost = 0;
      for (let row = starts[i] as number; row < (starts[i + 1] as number); row++) {
        const number = this.steady(models[row] as number);
        const own = priceOf(tokens, number === undefined ? undefined : this.priced(number).rates, row * FIELDS.length);
        cost += number === undefined ? Number.NaN : own.cost;
        totals[i] = (totals[i] as number) + own.total;
      }
      microdollars[i] = toMicrodollars(cost);
      isSteady &&= !Number.isNaN(cost);
    }
    return { prices: this.#prices, microdollars, tokens: totals, isSteady };
  }
  costOfSum({ tokens }: Sum): { cost: number; tokens: number } {
    let [cost, total] = [0, 0];
    tokens.forEach((sums, number) => {
      const own = priceOf(sums, this.priced(number).rates);
      cost += own.cost;
      total += own.total;
    });
    return { cost, tokens: total };
  }

  /** The row of what was added up. */
  tally({ messages, activeMs, errors, sessions, tokens }: Sum): Tally {
    const tally = new Tally(this.#prices);
    tally.addWork(messages, activeMs, errors);
    tally.addSessions(sessions);
    tokens.forEach((sums, number) => {
      const { model, key } = this.priced(number);
      tally.addPriced(model, key, toUsage(sums));
    });
    return tally;
  }

  #look(model: number): number | Map<number, number> {
    const name = nameOf(model);
    const known = this.#prices.keyAt(name, 0) === name ? this.#number(name, name) : new Map<number, number>();
    this.#models[model] = known;
    return known;
  }
  #number(model: string, key: string): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#priced.push({ model, key, rates: this.#prices.rates(key) }) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/** Of one model's tokens, in the order of `FIELDS` from `at` on: how many, and millionths of a dollar, not rounded (without a price 0). */
export function priceOf(tokens: ArrayLike<number>, rates: Rates | undefined, at = 0): { cost: number; total: number } {
  const usage = toUsage(tokens, at);
  return { cost: rates ? dot(usage, rates) : 0, total: totalOf(usage) };
}

export class Sum extends Work {
  /** By number of `PriceKeys`, in the order of `FIELDS`. */
  readonly tokens: Float64Array[] = [];
  readonly #heads = new Heads();
  /** The session that was counted last. */
  #last = -1;

  get sessions(): number {
    return this.#heads.size;
  }
  /** Once a session or often: `turn` is its number. `root`: the session it counts with; undefined where nobody else does. */
  count(turn: number, root: string | undefined): void {
    if (turn === this.#last) return;
    this.#last = turn;
    this.#heads.count(root);
  }
  /** Sessions that were counted elsewhere, and not here. */
  countAll(others: Heads): void {
    this.#heads.add(others);
  }
  /** Where tokens of this number are added. */
  of(number: number): Float64Array {
    let sums = this.tokens[number];
    if (!sums) {
      sums = new Float64Array(FIELDS.length);
      this.tokens[number] = sums;
    }
    return sums;
  }
  add(number: number, tokens: Float64Array): void {
    const own = this.of(number);
    for (let field = 0; field < own.length; field++) own[field] = (own[field] as number) + (tokens[field] as number);
  }
  addTokens({ tokens }: Sum): void {
    tokens.forEach((sums, number) => {
      this.add(number, sums);
    });
  }
}
