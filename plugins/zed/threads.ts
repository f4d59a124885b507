/** Threads of `threads.db`: a document in each row, since 2025 compressed. */

import {
  type JsonRecord,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toItems,
  toList,
  toRecord,
  toText,
} from "sessarc";
import {
  contentText,
  createDraft,
  type DatabaseSession,
  type NewEvent,
  presentColumns,
  type SessionDraft,
  type SqliteFile,
  toCount,
  unzstd,
} from "sessarc/adapter";

const COLUMNS = ["id", "summary", "updated_at", "parent_id", "folder_paths", "folder_paths_order", "created_at"];

function threadRows(db: SqliteFile): JsonRecord[] {
  const columns = presentColumns(db, "threads", COLUMNS);
  if (!columns.includes("id")) return [];
  return db.all<JsonRecord>(`select ${columns.join(", ")}, length(data) as size from threads order by updated_at, id`);
}

export function listThreads(db: SqliteFile): DatabaseSession[] {
  return threadRows(db).flatMap((row) => {
    const key = toText(row.id);
    const updated = toIso(row.updated_at);
    if (key === undefined) return [];
    return [
      {
        key,
        title: toText(row.summary),
        cwd: findFolder(row),
        parent: toText(row.parent_id),
        mtime: updated === undefined ? undefined : Date.parse(updated),
        version: [row.updated_at, row.size, row.summary].map(String).join("-"),
      },
    ];
  });
}

export async function* readThread(
  db: SqliteFile,
  { key }: SessionRef,
  onBytes: (count: number) => void,
): AsyncGenerator<NewEvent, SessionSummary | undefined> {
  const row = threadRows(db).find((one) => one.id === key);
  const [stored] = db.all<JsonRecord>("select data_type, data from threads where id = ?", [key]);
  if (!row || !stored) return undefined;
  const draft = createDraft();
  const text = await findText(stored);
  onBytes(text?.length ?? 0);
  const thread = parseRecord(text);
  if (!thread) draft.bad();
  // Messages have no times.
  draft.time(row.created_at);
  const at = draft.time(row.updated_at);
  const model = toText(toRecord(thread?.model).model);
  for (const message of toList(thread?.messages)) addMessage(draft, message, model);
  yield* draft.take();
  // The counts by request leave the cache out; the sum does not.
  const sum = toRecord(thread?.cumulative_token_usage);
  const usage = {
    input: toCount(sum.input_tokens),
    output: toCount(sum.output_tokens),
    cacheRead: toCount(sum.cache_read_input_tokens),
    cacheWrite5m: toCount(sum.cache_creation_input_tokens),
  };
  if (Object.values(usage).some((count) => count > 0)) draft.count({ key, at, model: model ?? "unknown", usage });
  return draft.summary({
    title: toText(row.summary) ?? toText(thread?.title),
    cwd: findFolder(row),
    parent: toText(row.parent_id),
  });
}

async function findText({ data_type, data }: JsonRecord): Promise<string | undefined> {
  if (!(data instanceof Uint8Array)) return toText(data);
  return data_type === "zstd" ? unzstd(data) : Buffer.from(data).toString("utf8");
}

/** `{ User }` and `{ Agent }`; before version 0.3 a role with segments. */
function addMessage(draft: SessionDraft, value: unknown, model: string | undefined): void {
  if (typeof value === "string") return; // "Resume"
  const message = toRecord(value);
  if (message.role !== undefined) addOldMessage(draft, message, model);
  else if (message.User !== undefined) {
    for (const part of toList(toRecord(message.User).content).map(toRecord)) {
      if (part.Text !== undefined) draft.say("user", part.Text);
      else if (part.Mention !== undefined) {
        const { uri, content } = toRecord(part.Mention);
        draft.say("note", [JSON.stringify(uri), toText(content)].filter(Boolean).join("\n"));
      } else if (part.Image !== undefined) draft.say("note", "[image]");
      else draft.unknown("user part");
    }
  } else if (message.Agent !== undefined) addReply(draft, toRecord(message.Agent), model);
  else draft.unknown("message");
}

function addReply(draft: SessionDraft, { content, tool_results }: JsonRecord, model: string | undefined): void {
  const results = toRecord(tool_results);
  for (const part of toList(content).map(toRecord)) {
    if (part.Text !== undefined) draft.say("assistant", part.Text, { model });
    else if (part.Thinking !== undefined) draft.say("thinking", toRecord(part.Thinking).text, { model });
    else if (part.ToolUse !== undefined) {
      const call = toRecord(part.ToolUse);
      draft.call(call.id, call.name, call.input ?? call.raw_input, { model });
    } else if (part.RedactedThinking === undefined) draft.unknown("reply part");
  }
  for (const [id, value] of Object.entries(results)) {
    const result = toRecord(value);
    draft.result(toText(result.tool_use_id) ?? id, resultText(result), { is_error: result.is_error === true });
  }
}

const resultText = (result: JsonRecord) =>
  toItems(result.content)
    .map((part) => toText(toRecord(part).Text) ?? (toRecord(part).Image === undefined ? contentText(part) : "[image]"))
    .filter(Boolean)
    .join("\n");

function addOldMessage(draft: SessionDraft, message: JsonRecord, model: string | undefined): void {
  const kind = message.role === "assistant" ? "assistant" : message.role === "user" ? "user" : "note";
  const own = kind === "assistant" ? { model } : {};
  for (const segment of toList(message.segments).map(toRecord))
    if (segment.type !== "redacted_thinking")
      draft.say(segment.type === "thinking" ? "thinking" : kind, segment.text, own);
  for (const call of toList(message.tool_uses).map(toRecord)) draft.call(call.id, call.name, call.input, own);
  for (const result of toList(message.tool_results).map(toRecord))
    draft.result(result.tool_use_id, resultText(result), { is_error: result.is_error === true });
}

/** The first of the folders as they were added; the column holds them sorted. */
function findFolder(row: JsonRecord): string | undefined {
  const paths = (toText(row.folder_paths) ?? "").split("\n").filter(Boolean);
  const [first = "0"] = (toText(row.folder_paths_order) ?? "").split(",");
  return paths[Number(first)] ?? paths[0];
}
