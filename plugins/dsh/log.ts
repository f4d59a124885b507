/** DeepSeek Harness's sessions and their events: what lies below the folder, and rows → events, tokens, facts. */
import {
  contentParts,
  createSessionLog,
  findLogs,
  isRecord,
  type Json,
  type JsonRecord,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  type SessionRef,
  toIso,
  toNumber,
  toRecord,
  toRef,
  toText,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;

/** `--<cwd>--/<id>/session.jsonl.zstd`, or the same without compression. */
export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  for await (const log of findLogs(root, (name) => name.endsWith("/") || /^session\.jsonl(\.zstd)?$/.test(name), 4)) {
    refs.push({ ...toRef(log.folders.at(-1) ?? "session", log), companions: [] });
  }
  yield* withUniqueKeys(root, refs);
}

/** Events without anything to show: marks of turns and steps, and parts of messages that come whole. */
const SKIPPED = /^(turn|step|request|tool\/(call|update)|assistant\/chunk|.*-chunks$)/;

export function createParser(state?: Json): LineParser {
  const log = createSessionLog(state, { id: "", from: "", created: "", seed: 0 });
  const { facts, own } = log;

  const header = (row: JsonRecord): void => {
    if (own.id !== "") return;
    own.id = toText(row.id) ?? "?";
    own.created = toIso(row.createdAt) ?? "";
    own.seed = toNumber(row.seedLength) ?? 0;
    own.from = toText(row.parentSession) ?? "";
    log.time(row.createdAt);
    facts.cwd = toText(row.cwd);
    if (own.from === "") return;
    // A delegated session begins empty, a fork with the events of the other one.
    if (own.seed === 0 && (toNumber(row.delegationDepth) ?? 0) > 0) facts.parent = own.from;
    else facts.forkedFrom = own.from;
  };

  const answer = (data: JsonRecord, seq: number, at: string | undefined): NewEvent[] => {
    const message = toRecord(data.message);
    const model = toText(toRecord(message.source).model) ?? facts.model;
    facts.model = model;
    const inherited = seq < own.seed;
    const { inputTokens: input, outputTokens: output, ...cached } = toRecord(data.usage);
    const usage = { input, output, cacheRead: cached.cacheReadTokens, cacheWrite5m: cached.cacheWriteTokens };
    log.count({ key: `${inherited ? own.from : own.id}:${seq}`, at, model: model ?? "unknown", usage, inherited });
    const fields = { at, id: toText(message.id), model };
    return contentParts(message.content).flatMap((part) => {
      if (part.type === "tool-call") return log.call(part.id, part.name, part.arguments, fields);
      return log.say(part.type === "reasoning" ? "thinking" : "assistant", part.text, fields);
    });
  };

  const results = (data: JsonRecord, at: string | undefined): NewEvent[] =>
    contentParts(toRecord(data.message).content).map((part) => {
      const failed = typeof part.isError === "boolean" ? part.isError : undefined;
      return log.result(part.toolCallId, partsText(part.content), { at, failed });
    });

  return {
    row(row) {
      if (!isRecord(row)) return;
      if (row.type === "session") return header(row) ?? undefined;
      const data = toRecord(row.data);
      const seq = toNumber(row.seq) ?? 0;
      const at = toIso(row.time);
      // Copied events are of the time before this session.
      if (seq >= own.seed && at !== undefined && at >= own.created) log.time(at);
      switch (row.type) {
        case "user/message": {
          const kind = toRecord(data.source).kind === "user" ? "user" : "note";
          return contentParts(data.content).flatMap((part) => log.say(kind, part.text, { at, id: toText(data.id) }));
        }
        case "assistant/message":
          return answer(data, seq, at);
        case "tool/result":
          return results(data, at);
        case "session/title":
          facts.title = toText(data.title) ?? facts.title;
          return;
        default:
          if (typeof row.type !== "string" || !SKIPPED.test(row.type)) log.unknown(row.type);
      }
    },
    finish: () => log.summary(),
    snapshot: () => log.snapshot(),
  };
}

export const peek = (ref: { path: string }) => peekLog(ref, createParser());
