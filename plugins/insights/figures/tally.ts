/** Sums of one row: sessions, messages, time and tokens. */
import { addUsage, emptyUsage, type SessionUsage, type TokenUsage } from "sessarc";
import type { Cost, Prices } from "../prices/pricing.ts";
import { QUARTER_MS } from "./buckets.ts";

/** Tokens of one model that were used at one price: that of `quarter`. */
export interface TokenSlot {
  quarter: number;
  model: string;
  tokens: TokenUsage;
}

export class Tally {
  messages = 0;
  activeMs = 0;
  errors = 0;
  readonly #roots = new Set<string>();
  readonly usage: SessionUsage = {};
  /** Of models whose price changes with time: their tokens by the price at which they were used. */
  readonly #timed = new Map<string, SessionUsage>();
  readonly #prices: Prices;

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  addWork({ messages, activeMs, errors }: { messages: number; activeMs: number; errors: number }): void {
    this.messages += messages;
    this.activeMs += activeMs;
    this.errors += errors;
  }
  /** Counts a session once, by the one that it counts with. */
  addRoot(root: string): void {
    this.#roots.add(root);
  }
  addTokens({ quarter, model, tokens }: TokenSlot): void {
    addUsage(this.usage, model, tokens);
    const key = this.#prices.keyAt(model, quarter * QUARTER_MS);
    if (key === model) return;
    const own = this.#timed.get(model) ?? {};
    this.#timed.set(model, own);
    addUsage(own, key, tokens);
  }

  /** What these models cost when they were used. */
  costOf(models: readonly string[]): Cost {
    const priced: SessionUsage = {};
    for (const model of models) Object.assign(priced, this.#timed.get(model) ?? { [model]: this.usage[model] });
    return this.#prices.cost(priced);
  }
  get cost(): Cost {
    return this.costOf(Object.keys(this.usage));
  }

  /** Sub-agents count with the session that started them. */
  get sessions(): number {
    return this.#roots.size;
  }
  /** All models in one. */
  get tokens(): TokenUsage {
    return sumOf(this.usage);
  }
}

export function sumOf(usage: SessionUsage): TokenUsage {
  const sum = emptyUsage();
  for (const tokens of Object.values(usage)) {
    sum.input += tokens.input;
    sum.output += tokens.output;
    sum.cacheWrite5m += tokens.cacheWrite5m;
    sum.cacheWrite1h += tokens.cacheWrite1h;
    sum.cacheRead += tokens.cacheRead;
  }
  return sum;
}

export const totalOf = (t: TokenUsage): number => t.input + t.output + t.cacheWrite5m + t.cacheWrite1h + t.cacheRead;

/** The value under `key`, made when it is not there. */
export function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
