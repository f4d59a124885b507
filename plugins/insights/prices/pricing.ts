/** Service "pricing": what tokens cost. A table in the package or from a file, the user's own prices over it; nothing is downloaded. */
import { createRequire } from "node:module";
import type * as Table from "@pydantic/genai-prices";
import { isRecord, SessarcError, type SessionUsage, type TokenUsage } from "sessarc";
import { classed, classOfKey, plainModel } from "sessarc/adapter";
import { type FindProvider, findModel } from "./match.ts";
import { modelName } from "./names.ts";
import { findCorrected, findNewer, NEWER_ID } from "./newer.ts";
import { MOST_DOLLARS, type PriceTable, toFinder } from "./table.ts";

/** The table in the package. `date` and `models` are those of its version, which package.json pins. */
export const SHIPPED = {
  id: "@pydantic/genai-prices 0.1.8",
  date: "2026-09-23",
  source: "@pydantic/genai-prices 0.1.8",
  models: 1694,
} as const;

/** Dollars per million tokens, which is millionths of a dollar per token. */
export type Rates = { readonly [F in keyof TokenUsage]: number };

export interface Cost {
  microdollars: number;
  pricedAt: string;
  /** Models with tokens but without a price: not in `microdollars`. */
  unpriced: string[];
  /** Models with a speed or service tier that has no known price, such as `gpt-5 (priority)`: counted at the standard price. */
  atStandard?: string[];
}

/** A price of a model that holds from a date on, or for some hours of each day (seconds of the UTC day). */
interface Period {
  from?: number;
  hours?: [start: number, end: number];
  rates: Rates;
  steps?: Step[];
}

/** What all tokens of a request cost whose prompt has more than `above` tokens. */
interface Step {
  above: number;
  rates: Rates;
}

export interface ModelPrice {
  model: string;
  /** Those of now. */
  rates: Rates;
  /** Those of requests with long prompts, in ascending order. */
  steps?: Step[];
  /** Where they change: the last that holds counts, of none the first. */
  periods?: Period[];
  /** `override`: the user's own. */
  origin: "table" | "override";
  /** Entry of the table, `anthropic/claude-opus-4-5`. */
  entry: string | null;
}

/** What tokens cost at one moment. */
export interface Prices {
  /** Undefined for a model without a price. The first call loads the table; later calls are one map lookup. */
  price(model: string): ModelPrice | undefined;
  /**
   * A key for `cost` and `rates` that says when (ms) a model was used, where its price changes with time; else the model as it was passed.
   * `model` may carry a price class (`classed`).
   */
  keyAt(model: string, at: number): string;
  /** What a model costs, or cost at the time of a key. */
  rates(key: string): Rates | undefined;
  /** Cost of `usage` in whole millionths of a dollar, at today's prices. Usage under a key of `keyAt` is priced at its own time. */
  cost(usage: SessionUsage): Cost;
}

export interface Pricing extends Prices {
  /** The prices in force, which stay as they are when the user sets others: for what is added up over some time. */
  readonly now: Prices;
  readonly pricedAt: string;
  readonly source: string;
  /** The user's prices in force: those of the configuration, and over them those set in the dashboard. */
  readonly overrides: Readonly<Record<string, Rates>>;
  /** Those set in the dashboard. */
  readonly own: Readonly<Record<string, Rates>>;
  /** Replaces the custom prices for all later lookups. Throws CONFIG_INVALID for an invalid price. */
  setOwn(prices: Readonly<Record<string, unknown>>): void;
  /** The price table in force: the one in the package, or the user's, with how many models it has. */
  readonly table: Omit<PriceTable, "providers"> & { models: number };
  /** Replaces the price table for all later lookups; undefined: the one in the package. `given`: prices learned from it earlier. */
  setTable(table: PriceTable | undefined, given?: ReadonlyMap<string, ModelPrice | null>): void;
  /** How many tokens `model` takes; undefined where the table does not say. The first call loads the table. */
  windowOf(model: string): number | undefined;
  /** Table and overrides: another one where another sum may come out. */
  readonly stamp: string;
  /** True when no price of `usage` changes between two times (ms). */
  isSteady(usage: SessionUsage, from: number, to: number): boolean;
  /** Loads the table now, unless prices were given that spare it. */
  warm(): void;
  /** What the table said of the models asked for so far (null: nothing); undefined when it was not asked anything new. */
  learned(): ReadonlyMap<string, ModelPrice | null> | undefined;
}

