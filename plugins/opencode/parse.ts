/** OpenCode's messages and parts -> events and usage. Pure: rows come in, from wherever they were stored. */

import { type JsonRecord, type SessionSummary, toJson, toNumber, toRecord, toText } from "sessarc";
import {
  createLedger,
  type LooseUsage,
  msToIso,
  type NewEvent,
  toCount,
  toTokens,
  withoutCache,
} from "sessarc/adapter";
import type { Outputs } from "./outputs.ts";
import type { Requests } from "./requests.ts";
import type { Row, SessionRow } from "./types.ts";

interface Parser {
  /** `last`: no message follows, so an unfinished reply may still be growing. */
  message(row: Row, parts: Iterable<Row>, last: boolean): Iterable<NewEvent>;
  /** Counts a row that could not even be addressed. */
  bad(): void;
  finish(): SessionSummary;
}

/** Parts that carry nothing to read: bookkeeping, and tokens that the message repeats. */
const SILENT = new Set(["step-start", "step-finish", "snapshot", "patch"]);

/** Messages that a setting of the user's made, not a prompt. */
const SETTINGS = new Set(["local_setting", "setting_update"]);

/** Content never makes it throw. `requests` count instead of the replies that they cover. */
export function createParser(session: SessionRow, outputs: Outputs, requests?: Requests): Parser {
  const ledger = createLedger();
  const unknown: Record<string, number> = Object.create(null);
  let lines = 0;
  let first = Number.POSITIVE_INFINITY;
  let latest = 0;
  let cwd = toText(session.directory);
  let reverted = false;
  /** Messages that hold the summary of a compaction. */
  const summaries = new Set<string>();

  const saw = (ms: unknown) => {
    const at = msToIso(ms);
    if (at === undefined) return undefined;
    first = Math.min(first, ms as number);
    latest = Math.max(latest, ms as number);
    return at;
  };
  const count = (type: string) => {
    const name = type.slice(0, 60);
    unknown[name] = (unknown[name] ?? 0) + 1;
  };

  function pay(row: Row, data: JsonRecord, at: string | undefined, created: number | undefined, model: string): void {
    if (requests?.covers(row.id, toNumber(toRecord(data.time).completed))) return;
    const counted = toUsage(toRecord(data.tokens));
    const input = withoutCache(toCount(counted.input), toCount(counted.cacheRead), toCount(counted.cacheWrite5m));
    const usage = session.isGross ? { ...counted, input } : counted;
    if (Object.values(usage).every((count) => toCount(count) === 0)) return;
    // A fork copies messages under new ids and with their old times: what is older than the session was paid for elsewhere.
    const inherited = created !== undefined && session.createdAt !== undefined && created < session.createdAt;
    ledger.add({ key: row.id, at, model, usage, inherited });
  }

  function* part(row: Row, context: Context): Generator<NewEvent> {
    const data = row.data;
    if (!data) {
      lines++;
      return;
    }
    const type = toText(data.type);
    const time = toRecord(data.time);
    const at = saw(time.start) ?? saw(row.createdAt) ?? context.at;
    const note = (text: string | undefined): NewEvent[] => (text ? [{ kind: "note", id: row.id, at, text }] : []);
    const text = toText(data.text);
    switch (type) {
      case "text": {
        if (!text) return;
        const injected = data.synthetic === true || data.ignored === true || context.summary;
        const open = context.growing && time.start !== undefined && time.end === undefined;
        const kind = injected ? "note" : context.role;
        const event: NewEvent = { kind, id: row.id, at, model: kind === "assistant" ? context.model : undefined, text };
        yield open ? { ...event, open } : event;
        return;
      }
      case "reasoning": {
        if (!text) return;
        const event: NewEvent = { kind: "thinking", id: row.id, at, model: context.model, text };
        yield context.growing && time.end === undefined ? { ...event, open: true } : event;
        return;
      }
      case "tool":
        yield* tool(row, data, at, context);
        return;
      case "file": {
        const source = toRecord(data.source);
        yield* note(`[file] ${toText(data.filename) ?? toText(source.path) ?? toText(data.mime) ?? "attachment"}`);
        return;
      }
      case "timeline": {
        const to = toText(toRecord(data.toModelSelection).modelId) ?? toText(toRecord(data.toModel).modelID);
        if (data.timelineType === "model_change") yield* note(`Model: ${to ?? "unknown"}`);
        return;
      }
      case "compaction":
        summaries.add(toText(data.summaryMessageId) ?? "");
        yield* note(data.auto === true ? "Conversation compacted automatically" : "Conversation compacted");
        return;
      case "subtask":
        yield* note([data.description, data.prompt].map(toText).filter(Boolean).join("\n\n"));
        return;
      case "agent":
        yield* note(`@${toText(data.name) ?? "agent"}`);
        return;
      case "retry":
        yield* note(`Retry ${toNumber(data.attempt) ?? ""}: ${errorText(data.error)}`);
        return;
      default:
        if (!type || !SILENT.has(type)) count(type ? `part:${type}` : "part");
    }
  }

  function* tool(row: Row, data: JsonRecord, at: string | undefined, context: Context): Generator<NewEvent> {
    const name = toText(data.tool) ?? "unknown";
    const state = toRecord(data.state);
    const time = toRecord(state.time);
    const call = { id: row.id, tool_name: name, tool_use_id: toText(data.callID) ?? row.id };
    const input = toJson(state.input);
    const started = saw(time.start) ?? at;
    const ended = saw(time.end);
    const done = state.status === "completed" || state.status === "error" || state.output !== undefined;
    const use: NewEvent = {
      kind: "tool_use",
      ...call,
      at: started,
      model: context.model,
      text: toText(state.title) ?? "",
      tool_input: input,
    };
    yield !done && context.growing ? { ...use, open: true } : use;
    if (!done) return;
    const failed = state.status === "error";
    const output = failed ? { text: errorText(state.error) } : outputs(outputText(state.output), state);
    const exit = toNumber(toRecord(state.metadata).exit);
    const is_error = failed || name === "invalid" || (exit !== undefined && exit !== 0);
    yield { kind: "tool_result", ...call, at: ended ?? started, ...output, is_error };
  }

  return {
    bad() {
      lines++;
    },
    *message(row, parts, last) {
      const data = row.data;
      if (!data) lines++;
      const role = data?.role;
      if (data && role !== "user" && role !== "assistant") count(`message:${toText(role) ?? "no role"}`);
      const time = toRecord(data?.time);
      const created = toNumber(time.created) ?? row.createdAt;
      const at = saw(created);
      const completed = saw(time.completed);
      const model = role === "assistant" ? findModel(toRecord(data)) : undefined;
      if (role === "assistant") {
        cwd ??= toText(toRecord(data?.path).cwd);
        if (data) pay(row, data, at, created, model ?? "unknown");
      }
      if (session.revertedFrom !== undefined && !reverted && isFrom(row.id, session)) {
        reverted = true;
        yield { kind: "note", at, text: "Reverted: OpenCode hides what follows" };
      }
      const context: Context = {
        at,
        model,
        role: role === "assistant" ? "assistant" : role === "user" && !isSetting(data) ? "user" : "note",
        summary: (role === "assistant" && data?.summary === true) || summaries.has(row.id),
        growing: last && role === "assistant" && completed === undefined && data?.error === undefined,
      };
      for (const each of parts) yield* part(each, context);
      const error = data?.error;
      if (error !== undefined && error !== null) {
        yield { kind: "note", id: row.id, at: completed ?? at, text: errorText(error), is_error: true };
      }
    },
    finish() {
      for (const request of requests?.entries ?? []) {
        saw(request.at === undefined ? undefined : Date.parse(request.at));
        if (Object.values(request.usage).some((tokens) => tokens !== 0)) ledger.add(request);
      }
      const { usage, inheritedUsage, slots, replies, evidence } = ledger.summary();
      const isFirst = session.isEarly && first >= (session.createdAt ?? 0);
      const started = (isFirst ? undefined : msToIso(session.createdAt)) ?? msToIso(first);
      const ended = Math.max(latest, session.createdAt ?? 0) || session.updatedAt;
      return {
        title: toText(session.title),
        assistantVersion: session.version,
        cwd: cwd ?? (session.worktree === "/" ? undefined : toText(session.worktree)),
        parent: session.parent,
        forkedFrom: session.forkedFrom,
        startedAt: started,
        endedAt: msToIso(ended),
        usage,
        ...(inheritedUsage ? { inheritedUsage } : {}),
        slots,
        replies,
        evidence,
        skipped: { lines, unknown: { ...unknown } },
      };
    },
  };
}

