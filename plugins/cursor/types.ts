/** What Cursor stores, as far as it is read, and how values of unknown shape are narrowed. */
import type { Json, SessionEvent } from "sessarc";

/** An event before the reader numbers it. `open`: Cursor may still rewrite it, so a tail waits for it. */
export type Draft = Omit<SessionEvent, "seq"> & { open?: true };

export type Fields = Readonly<Record<string, unknown>>;

/** One conversation's own data, from whichever place holds it. Times are ms since the epoch. */
export interface Conversation {
  key: string;
  title?: string | undefined;
  cwd?: string | undefined;
  parent?: string | undefined;
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
  /** Model for replies that name none. */
  model?: string | undefined;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The object itself, an empty one when it is none. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Values that came out of JSON.parse are JSON. */
export const toJson = (value: unknown): Json | undefined => (value === undefined ? undefined : (value as Json));

/** ms of a time written as ms or ISO; undefined for anything else. */
export function toMs(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : numberOf(value);
  return ms !== undefined && ms > 0 && ms <= 8.64e15 ? ms : undefined;
}

export const isoOf = (ms: number | undefined): string | undefined =>
  ms === undefined || !(ms > 0 && ms <= 8.64e15) ? undefined : new Date(ms).toISOString();

/** Parsed JSON, undefined when it is none. */
export function parseJson(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // the caller counts it
  }
}

export function parseFields(text: unknown): Fields | undefined {
  const value = parseJson(text);
  return isFields(value) ? value : undefined;
}
