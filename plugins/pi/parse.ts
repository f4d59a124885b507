/** pi's entries → events, tokens and the session's facts. */

import { isRecord, type JsonRecord, toIso, toRecord, toText } from "sessarc";
import {
  contentParts,
  createSessionLog,
  type EventFields,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  possible,
  toCount,
} from "sessarc/adapter";
import { createOutputs } from "./outputs.ts";

/** Entries without anything to show: settings, bookmarks, bookkeeping of omp and Prime. */
const SKIPPED = new Set([
  "agent_status",
  "child_usage_attributed",
  "context_edit",
  "credential_pin",
  "custom",
  "git_state",
  "label",
  "mode_change",
  "session_init",
  "session_state",
  "service_tier_change",
  "thinking_level_change",
]);

/** Messages of Letta Code that are remembered: one that changes is written once more, whole. */
const SEEN = 64;
const INJECTED = /^\s*<system-(?:reminder|alert)>/;

/** `path` of the log where it is a file. */
export function createParser(path?: string): LineParser {
  const wholeOutput = createOutputs(path);
  const log = createSessionLog({ id: "", created: "", seen: {} as Record<string, number> });
  const { facts, own } = log;

  /** How many parts of a message were shown before; of one without an id, none. */
  const toShown = (id: string | undefined, parts: number): number => {
    if (id === undefined) return 0;
    const before = own.seen[id] ?? 0;
    const { [id]: _, ...others } = own.seen;
    own.seen = Object.fromEntries([...Object.entries(others), [id, Math.max(before, parts)]].slice(-SEEN));
    return before;
  };

  const header = (row: JsonRecord): void => {
    if (own.id !== "") return;
    own.id = toText(row.id) ?? "?";
    own.created = log.time(row.timestamp) ?? "";
    facts.cwd = toText(row.cwd);
    facts.title = toText(row.title) ?? facts.title;
    facts.model = toText(row.modelId);
    const from = toText(row.parentSession) ?? toText(row.branchedFrom);
    if (from) facts.forkedFrom = keyOfPath(from);
  };

  /**
   * The tokens of a model call: a reply's, or of a row that is not a reply (a summary, a warmed cache, a tool that asked a model).
   * A fork copies its parent's lines with their times: what is older than the fork was paid for there.
   */
  const count = (row: JsonRecord, call: JsonRecord, at: string | undefined, model: string | undefined): void => {
    if (!isRecord(call.usage)) return;
    const { input, output, cacheRead, cost } = call.usage;
    const parts =
      call.id === undefined ? [row.id, call.responseId, row.timestamp] : [call.id, call.responseId, call.timestamp];
    const key = parts.filter((part) => typeof part === "string" || typeof part === "number").join(":");
    const written = toCount(call.usage.cacheWrite);
    const cacheWrite1h = Math.min(written, toCount(call.usage.cacheWrite1h));
    const entry = {
      key: key || undefined,
      at,
      model: model ?? "unknown",
      usage: { input, output, cacheRead, cacheWrite5m: written - possible(cacheWrite1h), cacheWrite1h },
      inherited: facts.forkedFrom !== undefined && at !== undefined && Date.parse(at) < Date.parse(own.created),
      price: { oneCall: true },
    };
    log.count(entry, toRecord(cost).total);
  };

  const message = (row: JsonRecord, at: string | undefined): NewEvent[] => {
    const said = toRecord(row.message);
    const own = toText(said.id);
    const fields: EventFields = { at, id: own ?? toText(row.id) };
    const parts = contentParts(said.content);
    const shown = toShown(own, parts.length);
    switch (said.role) {
      case "user":
        return parts.slice(shown).flatMap((part) => {
          const isNote = own !== undefined && INJECTED.test(toText(part.text) ?? "");
          return log.say(isNote ? "note" : "user", part.text, fields);
        });
      case "assistant": {
        const model = toText(said.model) ?? facts.model;
        count(row, said, at, model);
        return parts.slice(shown).flatMap((part) => {
          if (part.type === "toolCall") return log.call(part.id, part.name, part.arguments, { ...fields, model });
          if (part.type === "thinking") return log.say("thinking", part.thinking, { ...fields, model });
          return log.say("assistant", part.text, { ...fields, model });
        });
      }
      case "toolResult": {
        count(row, said, at, toText(said.model) ?? facts.model);
        if (shown > 0) return [];
        const failed = typeof said.isError === "boolean" ? said.isError : undefined;
        const { text, ...cut } = wholeOutput(partsText(said.content), said.details);
        return [
          {
            ...log.result(said.toolCallId, text, { ...fields, is_error: failed, tool_name: toText(said.toolName) }),
            ...cut,
          },
        ];
      }
      case "bashExecution":
        return log.say(
          "note",
          `! ${toText(said.command) ?? ""}\n${wholeOutput(toText(said.output) ?? "", said).text}`,
          fields,
        );
      case "branchSummary":
      case "compactionSummary":
        return log.say("note", said.summary, fields);
      default:
        return log.say("note", partsText(said.content), fields);
    }
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      if (row.type === "session") return header(row) ?? undefined;
      const at = toIso(row.timestamp);
      switch (row.type) {
        case "message":
          log.time(at);
          return message(row, at);
        case "model_change":
          facts.model = toText(row.modelId) ?? toText(row.model)?.replace(/^[^/]*\//, "") ?? facts.model;
          return;
        case "compaction":
        case "branch_summary":
          log.time(at);
          count(row, row, at, toText(row.model) ?? facts.model);
          return log.say("note", row.summary, { at, id: toText(row.id) });
        case "usage":
          log.time(at);
          return count(row, row, at, toText(row.model) ?? facts.model) ?? undefined;
        case "custom_message":
          return log.say("note", partsText(row.content), { at: log.time(at), id: toText(row.id) });
        case "session_info":
          facts.title = toText(row.name) ?? facts.title;
          return;
        case "title":
          facts.title = toText(row.title)?.trim() || facts.title;
          return;
        case "child_usage_attributed":
          log.time(at); // the children's own logs have their tokens
          return;
        default:
          if (typeof row.type !== "string" || !SKIPPED.has(row.type)) log.unknown(row.type);
      }
    },
    finish: () => log.summary(),
  };
}

export const peek = (ref: { path: string }) => peekLog(ref, createParser());

/** The key of the session whose log is at `path`, or which has that id. */
function keyOfPath(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path;
  return /_([0-9a-f-]{36})\.jsonl$/i.exec(name)?.[1] ?? name.replace(/^.*_(?=[^_]+\.jsonl$)|\.jsonl$/g, "");
}