/** `overrides` is `config.prices`; `given` are the prices learned from the table earlier. Throws CONFIG_INVALID for an invalid price. */
export function createPricing(
  overrides: Readonly<Record<string, unknown>> = {},
  given: ReadonlyMap<string, ModelPrice | null> = new Map(),
): Pricing {
  const configured = toPrices(overrides, "the configuration");
  let own: ReadonlyMap<string, Rates> = new Map();
  let base = createBase(undefined, given);

  const pricesNow = () => {
    const [set, from] = [own, base];
    return makePrices((model) => {
      const rates = set.get(model) ?? configured.get(model);
      return rates ? { model, rates, origin: "override", entry: null } : from.find(model);
    }, from.table.date);
  };
  let now = pricesNow();

  const pricing: Pricing = {
    get pricedAt() {
      return base.table.date;
    },
    get source() {
      return base.table.source;
    },
    get table() {
      return base.table;
    },
    setTable(table, learned = new Map()) {
      base = createBase(table, learned);
      now = pricesNow();
    },
    // Some assistants name the long form of a model; no table has it.
    windowOf: (model) => (model.endsWith("[1m]") ? 1_000_000 : base.windowOf(model)),
    get now() {
      return now;
    },
    get overrides() {
      return Object.fromEntries([...configured, ...own]);
    },
    get own() {
      return Object.fromEntries(own);
    },
    setOwn(prices) {
      own = toPrices(prices, "settings.json");
      now = pricesNow();
    },
    get stamp() {
      return `${base.table.id} ${NEWER_ID} ${JSON.stringify(pricing.overrides)}`;
    },
    price: (model) => now.price(model),
    keyAt: (model, at) => now.keyAt(model, at),
    rates: (key) => now.rates(key),
    cost: (usage) => now.cost(usage),
    isSteady: (usage, from, to) =>
      Object.keys(usage).every((model) => {
        const periods = pricing.price(model)?.periods;
        if (!periods) return true;
        const dates = periods.some((one) => one.from !== undefined && one.from > from && one.from <= to);
        return !dates && (!periods.some((one) => one.hours) || Math.floor(from / QUARTER) === Math.floor(to / QUARTER));
      }),
    warm: () => base.warm(),
    learned: () => base.learned(),
  };
  return pricing;
}

/** One price table: undefined is the one in the package, which is loaded by the first question that `given` does not answer. */
function createBase(table: PriceTable | undefined, given: ReadonlyMap<string, ModelPrice | null>) {
  const said = new Map(given);
  let finder = table && toFinder(table);
  const { id, date, source } = table ?? SHIPPED;
  const load = (): FindProvider => {
    finder ??= (createRequire(import.meta.url)("@pydantic/genai-prices") as typeof Table).findProvider;
    return finder;
  };
  const corrected = findCorrected(date);
  const findEntry = (model: string) => findModel(model, corrected, load(), findNewer);
  const look = (key: string): ModelPrice | undefined => {
    const model = plainModel(key);
    const { tier } = classOfKey(key);
    const found = tier === "" ? findEntry(model) : findTier(model, tier, load());
    if (!found) return undefined;
    const periods = toPeriods(found.model.prices);
    const now = periods[periodAt(periods, Date.now())];
    if (!now) return undefined;
    const price: ModelPrice = {
      model,
      rates: now.rates,
      origin: "table",
      entry: `${found.provider.id}/${found.model.id}`,
    };
    if (now.steps) price.steps = now.steps;
    return periods.length > 1 ? { ...price, periods } : price;
  };
  const models = table?.providers.reduce((sum, one) => sum + one.models.length, 0) ?? SHIPPED.models;
  return {
    table: { id, date, source, models },
    find(model: string): ModelPrice | undefined {
      let price = said.get(model);
      if (price === undefined) {
        price = look(model) ?? null;
        said.set(model, price);
      }
      return price ?? undefined;
    },
    windowOf: (model: string) => findEntry(model)?.model.context_window,
    warm() {
      if (given.size === 0) load();
    },
    learned: () => (said.size > given.size ? said : undefined),
  };
}

