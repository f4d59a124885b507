/** Freebuff's desktop program: a database for each project, with threads and their messages. Nothing beside it is read: it holds tokens. */

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
  apiUsage,
  createDraft,
  type DatabaseSession,
  type EventFields,
  type NewEvent,
  presentColumns,
  rowMarks,
  type SessionDraft,
  type SqliteFile,
  sessionRows,
} from "sessarc/adapter";

const THREAD = ["project_path", "title", "model", "turn_state", "created_at", "updated_at"];
const MESSAGE = ["thread_id", "role", "ts", "seq", "parts_json", "attachments_json", "metrics_json"];
/** Advertisements carry the name of the user; `changes` shows what calls did. */
const SILENT = new Set(["ad", "changes"]);
const DONE = new Set(["success", "ok", "completed"]);

export function listThreads(db: SqliteFile): DatabaseSession[] {
  const marks = rowMarks(db, "messages", { session: "thread_id", text: "parts_json" });
  return sessionRows(db, "threads", THREAD).flatMap((row) => {
    const key = toText(row.id) ?? "";
    const mark = marks.get(key);
    if (mark === undefined) return [];
    const version = [row.updated_at, row.title, row.model, row.turn_state, mark].map(String).join("-");
    return [{ key, title: toText(row.title), cwd: toText(row.project_path), mtime: toNumber(row.updated_at), version }];
  });
}

export function* readThread(
  db: SqliteFile,
  { key }: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  const [row] = sessionRows(db, "threads", THREAD, key);
  const columns = presentColumns(db, "messages", MESSAGE);
  if (!row || !columns.includes("thread_id") || !columns.includes("parts_json")) return undefined;
  const draft = createDraft();
  draft.time(row.created_at);
  const model = toText(row.model);
  // A reply is rewritten in place until its turn ends.
  const isGrowing = row.turn_state !== undefined && row.turn_state !== null && row.turn_state !== "idle";
  const last = isGrowing
    ? db.all<JsonRecord>("select max(rowid) as id from messages where thread_id = ?", [key])[0]?.id
    : 0;
  const sql = `select rowid as id, ${columns.join(", ")} from messages where thread_id = ? order by rowid`;
  for (const message of db.iterate<JsonRecord>(sql, [key])) {
    const text = toText(message.parts_json) ?? "";
    onBytes(text.length);
    const parts = parseRecord(`{"parts":${text}}`)?.parts;
    if (parts === undefined) draft.bad();
    const isReply = message.role === "assistant";
    const id = `${key}:${String(message.seq ?? message.id)}`;
    const open = isReply && message.id === last ? { open: true as const } : {};
    const fields: EventFields = { id, at: draft.time(message.ts), ...(isReply && { model }), ...open };
    for (const part of toList(parts).map(toRecord)) addPart(draft, part, isReply, fields);
    for (const file of toList(parseRecord(`{"files":${toText(message.attachments_json) ?? "[]"}}`)?.files).map(
      toRecord,
    ))
      draft.say("note", `[file] ${toText(file.name) ?? toText(file.path) ?? "attachment"}`, fields);
    const { usage, costUsd } = toRecord(parseRecord(message.metrics_json));
    draft.count({ key: id, at: fields.at, model: model ?? "unknown", usage: apiUsage(usage) }, costUsd);
    yield* draft.take();
  }
  return draft.summary({ title: toText(row.title), cwd: toText(row.project_path) });
}

function addPart(draft: SessionDraft, part: JsonRecord, isReply: boolean, fields: EventFields): void {
  const { kind, id, text, toolName, input, output } = part;
  if (kind === "text") draft.say(isReply ? "assistant" : "user", text, fields);
  else if (kind === "reasoning") draft.say("thinking", text, fields);
  else if (kind === "tool") {
    draft.call(id, toolName, input, fields);
    // Only commands have an outcome and an output.
    const status = toText(part.status)?.toLowerCase();
    if (output === undefined && status === undefined) return;
    const shown = typeof output === "string" ? output : JSON.stringify(output ?? "");
    draft.result(id, shown, { ...fields, is_error: status !== undefined && !DONE.has(status) });
  } else if (!SILENT.has(String(kind))) draft.unknown(`part:${toText(kind) ?? "?"}`);
}
