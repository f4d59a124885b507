/** Rows of `warp.sqlite` → prompts and facts. Times are UTC without a zone. */

import {
  type JsonRecord,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toList,
  toNumber,
  toRecord,
  toText,
} from "sessarc";
import { createDraft, type DatabaseSession, type NewEvent, presentColumns, type SqliteFile } from "sessarc/adapter";

const QUERY = ["exchange_id", "start_ts", "input", "working_directory"];
const NEEDED = ["conversation_id", "start_ts", "input"];

/** A conversation without a prompt is Warp's own request, which no user sees; it is not listed. */
export function listConversations(db: SqliteFile): DatabaseSession[] {
  if (presentColumns(db, "ai_queries", NEEDED).length < NEEDED.length) return [];
  const facts = new Map(conversationRows(db).map((row) => [row.conversation_id, row]));
  const sql = `select conversation_id as id, count(*) as count, max(start_ts) as last, total(length(input)) as size
    from ai_queries where input like '%"Query"%' group by conversation_id order by min(start_ts), conversation_id`;
  return db.all<JsonRecord>(sql).flatMap(({ id, count, last, size }) => {
    const key = toText(id);
    if (key === undefined) return [];
    const { last_modified_at: changed, size: extent } = facts.get(key) ?? {};
    const at = findTime(changed) ?? findTime(last);
    const version = [count, last, size, changed, extent].map(String).join("-");
    return [{ key, version, mtime: at === undefined ? undefined : Date.parse(at) }];
  });
}

export function* readConversation(
  db: SqliteFile,
  { key }: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  if (presentColumns(db, "ai_queries", NEEDED).length < NEEDED.length) return undefined;
  const columns = presentColumns(db, "ai_queries", QUERY).join(", ");
  const draft = createDraft();
  let cwd: string | undefined;
  let rows = 0;
  const sql = `select ${columns} from ai_queries where conversation_id = ? order by start_ts, rowid`;
  for (const row of db.iterate<JsonRecord>(sql, [key])) {
    rows++;
    const text = toText(row.input) ?? "[]";
    onBytes(text.length);
    cwd = toText(row.working_directory) ?? cwd;
    const inputs = parseRecord(`{"inputs":${text}}`)?.inputs;
    if (inputs === undefined) draft.bad();
    const fields = { id: toText(row.exchange_id), at: draft.time(findTime(row.start_ts)) };
    for (const input of toList(inputs).map(toRecord)) {
      if ("Query" in input) draft.say("user", toRecord(input.Query).text, fields);
      else draft.unknown(Object.keys(input)[0]);
    }
    yield* draft.take();
  }
  if (rows === 0) return undefined;
  const data = parseRecord(toText(conversationRows(db, key)[0]?.data) ?? "{}") ?? {};
  onBytes(JSON.stringify(data).length);
  return draft.summary({ cwd, parent: toText(data.parent_conversation_id), unlogged: findUnlogged(data) });
}

/** One sum per model, not split into input, output and cache: no price fits it, so it is in no total. */
function findUnlogged(data: JsonRecord): SessionSummary["unlogged"] {
  const models = toList(toRecord(data.conversation_usage_metadata).token_usage).map(toRecord);
  const counts = models.flatMap((model) => [toNumber(model.warp_tokens), toNumber(model.byok_tokens)]);
  const input = counts.reduce<number>((sum, count) => sum + Math.max(0, Math.round(count ?? 0)), 0);
  return input === 0 ? undefined : { input, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
}

/** All of them without their data, or the data of one. */
function conversationRows(db: SqliteFile, key?: string): JsonRecord[] {
  const columns = presentColumns(db, "agent_conversations", [
    "conversation_id",
    "conversation_data",
    "last_modified_at",
  ]);
  if (columns.length < 3) return [];
  const wanted = "conversation_id, last_modified_at, length(conversation_data) as size";
  return key === undefined
    ? db.all<JsonRecord>(`select ${wanted} from agent_conversations`)
    : db.all<JsonRecord>("select conversation_data as data from agent_conversations where conversation_id = ?", [key]);
}

function findTime(value: unknown): string | undefined {
  const text = toText(value)?.replace(" ", "T");
  return toIso(text && (/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`));
}
