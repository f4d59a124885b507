/** gptme's conversations: what lies below the folder, and rows → events, tokens, facts. */
import { readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, type SessionRef, toRecord, toText } from "sessarc";
import {
  createSessionLog,
  findLogs,
  type LineParser,
  partsText,
  peekLog,
  toRef,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;
type Ref = Pick<SessionRef, "path">;

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  const wanted = (name: string, folders: readonly string[]) =>
    name.endsWith("/") ? folders.length === 0 : name === "conversation.jsonl";
  for await (const log of findLogs(root, wanted))
    refs.push({ ...toRef(log.folders.at(-1) ?? "conversation", log), companions: [] });
  yield* withUniqueKeys(root, refs);
}

export function createParser(ref: Ref): LineParser {
  const log = createSessionLog({});
  const { facts } = log;
  facts.cwd ??= findWorkspace(ref.path);
  return {
    row(row) {
      if (!isRecord(row)) return;
      const at = log.time(row.timestamp);
      const text = partsText(row.content);
      switch (row.role) {
        case "user":
          return log.say("user", text, { at });
        case "assistant": {
          const told = toRecord(row.metadata);
          const { input_tokens: input, output_tokens: output, ...cached } = toRecord(told.usage ?? told);
          const model = toText(told.model);
          const entry = {
            key: `${toText(row.timestamp)}:${input}:${output}`,
            at,
            model: model ?? "unknown",
            usage: { input, output, cacheRead: cached.cache_read_tokens, cacheWrite5m: cached.cache_creation_tokens },
          };
          log.count(entry, told.cost);
          return log.say("assistant", text, { at, model });
        }
        // Tools answer as notes: a call is text inside the assistant's message.
        case "system":
        case "tool":
          return log.say("note", text, { at });
        default:
          log.unknown(row.role);
      }
    },
    finish: () => log.summary(),
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));

/** A link beside the log names the folder that the conversation is about. */
function findWorkspace(path: string): string | undefined {
  try {
    return readlinkSync(join(dirname(path), "workspace"));
  } catch {
    return undefined; // no link: the conversation has a folder of its own, or none
  }
}
