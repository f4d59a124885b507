/** Messages of Goose to events, the same in its database and its older logs. */

import { type JsonRecord, toItems, toRecord, toText } from "sessarc";
import { contentText, type EventFields, type SessionDraft, toCount, withoutCache } from "sessarc/adapter";

/** Blocks that hold nothing to read. */
const SILENT = new Set(["redactedThinking", "toolConfirmationRequest"]);

/** `isVisible`: whether the person sees the message. */
export function addMessage(
  draft: SessionDraft,
  role: unknown,
  content: unknown,
  isVisible: boolean,
  fields: EventFields,
): void {
  const kind = !isVisible ? "note" : role === "assistant" ? "assistant" : "user";
  for (const block of toItems(content).map(toRecord)) {
    if (block.type === "text") draft.say(kind, block.text, fields);
    else if (block.type === "thinking") draft.say("thinking", block.thinking, fields);
    else if (block.type === "toolRequest" || block.type === "frontendToolRequest") {
      const call = toRecord(toRecord(block.toolCall).value);
      draft.call(block.id, call.name, call.arguments, fields);
    } else if (block.type === "toolResponse") addResult(draft, block, fields);
    else if (block.type === "image") draft.say("note", "[image]", fields);
    else if (block.type === "systemNotification" || block.type === "summarizationRequested")
      draft.say("note", block.msg, fields);
    else if (!SILENT.has(String(block.type))) draft.unknown(`block:${toText(block.type) ?? "?"}`);
  }
}

function addResult(draft: SessionDraft, block: JsonRecord, fields: EventFields): void {
  const { status, value, error } = toRecord(block.toolResult);
  const result = toRecord(value);
  const failed = status === "error";
  const text = failed ? (toText(error) ?? "Error") : contentText(result.content ?? value);
  draft.result(block.id, text, { ...fields, is_error: failed || result.isError === true });
}

/** Goose counts cached and written tokens as input, whatever the provider does. */
export function toUsage(input: unknown, output: unknown, read: unknown, write: unknown) {
  const [cacheRead, cacheWrite5m] = [toCount(read), toCount(write)];
  return {
    input: withoutCache(toCount(input), cacheRead, cacheWrite5m),
    output: toCount(output),
    cacheRead,
    cacheWrite5m,
  };
}

export const isPaid = (usage: ReturnType<typeof toUsage>) =>
  usage.input + usage.output + usage.cacheRead + usage.cacheWrite5m > 0;
