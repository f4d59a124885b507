/** Conversations of `data.sqlite3`: one JSON value each, by folder. */

import {
  type JsonRecord,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toItems,
  toList,
  toNumber,
  toRecord,
  toText,
} from "sessarc";
import {
  createDraft,
  type DatabaseSession,
  type NewEvent,
  presentColumns,
  type SessionDraft,
  type SqliteFile,
} from "sessarc/adapter";

/** A conversation's row; `table` is the newer one where both hold it. */
interface Found extends DatabaseSession {
  table: string;
  row: number;
  created: unknown;
  updated: unknown;
}

/** Of several rows with one id the newest. */
function find(db: SqliteFile): Found[] {
  const found = new Map<string, Found>();
  for (const table of ["conversations_v2", "conversations"]) {
    const columns = presentColumns(db, table, ["key", "value", "conversation_id", "created_at", "updated_at"]);
    if (!columns.includes("key") || !columns.includes("value")) continue;
    const has = (name: string, other: string) => (columns.includes(name) ? name : other);
    const inside = "case when json_valid(value) then json_extract(value, '$.conversation_id') end";
    const sql = `select rowid as row, key as cwd, ${has("conversation_id", inside)} as id, ${has("created_at", "null")} as created,
      ${has("updated_at", "null")} as updated, length(value) as length from ${table}`;
    for (const one of db.all<JsonRecord>(sql)) {
      const key = toText(one.id);
      const updated = toNumber(one.updated);
      if (key === undefined) continue;
      const known = found.get(key);
      if (known && (toNumber(known.updated) ?? 0) >= (updated ?? 0)) continue;
      found.set(key, {
        key,
        cwd: toText(one.cwd),
        mtime: updated,
        version: `${String(one.updated)}-${String(one.length)}`,
        table,
        row: toNumber(one.row) ?? 0,
        created: one.created,
        updated: one.updated,
      });
    }
  }
  return [...found.values()];
}

export const listConversations = (db: SqliteFile): DatabaseSession[] =>
  find(db).map(({ key, cwd, mtime, version }) => ({ key, cwd, mtime, version }));

export function* readConversation(
  db: SqliteFile,
  ref: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  const found = find(db).find((one) => one.key === ref.key);
  if (!found) return undefined;
  const [row] = db.all<{ value: unknown }>(`select value from ${found.table} where rowid = ?`, [found.row]);
  const text = toText(row?.value) ?? "";
  onBytes(text.length);
  const draft = createDraft();
  const value = parseRecord(text);
  if (!value) draft.bad();
  for (const time of [found.created, found.updated]) draft.time(time);
  for (const turn of toList(value?.history).map(toRecord)) addTurn(draft, turn);
  yield* draft.take();
  return draft.summary({ cwd: found.cwd });
}

function addTurn(draft: SessionDraft, turn: JsonRecord): void {
  const user = toRecord(turn.user);
  const metadata = toRecord(turn.request_metadata);
  const asked = draft.time(user.timestamp);
  const said = toRecord(user.content);
  draft.say("user", toRecord(said.Prompt).prompt, { at: asked });
  if (said.CancelledToolUses !== undefined) {
    draft.say("user", toRecord(said.CancelledToolUses).prompt, { at: asked });
    draft.say("note", "The tool calls were cancelled", { at: asked });
  }
  for (const result of toList(toRecord(said.ToolUseResults ?? said.CancelledToolUses).tool_use_results).map(toRecord))
    draft.result(result.tool_use_id, blockText(result.content), { at: asked, is_error: result.status === "Error" });

  const model = toText(metadata.model_id);
  const at = draft.time(metadata.stream_end_timestamp_ms) ?? toIso(user.timestamp);
  const { Response, ToolUse } = toRecord(turn.assistant);
  const reply = toRecord(ToolUse ?? Response);
  const id = toText(reply.message_id);
  draft.say("assistant", reply.content, { id, at, model });
  for (const call of toList(reply.tool_uses).map(toRecord)) draft.call(call.id, call.name, call.args, { at, model });
}

/** `{ Text }` and `{ Json }` of the database, `{ kind, data }` of the logs. */
export function blockText(content: unknown): string {
  const texts = toItems(content).map((block) => {
    if (typeof block === "string") return block;
    const { Text, Json, data, text } = toRecord(block);
    const value = Text ?? text ?? Json ?? data ?? "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  return texts.filter(Boolean).join("\n");
}