/** `pricedAt`: date of the table. */
function makePrices(find: (model: string) => ModelPrice | undefined, pricedAt: string): Prices {
  const known = new Map<string, ModelPrice | undefined>();
  /** `rates`: those of when it was found. */
  const found = (model: string): ModelPrice | undefined => {
    if (!known.has(model)) known.set(model, find(model));
    return known.get(model);
  };
  const ratesFor = (key: string): { rates: Rates; atStandard: string | undefined } | undefined => {
    const [name, period] = parts(key);
    const model = plainModel(name);
    const standard = period === undefined ? prices.price(model) : found(model)?.periods?.[Number(period)];
    if (!standard) return undefined;
    const { tier, above } = classOfKey(name);
    const own = tier === "" ? undefined : found(classed(model, tier));
    const { rates, steps = [] } = own ?? standard;
    const step = steps.findLast((one) => one.above <= above);
    const atStandard = tier === "" || own ? undefined : `${model} (${tier})`;
    return { rates: step?.rates ?? rates, atStandard };
  };
  const prices: Prices = {
    price(key) {
      const price = found(plainModel(key));
      // A service runs for months, and every day has its nights.
      const now = price?.periods?.[periodAt(price.periods, Date.now())];
      return price && now ? { ...price, rates: now.rates } : price;
    },
    keyAt(model, at) {
      const periods = found(plainModel(model))?.periods;
      return periods ? keyIn(model, periodAt(periods, at)) : model;
    },
    rates: (key) => ratesFor(key)?.rates,
    cost(usage) {
      let sum = 0;
      const unpriced: string[] = [];
      const atStandard: string[] = [];
      for (const key in usage) {
        const tokens = usage[key] as TokenUsage;
        if (tokens.input + tokens.output + tokens.cacheWrite5m + tokens.cacheWrite1h + tokens.cacheRead === 0) continue;
        const price = ratesFor(key);
        if (!price) {
          const model = plainModel(parts(key)[0]);
          if (!unpriced.includes(model)) unpriced.push(model);
          continue;
        }
        sum += dot(tokens, price.rates);
        if (price.atStandard !== undefined && !atStandard.includes(price.atStandard)) atStandard.push(price.atStandard);
      }
      const cost: Cost = { microdollars: toMicrodollars(sum), pricedAt, unpriced };
      return atStandard.length > 0 ? { ...cost, atStandard } : cost;
    },
  };
  return prices;
}

/** Millionths of a dollar, not rounded. */
const dot = (tokens: TokenUsage, rates: Rates) =>
  tokens.input * rates.input +
  tokens.output * rates.output +
  tokens.cacheWrite5m * rates.cacheWrite5m +
  tokens.cacheWrite1h * rates.cacheWrite1h +
  tokens.cacheRead * rates.cacheRead;

/** Whole ones of a sum. Its last digits depend on what was added up first: they must not say where a half goes. */
const toMicrodollars = (cost: number): number => Math.round(Math.round(cost * 1e6) / 1e6);

/** The key of `keyAt` for a time at which this period of the model holds. */
export const keyIn = (model: string, period: number): string => `${model}${AT}${period}`;

/** Of a key of `keyAt`. */
function parts(key: string): [model: string, period: string | undefined] {
  const at = key.indexOf(AT);
  return at < 0 ? [key, undefined] : [key.slice(0, at), key.slice(at + 1)];
}

/** Between a model and the number of its period; no model's name holds it. */
const AT = "\0";
/** Prices change at whole quarters of an hour. */
const QUARTER = 900_000;

