/** Sessions of `sessions.db`. Its columns grow with its version: only those present are read. */

import { type JsonRecord, parseRecord, type SessionRef, type SessionSummary, toNumber, toText } from "sessarc";
import {
  createDraft,
  type DatabaseSession,
  type NewEvent,
  presentColumns,
  rowMarks,
  type SqliteFile,
  sessionRows,
} from "sessarc/adapter";
import { addMessage, isPaid, toUsage } from "./messages.ts";

const SESSION = [
  "name",
  "description",
  "working_dir",
  "created_at",
  "updated_at",
  "accumulated_input_tokens",
  "accumulated_output_tokens",
  "accumulated_cache_read_tokens",
  "accumulated_cache_write_tokens",
  "model_config_json",
];
const MESSAGE = ["id", "message_id", "role", "content_json", "created_timestamp", "metadata_json"];
const LEDGER = [
  "id",
  "created_timestamp",
  "model",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
];

/** Rows of a table that belong to a session. */
function listRows(db: SqliteFile, table: string, columns: readonly string[], id: string): Iterable<JsonRecord> {
  const present = presentColumns(db, table, columns);
  if (presentColumns(db, table, ["id", "session_id"]).length < 2) return [];
  return db.iterate<JsonRecord>(`select ${present.join(", ")} from ${table} where session_id = ? order by id`, [id]);
}

export function listSessions(db: SqliteFile): DatabaseSession[] {
  // Messages that are replaced get new numbers.
  const marks = [rowMarks(db, "messages"), rowMarks(db, "usage_ledger")];
  return sessionRows(db, "sessions", SESSION).flatMap((row) => {
    const key = toText(row.id);
    if (key === undefined) return [];
    const version = [row.updated_at, row.name, ...marks.map((mark) => mark.get(key))].map(String).join("-");
    return [{ key, title: findTitle(row), cwd: toText(row.working_dir), mtime: toMs(row.updated_at), version }];
  });
}

export function* readSession(
  db: SqliteFile,
  { key }: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  const [row] = sessionRows(db, "sessions", SESSION, key);
  if (!row) return undefined;
  const draft = createDraft();
  for (const time of [row.created_at, row.updated_at]) draft.time(toMs(time));
  const configured = toText(parseRecord(row.model_config_json)?.model_name);
  for (const message of listRows(db, "messages", MESSAGE, key)) {
    const text = toText(message.content_json) ?? "";
    onBytes(text.length);
    const content = parseRecord(`{"content":${text}}`)?.content;
    if (content === undefined) draft.bad();
    const isVisible = parseRecord(message.metadata_json)?.userVisible !== false;
    const isReply = message.role === "assistant" && configured !== undefined;
    const at = draft.time(toNumber(message.created_timestamp));
    const id = toText(message.message_id);
    addMessage(draft, message.role, content, isVisible, { id, at, ...(isReply && { model: configured }) });
    yield* draft.take();
  }
  let isCounted = false;
  for (const one of listRows(db, "usage_ledger", LEDGER, key)) {
    const usage = toUsage(one.input_tokens, one.output_tokens, one.cache_read_tokens, one.cache_write_tokens);
    if (!isPaid(usage)) continue;
    isCounted = true;
    const model = toText(one.model) ?? configured ?? "unknown";
    draft.count({ key: `${key}:${String(one.id)}`, at: draft.time(toNumber(one.created_timestamp)), model, usage });
  }
  // Before the ledger there were only sums; `input_tokens` without `accumulated` is the last call's.
  const sum = toUsage(
    row.accumulated_input_tokens,
    row.accumulated_output_tokens,
    row.accumulated_cache_read_tokens,
    row.accumulated_cache_write_tokens,
  );
  if (!isCounted && isPaid(sum))
    draft.count({ key, at: draft.time(toMs(row.updated_at)), model: configured ?? "unknown", usage: sum });
  return draft.summary({ title: findTitle(row), cwd: toText(row.working_dir) });
}

const findTitle = (row: JsonRecord) => toText(row.name) ?? toText(row.description);

/** `2026-08-05 10:00:00` is UTC. */
function toMs(time: unknown): number | undefined {
  if (typeof time === "number") return time < 1e11 ? time * 1000 : time;
  const ms = Date.parse(`${toText(time)?.replace(" ", "T")}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
