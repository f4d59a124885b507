/** A chat of the command line: the tree of its messages, walked in order. */
import { isRecord, type JsonRecord, parseRecord, type SessionSummary, toJson, toList, toText } from "sessarc";
import type { NewEvent, SqliteFile } from "sessarc/adapter";
import { blob, type Chat, decodeNode } from "../stores/chat.ts";
import { type Builder, createBuilder } from "./conversation.ts";
import { toPrompt, workspaceIn } from "./text.ts";

/** The chat's messages in the order of the root's references. Replies carry no times and no tokens. */
export function* chatDrafts(
  db: SqliteFile,
  chat: Chat,
  onBytes: (bytes: number) => void,
): Generator<NewEvent, { summary: SessionSummary; builder: Builder; workspace?: string | undefined }> {
  const builder = createBuilder(chat);
  let workspace: string | undefined;
  let budget = MAX_BLOBS;

  function* visit(id: string, above: readonly string[]): Generator<NewEvent> {
    if (above.includes(id) || above.length > DEPTH || budget-- <= 0) {
      builder.count("blob:cycle");
      return;
    }
    const bytes = blob(db, id);
    if (!bytes) {
      builder.count("blob:missing");
      return;
    }
    onBytes(bytes.length);
    if (bytes[0] === OPEN_BRACE) {
      const message = parseRecord(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
      if (!message) builder.bad();
      else yield* toMessage(message);
      return;
    }
    const node = decodeNode(bytes);
    if (node.children.length === 0) builder.count("blob");
    for (const child of node.children) yield* visit(child, [...above, id]);
  }

  function* toMessage(message: JsonRecord): Generator<NewEvent> {
    const role = toText(message.role);
    const id = toText(message.id);
    const content =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : toList(message.content);
    for (const part of content) {
      if (!isRecord(part)) {
        builder.bad();
        continue;
      }
      const text = toText(part.text);
      const type = toText(part.type);
      if (type === "text" && role === "user") {
        const prompt = toPrompt(text ?? "");
        workspace ??= workspaceIn(text ?? "");
        if (prompt.note) yield { kind: "note", id, at: prompt.at, text: prompt.note };
        if (prompt.text) yield { kind: "user", id, at: prompt.at, text: prompt.text };
      } else if (type === "text") {
        if (text)
          yield {
            kind: role === "assistant" ? "assistant" : "note",
            id,
            model: role === "assistant" ? chat.model : undefined,
            text,
          };
      } else if (type === "reasoning") {
        if (text) yield { kind: "thinking", id, model: chat.model, text };
      } else if (type === "tool-call") {
        yield {
          kind: "tool_use",
          id,
          model: chat.model,
          text: "",
          tool_name: toText(part.toolName) ?? "unknown",
          tool_use_id: toText(part.toolCallId),
          tool_input: toJson(part.args ?? part.input),
        };
        builder.named(toJson(part.args ?? part.input));
      } else if (type === "tool-result") {
        const result = part.result ?? part.output;
        yield {
          kind: "tool_result",
          id,
          tool_name: toText(part.toolName),
          tool_use_id: toText(part.toolCallId),
          text:
            typeof result === "string" ? result : result === undefined || result === null ? "" : JSON.stringify(result),
          is_error: part.isError === true,
        };
      } else if (type === "image" || type === "file") yield { kind: "note", id, text: `[${type}]` };
      else builder.count(`chat:${type ?? "no type"}`);
    }
  }

  if (!chat.root) builder.count("blob:no root");
  else yield* visit(chat.root, []);
  return { summary: builder.finish(), builder, workspace };
}

const OPEN_BRACE = 0x7b;
const DEPTH = 8;
const MAX_BLOBS = 500_000;
