/** Service "pricing": what tokens cost. A table in the package, the user's own prices over it; nothing is downloaded. */
import { createRequire } from "node:module";
import type * as Table from "@pydantic/genai-prices";
import { isRecord, SessarcError, type SessionUsage, type TokenUsage } from "sessarc";
import { findModel } from "./match.ts";

/** Date of the table's version; package.json pins it. */
export const PRICED_AT = "2026-09-23";
export const SOURCE = "@pydantic/genai-prices 0.1.8";

/** Dollars per million tokens, which is millionths of a dollar per token. */
export type Rates = { readonly [F in keyof TokenUsage]: number };

export interface Cost {
  microdollars: number;
  pricedAt: string;
  /** Models with tokens but without a price: not in `microdollars`. */
  unpriced: string[];
}

export interface ModelPrice {
  model: string;
  rates: Rates;
  /** `override`: the user's own. */
  origin: "table" | "override";
  /** Entry of the table, `anthropic/claude-opus-4-5`. */
  entry: string | null;
}

export interface Pricing {
  readonly pricedAt: string;
  readonly source: string;
  readonly overrides: Readonly<Record<string, Rates>>;
  /** Undefined for a model nobody gave a price. The first call loads the table (30 ms once); then one map lookup a model. */
  price(model: string): ModelPrice | undefined;
  /** Cost of `usage` in whole millionths of a dollar. */
  cost(usage: SessionUsage): Cost;
  /** Loads the table now, unless prices were given that spare it. */
  warm(): void;
  /** What the table said of the models asked for so far (null: nothing); undefined when it was not asked anything new. */
  learned(): ReadonlyMap<string, ModelPrice | null> | undefined;
}

/** `overrides` is `config.prices`; `given` is what the table was found to say before. Throws CONFIG_INVALID for a price that is none. */
export function createPricing(
  overrides: Readonly<Record<string, unknown>> = {},
  given: ReadonlyMap<string, ModelPrice | null> = new Map(),
): Pricing {
  const own = new Map(Object.entries(overrides).map(([model, value]) => [model, toRates(model, value)]));
  const known = new Map<string, ModelPrice | undefined>();
  const said = new Map(given);
  let table: typeof Table | undefined;
  const load = (): typeof Table => {
    table ??= createRequire(import.meta.url)("@pydantic/genai-prices") as typeof Table;
    return table;
  };

  const find = (model: string): ModelPrice | undefined => {
    const rates = own.get(model);
    if (rates) return { model, rates, origin: "override", entry: null };
    let price = said.get(model);
    if (price === undefined) {
      price = look(model) ?? null;
      said.set(model, price);
    }
    return price ?? undefined;
  };

  const look = (model: string): ModelPrice | undefined => {
    const { findProvider, calcPrice } = load();
    const found = findModel(model, findProvider);
    if (!found) return undefined;
    // The library picks the prices in force today.
    const only = { ...found.provider, models: [{ ...found.model, match: { equals: found.model.id } }] };
    const prices = calcPrice({}, found.model.id, { provider: only })?.model_price;
    const fromTable = prices && ratesOf(prices);
    return fromTable && { model, rates: fromTable, origin: "table", entry: `${found.provider.id}/${found.model.id}` };
  };

  const pricing: Pricing = {
    pricedAt: PRICED_AT,
    source: SOURCE,
    overrides: Object.fromEntries(own),
    price(model) {
      if (!known.has(model)) known.set(model, find(model));
      return known.get(model);
    },
    cost(usage) {
      let sum = 0;
      const unpriced: string[] = [];
      for (const model in usage) {
        const tokens = usage[model] as TokenUsage;
        if (tokens.input + tokens.output + tokens.cacheWrite5m + tokens.cacheWrite1h + tokens.cacheRead === 0) continue;
        const rates = pricing.price(model)?.rates;
        if (rates) sum += dot(tokens, rates);
        else unpriced.push(model);
      }
      return { microdollars: Math.round(sum), pricedAt: PRICED_AT, unpriced };
    },
    warm() {
      if (given.size === 0) load();
    },
    learned: () => (said.size > given.size ? said : undefined),
  };
  return pricing;
}

const dot = (tokens: TokenUsage, rates: Rates) =>
  tokens.input * rates.input +
  tokens.output * rates.output +
  tokens.cacheWrite5m * rates.cacheWrite5m +
  tokens.cacheWrite1h * rates.cacheWrite1h +
  tokens.cacheRead * rates.cacheRead;

/** Of a price with steps the first: which of a session's replies were over the step is not kept. */
function ratesOf(prices: Readonly<Record<string, unknown>>): Rates | undefined {
  const rate = (name: string) => {
    const value = prices[name];
    if (typeof value === "number") return value;
    return isRecord(value) && typeof value.base === "number" ? value.base : undefined;
  };
  const input = rate("input_mtok");
  const output = rate("output_mtok");
  if (input === undefined || output === undefined) return undefined;
  const cacheWrite5m = rate("cache_write_mtok") ?? input;
  return {
    input,
    output,
    cacheWrite5m,
    cacheWrite1h: rate("cache_write_1h_mtok") ?? cacheWrite5m,
    cacheRead: rate("cache_read_mtok") ?? input,
  };
}

function toRates(model: string, value: unknown): Rates {
  const wrong = (reason: string) =>
    new SessarcError("CONFIG_INVALID", { key: `prices.${model}`, where: "the configuration", reason });
  if (!isRecord(value)) throw wrong("is no object such as { input: 3, output: 15, cacheRead: 0.3 }");
  const rate = (name: keyof Rates): number | undefined => {
    const given = value[name];
    if (given === undefined) return undefined;
    if (typeof given === "number" && given >= 0 && Number.isFinite(given)) return given;
    throw wrong(`has no number of dollars per million tokens in ${name}`);
  };
  const input = rate("input");
  const output = rate("output");
  if (input === undefined || output === undefined) throw wrong("needs input and output");
  const cacheWrite5m = rate("cacheWrite5m") ?? input;
  return {
    input,
    output,
    cacheWrite5m,
    cacheWrite1h: rate("cacheWrite1h") ?? cacheWrite5m,
    cacheRead: rate("cacheRead") ?? input,
  };
}
