/** A chat document as events and summary. */

import {
  type EventKind,
  isRecord,
  type JsonRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toItems,
  toRecord,
  toText,
} from "sessarc";
import {
  countUnknown,
  createLedger,
  earliest,
  type LedgerSummary,
  latest,
  type NewEvent,
  toCount,
  toTitle,
} from "sessarc/adapter";
import { type Call, hiddenCall, matchCalls, toCall, toRounds } from "./calls.ts";
import { referenceName, toMarkdown } from "./text.ts";

/** Parts of an answer without content. */
const SILENT = new Set(
  `textEditGroup notebookEditGroup textEdit notebookEdit workspaceEdit codeblockUri undoStop progressTask progressTaskSerialized
  progressMessage progressTaskResult mcpServersStarting mcpServersStartingSlow prepareToolInvocation confirmation elicitation elicitation2
  elicitationSerialized command treeData references usedContext contentReference codeCitation extensions pullRequest
  multiDiffData move clearToPreviousToolInvocation toolInvocation questionCarousel hook disabledClaudeHooks changes`.split(
    /\s+/,
  ),
);
/** Longest answer time that is believed. */
const DAY = 86_400_000;

export function toEvents(document: JsonRecord, unknown: Record<string, number>): NewEvent[] {
  const events: NewEvent[] = [];
  for (const request of toItems(document.requests)) {
    if (isRecord(request)) events.push(...requestEvents(request, unknown));
    else countUnknown(unknown, "request");
  }
  return events;
}

/** Where chats without a folder go. */
export const toVirtualProject = (ref: SessionRef) =>
  ref.cwd === undefined ? { key: "no-folder", name: "VS Code (no folder)" } : undefined;

export function toSummary(
  ref: SessionRef,
  document: JsonRecord,
  events: readonly NewEvent[],
  skipped: NonNullable<SessionSummary["skipped"]>,
): SessionSummary {
  const times = [toIso(document.creationDate), ...events.map((event) => event.at)];
  const prompt = events.find((event) => event.kind === "user");
  return {
    title: toTitle(toText(document.customTitle)) ?? toTitle(prompt?.text) ?? ref.title,
    cwd: ref.cwd,
    virtualProject: toVirtualProject(ref),
    startedAt: earliest(times),
    endedAt: latest(times),
    ...toUsage(document, ref),
    skipped,
  };
}

/** The model that answered: as the service resolved it, else as chosen (`copilot/<id>`). */
function findModel(request: JsonRecord): string | undefined {
  const resolved = toText(toMetadata(request).resolvedModel);
  return resolved ?? toText(request.modelId)?.replace(/^copilot\//, "");
}

/** Prompt tokens are an upper bound: what was cached is not logged. */
function toUsage(document: JsonRecord, ref: SessionRef): LedgerSummary {
  const ledger = createLedger();
  const session = toText(document.sessionId) ?? ref.key;
  toItems(document.requests).forEach((request, n) => {
    if (!isRecord(request)) return;
    const { promptTokens, outputTokens } = toMetadata(request);
    if (toCount(promptTokens) + toCount(outputTokens) === 0) return;
    ledger.add({
      key: `${session}/${toText(request.requestId) ?? n}`,
      at: toIso(request.timestamp),
      model: findModel(request) ?? "unknown",
      usage: { input: promptTokens, output: outputTokens },
    });
  });
  return ledger.summary();
}

function* requestEvents(request: JsonRecord, unknown: Record<string, number>): Generator<NewEvent> {
  const at = toIso(request.timestamp);
  const id = toText(request.requestId);
  const message = request.message;
  const prompt = typeof message === "string" ? message : (toText(toRecord(message).text) ?? "");
  if (prompt !== "") yield { kind: "user", text: prompt, id, at };

  const model = findModel(request);
  const reply = { id: toText(request.responseId) ?? id, model };
  const metadata = toMetadata(request);
  const calls = toRounds(metadata).flatMap((round) => round.calls);
  const parts = toItems(request.response);
  const shown = parts.filter((part): part is JsonRecord => isRecord(part) && part.kind === "toolInvocationSerialized");
  const matched = matchCalls(shown, calls);
  // Text and calls alternate: neighbouring pieces of text are one message, and the last one is complete when the request ended.
  const end = endOf(request) ?? at;
  let texts: string[] = [];
  let callsShown = 0;
  function* answer(time: string | undefined): Generator<NewEvent> {
    const text = texts.join("").trim();
    texts = [];
    if (text !== "") yield { ...reply, kind: "assistant", text, at: time };
  }

  for (const part of parts) {
    if (!isRecord(part)) {
      if (typeof part === "string") texts.push(part);
      else countUnknown(unknown, "response");
      continue;
    }
    const kind = part.kind === undefined ? "markdown" : String(part.kind);
    if (kind === "markdown" || kind === "markdownContent" || kind === "markdownVuln") {
      texts.push(toMarkdown(part.content) || toMarkdown(part));
    } else if (kind === "inlineReference") texts.push(referenceName(part));
    else if (kind === "thinking") {
      const text = toMarkdown(part.value).trim();
      if (text === "") continue;
      yield* answer(at);
      yield { ...reply, kind: "thinking", text, at };
    } else if (kind === "toolInvocationSerialized") {
      yield* answer(at);
      yield* callEvents(toCall(part, matched[callsShown++], metadata), reply, at);
    } else if (kind === "warning" || kind === "errorMessage" || kind === "systemNotification") {
      const text = toMarkdown(part.content) || toMarkdown(part.message) || toMarkdown(part);
      if (text === "") continue;
      yield* answer(at);
      yield { ...reply, kind: "note", text, at };
    } else if (!SILENT.has(kind)) countUnknown(unknown, kind);
  }
  if (shown.length === 0) {
    // A view without its calls, or without any part: the rounds have the calls, and what was written before each.
    let rest = texts.join("").trim();
    const bare = rest === "";
    for (const { text, calls: made } of toRounds(metadata)) {
      const isHere = text !== "" && (bare || (made.length > 0 && rest.startsWith(text)));
      texts = isHere ? [text] : [];
      if (isHere && !bare) rest = rest.slice(text.length).trim();
      yield* answer(made.length > 0 ? at : end);
      for (const call of made) yield* callEvents(hiddenCall(call, metadata), reply, at);
    }
    texts = [rest];
  }
  yield* answer(end);
  const error = toText(toRecord(toRecord(request.result).errorDetails).message);
  if (error !== undefined) yield { kind: "note", text: error, id, at: end, is_error: true };
  else if (request.isCanceled === true) yield { kind: "note", text: "Request cancelled", id, at: end };
}

type Reply = Pick<NewEvent, "id" | "model">;

function* callEvents(call: Call, reply: Reply, at: string | undefined): Generator<NewEvent> {
  const common = { at, tool_name: call.name, tool_use_id: call.id };
  const kind: EventKind = "tool_use";
  yield { ...reply, ...common, kind, text: call.text, tool_input: call.input };
  if (!call.result) return;
  const { text, isError } = call.result;
  yield { id: reply.id, ...common, kind: "tool_result", text, is_error: isError };
}

function toMetadata(request: JsonRecord): JsonRecord {
  return toRecord(toRecord(request.result).metadata);
}

function endOf(request: JsonRecord): string | undefined {
  const elapsed = toRecord(toRecord(request.result).timings).totalElapsed;
  const start = request.timestamp;
  if (typeof start !== "number" || typeof elapsed !== "number" || !(elapsed >= 0 && elapsed < DAY)) return undefined;
  return toIso(start + elapsed);
}
