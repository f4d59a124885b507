/** What Cursor stores, as far as it is read. */
import { toNumber } from "sessarc";

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

/** ms of a time written as ms or ISO; undefined for anything else. */
export function toMs(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : toNumber(value);
  return ms !== undefined && ms > 0 && ms <= 8.64e15 ? ms : undefined;
}

/** Parsed JSON, undefined when it is none. */
export function parseJson(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // the caller counts it
  }
}
