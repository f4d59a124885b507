/** Conversations of both products: which there are, and what each says. */

import { type JsonRecord, toIso, toItems, toList, toNumber, toRecord, toText } from "sessarc";
import {
  contentText,
  createDraft,
  type EventFields,
  type ListElement,
  readList,
  type SessionDraft,
} from "sessarc/adapter";

type Product = "chatgpt" | "claude-ai";

/** What is not a conversation of the product is left out. */
export async function* listConversations(path: string, product: Product) {
  for await (const { value, offset, length } of readList(path)) {
    const conversation = toRecord(value);
    const isOwn = product === "chatgpt" ? conversation.mapping !== undefined : conversation.chat_messages !== undefined;
    const key = toText(conversation.conversation_id) ?? toText(conversation.id) ?? toText(conversation.uuid);
    if (!isOwn || key === undefined) continue;
    const changed = conversation.update_time ?? conversation.updated_at;
    const place: Omit<ListElement, "value"> = { offset, length };
    yield {
      key,
      title: findTitle(conversation),
      size: length,
      version: `${String(changed)}-${length}`,
      place,
      exclusive: false,
    };
  }
}

const findTitle = (conversation: JsonRecord) => toText(conversation.title) ?? toText(conversation.name);

/** An export holds no tokens: nothing is counted. */
export function readConversation(conversation: JsonRecord, product: Product) {
  const draft = createDraft();
  draft.time(conversation.create_time ?? conversation.created_at);
  if (product === "chatgpt") for (const node of livePath(conversation)) addNode(draft, node);
  else for (const message of toList(conversation.chat_messages).map(toRecord)) addMessage(draft, message);
  return { events: draft.take(), summary: draft.summary({ title: findTitle(conversation) }) };
}

/** From the root to the current message: other branches are answers that were made again. */
function livePath(conversation: JsonRecord): JsonRecord[] {
  const nodes = toRecord(conversation.mapping);
  const path: JsonRecord[] = [];
  const seen = new Set<string>();
  let id = toText(conversation.current_node);
  while (id !== undefined && !seen.has(id)) {
    seen.add(id);
    const node = toRecord(nodes[id]);
    path.unshift(toRecord(node.message));
    id = toText(node.parent);
  }
  return path;
}

function addNode(draft: SessionDraft, message: JsonRecord): void {
  const role = toRecord(message.author).role;
  const metadata = toRecord(message.metadata);
  const at = draft.time(toNumber(message.create_time));
  const model = toText(metadata.model_slug);
  const id = toText(message.id);
  const fields: EventFields = { id, at, ...(role === "assistant" && { model }) };
  const content = toRecord(message.content);
  const text = nodeText(content);
  const recipient = toText(message.recipient) ?? "all";
  if (metadata.is_visually_hidden_from_conversation === true) draft.say("note", text, fields);
  else if (role === "user") draft.say("user", text, fields);
  else if (role === "tool")
    draft.result(undefined, text, { ...fields, tool_name: toText(toRecord(message.author).name) });
  else if (role !== "assistant") draft.say("note", text, fields);
  else if (content.content_type === "thoughts") {
    for (const thought of toList(content.thoughts).map(toRecord))
      draft.say("thinking", toText(thought.content) ?? thought.summary, fields);
  } else if (content.content_type === "reasoning_recap") draft.say("note", text, fields);
  else if (recipient !== "all") draft.call(id, recipient, text, fields);
  else draft.say("assistant", text, fields);
}

/** Pictures and other files are named, not held. */
function nodeText(content: JsonRecord): string {
  const parts = toList(content.parts).map((part) => {
    if (typeof part === "string") return part;
    const { asset_pointer, text, content_type } = toRecord(part);
    return toText(text) ?? (asset_pointer === undefined ? `[${toText(content_type) ?? "part"}]` : "[image]");
  });
  return parts.length > 0 ? parts.filter(Boolean).join("\n") : (toText(content.text) ?? toText(content.content) ?? "");
}

function addMessage(draft: SessionDraft, message: JsonRecord): void {
  const at = draft.time(message.created_at);
  const kind = message.sender === "human" ? "user" : "assistant";
  const fields: EventFields = { id: toText(message.uuid), at };
  const blocks = toItems(message.content).map(toRecord);
  for (const block of blocks) {
    const own = { ...fields, at: toIso(block.start_timestamp) ?? at };
    if (block.type === "text" || block.type === "voice_note") draft.say(kind, block.text, own);
    else if (block.type === "thinking") draft.say("thinking", block.thinking, own);
    else if (block.type === "tool_use") draft.call(block.id, block.name, block.input, own);
    else if (block.type === "tool_result")
      draft.result(block.tool_use_id, contentText(block.content), { ...own, is_error: block.is_error === true });
    else if (block.type !== "token_budget") draft.unknown(`block:${toText(block.type) ?? "?"}`);
  }
  // Older exports have the text alone.
  if (blocks.length === 0) draft.say(kind, message.text, fields);
  for (const file of toList(message.attachments).map(toRecord)) {
    const name = `[file] ${toText(file.file_name) ?? "attachment"}`;
    draft.say("note", [name, toText(file.extracted_content)].filter(Boolean).join("\n"), fields);
  }
}
