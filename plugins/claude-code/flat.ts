/**
 * CodeBuddy's and WorkBuddy's own log, which is in the folders of Claude Code's but is not its format: flat rows, times in milliseconds,
 * tokens in `providerData`.
 */

import { isRecord, type JsonRecord, type SessionRef, toList, toRecord, toText } from "sessarc";
import {
  contentText,
  createSessionLog,
  type EventFields,
  type LineParser,
  type NewEvent,
  toCount,
  withoutCache,
} from "sessarc/adapter";
import { createOutputs } from "./outputs.ts";
import { createParser, isUuid, toStem } from "./parse.ts";

type Ref = Pick<SessionRef, "path" | "parent">;

/** Rows without anything to show. */
const SKIPPED = new Set(["file-history-snapshot", "session-meta", "turn-metrics", "topic"]);
const FLAT = new Set(["message", "reasoning", "function_call", "function_call_result"]);
/** Of Claude Code. */
const NESTED = new Set(["user", "assistant", "system", "attachment"]);
/** What the client puts around a prompt, and says in the person's place. */
const PROMPT = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/;
const INJECTED = /^\s*<(?:system-reminder|command-name|command-message|local-command|task-notification)/;
/** The agents that the client calls for itself. */
const SUMMARIES = new Set(["compact", "contextSummary"]);

/** A log of either format: the first row that only one of them has decides. */
export function createEitherParser(ref: Ref): LineParser {
  const flat = createFlatParser(ref);
  const nested = createParser(ref);
  let known: LineParser | undefined;
  return {
    row(row, line) {
      const type = isRecord(row) ? String(row.type) : "";
      known ??= FLAT.has(type) ? flat : NESTED.has(type) ? nested : undefined;
      if (known) return known.row(row, line);
      flat.row(row, line);
      return nested.row(row, line);
    },
    end: () => (known === nested ? (nested.end?.() ?? []) : []),
    finish: () => (known ?? flat).finish(),
  };
}

function createFlatParser(ref: Ref): LineParser {
  const log = createSessionLog({ named: false });
  const { facts, own } = log;
  const stem = toStem(ref.path);
  const output = createOutputs(ref.path);
  facts.parent = ref.parent;

  const message = (row: JsonRecord, fields: EventFields): NewEvent[] => {
    const told = toRecord(row.providerData);
    const text = contentText(row.content);
    const isInjected = told.isMeta === true || told.skipRun === true || SUMMARIES.has(String(told.agent));
    if (row.role === "assistant") return log.say(isInjected ? "note" : "assistant", text, fields);
    if (row.role !== "user") return log.say("note", text, fields);
    const [whole, typed] = PROMPT.exec(text) ?? [];
    if (whole === undefined) return log.say(isInjected || INJECTED.test(text) ? "note" : "user", text, fields);
    return [...log.say("note", text.replace(whole, ""), fields), ...log.say("user", typed, fields)];
  };

  const toResult = (row: JsonRecord, fields: EventFields): NewEvent => {
    const { rawResponse, error } = toRecord(toRecord(row.providerData).toolResult);
    const isDone = row.status === undefined || row.status === "completed" || row.status === "success";
    const failed = !isDone || error !== undefined || toRecord(rawResponse).is_error === true;
    const { text, truncated } = output(contentText(row.output));
    return {
      ...log.result(row.callId, text, { ...fields, is_error: failed, tool_name: toText(row.name) }),
      ...(truncated && { truncated }),
    };
  };

  /** One row of a reply has its tokens; rows of early versions do not name the reply. */
  const count = (row: JsonRecord, at: string | undefined, inherited: boolean): void => {
    const told = toRecord(row.providerData);
    const own = toRecord(row.message);
    const usage = toTokens(isRecord(told.usage) ? told.usage : toRecord(own.usage), toRecord(told.rawUsage));
    const key = toText(told.messageId) ?? toText(own.id) ?? toText(row.id);
    log.count({ key, at, model: facts.model ?? "unknown", usage, inherited });
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      const told = toRecord(row.providerData);
      const from = toText(row.sessionId);
      // A fork repeats its parent's rows as they were.
      const inherited = !ref.parent && isUuid(stem) && from !== undefined && isUuid(from) && from !== stem;
      if (inherited) facts.forkedFrom ??= from;
      facts.cwd = toText(row.cwd) ?? facts.cwd;
      const model = toText(told.model) ?? toText(toRecord(row.message).model) ?? toText(told.requestModelId);
      if (model !== undefined) facts.model = model;
      const fields = { at: log.time(row.timestamp), id: toText(row.id) };
      count(row, fields.at, inherited);
      switch (row.type) {
        case "message":
          return message(row, row.role === "assistant" ? { ...fields, model: facts.model } : fields);
        case "reasoning": {
          const shown = contentText(row.rawContent) || contentText(row.content);
          return log.say("thinking", shown, { ...fields, model: facts.model });
        }
        case "function_call":
          return log.call(row.callId, row.name, row.arguments, { ...fields, model: facts.model });
        case "function_call_result":
          return toResult(row, fields);
        case "summary":
          return log.say("note", row.summary, fields);
        case "custom-title":
          facts.title = toText(row.customTitle) ?? facts.title;
          own.named = true;
          return;
        case "ai-title":
          if (!own.named) facts.title = toText(row.aiTitle) ?? facts.title;
          return;
        default:
          if (!SKIPPED.has(String(row.type))) log.unknown(row.type);
      }
    },
    finish: () => log.summary(),
  };
}

const isThere = (count: number) => count !== 0;

/** Cached tokens are inside the input. What was written to the cache is in the provider's own record alone. */
function toTokens(usage: JsonRecord, raw: JsonRecord) {
  const details = toList(usage.inputTokensDetails).map((one) => toCount(toRecord(one).cached_tokens));
  const inside = details.reduce((sum, one) => sum + one, 0);
  const hit = [inside, toCount(usage.cache_read_input_tokens), toCount(raw.prompt_cache_hit_tokens)].find(isThere) ?? 0;
  const written = [raw.cache_creation_input_tokens, raw.prompt_cache_write_tokens].map(toCount);
  const cacheWrite5m = written.find(isThere) ?? 0;
  const input = withoutCache(toCount(usage.inputTokens ?? usage.input_tokens), hit, cacheWrite5m);
  return { input, output: usage.outputTokens ?? usage.output_tokens, cacheRead: hit, cacheWrite5m };
}