const findModel = ({ modelID, model, modelSelection }: JsonRecord): string | undefined =>
  toText(modelID) ?? toText(toRecord(model).modelID) ?? toText(toRecord(modelSelection).modelId);

const isSetting = (data: JsonRecord | undefined): boolean => SETTINGS.has(String(toRecord(data?.semantics).kind));

/** Whether a message is the one from which on the conversation was taken back, or follows it. */
const isFrom = (id: string, { revertedFrom = "", isNumbered }: SessionRow): boolean =>
  isNumbered ? id === revertedFrom : id >= revertedFrom;

interface Context {
  at: string | undefined;
  model: string | undefined;
  role: "user" | "assistant" | "note";
  /** The reply is the summary a compaction made, not an answer. */
  summary: boolean;
  growing: boolean;
}

/**
 * OpenCode 1.1 counts reasoning inside `output`, 1.18 outside. `total` tells: equal to the sum without reasoning means inside.
 * Without a total it is taken to be inside.
 */
export function toUsage(tokens: JsonRecord): LooseUsage {
  const cache = toRecord(tokens.cache);
  const usage = { input: tokens.input, output: tokens.output, cacheRead: cache.read, cacheWrite5m: cache.write };
  const sum = Object.values(toTokens(usage)).reduce((all, count) => all + count, 0);
  const reasoning = toCount(tokens.reasoning);
  const isInside = toCount(tokens.total) !== sum + reasoning;
  return { ...usage, reasoning: isInside && !Number.isNaN(reasoning) ? 0 : reasoning };
}

function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  return output === undefined || output === null ? "" : JSON.stringify(output);
}

export function errorText(error: unknown): string {
  if (typeof error === "string") return error;
  const fields = toRecord(error);
  const message = toText(toRecord(fields.data).message) ?? toText(fields.message);
  const name = toText(fields.name);
  return [name, message].filter(Boolean).join(": ") || "Error";
}
