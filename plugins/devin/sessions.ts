/** Rows of `sessions.db`: a node for each message. A compaction writes nodes that it keeps once more, under new numbers. */

import {
  type JsonRecord,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toList,
  toRecord,
  toText,
} from "sessarc";
import {
  contentText,
  createDraft,
  type DatabaseSession,
  type EventFields,
  hash53,
  type NewEvent,
  presentColumns,
  rowMarks,
  type SessionDraft,
  type SqliteFile,
  sessionRows,
} from "sessarc/adapter";

const SESSION = ["working_directory", "model", "title", "created_at", "last_activity_at"];
const NODE = ["session_id", "chat_message", "created_at", "metadata"];

export function listSessions(db: SqliteFile): DatabaseSession[] {
  const marks = rowMarks(db, "message_nodes", { text: "chat_message" });
  return sessionRows(db, "sessions", SESSION).flatMap((row) => {
    const [key = "", active] = [toText(row.id), toIso(row.last_activity_at)];
    const mark = marks.get(key);
    if (mark === undefined) return [];
    const mtime = active === undefined ? undefined : Date.parse(active);
    const version = [row.last_activity_at, row.title, row.model, mark].map(String).join("-");
    return [{ key, title: toText(row.title), cwd: toText(row.working_directory), mtime, version }];
  });
}

export function* readSession(
  db: SqliteFile,
  { key }: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  const [row] = sessionRows(db, "sessions", SESSION, key);
  const columns = presentColumns(db, "message_nodes", NODE);
  if (!row || !columns.includes("session_id") || !columns.includes("chat_message")) return undefined;
  const draft = createDraft();
  for (const time of [row.created_at, row.last_activity_at]) draft.time(time);
  const known = new Map<string, string>();
  const sql = `select ${columns.join(", ")} from message_nodes where session_id = ? order by rowid`;
  for (const node of db.iterate<JsonRecord>(sql, [key])) {
    const text = toText(node.chat_message) ?? "";
    onBytes(text.length);
    const message = parseRecord(text);
    if (!message) draft.bad();
    else addNode(draft, message, { node, known, usual: toText(row.model) });
    yield* draft.take();
  }
  return draft.summary({ title: toText(row.title), cwd: toText(row.working_directory) });
}

interface Around {
  node: JsonRecord;
  /** The identity of each message so far, by its id and by its time and content. */
  known: Map<string, string>;
  /** The session's model. */
  usual: string | undefined;
}

function addNode(draft: SessionDraft, message: JsonRecord, { node, known, usual }: Around): void {
  const metadata = toRecord(message.metadata);
  const names = toNames(message, metadata);
  const first = names.map((name) => known.get(name)).find((name) => name !== undefined);
  const identity = first ?? names[0];
  for (const name of names) if (identity !== undefined) known.set(name, identity);
  const at = draft.time(metadata.created_at) ?? draft.time(node.created_at);
  const model = message.role === "assistant" ? (toText(metadata.generation_model) ?? usual) : undefined;
  const { input_tokens: input, output_tokens: output, ...cache } = toRecord(metadata.metrics);
  const usage = { input, output, cacheRead: cache.cache_read_tokens, cacheWrite5m: cache.cache_creation_tokens };
  // Input is what no cache had. Of several copies the one with most output counts.
  if (message.role === "assistant") draft.count({ key: identity, at, model: model ?? "unknown", usage });
  if (first === undefined)
    addMessage(draft, message, node, { id: toText(message.message_id), at, ...(model && { model }) });
}

/** What two copies of a message have in common: their time and content, and mostly their id. */
function toNames(
  { role, content, tool_calls, tool_call_id, message_id }: JsonRecord,
  { created_at }: JsonRecord,
): string[] {
  const said = hash53(JSON.stringify([role, content, tool_calls, tool_call_id]));
  const names = [toText(created_at) && `${String(created_at)}:${said}`, toText(message_id)];
  return names.filter((name) => name !== undefined);
}

function addMessage(draft: SessionDraft, message: JsonRecord, node: JsonRecord, fields: EventFields): void {
  const metadata = toRecord(message.metadata);
  const extensions = toRecord(metadata.extensions);
  const { summarized_from, is_system_prefix } = toRecord(parseRecord(node.metadata));
  const text = contentText(message.content);
  const isSummary = summarized_from !== undefined && summarized_from !== null;
  if (message.role === "user") draft.say(metadata.is_user_input === true && !isSummary ? "user" : "note", text, fields);
  else if (message.role === "assistant") {
    const { thinking } = message;
    draft.say("thinking", toText(toRecord(thinking).thinking) ?? thinking, fields);
    draft.say(isSummary ? "note" : "assistant", text, fields);
    for (const call of toList(message.tool_calls).map(toRecord)) draft.call(call.id, call.name, call.arguments, fields);
  } else if (message.role === "tool") {
    const { success } = toRecord(extensions["chisel/tool_result_meta"]);
    const { exit_code } = toRecord(toRecord(extensions["chisel/terminal_output"]).exit);
    const failed = success === false || (typeof exit_code === "number" && exit_code !== 0);
    draft.result(message.tool_call_id, text, { ...fields, is_error: failed });
  } else if (message.role !== "system") draft.unknown(`role:${toText(message.role) ?? "?"}`);
  // The instructions that every session begins with are nothing that happened in it.
  else if (is_system_prefix !== true && toRecord(metadata.telemetry).source !== "sysprompt")
    draft.say("note", text, fields);
}
