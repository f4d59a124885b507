/** The last thousand messages that went through the hub. Payloads are cut when they are taken in, and cleared of secrets when shown. */

import { alone, isRecord } from "sessarc";
import { createRing } from "./ring.ts";

export interface LogEntry {
  seq: number;
  at: string;
  /** `in`: a client asks a service. `out`: a service asks or notifies a client. */
  direction: "in" | "out";
  service: string | null;
  /** Of the client. */
  session: string;
  method: string;
  /** JSON-RPC id where there is one. */
  id: string | number | null;
  /** null for notifications. */
  ms: number | null;
  status: "ok" | "error" | "denied" | "sent";
  payload: unknown;
}

export interface HubLog {
  readonly capacity: number;
  add(entry: Omit<LogEntry, "seq" | "at">): void;
  /** Newest first. */
  newest(limit: number, service?: string): LogEntry[];
}

const CAPACITY = 1_000;
const MOST_CHARS = 2_000;

export function createHubLog(): HubLog {
  const ring = createRing<LogEntry>(CAPACITY);
  let seq = 0;
  return {
    capacity: CAPACITY,
    add(entry) {
      ring.push({
        ...entry,
        seq: ++seq,
        at: new Date().toISOString(),
        payload: shorten(entry.payload, { left: MOST_CHARS }, 0),
      });
    },
    newest(limit, service) {
      const all = ring.newest();
      return (service === undefined ? all : all.filter((entry) => entry.service === service)).slice(0, limit);
    },
  };
}

/** A copy that stays small whatever it is of: strings are cut, and everything past the budget is left out. */
function shorten(value: unknown, budget: { left: number }, depth: number): unknown {
  if (typeof value === "string") {
    const kept =
      value.length <= budget.left
        ? alone(value)
        : `${alone(value.slice(0, Math.max(0, budget.left)))}… (${value.length} characters)`;
    budget.left -= Math.min(value.length, budget.left);
    return kept;
  }
  if (typeof value !== "object" || value === null) return value;
  if (budget.left <= 0 || depth > 8) return "…";
  if (Array.isArray(value)) {
    const shown = value.slice(0, 20).map((item) => shorten(item, budget, depth + 1));
    return value.length > 20 ? [...shown, `… (${value.length} items)`] : shown;
  }
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(isRecord(value) ? value : {})) {
    if (budget.left <= 0) {
      copy["…"] = "cut";
      break;
    }
    budget.left -= key.length;
    copy[alone(key.slice(0, 200))] = shorten(item, budget, depth + 1);
  }
  return copy;
}
