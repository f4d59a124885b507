/** Narrowing of parsed JSON: what came out of a log is unknown until one of these says otherwise. */
export type JsonRecord = { [key: string]: unknown };

/** Whether the value is an object, and no list. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object itself; an empty one for any other value. */
export const toRecord = (value: unknown): JsonRecord => (isRecord(value) ? value : {});

/** The array itself; an empty one for any other value. */
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** For fields that hold one value or several: the array itself, an array of the one value, an empty one for null and undefined. */
export function toItems(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** A finite number; undefined for any other value. */
export function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A string that is not empty. */
export function toText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** For a value that stems from `JSON.parse`: everything but undefined and functions is JSON then. */
export function isJson(value: unknown): value is Json {
  return value !== undefined && typeof value !== "function" && typeof value !== "bigint" && typeof value !== "symbol";
}

/** Arguments of a tool call: parsed when they are JSON text, else the raw string. */
export function toToolInput(value: unknown): Json | undefined {
  if (typeof value !== "string") return isJson(value) ? value : undefined;
  const first = value.charCodeAt(0);
  if (first !== 0x7b && first !== 0x5b && first > 0x20) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return isJson(parsed) && typeof parsed === "object" ? parsed : value;
  } catch {
    return value; // raw text that only looks like JSON
  }
}

/** JSON text as an object; undefined for any other text. */
export function parseRecord(text: unknown): JsonRecord | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // the caller counts it
  }
}

/** Deeper values would overflow the stack when they are serialised. */
const DEPTH = 128;

/** A parsed value as an event's field; parts nested over 128 levels are replaced by a mark. */
export function toJson(value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  return isShallow(value, DEPTH) ? value : cut(value, DEPTH);
}

/** Text as it is, anything else as JSON text; never throws for parsed values. */
export function toJsonText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(toJson(value)) ?? "");
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

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
