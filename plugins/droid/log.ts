/** Droid's sessions and their rows: what lies below the folder, and rows → events, tokens, facts. */

import { isRecord, type JsonRecord, type SessionRef, toRecord, toText } from "sessarc";
import {
  contentParts,
  createSessionLog,
  findLogs,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  readRecord,
  toRef,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;
type Ref = Pick<SessionRef, "path">;

const toSettings = (path: string): string => path.replace(/\.jsonl$/, ".settings.json");

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  for await (const log of findLogs(root, (name) => name.endsWith("/") || name.endsWith(".jsonl"), 4))
    refs.push(toRef(log.name.slice(0, -".jsonl".length), log, [toSettings(log.path)]));
  yield* withUniqueKeys(root, refs);
}

/** Rows without anything to show. */
const SKIPPED = new Set(["agent_turn_outcome", "todo_state"]);
const INJECTED = /^\s*<system-reminder>/;

export function createParser(ref: Ref): LineParser {
  const log = createSessionLog({ id: "", replies: 0 });
  const { facts, own } = log;

  const message = (row: JsonRecord): NewEvent[] => {
    const said = toRecord(row.message);
    const at = log.time(row.timestamp);
    const id = toText(row.id);
    if (said.role === "assistant") return fromModel(said, at, id);
    if (said.role !== "user") return [];
    // Context that the user does not see.
    const isHidden = said.visibility === "llm_only" || row.visibility === "llm_only";
    return contentParts(said.content).flatMap((part) => {
      if (part.type === "tool_result") {
        const failed = typeof part.is_error === "boolean" ? part.is_error : undefined;
        return log.result(part.tool_use_id, partsText(part.content), { at, id, is_error: failed });
      }
      const isNote = isHidden || INJECTED.test(toText(part.text) ?? "");
      return log.say(isNote ? "note" : "user", part.text, { at, id });
    });
  };

  const fromModel = (said: JsonRecord, at: string | undefined, id: string | undefined): NewEvent[] => {
    own.replies++;
    const model = toText(said.modelId) ?? toText(said.model) ?? facts.model;
    facts.model = model;
    const fields = { at, id, model };
    return contentParts(said.content).flatMap((part) => {
      if (part.type === "tool_use") return log.call(part.id, part.name, part.input, fields);
      if (part.type === "thinking") return log.say("thinking", part.thinking, fields);
      return log.say("assistant", part.text, fields);
    });
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      switch (row.type) {
        case "session_start":
          own.id = toText(row.id) ?? own.id;
          facts.title = toText(row.title) ?? facts.title;
          facts.cwd = toText(row.cwd) ?? facts.cwd;
          // A sub-agent names the session that called it, a copy the one it was made of.
          facts.parent = toText(row.callingSessionId) ?? facts.parent;
          if (facts.parent === undefined) facts.forkedFrom = toText(row.parent) ?? facts.forkedFrom;
          return;
        case "message":
          return message(row);
        case "compaction_state":
          return log.say("note", toText(row.summary) ?? "Context compacted", { at: log.time(row.timestamp) });
        default:
          if (typeof row.type !== "string" || !SKIPPED.has(row.type)) log.unknown(row.type);
      }
    },
    finish() {
      const settings = readRecord(toSettings(ref.path)) ?? {};
      const { inputTokens: input, outputTokens: output, ...cached } = toRecord(settings.tokenUsage);
      const entry = {
        key: `session:${own.id}`,
        at: facts.endedAt,
        model: toText(settings.model) ?? facts.model ?? "unknown",
        usage: { input, output, cacheRead: cached.cacheReadTokens, cacheWrite5m: cached.cacheCreationTokens },
      };
      return log.summary({}, { entries: isRecord(settings.tokenUsage) ? [entry] : [], requests: own.replies });
    },
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));
