/** DeepSeek Harness's sessions and their events: what lies below the folder, and rows → events, tokens, facts. */
import { dirname } from "node:path";
import { isRecord, type JsonRecord, type SessionRef, toIso, toList, toNumber, toRecord, toText } from "sessarc";
import {
  contentParts,
  createSessionLog,
  type FoundLog,
  findLogs,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  toRef,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;

/** `session.jsonl`, later `session.v3.jsonl`; compressed with `.zstd` behind it. */
const LOG = /^session(?:\.v(\d{1,6}))?\.jsonl(\.zstd)?$/;

/** `--<cwd>--/<id>/`: a format that is new writes a log of its own beside the older one, so the highest generation counts. */
export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const folders = new Map<string, FoundLog[]>();
  for await (const log of findLogs(root, (name) => name.endsWith("/") || LOG.test(name), 4)) {
    const folder = dirname(log.path);
    folders.set(folder, [...(folders.get(folder) ?? []), log]);
  }
  const refs = [...folders.values()].flatMap((logs): NewRef[] => {
    // An empty one is of a move that did not finish.
    const [log, ...older] = logs.sort(
      (a, b) => Number(b.size > 0) - Number(a.size > 0) || toGeneration(b) - toGeneration(a) || b.mtime - a.mtime,
    );
    if (!log) return [];
    return [{ ...toRef(log.folders.at(-1) ?? "session", log), companions: older.map(({ path }) => path) }];
  });
  yield* withUniqueKeys(root, refs);
}

const toGeneration = ({ name }: FoundLog) => Number(LOG.exec(name)?.[1] ?? 0);

/** Events without anything to show: marks of turns and steps, settings, and parts of messages that come whole. */
const SKIPPED =
  /^(turn|step|request|tool\/(call|update|code-dispatch|ptc-dispatch)|.*-chunks$|compaction\/|llm\/|session\/(end-seed|title-llm)|(agent|approval|permission|sandbox|plan|todo|hook|command|model|goal|schedule|subagent|team|feedback|tool-workflow)[-/])/;

interface Own extends JsonRecord {
  id: string;
  from: string;
  created: string;
  /** Events before this one are copies; -1: the header says only that there are some, and the end-seed event is their end. */
  seed: number;
  /** Usage that streamed chunks of the running step have, and whose message did not come yet. */
  streamed?: JsonRecord | undefined;
}

export function createParser(): LineParser {
  const log = createSessionLog<Own>({ id: "", from: "", created: "", seed: 0 });
  const { facts, own } = log;

  /** Copies have times of before the session, where their number is not known yet. */
  const isCopy = (seq: number, at: string | undefined): boolean =>
    own.seed < 0 ? at !== undefined && at < own.created : seq < own.seed;

  const count = (usage: unknown, seq: number, at: string | undefined, model: string | undefined): void => {
    const { inputTokens: input, outputTokens: output, ...cached } = toRecord(usage);
    const inherited = isCopy(seq, at);
    log.count({
      key: `${inherited ? own.from : own.id}:${seq}`,
      at,
      model: model ?? "unknown",
      usage: { input, output, cacheRead: cached.cacheReadTokens, cacheWrite5m: cached.cacheWriteTokens },
      inherited,
    });
  };

  /** A step that ends without its message was paid for as well: its last chunks have the figures. */
  const abandon = (): undefined => {
    const { streamed } = own;
    own.streamed = undefined;
    if (streamed) count(streamed.usage, toNumber(streamed.seq) ?? 0, toText(streamed.at), toText(streamed.model));
  };

  const header = (row: JsonRecord): void => {
    if (own.id !== "") return;
    own.id = toText(row.id) ?? "?";
    own.created = toIso(row.createdAt) ?? "";
    own.seed = toNumber(row.seedLength) ?? (row.isSeeded === true ? -1 : 0);
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
    const streamed = own.streamed?.usage;
    own.streamed = undefined;
    count(data.usage ?? streamUsage(data.stream) ?? streamed, seq, at, model);
    const fields = { at, id: toText(message.id), model };
    return contentParts(message.content).flatMap((part) => {
      if (part.type === "tool-call") return log.call(part.id, part.name, part.arguments, fields);
      return log.say(part.type === "reasoning" ? "thinking" : "assistant", part.text, fields);
    });
  };

  const results = (data: JsonRecord, at: string | undefined): NewEvent[] =>
    contentParts(toRecord(data.message).content).map((part) => {
      const failed = typeof part.isError === "boolean" ? part.isError : undefined;
      return log.result(part.toolCallId, partsText(part.content), { at, is_error: failed });
    });

  return {
    row(row) {
      if (!isRecord(row)) return;
      if (row.type === "session") return header(row) ?? undefined;
      const data = toRecord(row.data);
      const seq = toNumber(row.seq) ?? 0;
      const at = toIso(row.time);
      // Copied events are of the time before this session.
      if (!isCopy(seq, at) && at !== undefined && at >= own.created) log.time(at);
      switch (row.type) {
        case "user/message": {
          const kind = toRecord(data.source).kind === "user" ? "user" : "note";
          return contentParts(data.content).flatMap((part) => log.say(kind, part.text, { at, id: toText(data.id) }));
        }
        case "assistant/message":
          return answer(data, seq, at);
        case "assistant/attempt":
          own.streamed = undefined;
          return count(data.usage ?? streamUsage(data.stream), seq, at, facts.model) ?? undefined;
        case "assistant/chunk": {
          const usage = chunkUsage(data.chunk);
          if (usage) own.streamed = { usage, seq, at, model: facts.model };
          return;
        }
        case "compaction/summary":
          count(data.usage, seq, at, toText(data.model) ?? facts.model);
          return log.say("note", partsText(data.summary), { at, id: toText(data.compactionId) });
        case "request/header":
        case "request/context": {
          const { config } = toRecord(data.header);
          facts.model = toText(toRecord(config).model) ?? toText(data.model) ?? facts.model;
          return;
        }
        case "llm/retry":
        case "step/end":
        case "turn/end":
          return abandon();
        case "session/end-seed":
          if (own.seed < 0 && data.inherited === true) own.seed = seq;
          return;
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
  };
}

/** The figures of a stream are of the whole call so far: the last ones count. */
function streamUsage(stream: unknown): JsonRecord | undefined {
  return toList(stream)
    .map((part) => chunkUsage(toRecord(part).chunk))
    .findLast((usage) => usage !== undefined);
}

function chunkUsage(chunk: unknown): JsonRecord | undefined {
  const { type, usage } = toRecord(chunk);
  return type === "usage" && isRecord(usage) ? usage : undefined;
}

export const peek = (ref: { path: string }) => peekLog(ref, createParser());
