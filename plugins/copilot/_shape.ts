/** Narrowing of what `JSON.parse` gave. */
import type { Json } from "sessarc";

export type Fields = Readonly<Record<string, unknown>>;

/** Deeper values would overflow the stack of whoever serialises them. */
const DEPTH = 128;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A parsed value as an event's field; parts nested over 128 levels are replaced by a mark. */
export function jsonOf(value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  return isShallow(value, DEPTH) ? value : cut(value, DEPTH);
}

/** JSON text; never throws for parsed values. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(jsonOf(value)) ?? "");
}

/** One line of at most 200 characters. */
export function titleOf(text: string | undefined): string | undefined {
  const line = text?.slice(0, 2000).replace(/\s+/g, " ").trim();
  return line ? [...line].slice(0, 200).join("") : undefined;
}

export function count(unknown: Record<string, number>, name: string): void {
  const key = name === "__proto__" ? "?" : name.slice(0, 80);
  unknown[key] = (Object.hasOwn(unknown, key) ? (unknown[key] ?? 0) : 0) + 1;
}

/** First and last of some ISO times; gaps are left out. */
export function earliest(times: readonly (string | undefined)[]): string | undefined {
  let best: string | undefined;
  for (const at of times) if (at !== undefined && (best === undefined || isBefore(at, best))) best = at;
  return best;
}
export function latest(times: readonly (string | undefined)[]): string | undefined {
  let best: string | undefined;
  for (const at of times) if (at !== undefined && (best === undefined || isBefore(best, at))) best = at;
  return best;
}

/** Both as `toIso` gives them; those of one length compare as text. */
export function isBefore(a: string, b: string): boolean {
  return a.length === b.length ? a < b : Date.parse(a) < Date.parse(b);
}

function isShallow(value: unknown, left: number): value is Json {
  if (typeof value !== "object" || value === null) return true;
  if (left === 0) return false;
  return Object.values(value).every((part) => isShallow(part, left - 1));
}

function cut(value: unknown, left: number): Json {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null) return null;
  if (left === 0) return "[nested too deep]";
  if (Array.isArray(value)) return value.map((part) => cut(part, left - 1));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part, left - 1)]));
}
