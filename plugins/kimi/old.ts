/** Sessions of the older Kimi CLI: times and tokens are in the wire log, messages there or, where it is thin, in the context. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRecord, type JsonRecord, type SessionRef, type SessionSummary, toList, toRecord, toText } from "sessarc";
import { contentParts, createSessionLog, type NewEvent, partsText, readRecord, readRows } from "sessarc/adapter";

type Log = ReturnType<typeof createSessionLog>;

/** Reads both files whole: a part of the wire log may go on an earlier one. */
export async function readOldSession(ref: SessionRef): Promise<{ events: NewEvent[]; summary: SessionSummary }> {
  const dir = dirname(ref.path);
  const log = createSessionLog({});
  const wire: NewEvent[] = [];
  const rows = (path: string, take: (row: JsonRecord) => NewEvent[], into: NewEvent[]) =>
    readRows(path, (row) => {
      if (isRecord(row)) for (const event of take(row)) into.push(event);
    });
  const isWire = basename(ref.path) === "wire.jsonl";
  const skipped = isWire ? await rows(ref.path, (row) => fromWire(log, row, wire), wire) : { lines: 0 };
  const said: NewEvent[] = [];
  if (!wire.some((event) => event.kind === "assistant")) {
    const context = isWire ? join(dir, "context.jsonl") : ref.path;
    if (existsSync(context)) await rows(context, (row) => fromContext(log, row), said);
  }
  const state = readRecord(join(dir, "state.json")) ?? {};
  log.facts.title = toText(state.custom_title) ?? toText(state.title);
  const summary = log.summary(toProject(dir));
  const unknown = summary.skipped?.unknown ?? {};
  return { events: said.length > 0 ? said : wire, summary: { ...summary, skipped: { ...skipped, unknown } } };
}

function fromWire(log: Log, row: JsonRecord, before: readonly NewEvent[]): NewEvent[] {
  const at = log.time(row.timestamp);
  const { type, payload } = toRecord(row.message);
  const told = toRecord(payload);
  switch (type) {
    case "TurnBegin":
      return contentParts(told.user_input).flatMap((part) => log.say("user", part.text, { at }));
    case "ContentPart": {
      const [kind, text] =
        told.type === "think" ? (["thinking", told.think] as const) : (["assistant", told.text] as const);
      const last = before.at(-1);
      // Neighbouring parts are one text.
      if (last?.kind !== kind || typeof text !== "string") return log.say(kind, text, { at });
      last.text += text;
      return [];
    }
    case "ToolCall": {
      const { name, arguments: input } = toRecord(told.function);
      return name === undefined ? [] : [log.call(told.id, name, input, { at })];
    }
    case "ToolResult": {
      const { output, message, is_error: failed } = toRecord(told.return_value ?? told.result);
      const text = partsText(output) || (toText(message) ?? "");
      return [log.result(told.tool_call_id, text, { at, ...(typeof failed === "boolean" && { is_error: failed }) })];
    }
    case "StatusUpdate":
      count(log, told, at);
      return [];
    case "SubagentEvent": {
      // A sub-agent has no log of its own: its calls are paid for here.
      const event = toRecord(told.event);
      if (event.type === "StatusUpdate") count(log, toRecord(event.payload), at);
      return [];
    }
    default:
      return [];
  }
}

function count(log: Log, status: JsonRecord, at: string | undefined): void {
  const {
    input_other: input,
    output,
    input_cache_read: cacheRead,
    input_cache_creation: cacheWrite5m,
  } = toRecord(status.token_usage);
  const usage = { input, output, cacheRead, cacheWrite5m };
  log.count({ key: toText(status.message_id), at, model: "unknown", usage });
}

function fromContext(log: Log, row: JsonRecord): NewEvent[] {
  switch (row.role) {
    case "user":
      return contentParts(row.content).flatMap((part) => log.say("user", part.text));
    case "assistant":
      return [
        ...contentParts(row.content).flatMap((part) =>
          part.type === "think" ? log.say("thinking", part.think) : log.say("assistant", part.text),
        ),
        ...toList(row.tool_calls).map((call) => {
          const { id, function: called } = toRecord(call);
          return log.call(id, toRecord(called).name, toRecord(called).arguments);
        }),
      ];
    case "tool":
      return [log.result(row.tool_call_id, partsText(row.content))];
    default:
      return [];
  }
}

/** Sessions lie in a folder named by the hash of their project's path; `kimi.json` lists the paths. */
function toProject(dir: string): Pick<SessionSummary, "cwd" | "virtualProject"> {
  // A folder on another machine has that one's name before the hash.
  const name = basename(dirname(dir));
  const hash = name.split("_").at(-1) ?? name;
  const folders = toList(readRecord(join(dirname(dirname(dirname(dir))), "kimi.json"))?.work_dirs);
  const paths = folders.flatMap((folder) => toText(toRecord(folder).path) ?? []);
  const cwd = paths.find((path) => createHash("md5").update(path).digest("hex") === hash);
  return cwd === undefined ? { virtualProject: { key: name, name: `Kimi ${hash.slice(0, 8)}` } } : { cwd };
}
