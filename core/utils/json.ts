/** Narrowing of parsed JSON: what came out of a log is unknown until one of these says otherwise. */
import type { Json } from "../session.ts";

export type JsonRecord = { [key: string]: unknown };

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
