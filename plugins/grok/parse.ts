/** Grok's updates, or its chat history, → events, tokens and the session's facts. */
import { basename, dirname, join } from "node:path";
import {
  type EventKind,
  isRecord,
  type JsonRecord,
  type SessionRef,
  toIso,
  toList,
  toNumber,
  toRecord,
  toText,
} from "sessarc";
import {
  contentParts,
  createSessionLog,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  readRecord,
} from "sessarc/adapter";
import { type Fork, usageEntries, usageFile } from "./tokens.ts";

type Ref = Pick<SessionRef, "path" | "parent">;

/** Updates without anything to show. */
const SKIPPED = new Set([
  "available_commands_update",
  "background_tasks",
  "config_option_update",
  "current_mode_update",
  "plan",
  "session_info_update",
  "subagent_spawned",
  "usage_update",
]);
const CHUNKS: Record<string, EventKind> = { agent_thought_chunk: "thinking", agent_message_chunk: "assistant" };

interface Own extends JsonRecord {
  /** The text that is being written. */
  chunk?: Chunk | undefined;
  /** Turns that were completed. */
  turn: number;
  /** Sub-agents that ended in the turn that runs, and in each turn before: Grok counts their tokens there as well. */
  ended: string[];
  children: Record<string, string[]>;
}

interface Chunk {
  kind: EventKind;
  text: string;
  at: string | undefined;
}

export function createParser(ref: Ref): LineParser {
  const dir = dirname(ref.path);
  const isHistory = basename(ref.path) === "chat_history.jsonl";
  const log = createSessionLog<Own>({ turn: 0, ended: [], children: {} });
  const { facts, own } = log;
  let meta: JsonRecord = {};
  let fork: Fork | undefined;
  const refresh = () => {
    meta = readRecord(join(dir, "summary.json")) ?? {};
    facts.model ??= toText(meta.current_model_id);
    fork = findFork(meta, ref);
  };
  refresh();

  /** Neighbouring chunks are one text, which ends with the first row of another kind. */
  const flush = (): NewEvent[] => {
    const { chunk } = own;
    own.chunk = undefined;
    return chunk ? log.say(chunk.kind, chunk.text, { at: chunk.at, model: facts.model }) : [];
  };

  const toChildren = (turn: number): JsonRecord[] =>
    (own.children[turn] ?? []).map((id) => toRecord(readRecord(join(dirname(dir), id, "usage.json"))?.session));

  const update = (row: JsonRecord): NewEvent[] => {
    const { update: value, _meta: extra } = toRecord(row.params);
    const told = toRecord(value);
    const at = log.time(toRecord(extra).agentTimestampMs ?? row.timestamp);
    const kind = CHUNKS[String(told.sessionUpdate)];
    if (kind) {
      const text = toText(toRecord(told.content).text) ?? "";
      const before = own.chunk?.kind === kind ? [] : flush();
      own.chunk = { kind, text: (own.chunk?.text ?? "") + text, at: own.chunk?.at ?? at };
      return before;
    }
    return [...flush(), ...whole(told, at)];
  };

  const whole = (told: JsonRecord, at: string | undefined): NewEvent[] => {
    switch (told.sessionUpdate) {
      case "user_message_chunk": {
        const { modelId, hideFromScrollback, syntheticReason } = toRecord(told._meta);
        facts.model = toText(modelId) ?? facts.model;
        const isNote = syntheticReason === undefined ? hideFromScrollback === true : !isTyped(syntheticReason);
        return log.say(isNote ? "note" : "user", toRecord(told.content).text, { at });
      }
      case "tool_call": {
        const name = toText(toRecord(toRecord(told._meta)["x.ai/tool"]).name) ?? told.title;
        return [log.call(told.toolCallId, name, told.rawInput, { at, model: facts.model })];
      }
      case "tool_call_update":
        if (told.status !== "completed" && told.status !== "failed") return [];
        return [log.result(told.toolCallId, toOutput(told), { at, is_error: isFailed(told) })];
      case "subagent_finished":
        own.ended.push(toText(told.child_session_id) ?? toText(told.subagent_id) ?? "");
        return [];
      case "turn_completed": {
        if (own.ended.length > 0) own.children[own.turn] = own.ended;
        own.ended = [];
        const key = toText(told.prompt_id) ?? `turn:${at}`;
        const entries = usageEntries(told.usage, at, key, fork, toChildren(own.turn++));
        for (const entry of entries) log.count(entry);
        return [];
      }
      default:
        if (typeof told.sessionUpdate !== "string" || !SKIPPED.has(told.sessionUpdate)) log.unknown(told.sessionUpdate);
        return [];
    }
  };

  const said = (row: JsonRecord): NewEvent[] => {
    const model = toText(row.model_id) ?? facts.model;
    switch (row.type) {
      case "user": {
        const text = partsText(row.content);
        const isNote = !isTyped(row.synthetic_reason) || /^\s*<(user_info|system-reminder)>/.test(text);
        return log.say(isNote ? "note" : "user", text.replace(/^\s*<user_query>\n?|\n?<\/user_query>\s*$/g, ""));
      }
      case "reasoning":
        return contentParts(row.summary).flatMap((part) => log.say("thinking", part.text, { model }));
      case "assistant": {
        const calls = toList(row.tool_calls).map(toRecord);
        return [
          ...log.say("assistant", partsText(row.content), { model }),
          ...calls.map((call) => log.call(call.id, call.name, call.arguments, { model })),
        ];
      }
      case "tool_result":
        return [log.result(row.tool_call_id, partsText(row.content))];
      case "backend_tool_call": {
        const { tool_type: tool, action } = toRecord(row.kind);
        return log.say("note", `${toText(tool) ?? "tool"}: ${toText(toRecord(action).query) ?? ""}`);
      }
      default:
        if (row.type !== "system") log.unknown(row.type);
        return [];
    }
  };

  return {
    refresh,
    row: (row) => (isRecord(row) ? (isHistory ? said(row) : update(row)) : undefined),
    finish() {
      const known = readRecord(join(dir, "summary.json")) ?? meta;
      const info = toRecord(known.info);
      facts.title = toText(known.generated_title) ?? toText(known.session_summary);
      facts.cwd = toText(info.cwd) ?? findCwd(dir);
      facts.gitBranch = toText(known.head_branch);
      facts.parent = ref.parent;
      facts.forkedFrom = fork?.from;
      if (isHistory) [facts.startedAt, facts.endedAt] = [toIso(known.created_at), toIso(known.updated_at)];
      return log.summary({}, usageFile(readRecord(join(dir, "usage.json")), fork, toChildren));
    },
  };
}

