/** What a parser of JSON lines collects, whichever assistant wrote them: facts, times, tokens, open calls, unknown rows. */
import type { NewEvent } from "../contract/adapter.ts";
import type { EventKind, SessionSummary } from "../session/session.ts";
import { createLedger, type LedgerEntry, toCount } from "../session/usage.ts";
import { BoundedMap } from "../utils/bounded.ts";
import { isJson, isRecord, type Json, type JsonRecord, toJson, toNumber, toText, toToolInput } from "../utils/json.ts";
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

/** Fields that most events have. */
export type RowFields = Pick<NewEvent, "at" | "id" | "model">;

export interface SessionLog<Own extends JsonRecord> {
  readonly facts: LogFacts;
  /** State of the adapter's own that the parser needs to go on after this row: JSON, small. */
  readonly own: Own;
  /** A row's time as ISO 8601; the session's start and end include it. */
  time(value: unknown): string | undefined;
  /** An event with this text; none when the text is blank. */
  say(kind: EventKind, text: unknown, fields?: RowFields): NewEvent[];
  /** A tool call. `input` may be JSON text. Its name is remembered for the result. */
  call(id: unknown, name: unknown, input: unknown, fields?: RowFields): NewEvent;
  /** Whether a call of this id was made before (the last 512 are known). */
  isCalled(id: unknown): boolean;
  /** The result of a call; `name` where the row has it. */
  result(id: unknown, text: string, fields?: RowFields & { failed?: boolean | undefined; name?: unknown }): NewEvent;
  /** Counts a reply's tokens. An entry without tokens makes none. `cost`: what the log says the reply cost, in US dollars. */
  count(entry: LedgerEntry, cost?: unknown): void;
  /** Counts a row of a type that the parser does not know. */
  unknown(type: unknown): undefined;
  /**
   * The summary so far. `total` replaces the replies counted: for tools that keep the figures beside the log. `requests` is how many
   * model calls the tool says they are of.
   */
  summary(total?: { entries: readonly LedgerEntry[]; requests?: number | undefined }): SessionSummary;
  snapshot(): Json;
}

interface State {
  facts: LogFacts;
  own: JsonRecord;
  calls: Record<string, string>;
  unknown: Record<string, number>;
  ledger: Json;
  /** US dollars of own replies, where the log has them. */
  cost?: number | undefined;
}

/** `state` is a former `snapshot()`; anything else starts with `own`. Each method takes constant time but `summary` and `snapshot`. */
export function createSessionLog<Own extends JsonRecord = JsonRecord>(
  state: Json | undefined,
  own: Own,
): SessionLog<Own> {
  const past = isState<Own>(state) ? state : undefined;
  const facts: LogFacts = { ...past?.facts };
  const calls = new BoundedMap(CALLS, Object.entries(past?.calls ?? {}));
  const unknown = { ...past?.unknown };
  const ledger = createLedger(past?.ledger);
  let cost = past?.cost;
  const kept: Own = past ? { ...own, ...structuredClone(past.own) } : own;
  return {
    facts,
    own: kept,
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
    result(id, text, { failed, name, ...fields } = {}) {
      const callId = toText(id);
      const tool = toText(name) ?? calls.get(callId ?? "");
      return {
        kind: "tool_result",
        text,
        ...fields,
        ...(callId && { tool_use_id: callId }),
        ...(tool && { tool_name: tool }),
        ...(failed !== undefined && { is_error: failed }),
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
    summary(total) {
      const { model: _, ...known } = facts;
      const shared = { ...known, ...(cost && { costUSD: cost }), skipped: { lines: 0, unknown: { ...unknown } } };
      if (!total) return { ...shared, ...ledger.summary() };
      const sums = createLedger();
      for (const entry of total.entries) if (hasTokens(entry)) sums.add(entry);
      const { evidence, ...usage } = sums.summary();
      const requests = total.requests ?? evidence.requests;
      return { ...shared, ...usage, evidence: { ...evidence, requests } };
    },
    snapshot() {
      const next: State = {
        facts,
        own: kept,
        calls: Object.fromEntries(calls),
        unknown,
        ledger: ledger.snapshot(),
        cost,
      };
      const json: unknown = JSON.parse(JSON.stringify(next));
      return isJson(json) ? json : null;
    },
  };
}

const hasTokens = ({ usage }: LedgerEntry): boolean => Object.values(usage).some((count) => toCount(count) !== 0);

function isState<Own>(state: Json | undefined): state is Json & State & { own: Own } {
  return isRecord(state) && isRecord(state.facts) && isRecord(state.own) && "ledger" in state;
}

/** The parts of a message: its blocks, or one block for a plain text. */
export function contentParts(content: unknown): JsonRecord[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.flatMap((part) => contentPart(part)) : [];
}

const contentPart = (part: unknown): JsonRecord[] =>
  typeof part === "string" ? [{ type: "text", text: part }] : isRecord(part) ? [part] : [];

/** The texts of a message's blocks, one below the other. */
export function partsText(content: unknown): string {
  return contentParts(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");
}
