/** Rows of `crush.db`. Times are seconds. */

import {
  type JsonRecord,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  toList,
  toNumber,
  toRecord,
  toText,
} from "sessarc";
import {
  createDraft,
  type DatabaseSession,
  type EventFields,
  type NewEvent,
  presentColumns,
  type SessionDraft,
  type SqliteFile,
} from "sessarc/adapter";

const SESSION = ["id", "parent_session_id", "title", "cost", "created_at", "updated_at"];
const MESSAGE = ["id", "role", "parts", "model", "created_at", "is_summary_message"];

function sessionRows(db: SqliteFile): JsonRecord[] {
  const columns = presentColumns(db, "sessions", SESSION);
  const hasMessages = presentColumns(db, "messages", ["session_id", "created_at", "updated_at", "parts"]).length === 4;
  if (!columns.includes("id") || !hasMessages) return [];
  return db.all<JsonRecord>(`select ${columns.join(", ")} from sessions order by created_at, id`);
}

export function listSessions(db: SqliteFile): DatabaseSession[] {
  const sessions = sessionRows(db);
  if (sessions.length === 0) return [];
  const sql = `select session_id as id, count(*) || '.' || max(updated_at) || '.' || total(length(parts)) as mark
    from messages group by session_id`;
  const marks = new Map(db.all<JsonRecord>(sql).map((row) => [row.id, row.mark]));
  return sessions.flatMap((row) => {
    const key = toText(row.id);
    if (key === undefined) return [];
    const version = [row.updated_at, row.title, row.cost, marks.get(key)].map(String).join("-");
    const mtime = (toNumber(row.updated_at) ?? 0) * 1000 || undefined;
    return [{ key, title: toText(row.title), parent: toText(row.parent_session_id), mtime, version }];
  });
}

export function* readSession(
  db: SqliteFile,
  { key, cwd }: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  const row = sessionRows(db).find((one) => one.id === key);
  if (!row) return undefined;
  const draft = createDraft();
  draft.time(row.created_at);
  const columns = presentColumns(db, "messages", MESSAGE).join(", ");
  const sql = `select ${columns} from messages where session_id = ? order by created_at, rowid`;
  for (const message of db.iterate<JsonRecord>(sql, [key])) {
    const text = toText(message.parts) ?? "[]";
    onBytes(text.length);
    const parts = parseRecord(`{"parts":${text}}`)?.parts;
    if (parts === undefined) draft.bad();
    const fields = { id: toText(message.id), at: draft.time(message.created_at) };
    for (const part of toList(parts).map(toRecord))
      addPart(draft, message, toText(part.type) ?? "?", toRecord(part.data), fields);
    yield* draft.take();
  }
  const cost = toNumber(row.cost) ?? 0;
  return draft.summary({
    title: toText(row.title),
    cwd,
    parent: toText(row.parent_session_id),
    // The counters of tokens are those of the last call: no sum can be made of them. The cost adds up.
    ...(cost > 0 && { costUSD: cost }),
  });
}

function addPart(draft: SessionDraft, message: JsonRecord, type: string, data: JsonRecord, shared: EventFields): void {
  const isReply = message.role === "assistant";
  const fields = isReply ? { ...shared, model: toText(message.model) } : shared;
  const isSummary = message.is_summary_message === 1;
  if (type === "text") draft.say(isSummary ? "note" : isReply ? "assistant" : "user", data.text, fields);
  else if (type === "reasoning") draft.say("thinking", data.thinking, fields);
  else if (type === "tool_call")
    draft.call(data.id, data.name, data.input, { ...fields, ...(data.finished === false && { open: true as const }) });
  else if (type === "tool_result")
    draft.result(data.tool_call_id, toText(data.content) ?? "", { ...fields, is_error: data.is_error === true });
  else if (type === "shell_command")
    draft.say("note", [`! ${toText(data.command) ?? ""}`, toText(data.output)].filter(Boolean).join("\n"), fields);
  else if (type === "image_url" || type === "binary")
    draft.say("note", `[file] ${toText(data.path) ?? toText(data.url) ?? "attachment"}`, fields);
  else if (type !== "finish") draft.unknown(`part:${type}`);
}
