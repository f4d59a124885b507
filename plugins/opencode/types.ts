/** OpenCode's rows as far as they are read, the same for its database and its JSON files, and how values of unknown shape are narrowed. */
import type { Json, SessionEvent } from "sessarc";

/** An event before the reader numbers it. `open`: the tool may still rewrite it, so a tail waits for it. */
export type Draft = Omit<SessionEvent, "seq"> & { open?: true };

export type Fields = Readonly<Record<string, unknown>>;

/** Times are ms since the epoch. */
export interface SessionRow {
  id: string;
  parent?: string | undefined;
  title?: string | undefined;
  directory?: string | undefined;
  /** Root of the project's repository; `/` outside one. */
  worktree?: string | undefined;
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
  /** Id of the message from which on the conversation was taken back. */
  revertedFrom?: string | undefined;
  forkedFrom?: string | undefined;
}

/** `data` is undefined where the row could not be parsed. */
export interface Row {
  id: string;
  createdAt?: number | undefined;
  data: Fields | undefined;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The object's own field, an empty object when it holds none. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** ISO time of a number of ms; undefined for anything that is no time. */
export function toTime(ms: unknown): string | undefined {
  const value = numberOf(ms);
  return value !== undefined && value > 0 && value <= 8.64e15 ? new Date(value).toISOString() : undefined;
}

/** Parses JSON to an object; undefined when it is none. */
export function parseFields(text: unknown): Fields | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined; // the caller counts it
  }
}

/** Values that came out of JSON.parse are JSON. */
export const toJson = (value: unknown): Json | undefined => (value === undefined ? undefined : (value as Json));
