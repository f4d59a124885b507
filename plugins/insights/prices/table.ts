/** A price table that the user loaded from a file: checked, reduced to what pricing needs, stored in the data directory. */
import { createHash } from "node:crypto";
import type { ConditionalPrice, MatchLogic, ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import { isRecord, mustYield, SessarcError, type Storage, yieldNow } from "sessarc";
import type { FindProvider, TableProvider } from "./match.ts";
import { holds } from "./match.ts";
import { LONGEST } from "./names.ts";

export interface PriceTable {
  /** Digest of the content: another table has another id. */
  id: string;
  /** Day of its prices, `2026-11-24`. */
  date: string;
  /** Name of the file. */
  source: string;
  providers: readonly TableProvider[];
}

/** Of a rate, in dollars per million tokens. */
export const MOST_DOLLARS = 1_000_000;
/** Of rules inside rules. */
const DEEPEST = 20;
const RATES = ["input_mtok", "output_mtok", "cache_write_mtok", "cache_write_1h_mtok", "cache_read_mtok"] as const;
const KEY = "insights:price-table.json";

/** Throws PRICE_TABLE_INVALID, which names the first wrong place. Checks the models in slices. */
export async function toTable({
  date,
  source,
  providers,
}: Record<keyof Omit<PriceTable, "id">, unknown>): Promise<PriceTable> {
  const day = toDay(date, "date");
  if (typeof source !== "string" || source === "" || source.length > LONGEST)
    throw wrong("source", `must be a text of 1 to ${LONGEST} characters`);
  const list: TableProvider[] = [];
  for (const [at, one] of toList(providers, "the table").entries()) list.push(await toProvider(one, `[${at}]`));
  const isPriced = list.some(({ models }) => models.some(({ prices }) => makePrices(prices).some(hasRates)));
  if (!isPriced) throw wrong("the table", "has no model with input_mtok and output_mtok");
  const id = createHash("sha256")
    .update(JSON.stringify([day, source, list]))
    .digest("hex")
    .slice(0, 16);
  return { id, date: day, source, providers: list };
}

/** Undefined when none was loaded. Throws PRICE_TABLE_INVALID for a stored table that was damaged. */
export async function readTable(files: Storage["files"]): Promise<PriceTable | undefined> {
  const stored: unknown = await files.getItem(KEY);
  if (stored === null) return undefined;
  if (!isRecord(stored)) throw wrong("the stored table", "is not an object");
  return toTable({ date: stored.date, source: stored.source, providers: stored.providers });
}

/** Undefined removes the stored table. */
export async function writeTable(files: Storage["files"], table: PriceTable | undefined): Promise<void> {
  if (table) await files.setItem(KEY, JSON.stringify(table));
  else await files.removeItem(KEY);
}

/** Finds a provider by the same rules as the table in the package. */
export function toFinder({ providers }: Pick<PriceTable, "providers">): FindProvider {
  return ({ providerId, modelId }) => {
    const id = providerId?.toLowerCase().trim();
    if (id !== undefined)
      return (
        providers.find((one) => one.id.toLowerCase() === id) ??
        providers.find((one) => one.provider_match && holds(one.provider_match, id))
      );
    const model = modelId?.toLowerCase();
    return model === undefined ? undefined : providers.find((one) => one.model_match && holds(one.model_match, model));
  };
}

const makePrices = (prices: ModelInfo["prices"]): ModelPrice[] =>
  Array.isArray(prices) ? prices.map((one) => one.prices) : [prices];
const hasRates = ({ input_mtok, output_mtok }: ModelPrice) => input_mtok !== undefined && output_mtok !== undefined;

const wrong = (where: string, reason: string) => new SessarcError("PRICE_TABLE_INVALID", { where, reason });

async function toProvider(value: unknown, where: string): Promise<TableProvider> {
  if (!isRecord(value)) throw wrong(where, "is not an object with a provider's id and models");
  const provider: TableProvider = { id: toName(value.id, `${where}.id`), models: [] };
  for (const [at, one] of toList(value.models, `${where}.models`).entries()) {
    provider.models.push(toModel(one, `${where}.models[${at}]`));
    if (mustYield()) await yieldNow();
  }
  for (const name of ["provider_match", "model_match"] as const)
    if (isGiven(value[name])) provider[name] = toRule(value[name], `${where}.${name}`);
  return provider;
}

function toModel(value: unknown, where: string): TableProvider["models"][number] {
  if (!isRecord(value)) throw wrong(where, "is not an object with a model's id, match and prices");
  const model: TableProvider["models"][number] = {
    id: toName(value.id, `${where}.id`),
    match: toRule(value.match, `${where}.match`),
    prices: Array.isArray(value.prices)
      ? value.prices.map((one, at) => toConditional(one, `${where}.prices[${at}]`))
      : toPrices(value.prices, `${where}.prices`),
  };
  const window = value.context_window;
  if (!isGiven(window)) return model;
  if (!isCount(window)) throw wrong(`${where}.context_window`, "is not a whole number of tokens");
  model.context_window = window;
  return model;
}

function toConditional(value: unknown, where: string): ConditionalPrice {
  if (!isRecord(value)) throw wrong(where, "is not an object with prices");
  const prices = toPrices(value.prices, `${where}.prices`);
  const when = value.constraint;
  if (!isGiven(when)) return { prices };
  if (isRecord(when) && when.start_date !== undefined)
    return {
      constraint: { type: "start_date", start_date: toDay(when.start_date, `${where}.constraint.start_date`) },
      prices,
    };
  if (!isRecord(when) || !isTime(when.start_time) || !isTime(when.end_time))
    throw wrong(`${where}.constraint`, "needs a start_date, or a start_time and an end_time such as 16:30:00Z");
  return { constraint: { type: "time_of_date", start_time: when.start_time, end_time: when.end_time }, prices };
}

/** Other prices, such as those of pictures or searches, are left out. */
function toPrices(value: unknown, where: string): Record<string, Exclude<ModelPriceValue, undefined>> {
  if (!isRecord(value)) throw wrong(where, "is not an object such as { input_mtok: 3, output_mtok: 15 }");
  return Object.fromEntries(
    RATES.flatMap((name) => (isGiven(value[name]) ? [[name, toPrice(value[name], `${where}.${name}`)]] : [])),
  );
}

type ModelPriceValue = Extract<ModelInfo["prices"], Record<string, unknown>>[string];

function toPrice(value: unknown, where: string): Exclude<ModelPriceValue, undefined> {
  if (!isRecord(value)) return toRate(value, where);
  const tiers = toList(value.tiers, `${where}.tiers`).map((tier, at) => {
    const place = `${where}.tiers[${at}]`;
    if (!isRecord(tier) || !isCount(tier.start)) throw wrong(place, "needs start, a whole number of tokens, and price");
    return { start: tier.start, price: toRate(tier.price, `${place}.price`) };
  });
  return { base: toRate(value.base, `${where}.base`), tiers: tiers.sort((a, b) => a.start - b.start) };
}

function toRate(value: unknown, where: string): number {
  if (typeof value === "number" && value >= 0 && value <= MOST_DOLLARS) return value;
  throw wrong(where, `is not a number of dollars from 0 to ${MOST_DOLLARS.toLocaleString("en")}`);
}

const LITERALS = ["equals", "starts_with", "ends_with", "contains"] as const;

function toRule(value: unknown, where: string, depth = 0): MatchLogic {
  if (depth > DEEPEST) throw wrong(where, `has more than ${DEEPEST} rules inside one another`);
  if (isRecord(value)) {
    const rules = (name: "or" | "and") =>
      toList(value[name], `${where}.${name}`).map((one, at) => toRule(one, `${where}.${name}[${at}]`, depth + 1));
    if (value.or !== undefined) return { or: rules("or") };
    if (value.and !== undefined) return { and: rules("and") };
    if (value.regex !== undefined) return { regex: toPattern(value.regex, `${where}.regex`) };
    const [equals, starts, ends, contains] = LITERALS.map((name) =>
      value[name] === undefined ? undefined : toName(value[name], `${where}.${name}`),
    );
    if (equals !== undefined) return { equals };
    if (starts !== undefined) return { starts_with: starts };
    if (ends !== undefined) return { ends_with: ends };
    if (contains !== undefined) return { contains };
  }
  throw wrong(where, `is not a rule: one of ${[...LITERALS, "regex", "or", "and"].join(", ")}`);
}

/**
 * Every model name of every log is compared with the patterns. A pattern with many repetitions or choices, or with a repeated group, can
 * take minutes for one name: such patterns are refused.
 */
function toPattern(value: unknown, where: string): string {
  const text = toName(value, where);
  const repetitions = text.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  const choices = text.match(/\||(?<!\()\?/g) ?? [];
  if (repetitions.length > 2 || choices.length > 12 || /\)[*+{]/.test(text) || /\\[1-9k]/.test(text))
    throw wrong(
      where,
      "is a pattern that may take too long: it repeats a group, or has too many repetitions or choices",
    );
  try {
    new RegExp(text);
  } catch {
    throw wrong(where, "is not a regular expression");
  }
  return text;
}

function toList(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(where, "is not a list");
  return value;
}

function toName(value: unknown, where: string): string {
  if (typeof value === "string" && value !== "" && value.length <= LONGEST) return value;
  throw wrong(where, `is not a text of 1 to ${LONGEST} characters`);
}

function toDay(value: unknown, where: string): string {
  const at = typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : Number.NaN;
  if (typeof value === "string" && !Number.isNaN(at) && new Date(at).toISOString().startsWith(value)) return value;
  throw wrong(where, "is not a day such as 2026-11-24");
}

/** JSON of other programs writes null for what is not set. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isTime = (value: unknown): value is string =>
  typeof value === "string" && /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/.test(value);
