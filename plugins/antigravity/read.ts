/** A conversation: its steps from the database, else from the transcript; its tokens from the database. */
import { join } from "node:path";
import { type JsonRecord, parseRecord, type SessionRef, toList, toNumber, toRecord, toText } from "sessarc";
import {
  createDraft,
  type EventFields,
  openSqliteFile,
  presentColumns,
  readRows,
  type SessionDraft,
  type SqliteFile,
  uriToPath,
} from "sessarc/adapter";
import { isGone } from "sessarc/files";
import { type ProtoShape, protoAll, protoFirst, readProto } from "./protobuf.ts";

// The fields that are known of Antigravity's messages.
const TIME: ProtoShape = { seconds: [1, "number"], nanos: [2, "number"] };
const METADATA: ProtoShape = { at: [1, TIME] };
const CALL: ProtoShape = { id: [1, "text"], name: [2, "text"], args: [3, "text"] };
const PAYLOAD: ProtoShape = {
  user: [19, { text: [2, "text"] }],
  planner: [20, { text: [1, "text"], thinking: [3, "text"], id: [6, "text"], calls: [7, CALL] }],
  result: [140, { value: [2, { text: [1, "text"] }] }],
};
const USAGE: ProtoShape = {
  input: [2, "number"],
  output: [3, "number"],
  cacheRead: [5, "number"],
  response: [11, "text"],
};
const GENERATION: ProtoShape = {
  call: [1, { usage: [4, USAGE], model: [19, "text"], label: [21, "text"] }],
  steps: [2, "number"],
};
const PLACE: ProtoShape = { workspace: [1, { uri: [1, "text"] }], uri: [7, "text"] };

const [USER, PLANNER, TITLE] = [14, 15, 23];
const FAILED = 7;

export async function readConversation(ref: SessionRef, folder: string, transcripts: readonly string[]) {
  const draft = createDraft();
  let cwd: string | undefined;
  let isEmpty = true;
  if (ref.path.endsWith(".db")) {
    const db = await openSqliteFile(ref.path);
    try {
      const times = addSteps(draft, db);
      isEmpty = times.size === 0;
      if (isEmpty) await addTranscript(draft, transcripts, times);
      addUsage(draft, db, ref.key, times);
      cwd = findPlace(db);
    } finally {
      db.close();
    }
  } else await addTranscript(draft, transcripts, new Map());
  return {
    events: draft.take(),
    summary: draft.summary({ title: ref.title, cwd: cwd ?? ref.cwd ?? (await findWorkspace(folder, ref.key)) }),
  };
}

/** Titles and folders by the conversation's id. */
export async function readFacts(path: string): Promise<Map<string, Pick<SessionRef, "title" | "cwd">>> {
  const db = await openSqliteFile(path);
  try {
    const columns = presentColumns(db, "conversation_summaries", ["conversation_id", "title", "workspace_uris"]);
    if (!columns.includes("conversation_id")) return new Map();
    const rows = db.all<JsonRecord>(`select ${columns.join(", ")} from conversation_summaries`);
    return new Map(
      rows.map(({ conversation_id, title, workspace_uris }) => {
        const uris = toList(parseRecord(`{"uris":${toText(workspace_uris) ?? "[]"}}`)?.uris);
        return [String(conversation_id), { title: toText(title), cwd: uriToPath(uris[0]) }];
      }),
    );
  } finally {
    db.close();
  }
}

/** Times of the steps by their number. Results follow their calls in order. */
function addSteps(draft: SessionDraft, db: SqliteFile): Map<number, string | undefined> {
  const times = new Map<number, string | undefined>();
  const columns = presentColumns(db, "steps", ["idx", "step_type", "status", "metadata", "step_payload"]);
  if (!columns.includes("idx") || !columns.includes("step_payload")) return times;
  const open: string[] = [];
  for (const row of db.iterate<Record<string, unknown>>(`select ${columns.join(", ")} from steps order by idx`)) {
    const step = toNumber(row.idx) ?? 0;
    const metadata = readProto(row.metadata, METADATA);
    const seconds = toNumber(protoFirst(metadata, "at", "seconds"));
    const nanos = toNumber(protoFirst(metadata, "at", "nanos")) ?? 0;
    const at = draft.time(seconds === undefined ? undefined : seconds * 1000 + Math.floor(nanos / 1e6));
    times.set(step, at);
    const payload = readProto(row.step_payload, PAYLOAD);
    const fields: EventFields = { id: String(step), at };
    if (row.step_type === USER) draft.say("user", protoFirst(payload, "user", "text"), fields);
    else if (row.step_type === PLANNER) {
      draft.say("thinking", protoFirst(payload, "planner", "thinking"), fields);
      draft.say("assistant", protoFirst(payload, "planner", "text"), fields);
      for (const [n, call] of protoAll(payload, "planner", "calls").map(toRecord).entries()) {
        const id = toText(toList(call.id)[0]) ?? `${step}-${n}`;
        draft.call(id, toList(call.name)[0], toList(call.args)[0], fields);
        open.push(id);
      }
    } else if (open.length > 0 && row.step_type !== TITLE) {
      const text = toText(protoFirst(payload, "result", "value", "text")) ?? "";
      draft.result(open.shift(), text, { ...fields, is_error: row.status === FAILED });
    } else if (row.step_type !== TITLE) draft.unknown(`step ${String(row.step_type)}`);
  }
  return times;
}

