/**
 * Letta Code: conversations of its local backend are pi's entries with ids of their own; of one that Letta's server has, only the text that the
 * client collects for its reflections is here.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRecord, type SessionRef, toText } from "sessarc";
import { createSessionLog, findLogs, type LineParser, readRecord, toRef, withUniqueKeys } from "sessarc/adapter";
import { createParser as createEntries } from "./parse.ts";

type NewRef = Omit<SessionRef, "tool">;

const [MESSAGES, TRANSCRIPT] = ["messages.jsonl", "transcript.jsonl"];

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  for await (const log of findLogs(root, (name) => name.endsWith("/") || name === MESSAGES || name === TRANSCRIPT, 2)) {
    const folder = log.folders.at(-1) ?? "";
    if (log.name === MESSAGES) refs.push(toRef(toKey(folder), log, [join(dirname(log.path), "conversation.json")]));
    else if (!isLocal(root, log.folders.at(-2) ?? "", folder))
      refs.push(toRef(folder === "default" ? `default-${log.folders.at(-2)}` : folder, log));
  }
  yield* withUniqueKeys(root, refs);
}

/** The folder is named after `conversation:<id>`, or `default:<agent>`, in base64. */
function toKey(folder: string): string {
  const [, kind, id = ""] =
    /^(conversation|default):(.+)$/s.exec(Buffer.from(folder, "base64url").toString("utf8")) ?? [];
  return kind === undefined ? folder : kind === "default" ? `default-${id}` : id;
}

/** Whether the local backend has the conversation whose text was collected. */
function isLocal(root: string, agent: string, conversation: string): boolean {
  const name = conversation === "default" ? `default:${agent}` : `conversation:${conversation}`;
  const folder = Buffer.from(name).toString("base64url");
  return existsSync(join(dirname(root), "lc-local-backend", "conversations", folder, MESSAGES));
}

export function createParser({ path }: Pick<SessionRef, "path">): LineParser {
  if (basename(path) === TRANSCRIPT) return createTranscript();
  const parser = createEntries(path);
  return {
    ...parser,
    finish() {
      const summary = parser.finish();
      return {
        ...summary,
        title: summary.title ?? toText(readRecord(join(dirname(path), "conversation.json"))?.summary),
      };
    },
  };
}

/** Rows without tokens or a folder; arguments of calls are cut at 300 characters. */
function createTranscript(): LineParser {
  const log = createSessionLog({});
  return {
    row(row) {
      if (!isRecord(row)) return;
      const fields = { at: log.time(row.captured_at), id: toText(row.source_message_id) ?? toText(row.source_line_id) };
      switch (row.kind) {
        case "user":
        case "assistant":
          return log.say(row.kind, row.text, fields);
        case "reasoning":
          return log.say("thinking", row.text, fields);
        case "error":
          return log.say("note", row.text, fields);
        case "tool_call": {
          const call = log.call(row.source_line_id, row.name, row.argsText, fields);
          const failed = row.resultOk === false;
          if (typeof row.resultText !== "string") return call;
          return [call, log.result(row.source_line_id, row.resultText, { ...fields, is_error: failed })];
        }
        default:
          log.unknown(row.kind);
      }
    },
    finish: () => log.summary(),
  };
}
