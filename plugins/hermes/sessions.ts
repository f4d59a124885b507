/** Rows of `state.db`. Old databases have messages alone. */

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
  type NewEvent,
  presentColumns,
  type SqliteFile,
  toCount,
} from "sessarc/adapter";

const SESSION = [
  "id",
  "model",
  "parent_session_id",
  "started_at",
  "ended_at",
  "title",
  "cwd",
  "git_branch",
  "git_repo_root",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
];
const MESSAGE = ["id", "role", "content", "tool_call_id", "tool_calls", "timestamp", "reasoning"];
/** What is shown as the person's, and is the text of a skill. */
const SKILL = /^\s*\[SYSTEM: /;

const hasMessages = (db: SqliteFile) => presentColumns(db, "messages", ["id", "session_id", "role"]).length === 3;

function sessionRows(db: SqliteFile): Map<string, JsonRecord> {
  const columns = presentColumns(db, "sessions", SESSION);
  if (!columns.includes("id")) return new Map();
  const rows = db.all<JsonRecord>(`select ${columns.join(", ")} from sessions order by rowid`);
  return new Map(rows.map((row) => [String(row.id), row]));
}

/** How many sessions above one are asked for their folder. */
const ABOVE = 32;

/** A continued session and a sub-agent have no folder where the session above has it. */
function toPlace(rows: ReadonlyMap<string, JsonRecord>, key: string): Pick<SessionSummary, "cwd" | "gitBranch"> {
  let row = rows.get(key);
  const seen = new Set<JsonRecord>();
  while (row && !seen.has(row) && seen.size < ABOVE) {
    const cwd = toText(row.cwd) ?? toText(row.git_repo_root);
    if (cwd !== undefined) return { cwd, gitBranch: toText(row.git_branch) };
    seen.add(row);
    row = rows.get(toText(row.parent_session_id) ?? "");
  }
  return {};
}

export function listSessions(db: SqliteFile): DatabaseSession[] {
  if (!hasMessages(db)) return [];
  const sessions = sessionRows(db);
  const time = presentColumns(db, "messages", ["timestamp"])[0] ?? "null";
  const sql = `select session_id as id, count(*) || '.' || max(id) as mark, max(${time}) as at from messages group by session_id order by min(id)`;
  const marks = new Map(db.all<JsonRecord>(sql).map((row) => [String(row.id), row]));
  return [...new Set([...sessions.keys(), ...marks.keys()])].map((key) => {
    const row = sessions.get(key);
    const mark = marks.get(key);
    const at = toNumber(mark?.at);
    const { cwd } = toPlace(sessions, key);
    return {
      key,
      title: toText(row?.title),
      parent: toText(row?.parent_session_id),
      cwd,
      mtime: at === undefined ? undefined : at * 1000,
      version: [mark?.mark, ...Object.values(row ?? {}), cwd].map(String).join("-"),
    };
  });
}

export function* readSession(
  db: SqliteFile,
  { key }: SessionRef,
  onBytes: (count: number) => void,
): Generator<NewEvent, SessionSummary | undefined> {
  const rows = sessionRows(db);
  const row = rows.get(key);
  const draft = createDraft();
  for (const time of [row?.started_at, row?.ended_at]) draft.time(time);
  const model = toText(row?.model);
  let [last, count] = [undefined as string | undefined, 0];
  const columns = hasMessages(db) ? presentColumns(db, "messages", MESSAGE) : [];
  const sql = `select ${columns.join(", ")} from messages where session_id = ? order by id`;
  for (const message of columns.length > 0 ? db.iterate<JsonRecord>(sql, [key]) : []) {
    count++;
    const at = draft.time(message.timestamp);
    last = at ?? last;
    const text = toText(message.content) ?? "";
    onBytes(text.length);
    const fields = { id: String(message.id), at };
    if (message.role === "user") draft.say(SKILL.test(text) ? "note" : "user", text, fields);
    else if (message.role === "assistant") {
      draft.say("thinking", message.reasoning, { ...fields, model });
      draft.say("assistant", text, { ...fields, model });
      const calls = toText(message.tool_calls);
      for (const call of toList(parseRecord(`{"calls":${calls ?? "[]"}}`)?.calls).map(toRecord)) {
        const { name, arguments: input } = toRecord(call.function);
        draft.call(call.id, name ?? call.name, input ?? call.arguments, { ...fields, model });
      }
    } else if (message.role === "tool") {
      if (text !== "") draft.result(message.tool_call_id, text, fields);
    } else if (message.role === "system") draft.say("note", text, fields);
    else draft.unknown(`role:${toText(message.role) ?? "?"}`);
    yield* draft.take();
  }
  if (!row && count === 0) return undefined;
  // The session's sums: disjoint, reasoning inside the output.
  const usage = {
    input: toCount(row?.input_tokens),
    output: toCount(row?.output_tokens),
    cacheRead: toCount(row?.cache_read_tokens),
    cacheWrite5m: toCount(row?.cache_write_tokens),
  };
  if (Object.values(usage).some((tokens) => tokens > 0))
    draft.count({ key, at: last ?? draft.time(row?.started_at), model: model ?? "unknown", usage });
  return draft.summary({
    title: toText(row?.title),
    ...toPlace(rows, key),
    parent: toText(row?.parent_session_id),
  });
}
