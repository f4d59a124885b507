/** Sums of a row while they are added up, as plain numbers: there may be a million pieces of them. */
import { dot, type Prices, type Rates } from "../prices/pricing.ts";
import type { Block } from "./blocks.ts";
import { QUARTER_MS } from "./buckets.ts";
import { toUsage } from "./cube-session.ts";
import { nameOf } from "./names.ts";
import { FIELDS } from "./packed.ts";
import { Tally, totalOf, Work } from "./tally.ts";

/** A model at one of its prices. */
export interface Priced {
  readonly model: string;
  /** That of `keyAt`. */
  readonly key: string;
  readonly rates: Rates | undefined;
}

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

  /** Of a session as a whole, not rounded; undefined where a price changes with time. */
  costOfSession({ from, models, tokens }: Block, i: number): { cost: number; tokens: number } | undefined {
    let [cost, total] = [0, 0];
    const end = from[i + 1] as number;
    for (let row = from[i] as number; row < end; row++) {
      const number = this.steady(models[row] as number);
      if (number === undefined) return undefined;
      const own = priceOf(tokens, this.priced(number).rates, row * FIELDS.length);
      cost += own.cost;
      total += own.total;
    }
    return { cost, tokens: total };
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
  #alone = 0;
  #roots: Set<string> | undefined;
  /** The session that was counted last. */
  #last = -1;

  /** Sessions; those of one root are one. */
  get sessions(): number {
    return this.#alone + (this.#roots?.size ?? 0);
  }
  /** Once a session or often: `turn` is its number. `root`: the session it counts with; undefined where nobody else does. */
  count(turn: number, root: string | undefined): void {
    if (turn === this.#last) return;
    this.#last = turn;
    if (root === undefined) this.#alone++;
    else {
      this.#roots ??= new Set();
      this.#roots.add(root);
    }
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
