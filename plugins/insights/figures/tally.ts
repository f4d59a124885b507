/** Sums of one row: sessions, messages, time and tokens. */

import type { SessionUsage, TokenUsage } from "sessarc";
import { addUsage, emptyUsage, plainModel } from "sessarc/adapter";
import type { Cost, Prices } from "../prices/pricing.ts";
import { QUARTER_MS } from "./buckets.ts";

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

/** Tokens of one model that were used at one price: that of `quarter`. */
export interface TokenSlot {
  quarter: number;
  /** With its price class (`classed`). */
  model: string;
  tokens: TokenUsage;
}

export class Tally {
  messages = 0;
  activeMs = 0;
  errors = 0;
  readonly #roots = new Set<string>();
  readonly usage: SessionUsage = {};
  /** Of models with several prices (by time, length of the prompt, speed): their tokens by the price at which they were used. */
  readonly #split = new Map<string, SessionUsage>();
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
    const name = plainModel(model);
    addUsage(this.usage, name, tokens);
    const key = this.#prices.keyAt(model, quarter * QUARTER_MS);
    // Only one price: its tokens are those of `usage`.
    if (key === name && !this.#split.has(name)) return;
    addUsage(this.#splitOf(name, tokens), key, tokens);
  }

  /** Tokens of a model by their price. The first time, all that were added before `tokens` have the model's one price. */
  #splitOf(name: string, tokens: TokenUsage): SessionUsage {
    return at(this.#split, name, () => {
      const before = { ...(this.usage[name] ?? emptyUsage()) };
      for (const field of FIELDS) before[field] -= tokens[field];
      return FIELDS.some((field) => before[field] > 0) ? { [name]: before } : {};
    });
  }

  /** What these models cost when they were used. */
  costOf(models: readonly string[]): Cost {
    const priced: SessionUsage = {};
    for (const model of models) Object.assign(priced, this.#split.get(model) ?? { [model]: this.usage[model] });
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
    return addUp(this.usage);
  }
}

export function addUp(usage: SessionUsage): TokenUsage {
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

export const computeTotal = (t: TokenUsage): number =>
  t.input + t.output + t.cacheWrite5m + t.cacheWrite1h + t.cacheRead;

/** The value under `key`, made when it is not there. */
export function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
