/**
 * Prices once looked up are kept for the day, in `files`: the table takes 25 ms to load, which is longer than the rest of a short command's
 * own work. A day, because prices may have a date from which they hold.
 */
import { isRecord, type Storage } from "sessarc";
import { NEWER_ID } from "./newer.ts";
import type { ModelPrice } from "./pricing.ts";

type Files = Storage["files"];
/** By model; null: the table has none. */
type KnownPrices = ReadonlyMap<string, ModelPrice | null>;

const KEY = "insights:prices.json";

/** Empty unless prices of today and of the table with the ID `table` are stored. */
export async function readPrices(files: Files, table: string, now = Date.now()): Promise<KnownPrices> {
  const kept: unknown = await files.getItem(KEY);
  if (!isRecord(kept) || kept.of !== toStamp(table, now) || !isRecord(kept.models)) return new Map();
  return new Map(Object.entries(kept.models).filter((one): one is [string, ModelPrice | null] => isPrice(one[1])));
}

export async function writePrices(files: Files, known: KnownPrices, table: string, now = Date.now()): Promise<void> {
  await files.setItem(KEY, JSON.stringify({ of: toStamp(table, now), models: Object.fromEntries(known) }));
}

const toStamp = (table: string, now: number) => `5 ${NEWER_ID} ${table} ${new Date(now).toISOString().slice(0, 10)}`;

const RATES = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

function isPrice(value: unknown): boolean {
  if (value === null) return true;
  if (!isRecord(value) || value.origin !== "table" || !isRecord(value.rates)) return false;
  const { rates } = value;
  if (!RATES.every((name) => typeof rates[name] === "number")) return false;
  return isList(value.periods) && isList(value.steps);
}

const isList = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every((one) => isRecord(one) && isRecord(one.rates)));
