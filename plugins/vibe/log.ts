/** Vibe's sessions and their messages: what lies below the folder, and rows → events, tokens, facts. */
import { dirname, join } from "node:path";
import { isRecord, type JsonRecord, type SessionRef, toIso, toList, toNumber, toRecord, toText } from "sessarc";
import {
  createSessionLog,
  type FoundLog,
  findLogs,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  readRecord,
  rememberByFile,
  toRef,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;
type Ref = Pick<SessionRef, "path">;

const toMeta = (path: string): string => join(dirname(path), "meta.json");

/** The id is in the facts, the folder's name has a part of it. */
const findId = rememberByFile((path) => toText(readRecord(path)?.session_id));

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const facts = new Map<string, FoundLog>();
  const logs: FoundLog[] = [];
  const wanted = (name: string) => name.endsWith("/") || name === "meta.json" || name === "messages.jsonl";
  for await (const log of findLogs(root, wanted, 3)) {
    if (log.name === "meta.json") facts.set(log.path, log);
    else logs.push(log);
  }
  const refs = logs.map((log) => {
    const meta = facts.get(toMeta(log.path));
    return toRef((meta && findId(meta)) ?? log.folders.at(-1) ?? "session", log, meta ? [meta.path] : []);
  });
  yield* withUniqueKeys(root, refs);
}

export function createParser(ref: Ref): LineParser {
  const log = createSessionLog({});
  const { facts } = log;
  const first = readRecord(toMeta(ref.path)) ?? {};
  const model = toText(toRecord(first.config).active_model);

  const message = (row: JsonRecord): NewEvent[] => {
    const id = toText(row.message_id);
    switch (row.role) {
      case "user":
        return log.say(row.injected === true ? "note" : "user", partsText(row.content), { id });
      case "assistant":
        return [
          ...log.say("thinking", row.reasoning_content, { id, model }),
          ...log.say("assistant", partsText(row.content), { id, model }),
          ...toList(row.tool_calls).map((call) => {
            const { id: callId, function: called } = toRecord(call);
            return log.call(callId, toRecord(called).name, toRecord(called).arguments, { id, model });
          }),
        ];
      case "tool":
        return [log.result(row.tool_call_id, partsText(row.content), { id, tool_name: toText(row.name) })];
      default:
        if (row.role !== "system") log.unknown(row.role);
        return [];
    }
  };

  return {
    row: (row) => (isRecord(row) ? message(row) : undefined),
    finish() {
      const meta = readRecord(toMeta(ref.path)) ?? first;
      facts.title = toText(meta.title);
      facts.cwd = toText(toRecord(meta.environment).working_directory);
      facts.gitBranch = toText(meta.git_branch);
      facts.forkedFrom = toText(meta.parent_session_id);
      facts.startedAt = toIso(meta.start_time);
      facts.endedAt = toIso(meta.end_time) ?? facts.startedAt;
      const stats = toRecord(meta.stats);
      const entry = {
        key: `session:${toText(meta.session_id) ?? ref.path}`,
        at: facts.endedAt,
        model: toText(toRecord(meta.config).active_model) ?? "unknown",
        usage: { input: stats.session_prompt_tokens, output: stats.session_completion_tokens },
      };
      return log.summary({}, { entries: [entry], requests: toNumber(stats.steps) });
    },
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));