/** An interjection is what a person typed while the assistant worked; every other reason is of a text that Grok made. */
const isTyped = (reason: unknown): boolean => reason == null || reason === "interjection" || reason === "human";

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));

/** A fork names the session it came from and begins with what that one had spent. Sub-agents name their parent in the same field. */
function findFork(meta: JsonRecord, ref: Ref): Fork | undefined {
  const from = toText(meta.parent_session_id);
  if (from === undefined || ref.parent !== undefined || meta.session_kind === "subagent") return undefined;
  return { from, at: Date.parse(toIso(meta.forked_at) ?? toIso(meta.created_at) ?? "") };
}

/** The folder's name is the encoded path. */
function findCwd(dir: string): string | undefined {
  try {
    const path = decodeURIComponent(basename(dirname(dir)));
    return /^(\/|[A-Za-z]:[\\/])/.test(path) ? path : undefined;
  } catch {
    return undefined; // a short name that stands for a long path
  }
}

function toOutput(told: JsonRecord): string {
  const shown = toList(told.content).map((part) => partsText([toRecord(part).content]));
  const raw = toRecord(told.rawOutput);
  return shown.join("\n") || (toText(raw.output_for_prompt) ?? toText(raw.text) ?? "");
}

function isFailed(told: JsonRecord): boolean {
  const exit = toNumber(toRecord(told.rawOutput).exit_code);
  return told.status === "failed" || (exit !== undefined && exit !== 0);
}
