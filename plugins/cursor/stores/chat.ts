/** The command line's chats (`~/.cursor/chats/<md5 of the folder>/<agent>/store.db`): a tree of content-addressed blobs per chat. */
import { type JsonRecord, parseRecord, toText } from "sessarc";
import type { SqliteFile } from "sessarc/adapter";
import { type Conversation, toMs } from "./types.ts";
import { pathOfUri } from "./uri.ts";

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

/** One row, key "0", whose value is the hex of JSON. */
function readMeta(db: SqliteFile): JsonRecord {
  const [row] = db.all<{ value: unknown }>("select cast(value as text) as value from meta where key = '0'");
  const value = toText(row?.value);
  if (!value) return {};
  return parseRecord(/^[0-9a-fA-F]+$/.test(value) ? Buffer.from(value, "hex").toString("utf8") : value) ?? {};
}

/** A message as JSON (it begins with a brace), or a node of the tree. */
export function blob(db: SqliteFile, id: string): Uint8Array | undefined {
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