function toPeriods(prices: Table.ModelInfo["prices"]): Period[] {
  return (Array.isArray(prices) ? prices : [{ prices }]).flatMap((one): Period[] => {
    const rates = findRates(one.prices);
    if (!rates) return [];
    const steps = toSteps(one.prices);
    const price = steps.length > 0 ? { rates, steps } : { rates };
    const when = "constraint" in one ? one.constraint : undefined;
    if (!when) return [price];
    if (when.type === "start_date") return [{ from: Date.parse(when.start_date), ...price }];
    return [{ hours: [toSeconds(when.start_time), toSeconds(when.end_time)], ...price }];
  });
}

/** Index of the price in force. */
function periodAt(periods: readonly Period[], at: number): number {
  // A wrong clock may say a time before 1970.
  const second = ((Math.floor(at / 1_000) % 86_400) + 86_400) % 86_400;
  const holds = ({ from, hours }: Period) => {
    if (from !== undefined) return at >= from;
    if (!hours) return true;
    const [start, end] = hours;
    return start <= end ? second >= start && second < end : second >= start || second < end;
  };
  return Math.max(0, periods.findLastIndex(holds));
}

/** Of `16:30:00Z`. */
function toSeconds(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = (time.match(/\d+/g) ?? []).map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

function toSteps(prices: Readonly<Record<string, unknown>>): Step[] {
  const starts = new Set(Object.values(prices).flatMap((price) => toTiers(price).map(({ start }) => start)));
  return [...starts]
    .sort((a, b) => a - b)
    .flatMap((above) => {
      const rates = findRates(prices, above);
      return rates ? [{ above, rates }] : [];
    });
}

function toTiers(price: unknown): { start: number; price: number }[] {
  if (!isRecord(price) || !Array.isArray(price.tiers)) return [];
  return price.tiers.flatMap((tier) =>
    isRecord(tier) && typeof tier.start === "number" && typeof tier.price === "number"
      ? [{ start: tier.start, price: tier.price }]
      : [],
  );
}

/** `above`: a step of the prompt's size that was exceeded. */
function findRates(prices: Readonly<Record<string, unknown>>, above = 0): Rates | undefined {
  const rate = (name: string) => {
    const value = prices[name];
    if (typeof value === "number") return value;
    const step = toTiers(value).findLast(({ start }) => start <= above && above > 0);
    return step?.price ?? (isRecord(value) && typeof value.base === "number" ? value.base : undefined);
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

/** The table names them only at OpenRouter, which passes on the provider's price. Of `fast` only Claude's: Grok's `-fast` are other models. */
function findTier(model: string, tier: string, findProvider: FindProvider): ReturnType<typeof findModel> {
  const found = findModel(model, findProvider);
  const ending =
    tier === "batch" ? ":batch" : tier === "fast" && found?.provider.id === "anthropic" ? "-fast" : undefined;
  if (!found || ending === undefined) return undefined;
  const dotted = modelName(model).replace(/(\d)-(?=\d)/g, "$1.");
  return findModel(`openrouter/${found.provider.id}/${dotted}${ending}`, findProvider);
}

const toPrices = (prices: Readonly<Record<string, unknown>>, where: string): ReadonlyMap<string, Rates> =>
  new Map(Object.entries(prices).map(([model, value]) => [model, toRates(model, value, where)]));

function toRates(model: string, value: unknown, where: string): Rates {
  const wrong = (reason: string) => new SessarcError("CONFIG_INVALID", { key: `prices.${model}`, where, reason });
  if (!isRecord(value)) throw wrong("is no object such as { input: 3, output: 15, cacheRead: 0.3 }");
  const rate = (name: keyof Rates): number | undefined => {
    const given = value[name];
    if (given === undefined) return undefined;
    if (typeof given === "number" && given >= 0 && given <= MOST_DOLLARS) return given;
    throw wrong(`has no number of dollars per million tokens in ${name}: 0 to ${MOST_DOLLARS.toLocaleString("en")}`);
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
