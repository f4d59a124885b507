/** `events.jsonl` of Copilot CLI, row by row. Append-only, so it can be tailed. */

import {
  isRecord,
  type Json,
  type JsonRecord,
  type SessionRef,
  type SessionSummary,
  toIso,
  toItems,
  toJson,
  toRecord,
  toText,
} from "sessarc";
import { countUnknown, earliest, isBefore, type LineParser, type NewEvent, toTitle } from "sessarc/adapter";
import { findNote, isKnown, resultText } from "./notes.ts";
import type { Outputs } from "./outputs.ts";
import type { PaidRequests } from "./store.ts";
import { createCliUsage } from "./usage.ts";

/** Tool calls whose `tool_use` was given are remembered for this many calls. */
const SEEN = 512;

interface Call {
  id: string;
  name: string;
  input: Json;
  text: string;
  event: string | undefined;
  at: string | undefined;
  model: string | undefined;
}

interface State {
  sessionId?: string | undefined;
  /** The session that sessarc copied it from, for another folder. */
  copyOf?: string | undefined;
  cwd?: string | undefined;
  branch?: string | undefined;
  remote?: string | undefined;
  version?: string | undefined;
  model?: string | undefined;
  prompt?: string | undefined;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  reasoning?: string | undefined;
  /** Calls a reply asked for that did not start yet. */
  waiting: Call[];
  unknown: Record<string, number>;
  bad: number;
}

/** What lies beside the log: the values of `workspace.yaml`, the requests of the database, and outputs in files of their own. */
export interface Beside {
  workspace: ReadonlyMap<string, string>;
  requests: PaidRequests;
  outputs: Outputs;
}

