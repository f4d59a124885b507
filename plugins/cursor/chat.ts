/** The command line's chats (`~/.cursor/chats/<md5 of the folder>/<agent>/store.db`): a tree of content-addressed blobs per chat. */
import {
  type Draft,
  isRecord,
  type JsonRecord,
  parseRecord,
  type SessionSummary,
  type SqliteFile,
  toJson,
  toList,
  toText,
} from "sessarc";
import { type Builder, createBuilder } from "./conversation.ts";
import { pathOfUri } from "./project.ts";
import { toPrompt, workspaceIn } from "./text.ts";
import { type Conversation, toMs } from "./types.ts";

export interface Chat extends Conversation {
  /** Id of the blob that lists the messages in order; it changes with any of them. */
  root?: string | undefined;
  version: string;
}

/** Undefined when the file is no chat store. */
export function findChat(db: SqliteFile, key: string): Chat | undefined {
  const tables = new Set(db.tables());
  if (!tables.has("meta") || !tables.has("blobs")) return undefined;
  const meta = readMeta(db);
  const root = toText(meta.latestRootBlobId)?.toLowerCase();
  const title = toText(meta.name);
  const chat: Chat = {
    key,
    title,
    createdAt: toMs(meta.createdAt),
    model: toText(meta.lastUsedModel),
    root,
    version: `chat-${root ?? "empty"}-${title ?? ""}`,
  };
  const bytes = root ? blob(db, root) : undefined;
  if (bytes) chat.cwd = pathOfUri(decodeNode(bytes).workspace);
  return chat;
}

/** The chat's messages in the order of the root's references. Replies carry no times and no tokens. */
export function* chatDrafts(
  db: SqliteFile,
  chat: Chat,
  onBytes: (bytes: number) => void,
): Generator<Draft, { summary: SessionSummary; builder: Builder; workspace?: string | undefined }> {
  const builder = createBuilder(chat);
  let workspace: string | undefined;
  let budget = MAX_BLOBS;

  function* visit(id: string, above: readonly string[]): Generator<Draft> {
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
      else yield* messageOf(message);
      return;
    }
    const node = decodeNode(bytes);
    if (node.children.length === 0) builder.count("blob");
    for (const child of node.children) yield* visit(child, [...above, id]);
  }

  function* messageOf(message: JsonRecord): Generator<Draft> {
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

/** One row, key "0", whose value is the hex of JSON. */
function readMeta(db: SqliteFile): JsonRecord {
  const [row] = db.all<{ value: unknown }>("select cast(value as text) as value from meta where key = '0'");
  const value = toText(row?.value);
  if (!value) return {};
  return parseRecord(/^[0-9a-fA-F]+$/.test(value) ? Buffer.from(value, "hex").toString("utf8") : value) ?? {};
}

function blob(db: SqliteFile, id: string): Uint8Array | undefined {
  const [row] = db.all<{ data: unknown }>("select data from blobs where id = ?", [id]);
  const data = row?.data;
  if (data instanceof Uint8Array) return data;
  return typeof data === "string" ? Buffer.from(data, "utf8") : undefined;
}

/** A protobuf message: field 1 repeats 32-byte ids of children in order, field 9 is the workspace's URI. Stops where it is damaged. */
export function decodeNode(bytes: Uint8Array): { children: string[]; workspace?: string | undefined } {
  const node: { children: string[]; workspace?: string | undefined } = { children: [] };
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let shift = 1; at < view.length && shift < 2 ** 49; shift *= 128) {
      const byte = view[at++] as number;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < view.length) {
    const tag = varint();
    if (tag === undefined) break;
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) {
      if (varint() === undefined) break;
    } else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const length = varint();
      if (length === undefined || at + length > view.length) break;
      const value = view.subarray(at, at + length);
      if (field === 1 && length === 32) node.children.push(value.toString("hex"));
      else if (field === 9) node.workspace = value.toString("utf8");
      at += length;
    } else break;
  }
  return node;
}

/** `meta.json` beside a store, in newer versions; the folder it names is right when its MD5 names the bucket. */
export function sidecarFolder(text: string | undefined): string | undefined {
  const cwd = parseRecord(text)?.cwd;
  return pathOfUri(cwd);
}
