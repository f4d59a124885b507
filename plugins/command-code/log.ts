/** Command Code's sessions and their rows: what lies below the folder, and rows of its three formats → events, tokens, facts. */
import { basename } from "node:path";
import { isRecord, type JsonRecord, type SessionRef, toRecord, toText } from "sessarc";
import {
  contentParts,
  createSessionLog,
  type EventFields,
  findLogs,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  possible,
  readRecord,
  toCount,
  toRef,
  withoutCache,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;
type Ref = Pick<SessionRef, "path">;

const LOG = /^(?!.*\.(?:checkpoints|prompts)\.jsonl$)(.+)\.jsonl$/;
const toFacts = (path: string): string => path.replace(/\.jsonl$/, ".meta.json");

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  for await (const log of findLogs(root, (name) => name.endsWith("/") || LOG.test(name), 3))
    refs.push(toRef(LOG.exec(log.name)?.[1] ?? log.name, log, [toFacts(log.path)]));
  yield* withUniqueKeys(root, refs);
}

/** A call that failed is marked in its text alone: by an exit code, and, of tools that write, by any text but these. */
const FAILED = /^(?:Exit code: [1-9]|No tool named |File not found )/;
const WRITERS = new Set(["edit_file", "write_file"]);
const WRITTEN = /^(?:Edited|Created) | successfully/;

/** Rows of the third format without anything to show. */
const SKIPPED = new Set(["effort_change", "custom", "label"]);

export function createParser(ref: Ref): LineParser {
  const log = createSessionLog({ id: "" });
  const { facts, own } = log;
  const stem = basename(ref.path, ".jsonl");

  /** `content` of a message; `told` is what the client says of it. */
  const say = (role: unknown, content: unknown, told: JsonRecord, fields: EventFields): NewEvent[] => {
    const isNote = told.isMeta === true || told.isSummary === true || told.isAutomated === true;
    return contentParts(content).flatMap((part) => {
      switch (part.type) {
        case "thinking":
        case "reasoning":
          return log.say("thinking", part.thinking ?? part.text, fields);
        case "tool_use":
        case "tool-call":
          return log.call(part.id ?? part.toolCallId, part.name ?? part.toolName, part.input ?? part.args, fields);
        case "tool_result":
        case "tool-result":
          return toResult(part, fields);
        case "image":
          return log.say(isNote ? "note" : "user", "[image]", fields);
        default:
          return log.say(isNote ? "note" : role === "assistant" ? "assistant" : "user", part.text, fields);
      }
    });
  };

  const toResult = (part: JsonRecord, fields: EventFields): NewEvent => {
    // The second format wraps what came back: a text, or JSON.
    const output = toRecord(part.output);
    const value = output.value ?? part.output ?? part.result ?? part.content;
    const text = partsText(value) || (isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : "");
    const isMarked = part.is_error === true || String(output.type).startsWith("error") || FAILED.test(text);
    const result = log.result(part.tool_use_id ?? part.toolCallId, text, {
      ...fields,
      tool_name: toText(part.toolName),
    });
    return { ...result, is_error: isMarked || (WRITERS.has(result.tool_name ?? "") && !WRITTEN.test(text)) };
  };

  /** Of the third format. What is read from a cache, or written to it, is inside the input. */
  const count = (row: JsonRecord, key: string | undefined, at: string | undefined): void => {
    const { inputTokens, outputTokens: output, costUsd, ...cached } = toRecord(row.usage);
    const [cacheRead, written] = [toCount(cached.cacheReadTokens), toCount(cached.cacheWriteTokens)];
    const cacheWrite1h = Math.min(written, toCount(cached.cacheWriteTokens1h));
    const input = withoutCache(toCount(inputTokens), cacheRead, written);
    const usage = { input, output, cacheRead, cacheWrite5m: written - possible(cacheWrite1h), cacheWrite1h };
    log.count({ key, at, model: facts.model ?? "unknown", usage }, costUsd);
  };

  const message = (row: JsonRecord): NewEvent[] => {
    const inner = toRecord(row.message);
    const told = toRecord(inner.meta);
    const isReply = inner.role === "assistant";
    if (isReply) facts.model = toText(row.model) ?? facts.model;
    const at = log.time(row.timestamp);
    // A fork gives its rows other ids; messages keep theirs.
    const key = toText(told.messageId) ?? (toText(row.id) && `${own.id || stem}:${row.id}`);
    count(row, key, at);
    return say(inner.role, inner.content, told, { at, id: toText(row.id), ...(isReply && { model: facts.model }) });
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      switch (row.type) {
        case "session":
          own.id = toText(row.id) ?? own.id;
          facts.cwd = toText(row.cwd) ?? facts.cwd;
          // A fork has the first row of its origin, or names the origin's file.
          if (own.id !== stem) facts.forkedFrom ??= toText(own.id);
          facts.forkedFrom = toText(row.parentSession)?.replace(/^.*[\\/]|\.jsonl$/g, "") ?? facts.forkedFrom;
          log.time(row.timestamp);
          return;
        case "message":
          return message(row);
        case "model_change":
          facts.model = toText(row.model) ?? facts.model;
          return;
        case "session_info":
          facts.title = toText(row.name);
          return;
        case "compaction":
        case "branch_summary":
          return log.say("note", toText(row.summary) ?? "Context compacted", { at: log.time(row.timestamp) });
        case "custom_message":
          return say("user", row.content, { isMeta: true }, { at: log.time(row.timestamp), id: toText(row.id) });
        case undefined: {
          if (row.role === undefined) return log.unknown(row.type);
          // The formats before: a row is a message, without tokens.
          facts.gitBranch = [toText(row.gitBranch)].find((branch) => branch !== "-") ?? facts.gitBranch;
          const fields = { at: log.time(row.timestamp), id: toText(row.id) };
          return say(row.role, row.content, toRecord(row.metadata), fields);
        }
        default:
          if (typeof row.type !== "string" || !SKIPPED.has(row.type)) log.unknown(row.type);
      }
    },
    finish() {
      const beside = readRecord(toFacts(ref.path)) ?? {};
      const forkedFrom = toText(beside.parentSessionId) ?? facts.forkedFrom;
      return log.summary({ title: facts.title ?? toText(beside.title), forkedFrom });
    },
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));
