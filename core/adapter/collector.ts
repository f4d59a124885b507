/**
 * What an adapter collects of a session: facts, times, tokens, open calls, unknown rows. `createSessionLog` returns the events of each row, for
 * parsers of lines; `createDraft` keeps them until they are taken, for documents and databases.
 */
import type { NewEvent } from "../contract/adapter.ts";
import type { EventKind, SessionSummary } from "../session/session.ts";
import { createLedger, type LedgerEntry, toCount } from "../session/usage.ts";
import { BoundedMap } from "../utils/bounded.ts";
import { type JsonRecord, toJson, toNumber, toText, toToolInput } from "../utils/json.ts";
import { countUnknown } from "../utils/text.ts";
import { toIso, widen } from "../utils/time.ts";

/** Calls whose names are remembered for their results. */
const CALLS = 512;
const UNKNOWN_NAMES = 50;

/** Facts of the session as rows give them; `model` is what the next reply is attributed to. */
export type LogFacts = Pick<
  SessionSummary,
  | "title"
  | "cwd"
  | "gitBranch"
  | "gitRemote"
  | "assistantVersion"
  | "parent"
  | "forkedFrom"
  | "virtualProject"
  | "startedAt"
  | "endedAt"
> & { model?: string | undefined };

/** Fields of an event beside its kind and text. */
export type EventFields = Partial<Omit<NewEvent, "kind" | "text">>;

interface Collector<Own extends JsonRecord> {
  readonly facts: LogFacts;
  /** State of the adapter's own that the parser needs to go on after this row: JSON, small. */
  readonly own: Own;
  /** A row's time as ISO 8601; the session's start and end include it. */
  time(value: unknown): string | undefined;
  /** Whether a call of this id was made before (the last 512 are known). */
  isCalled(id: unknown): boolean;
  /** Counts a reply's tokens. An entry without tokens makes none. `cost`: what the log says the reply cost, in US dollars. */
  count(entry: LedgerEntry, cost?: unknown): void;
  /** Counts a row of a type that the parser does not know. */
  unknown(type: unknown): undefined;
  /** Counts a record that cannot be read. */
  bad(): void;
  /**
   * The summary so far; `facts` win. `total` replaces the replies counted: for tools that keep the figures beside the log. `requests` is how
   * many model calls the tool says they are of.
   */
  summary(
    facts?: Partial<SessionSummary>,
    total?: { entries: readonly LedgerEntry[]; requests?: number | undefined },
  ): SessionSummary;
}

/** Never throws for content. */
export interface SessionLog<Own extends JsonRecord = JsonRecord> extends Collector<Own> {
  /** An event with this text. What is not a text, or holds only white space, makes none. */
  say(kind: EventKind, text: unknown, fields?: EventFields): NewEvent[];
  /** A tool call; `input` may be JSON text. Its name is remembered for the result. */
  call(id: unknown, name: unknown, input: unknown, fields?: EventFields): NewEvent;
  /** The result of the call `id`; `tool_name` where the row has it, `is_error` where the row reports success or failure. */
  result(id: unknown, text: string, fields?: EventFields): NewEvent;
}

/** Never throws for content. */
export interface SessionDraft<Own extends JsonRecord = JsonRecord> extends Collector<Own> {
  say(kind: EventKind, text: unknown, fields?: EventFields): void;
  call(id: unknown, name: unknown, input: unknown, fields?: EventFields): void;
  /** It succeeded unless `is_error` is set. */
  result(id: unknown, text: string, fields?: EventFields): void;
  /** Removes and returns the events collected so far. */
  take(): NewEvent[];
}

/** `own`: what the adapter remembers beside. Each method takes constant time but `summary`. */
export function createSessionLog<Own extends JsonRecord = JsonRecord>(own: Own): SessionLog<Own> {
  const facts: LogFacts = {};
  const calls = new BoundedMap<string, string>(CALLS);
  const unknown: Record<string, number> = {};
  const ledger = createLedger();
  let cost: number | undefined;
  let bad = 0;
  return {
    facts,
    own,
    time(value) {
      const at = toIso(value);
      widen(facts, at);
      return at;
    },
    say: (kind, text, fields) => (typeof text === "string" && /\S/.test(text) ? [{ kind, text, ...fields }] : []),
    call(id, name, input, fields) {
      const known = toText(name) ?? "tool";
      const callId = toText(id);
      if (callId !== undefined) calls.set(callId, known);
      const event: NewEvent = { kind: "tool_use", text: "", ...fields, tool_name: known };
      const args = toJson(toToolInput(input));
      return { ...event, ...(callId && { tool_use_id: callId }), ...(args !== undefined && { tool_input: args }) };
    },
    isCalled: (id) => typeof id === "string" && calls.has(id),
    result(id, text, { is_error, tool_name, ...fields } = {}) {
      const callId = toText(id);
      const tool = tool_name || calls.get(callId ?? "");
      return {
        kind: "tool_result",
        text,
        ...fields,
        ...(callId && { tool_use_id: callId }),
        ...(tool && { tool_name: tool }),
        ...(is_error !== undefined && { is_error }),
      };
    },
    count(entry, dollars) {
      if (hasTokens(entry)) ledger.add(entry);
      const paid = toNumber(dollars);
      if (paid !== undefined && paid > 0 && !entry.inherited) cost = (cost ?? 0) + paid;
    },
    unknown(type) {
      const name = typeof type === "string" ? type : "(no type)";
      if (name in unknown || Object.keys(unknown).length < UNKNOWN_NAMES) countUnknown(unknown, name);
    },
    bad: () => void bad++,
    summary(given, total) {
      const { model: _, ...known } = facts;
      const shared = { ...known, ...(cost && { costUSD: cost }), skipped: { lines: bad, unknown: { ...unknown } } };
      if (!total) return { ...shared, ...ledger.summary(), ...given };
      const sums = createLedger();
      for (const entry of total.entries) if (hasTokens(entry)) sums.add(entry);
      const { evidence, ...usage } = sums.summary();
      const requests = total.requests ?? evidence.requests;
      return { ...shared, ...usage, evidence: { ...evidence, requests }, ...given };
    },
  };
}

/** Collects what `createSessionLog` collects, of a session that is read whole: events are kept until they are taken. */
export function createDraft(): SessionDraft {
  const log = createSessionLog({});
  let events: NewEvent[] = [];
  return {
    ...log,
    say: (kind, text, fields) => void events.push(...log.say(kind, text, fields)),
    call: (id, name, input, fields) => void events.push(log.call(id, name, input, fields)),
    result: (id, text, fields) =>
      void events.push(log.result(id, text, { ...fields, is_error: fields?.is_error ?? false })),
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
}

const hasTokens = ({ usage }: LedgerEntry): boolean => Object.values(usage).some((count) => toCount(count) !== 0);
