/** A conversation: its state, which has the tokens, and a file for each event. */
import { dirname, join } from "node:path";
import { type JsonRecord, type SessionRef, toItems, toList, toNumber, toRecord, toText } from "sessarc";
import {
  contentText,
  createDraft,
  readDocument,
  readFolderInSlices,
  type SessionDraft,
  toCount,
  withoutCache,
} from "sessarc/adapter";

/** Events that hold nothing to read. */
const SILENT = new Set([
  "SystemPromptEvent",
  "ConversationStateUpdateEvent",
  "CondensationRequest",
  "PauseEvent",
  "LLMCompletionLogEvent",
]);

export async function readConversation(ref: SessionRef) {
  const state = await readDocument(ref.path);
  if (!state) return undefined;
  const draft = createDraft();
  if (!state.whole) draft.bad();
  const folder = join(dirname(ref.path), "events");
  // Times of the replies by the id of the model's response.
  const times = new Map<unknown, string | undefined>();
  for (const entry of await readFolderInSlices(folder)) {
    if (!entry.isFile() || !entry.name.endsWith(".json")) continue;
    const found = await readDocument(join(folder, entry.name));
    if (!found) continue;
    if (!found.whole) draft.bad();
    const event = toRecord(found.value);
    const at = draft.time(event.timestamp);
    if (event.llm_response_id !== undefined && !times.has(event.llm_response_id)) times.set(event.llm_response_id, at);
    addEvent(draft, event, at);
  }
  const { workspace, stats, agent } = toRecord(state.value);
  const model = toText(toRecord(toRecord(agent).llm).model);
  for (const [name, value] of Object.entries(toRecord(toRecord(stats).usage_to_metrics)))
    addMetrics(draft, toRecord(value), times, `${ref.key}:${name}`, model);
  return { events: draft.take(), summary: draft.summary({ cwd: toText(toRecord(workspace).working_dir) }) };
}

function addEvent(draft: SessionDraft, event: JsonRecord, at: string | undefined): void {
  const fields = { id: toText(event.id), at };
  switch (event.kind) {
    case "MessageEvent": {
      const message = toRecord(event.llm_message);
      draft.say("thinking", message.reasoning_content, fields);
      const kind = event.source === "user" ? "user" : event.source === "agent" ? "assistant" : "note";
      for (const block of toItems(message.content)) draft.say(kind, contentText(block), fields);
      break;
    }
    case "ActionEvent": {
      draft.say("thinking", event.reasoning_content, fields);
      for (const thought of toItems(event.thought)) draft.say("assistant", contentText(thought), fields);
      draft.call(event.tool_call_id, event.tool_name, toRecord(event.tool_call).arguments, fields);
      break;
    }
    case "ObservationEvent": {
      const { content, output, exit_code, is_error } = toRecord(event.observation);
      const failed = is_error === true || (toNumber(exit_code) ?? 0) !== 0;
      draft.result(event.tool_call_id, contentText(content ?? output), { ...fields, is_error: failed });
      break;
    }
    case "UserRejectObservation":
      draft.result(event.tool_call_id, toText(event.rejection_reason) ?? "Rejected", { ...fields, is_error: true });
      break;
    case "AgentErrorEvent":
      draft.result(event.tool_call_id, toText(event.error) ?? "Error", { ...fields, is_error: true });
      break;
    case "Condensation":
      draft.say("note", toText(event.summary) ?? "Conversation compacted", fields);
      break;
    default:
      if (!SILENT.has(String(event.kind))) draft.unknown(event.kind);
  }
}

/** Of one model of the conversation: each call, else the sum. */
function addMetrics(
  draft: SessionDraft,
  metrics: JsonRecord,
  times: ReadonlyMap<unknown, string | undefined>,
  key: string,
  configured: string | undefined,
): void {
  const calls = toList(metrics.token_usages).map(toRecord);
  for (const [n, call] of (calls.length > 0 ? calls : [toRecord(metrics.accumulated_token_usage)]).entries()) {
    const [sent, output] = [toCount(call.prompt_tokens), toCount(call.completion_tokens)];
    const [cacheRead, cacheWrite5m] = [toCount(call.cache_read_tokens), toCount(call.cache_write_tokens)];
    if (sent + output + cacheRead + cacheWrite5m === 0) continue;
    // The prompt includes the cache, except where an agent of another maker counts it apart.
    const input = cacheRead > sent ? sent : withoutCache(sent, cacheRead, cacheWrite5m);
    draft.count({
      key: toText(call.response_id) ?? `${key}:${n}`,
      at: times.get(call.response_id),
      model: toText(call.model) ?? toText(metrics.model_name) ?? configured ?? "unknown",
      usage: { input, output, cacheRead, cacheWrite5m },
    });
  }
}
