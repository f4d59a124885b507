/** Collects what a log says of one session, for adapters that read it whole or row by row: a session log that keeps its events. */
import type { NewEvent } from "../contract/adapter.ts";
import type { EventKind, SessionSummary } from "../session/session.ts";
import type { LedgerEntry } from "../session/usage.ts";
import type { Json } from "../utils/json.ts";
import { createSessionLog } from "./session-log.ts";

/** Fields of an event beside its kind and text. */
export type EventFields = Partial<Omit<NewEvent, "kind" | "text">>;

export interface SessionDraft {
  /** Counts a reply's tokens. An entry without tokens makes none. `cost`: what the log says the reply cost, in US dollars. */
  count(entry: LedgerEntry, cost?: unknown): void;
  /** Removes and returns the events collected so far. */
  take(): NewEvent[];
  /** A time of the log as ISO 8601; the session lasts at least until then. Undefined for an invalid time. */
  saw(time: unknown): string | undefined;
  /** Adds a text. What is not a text, or holds only white space, makes no event. */
  say(kind: EventKind, text: unknown, fields?: EventFields): void;
  /** Adds a tool call; `input` may be JSON text. */
  call(id: unknown, name: unknown, input: unknown, fields?: EventFields): void;
  /** Adds the result of the call `id`; it succeeded unless `is_error` is set. */
  result(id: unknown, text: string, fields?: EventFields): void;
  /** Counts a record of an unknown type. */
  unknown(type: unknown): void;
  /** Counts a record that cannot be read. */
  bad(): void;
  /** What `createDraft` goes on from, for a log that is read in parts; taken when no events are left. */
  snapshot(): Json;
  /** The summary so far: tokens, first and last time, what was skipped, and `facts`, which win. */
  summary(facts?: Partial<SessionSummary>): SessionSummary;
}

/** Never throws for content. `state`: a former `snapshot`; anything else starts empty. */
export function createDraft(state?: Json): SessionDraft {
  const log = createSessionLog(state, { lines: 0 });
  let events: NewEvent[] = [];
  return {
    count: (entry, cost) => log.count(entry, cost),
    take() {
      const taken = events;
      events = [];
      return taken;
    },
    saw: log.time,
    say: (kind, text, fields) => void events.push(...log.say(kind, text, fields)),
    call: (id, name, input, fields) => void events.push(log.call(id, name, input, fields)),
    result(id, text, { is_error = false, tool_name, ...fields } = {}) {
      events.push(log.result(id, text, { ...fields, failed: is_error, name: tool_name }));
    },
    unknown: (type) => log.unknown(type),
    bad: () => void log.own.lines++,
    snapshot: log.snapshot,
    summary(facts) {
      const summary = log.summary();
      return { ...summary, skipped: { lines: log.own.lines, unknown: summary.skipped?.unknown ?? {} }, ...facts };
    },
  };
}

/** Text of a message's content: a string, one block, or blocks of which those with a text count; pictures become a mark. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(contentText).filter(Boolean).join("\n");
  if (typeof content !== "object" || content === null) return "";
  const { type, text } = content as { type?: unknown; text?: unknown };
  if (typeof text === "string") return text;
  return typeof type === "string" && type.includes("image") ? "[image]" : "";
}

/** Tokens of a log that counts cached and written tokens as input: those are taken out, at least 0 is left. */
export function withoutCache(input: number, cacheRead: number, cacheWrite: number): number {
  return Math.max(0, input - cacheRead - cacheWrite);
}
