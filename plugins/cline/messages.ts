/** Messages in the shape of Anthropic's interface, as both stores hold them. */

import { type JsonRecord, parseRecord, toItems, toList, toRecord, toText } from "sessarc";
import { contentText, type EventFields, type SessionDraft } from "sessarc/adapter";

/** What the person said, by the tags that the assistant puts around it. */
const SAID = /<(task|feedback|user_message|answer|user_input)(?: [^>]*)?>\s*([\s\S]*?)\s*<\/\1>/g;
/** Text with the person's role that the assistant put there. */
const INJECTED =
  /^\s*(?:<(?:environment_details|system-reminder|SYSTEM_NOTICE|task-notification|explicit_instructions)\b|\[\w+(?: for |\] ))/;

/** `isSaid`: whether a text without tags is the person's. */
export function addMessage(draft: SessionDraft, message: JsonRecord, model: string | undefined, isSaid: boolean): void {
  const at = draft.time(message.ts);
  const id = toText(message.id);
  const role = message.role === "assistant" ? "assistant" : "user";
  const fields: EventFields = { id, at, ...(role === "assistant" && { model }) };
  for (const item of toItems(message.content)) {
    const block = typeof item === "string" ? { type: "text", text: item } : toRecord(item);
    switch (block.type) {
      case "text":
        if (role === "assistant") draft.say("assistant", block.text, fields);
        else addSaid(draft, contentText(block), fields, isSaid);
        break;
      case "thinking":
      case "reasoning":
        draft.say("thinking", block.thinking ?? block.text, fields);
        break;
      case "tool_use":
        draft.call(block.id, block.name, block.input, fields);
        break;
      case "tool_result": {
        const { text, failed } = toResult(block.content);
        draft.result(block.tool_use_id, text, { ...fields, is_error: block.is_error === true || failed });
        for (const [, tag, said] of text.matchAll(SAID)) if (tag === "feedback") draft.say("user", said, fields);
        break;
      }
      case "file":
        draft.say("note", `[file] ${toText(block.path) ?? "attachment"}`, fields);
        break;
      case "image":
        draft.say("note", "[image]", fields);
        break;
      case "redacted_thinking":
        break;
      default:
        draft.unknown(`block:${toText(block.type) ?? "?"}`);
    }
  }
}

/**
 * A result is text, blocks, or of the newer tools an outcome for each thing that was asked for: one as JSON text, several as records.
 * The call failed if one of them did.
 */
function toResult(content: unknown): { text: string; failed: boolean } {
  const single = parseRecord(content);
  const outcomes = single ? [single] : toList(content).map(toRecord);
  if (outcomes.length === 0 || outcomes.some(({ success }) => typeof success !== "boolean")) {
    return { text: contentText(content) || (toText(content) ?? JSON.stringify(content ?? "")), failed: false };
  }
  const texts = outcomes.map(({ result, error }) => contentText(result) || contentText(error));
  return { text: texts.filter(Boolean).join("\n"), failed: outcomes.some(({ success }) => success === false) };
}

function addSaid(draft: SessionDraft, text: string, fields: EventFields, isSaid: boolean): void {
  const parts = [...text.matchAll(SAID)];
  for (const [, , said] of parts) draft.say("user", said, fields);
  if (parts.length === 0) draft.say(isSaid && !INJECTED.test(text) ? "user" : "note", text, fields);
}
