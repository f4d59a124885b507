/** Rows of Qwen Code and iFlow → events, tokens and the session's facts. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRecord, type JsonRecord, type SessionRef, toIso, toRecord, toText } from "sessarc";
import {
  contentParts,
  createSessionLog,
  type EventFields,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  readRecord,
  storedOutput,
  toCount,
  withoutCache,
} from "sessarc/adapter";

type Ref = Pick<SessionRef, "path" | "parent">;

/** How a result begins whose output is in a file of its own. */
const OUTPUT = /^Tool output was too large[^\n]{0,200}\nThe full output has been saved to: ([^\n]+)\n/;
const OUTPUT_HEAD = 5_000;

export function createParser(ref: Ref): LineParser {
  const log = createSessionLog({});
  const { facts } = log;
  const stem = basename(ref.path, ".jsonl");
  const isAgent = stem.startsWith("agent-");
  const children = join(dirname(dirname(ref.path)), "subagents", stem);
  // Rows of a sub-agent do not name the model.
  if (isAgent) facts.model ??= toText(readRecord(join(dirname(ref.path), `${stem}.meta.json`))?.model);
  facts.parent = ref.parent;

  const envelope = (row: JsonRecord): EventFields => {
    facts.cwd = toText(row.cwd) ?? facts.cwd;
    facts.gitBranch = toText(row.gitBranch) ?? facts.gitBranch;
    facts.assistantVersion = toText(row.version) ?? facts.assistantVersion;
    const from = toText(toRecord(row.forkedFrom).sessionId);
    if (from !== undefined && from !== stem) facts.forkedFrom ??= from;
    return { at: log.time(row.timestamp), id: toText(row.uuid) };
  };

  const fromUser = (row: JsonRecord, message: JsonRecord): NewEvent[] => {
    const fields = envelope(row);
    const isTyped = row.provenance === undefined || row.provenance === "real_user";
    return toParts(message).flatMap((part) => {
      if (part.functionResponse !== undefined || part.type === "tool_result") return toResult(row, part, fields);
      const isNote = !isTyped || /^\s*<(task-notification|system-reminder)>/.test(toText(part.text) ?? "");
      return log.say(isNote ? "note" : "user", part.text, fields);
    });
  };

  const toResult = (row: JsonRecord, part: JsonRecord, fields: EventFields): NewEvent => {
    // iFlow wraps what Qwen writes as it is.
    const inner = toRecord(toRecord(toRecord(part.content).responseParts).functionResponse);
    const answer = isRecord(part.functionResponse) ? part.functionResponse : inner;
    const { output, error } = toRecord(answer.response);
    const failed = error !== undefined || toRecord(row.toolCallResult).status === "error" || part.is_error === true;
    const text = toText(output) ?? toText(error) ?? partsText(part.content);
    const result = log.result(answer.id ?? part.tool_use_id, text, {
      ...fields,
      is_error: failed,
      tool_name: toText(answer.name),
    });
    const [, named] = OUTPUT.exec(text.slice(0, OUTPUT_HEAD)) ?? [];
    // `<base>/tmp/<project>/<call>.output`, beside `<base>/projects/<project>/chats`.
    const [, project] = /[\\/]tmp[\\/]([\w-]+)[\\/][^\\/]+$/.exec(named ?? "") ?? [];
    if (named === undefined || project === undefined) return result;
    const [base = ""] = /^.*(?=[\\/]projects[\\/])/s.exec(ref.path) ?? [];
    return { ...result, ...storedOutput(text, named, base === "" ? [] : [join(base, "tmp", project)]) };
  };

  const fromModel = (row: JsonRecord, message: JsonRecord): NewEvent[] => {
    const model = toText(row.model) ?? toText(message.model) ?? facts.model;
    facts.model = model;
    const fields: EventFields = { ...envelope(row), model };
    count(row, message, fields);
    return toParts(message).flatMap((part) => {
      const call = isRecord(part.functionCall) ? part.functionCall : part.type === "tool_use" ? part : undefined;
      // iFlow writes one reply as several rows that repeat calls.
      if (call) return log.isCalled(call.id) ? [] : [log.call(call.id, call.name, call.args ?? call.input, fields)];
      const isThought = part.thought === true || part.type === "thinking";
      return log.say(isThought ? "thinking" : "assistant", part.thinking ?? part.text, fields);
    });
  };

  const count = (row: JsonRecord, message: JsonRecord, { at, id, model = "unknown" }: EventFields): void => {
    const price = { oneCall: true };
    const inherited = isRecord(row.forkedFrom);
    const key = toText(toRecord(row.forkedFrom).messageUuid) ?? id;
    if (isRecord(row.usageMetadata)) {
      const { promptTokenCount: prompt, candidatesTokenCount: said, thoughtsTokenCount: thought } = row.usageMetadata;
      const { cachedContentTokenCount: cached, totalTokenCount: total } = row.usageMetadata;
      log.count({ key, at, model, usage: toCounts(prompt, cached, said, thought, total), inherited, price });
    } else if (isRecord(message.usage)) {
      const { input_tokens: input, output_tokens: output } = message.usage;
      const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite5m } = message.usage;
      log.count({
        key: toText(message.id) ?? key,
        at,
        model,
        usage: { input, output, cacheRead, cacheWrite5m },
        price,
      });
    }
  };

  const fromSystem = (row: JsonRecord): NewEvent[] => {
    const fields = envelope(row);
    const payload = toRecord(row.systemPayload);
    if (row.subtype === "custom_title") facts.title = toText(payload.customTitle) ?? facts.title;
    if (row.subtype === "chat_compression") return log.say("note", "Context compacted", fields);
    if (row.subtype === "slash_command" && payload.phase !== "result")
      return log.say("note", payload.rawCommand, fields);
    if (row.subtype === "ui_telemetry") countCall(toRecord(payload.uiEvent));
    return [];
  };

  /** Calls that are in the telemetry alone: for a compression, and until 0.15 a sub-agent's, which has no log there. */
  const countCall = (call: JsonRecord): void => {
    if (call["event.name"] !== "qwen-code.api_response") return;
    const isCompression = toText(call.prompt_id)?.startsWith("compress-") ?? false;
    if (!isCompression && (call.subagent_name === undefined || isAgent || existsSync(children))) return;
    const { input_token_count: prompt, output_token_count: said, thoughts_token_count: thought } = call;
    const usage = toCounts(prompt, call.cached_content_token_count, said, thought, call.total_token_count);
    const at = toIso(call["event.timestamp"]);
    log.count({ key: toText(call.response_id), at, model: toText(call.model) ?? "unknown", usage });
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      const message = toRecord(row.message);
      if (row.type === "user" || row.type === "tool_result") return fromUser(row, message);
      if (row.type === "assistant") return fromModel(row, message);
      if (row.type === "system") return fromSystem(row);
      log.unknown(row.type);
    },
    finish: () => log.summary(),
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));

const toParts = (message: JsonRecord): JsonRecord[] => contentParts(message.parts ?? message.content);

/** Gemini counts thoughts beside the answer, which shows in the total; other models count them in it. */
function toCounts(prompt: unknown, cached: unknown, said: unknown, thought: unknown, total: unknown) {
  const [cacheRead, output, thoughts] = [toCount(cached), toCount(said), toCount(thought)];
  const isBeside = toCount(total) === toCount(prompt) + output + thoughts;
  return {
    input: withoutCache(toCount(prompt), cacheRead, 0),
    output,
    reasoning: isBeside || Number.isNaN(thoughts) ? thoughts : 0,
    cacheRead,
  };
}