/** One row for each call of a model; the tokens of `steps` repeat them. */
function addUsage(draft: SessionDraft, db: SqliteFile, key: string, times: Map<number, string | undefined>): void {
  if (presentColumns(db, "gen_metadata", ["idx", "data"]).length < 2) return;
  for (const row of db.iterate<Record<string, unknown>>("select idx, data from gen_metadata order by idx")) {
    const generation = readProto(row.data, GENERATION);
    const figure = (name: string) => protoFirst(generation, "call", "usage", name);
    const usage = { input: figure("input"), output: figure("output"), cacheRead: figure("cacheRead") };
    if (!usage.input && !usage.output && !usage.cacheRead) continue;
    const steps = protoAll(generation, "steps").map((step) => times.get(Number(step)));
    const model = toText(protoFirst(generation, "call", "model"));
    // `gemini-pro-default` names no model: then the name on the screen says more.
    const isAlias = model === undefined || model.endsWith("-default");
    draft.count({
      key: toText(figure("response")) ?? `${key}:${String(row.idx)}`,
      at: steps.find((at) => at !== undefined),
      model: (isAlias ? toText(protoFirst(generation, "call", "label")) : undefined) ?? model ?? "unknown",
      usage,
    });
  }
}

function findPlace(db: SqliteFile): string | undefined {
  if (presentColumns(db, "trajectory_metadata_blob", ["data"]).length === 0) return undefined;
  for (const { data } of db.all<{ data: unknown }>("select data from trajectory_metadata_blob")) {
    const place = readProto(data, PLACE);
    const path = uriToPath(protoFirst(place, "workspace", "uri")) ?? uriToPath(protoFirst(place, "uri"));
    if (path) return path;
  }
  return undefined;
}

const NOTES = new Set(["CONVERSATION_HISTORY", "SYSTEM_MESSAGE", "CHECKPOINT"]);

async function addTranscript(draft: SessionDraft, paths: readonly string[], times: Map<number, string | undefined>) {
  const open: string[] = [];
  const take = (value: unknown) => {
    const row = toRecord(value);
    const at = draft.time(row.created_at);
    const step = toNumber(row.step_index) ?? 0;
    const fields: EventFields = { id: String(step), at };
    times.set(step, at);
    const text = toText(row.content) ?? "";
    if (row.source === "USER_EXPLICIT") draft.say("user", said(text), fields);
    else if (row.type === "PLANNER_RESPONSE") {
      draft.say("thinking", row.thinking, fields);
      draft.say("assistant", text, fields);
      for (const [n, call] of toList(row.tool_calls).map(toRecord).entries()) {
        draft.call(`${step}-${n}`, call.name, call.args, fields);
        open.push(`${step}-${n}`);
      }
    } else if (NOTES.has(String(row.type)) || row.source === "SYSTEM") draft.say("note", text, fields);
    else if (open.length > 0 && toText(row.type))
      draft.result(open.shift(), text, { ...fields, is_error: row.status === "ERROR" });
    else draft.unknown(row.type);
  };
  for (const path of paths) {
    try {
      const { lines, pending = 0 } = await readRows(path, take);
      for (let n = 0; n < lines + pending; n++) draft.bad();
      return;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

/** The person's words without what Antigravity puts around them. */
function said(text: string): string {
  const request = /<USER_REQUEST>\s*([\s\S]*?)\s*<\/USER_REQUEST>/.exec(text)?.[1];
  return request ?? text.replace(/<(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE)>[\s\S]*?<\/\1>/g, "").trim();
}

/** By the list of prompts of the command line. */
async function findWorkspace(folder: string, key: string): Promise<string | undefined> {
  let found: string | undefined;
  try {
    await readRows(join(folder, "history.jsonl"), (row) => {
      const { conversationId, workspace } = toRecord(row);
      if (conversationId === key) found = uriToPath(workspace) ?? found;
    });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return found;
}
