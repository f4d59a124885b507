/** A conversation as events and summary. */

import {
  isRecord,
  type JsonRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toItems,
  toJson,
  toRecord,
  toText,
} from "sessarc";
import {
  countUnknown,
  createLedger,
  earliest,
  type LooseUsage,
  latest,
  type NewEvent,
  possible,
  toCount,
  toTitle,
  withoutCache,
} from "sessarc/adapter";
import { findResult, findWorkspace, replyText, userText } from "./content.ts";
import { toVirtualProject } from "./projects.ts";
import type { Conversation, Reply } from "./types.ts";

/** Events of the live messages, numbered from 0; unknown kinds are counted in `unknown`. */
export function toEvents(conversation: Conversation, unknown: Record<string, number>): NewEvent[] {
  const events: NewEvent[] = [];
  /** Calls whose own record has no result, by id: their names. */
  const open = new Map<string, string>();
  for (const row of conversation.messages.values()) {
    for (const event of messageEvents(row, unknown)) {
      if (event.kind === "tool_use" && event.tool_use_id) open.set(event.tool_use_id, event.tool_name ?? "tool");
      else if (event.kind === "tool_result" && event.tool_use_id) open.delete(event.tool_use_id);
      events.push(event);
    }
    if (open.size > 0) for (const event of lateResults(row, open)) events.push(event);
  }
  return events;
}

export function toSummary(
  ref: SessionRef,
  conversation: Conversation,
  events: readonly NewEvent[],
  skipped: NonNullable<SessionSummary["skipped"]>,
): SessionSummary {
  const { meta, first, last } = conversation;
  const ledger = createLedger();
  // Ids are only unique within a session: old logs countUnknown them. Those of a copy are its original's.
  const scope = meta.copyOf ?? meta.sessionId ?? ref.key;
  for (const reply of conversation.replies.values()) {
    const { at, model = "unknown" } = reply;
    ledger.add({ key: `${scope}/${reply.id}`, at, model, usage: toUsage(reply), price: { oneCall: true } });
  }
  const sums = ledger.summary();
  const times = [toIso(meta.startTime), first, last, ...events.map((event) => event.at)];
  const startedAt = earliest(times);
  const endedAt = last === undefined ? latest([...times, toIso(meta.lastUpdated)]) : latest(times);
  const cwd = ref.cwd ?? findWorkspace(conversation.context);
  return {
    title: toTitle(meta.summary) ?? toTitle(events.find((event) => event.kind === "user")?.text) ?? ref.title,
    cwd,
    virtualProject: cwd === undefined ? toVirtualProject(ref.path, meta.projectHash) : undefined,
    parent: ref.parent,
    forkedFrom: meta.copyOf,
    startedAt,
    endedAt,
    ...sums,
    evidence: {
      ...sums.evidence,
      records: conversation.tokenRecords,
      duplicatesFolded: conversation.tokenRecords - conversation.replies.size,
    },
    skipped,
  };
}

/** `cached` is inside `input`, `thoughts` outside `output`, `tool` (tool-use prompt) outside `input`. */
function toUsage({ tokens }: Reply): LooseUsage {
  const cached = toCount(tokens.cached);
  return {
    input: withoutCache(toCount(tokens.input), cached, 0) + possible(toCount(tokens.tool)),
    output: tokens.output,
    reasoning: tokens.thoughts,
    cacheRead: cached,
  };
}

function* messageEvents(row: JsonRecord, unknown: Record<string, number>): Generator<NewEvent> {
  const base = { id: toText(row.id), at: toIso(row.timestamp) };
  if (row.type === "user") {
    const { typed, injected } = userText(row);
    if (injected !== "") yield { ...base, kind: "note", text: injected };
    if (typed !== "") yield { ...base, kind: "user", text: typed };
  } else if (row.type === "gemini") yield* replyEvents(row, base);
  else if (row.type === "info" || row.type === "warning" || row.type === "error") {
    const { answer } = replyText(row);
    if (answer !== "") yield { ...base, kind: "note", text: answer, ...(row.type === "error" && { is_error: true }) };
  } else countUnknown(unknown, toText(row.type) ?? "message");
}

type Base = Pick<NewEvent, "id" | "at">;

function* replyEvents(row: JsonRecord, base: Base): Generator<NewEvent> {
  const from = { ...base, model: toText(row.model) };
  const { answer, thoughts } = replyText(row);
  const listed = toItems(row.thoughts).filter(isRecord);
  for (const thought of listed) {
    const text = [thought.subject, thought.description]
      .filter((part) => typeof part === "string" && part !== "")
      .join("\n");
    if (text !== "") yield { ...from, kind: "thinking", text, at: toIso(thought.timestamp) ?? base.at };
  }
  if (listed.length === 0) for (const text of thoughts) yield { ...from, kind: "thinking", text };
  if (answer !== "") yield { ...from, kind: "assistant", text: answer };
  const calls = toItems(row.toolCalls).filter(isRecord);
  for (const call of calls.length > 0 ? calls : callParts(row)) yield* callEvents(call, from);
}

function* callEvents(call: JsonRecord, from: Base & { model?: string | undefined }): Generator<NewEvent> {
  const name = toText(call.name) ?? "tool";
  const tool_use_id = toText(call.id);
  const text = toText(call.description) ?? "";
  yield { ...from, kind: "tool_use", text, tool_name: name, tool_use_id, tool_input: toJson(call.args ?? {}) };
  const result = findResult(call);
  if (!result) return;
  const at = toIso(call.timestamp) ?? from.at;
  yield {
    id: from.id,
    at,
    kind: "tool_result",
    text: result.text,
    tool_name: name,
    tool_use_id,
    is_error: result.isError,
  };
}

/** Results in a message of the user's role, for calls without a result. */
function* lateResults(row: JsonRecord, open: Map<string, string>): Generator<NewEvent> {
  if (row.type !== "user") return;
  for (const part of toItems(row.content)) {
    const { functionResponse } = toRecord(part);
    const id = isRecord(functionResponse) ? toText(functionResponse.id) : undefined;
    const name = id === undefined ? undefined : open.get(id);
    const result = name === undefined ? undefined : findResult({ name, result: [part] });
    if (id === undefined || !result) continue;
    open.delete(id);
    const shared = { id: toText(row.id), at: toIso(row.timestamp), tool_name: name, tool_use_id: id };
    yield { ...shared, kind: "tool_result", text: result.text, is_error: result.isError };
  }
}

/** Rewritten histories carry calls as parts of `content` only. */
function callParts(row: JsonRecord): JsonRecord[] {
  return toItems(row.content).flatMap((part) => {
    const call = toRecord(part).functionCall;
    return isRecord(call) ? [call] : [];
  });
}