/** `beside` may change between two readings. */
export function createCliParser(ref: SessionRef, beside: Beside): LineParser {
  const { outputs } = beside;
  const state: State = { waiting: [], unknown: {}, bad: 0 };
  const seen = new Set<string>();
  const usage = createCliUsage(() => state.copyOf ?? state.sessionId ?? ref.key);

  function use(call: Call): NewEvent[] {
    state.waiting = state.waiting.filter((one) => one.id !== call.id);
    if (seen.has(call.id)) return [];
    seen.add(call.id);
    if (seen.size > SEEN) for (const id of [...seen].slice(0, SEEN / 2)) seen.delete(id);
    const { id: tool_use_id, name: tool_name, input: tool_input, text, event: id, at, model } = call;
    return [{ kind: "tool_use", text, id, at, model, tool_name, tool_use_id, tool_input }];
  }
  const flush = () => state.waiting.flatMap(use);

  function context(data: JsonRecord): void {
    const place = isRecord(data.context) ? data.context : data;
    state.cwd = toText(place.cwd) ?? state.cwd;
    state.branch = toText(place.branch) ?? state.branch;
    const repository = toText(place.repository);
    if (repository && /^[\w.-]+\/[\w.-]+$/.test(repository) && (place.hostType ?? "github") === "github") {
      state.remote = `https://github.com/${repository}`;
    }
  }

  function row(record: JsonRecord): NewEvent[] {
    const type = toText(record.type);
    if (type === undefined || (record.data !== undefined && !isRecord(record.data))) {
      state.bad++;
      return [];
    }
    const data = toRecord(record.data);
    const id = toText(record.id);
    const at = toIso(record.timestamp);
    if (at !== undefined) {
      if (state.startedAt === undefined || isBefore(at, state.startedAt)) state.startedAt = at;
      if (state.endedAt === undefined || isBefore(state.endedAt, at)) state.endedAt = at;
    }
    const model = toText(data.model) ?? state.model;
    const base = { id, at };

    switch (type) {
      case "session.start":
        state.sessionId ??= toText(data.sessionId);
        state.copyOf ??= toText(toRecord(data.sessarc).copyOf);
        state.startedAt = earliest([state.startedAt, toIso(data.startTime)]);
        state.model = toText(data.selectedModel) ?? state.model;
        state.version = toText(data.copilotVersion) ?? state.version;
        usage.begin(at);
        context(data);
        return [];
      case "session.resume":
        usage.begin(at);
        state.model = toText(data.selectedModel) ?? state.model;
        state.version = toText(data.copilotVersion) ?? state.version;
        context(data);
        return flush();
      case "session.context_changed":
        context(data);
        return [];
      case "session.usage_record":
        usage.record(data, id ?? "", at);
        return [];
      case "session.shutdown":
        usage.shutdown(data, id ?? "", at);
        return flush();
      case "session.model_change":
        state.model = toText(data.newModel) ?? state.model;
        break;
      case "session.compaction_complete":
        usage.compaction(model ?? "unknown", data, id ?? "", at);
        break;
      case "user.message": {
        const text = toText(data.content) ?? "";
        const typed = isTyped(record, data, text);
        if (typed && text !== "") state.prompt ??= toTitle(text);
        return text === "" ? flush() : [...flush(), { ...base, kind: typed ? "user" : "note", text }];
      }
      case "assistant.reasoning": {
        const text = toText(data.content) ?? toText(data.reasoningText) ?? "";
        state.reasoning = text;
        return text === "" ? [] : [{ ...base, kind: "thinking", text, model }];
      }
      case "assistant.message":
        return message(data, { ...base, model });
      case "tool.execution_start":
      case "tool.user_requested": {
        const call = toText(data.toolCallId);
        if (call === undefined) return [];
        const asked = state.waiting.find((one) => one.id === call);
        const name = toText(data.toolName) ?? asked?.name ?? "tool";
        const input = toJson(data.arguments) ?? asked?.input ?? {};
        return use({ id: call, name, input, text: asked?.text ?? "", event: id, at, model });
      }
      case "tool.execution_complete": {
        const call = toText(data.toolCallId);
        const asked = state.waiting.find((one) => one.id === call);
        const code = toRecord(data.shellExecution).exitCode;
        const is_error = data.success === false || (typeof code === "number" && code !== 0);
        const result: NewEvent = {
          ...base,
          kind: "tool_result",
          ...outputs(resultText(data)),
          tool_use_id: call,
          is_error,
        };
        return asked ? [...use(asked), result] : [result];
      }
    }
    if (!isKnown(type)) countUnknown(state.unknown, type);
    const text = findNote(type, data);
    const ends = type === "abort" || type === "assistant.turn_end" || type === "session.error";
    const before = ends ? flush() : [];
    if (text === undefined) return before;
    return [...before, { ...base, kind: "note", text, ...(type === "session.error" && { is_error: true }) }];
  }

  function message(data: JsonRecord, base: Pick<NewEvent, "id" | "at" | "model">): NewEvent[] {
    const events = flush();
    const thought = toText(data.reasoningText);
    // Some versions log the reasoning as a record of its own, too.
    if (thought !== undefined && thought !== state.reasoning) events.push({ ...base, kind: "thinking", text: thought });
    state.reasoning = undefined;
    const text = toText(data.content);
    if (text !== undefined) events.push({ ...base, kind: "assistant", text });
    usage.message(base.model ?? "unknown", data.outputTokens, base.id ?? "", base.at);
    for (const request of toItems(data.toolRequests).filter(isRecord)) {
      const id = toText(request.toolCallId);
      if (id === undefined || seen.has(id)) continue;
      state.waiting.push({
        id,
        name: toText(request.name) ?? "tool",
        input: toJson(request.arguments) ?? {},
        text: toText(request.intentionSummary) ?? "",
        event: base.id,
        at: base.at,
        model: base.model,
      });
    }
    return events;
  }

  return {
    row: (record) => {
      if (isRecord(record)) return row(record);
      state.bad++;
      return undefined;
    },
    finish(): SessionSummary {
      const { workspace, requests } = beside;
      return {
        title: toTitle(workspace.get("name")) ?? state.prompt ?? ref.title,
        cwd: state.cwd ?? workspace.get("cwd") ?? ref.cwd,
        gitBranch: state.branch ?? workspace.get("branch"),
        gitRemote: state.remote,
        assistantVersion: state.version,
        forkedFrom: state.copyOf,
        startedAt: state.startedAt,
        endedAt: state.endedAt,
        // A copy's log has the runs of the session that it was made from.
        ...usage.summary([ref.key, state.copyOf ?? ""].flatMap((session) => requests.get(session) ?? [])),
        skipped: { lines: state.bad, unknown: { ...state.unknown } },
      };
    },
  };
}

/** Prompts of skills, sub-agents, autopilot and the runtime come as user messages, too. */
function isTyped(record: JsonRecord, data: JsonRecord, text: string): boolean {
  const source = data.source ?? "user";
  if (source !== "user" && source !== "") return false;
  return toText(record.agentId) === undefined && !/^\s*<(system_notification|system_reminder)\b/.test(text);
}
