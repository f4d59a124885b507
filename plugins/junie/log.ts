/** Junie's sessions and their events: what lies below the folder, and rows → events, tokens, facts. */
import { basename, dirname, join } from "node:path";
import {
  isRecord,
  type Json,
  type JsonRecord,
  parseRecord,
  type SessionRef,
  toJson,
  toList,
  toRecord,
  toText,
} from "sessarc";
import {
  createSessionLog,
  findLogs,
  type LineParser,
  type NewEvent,
  peekLog,
  textBeside,
  toRef,
  withUniqueKeys,
} from "sessarc/adapter";

type NewRef = Omit<SessionRef, "tool">;
type Ref = Pick<SessionRef, "path">;

export async function* scanSessions(root: string): AsyncGenerator<NewRef> {
  const refs: NewRef[] = [];
  for await (const log of findLogs(root, (name, folders) =>
    name.endsWith("/") ? folders.length === 0 : name === "events.jsonl",
  ))
    refs.push(toRef(log.folders.at(-1) ?? "session", log, [join(dirname(log.path), "state.json")]));
  yield* withUniqueKeys(root, refs);
}

/** Steps whose last form was seen; a step may be reported again. */
const STEPS = 256;
const RUNNING = new Set(["IN_PROGRESS", "PENDING", "STARTED"]);
/** Events without anything to show. */
const SKIPPED = new Set([
  "AgentCurrentStatusUpdatedEvent",
  "ContextWindowReportEvent",
  "TaskStartedEvent",
  "TaskState",
]);

export function createParser(ref: Ref): LineParser {
  const log = createSessionLog<{ steps: string[] }>({ steps: [] });
  const { facts, own } = log;

  const agent = (event: JsonRecord, at: string | undefined): NewEvent[] => {
    const kind = String(event.kind);
    switch (kind) {
      case "CurrentDirectoryUpdatedEvent":
        facts.cwd = toText(event.currentDirectory) ?? facts.cwd;
        return [];
      case "AgentTaskNameUpdatedEvent":
        facts.title = toText(event.taskName) ?? facts.title;
        return [];
      case "LlmResponseMetadataEvent":
        for (const usage of toList(event.modelUsage)) count(toRecord(usage), at);
        return [];
      default: {
        const block = /^(?:Agent)?(\w+?)Block(?:Updated)?Event$/.exec(kind)?.[1];
        if (block) return step(block, event, at);
        if (!SKIPPED.has(kind)) log.unknown(kind);
        return [];
      }
    }
  };

  /** Helper models are among them: each has a figure of its own. */
  const count = (told: JsonRecord, at: string | undefined): void => {
    const { inputTokens: input, outputTokens: output, cacheInputTokens: cacheRead } = told;
    const model = toText(told.model) ?? "unknown";
    facts.model ??= model;
    const usage = { input, output, cacheRead, cacheWrite5m: told.cacheCreateTokens };
    log.count({ at, model, usage }, told.cost);
  };

  /** A block is reported while it grows; its first form that is not running is whole. */
  const step = (block: string, event: JsonRecord, at: string | undefined): NewEvent[] => {
    const id = toText(event.stepId);
    if (RUNNING.has(String(event.status)) || (id !== undefined && own.steps.includes(id))) return [];
    if (id !== undefined) own.steps = [...own.steps.slice(1 - STEPS), id];
    const fields = { at, id };
    switch (block) {
      case "Thought":
        return log.say("thinking", event.text, fields);
      case "Markdown":
        return log.say("assistant", event.text, fields);
      case "Result":
        return log.say("assistant", event.result, fields);
      default: {
        const { input, output, name } = toCall(block, event);
        const failed = event.status === "FAILED";
        return [log.call(id, name, input, fields), log.result(id, output, { at, is_error: failed, tool_name: name })];
      }
    }
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      const at = log.time(row.timestampMs);
      if (row.kind === "UserPromptEvent")
        return log.say("user", toText(row.presentablePrompt) ?? row.prompt, { at, id: toText(row.requestId) });
      if (row.kind === "SessionA2uxEvent") return agent(toRecord(toRecord(row.event).agentEvent), at);
      if (typeof row.kind !== "string" || !SKIPPED.has(row.kind)) log.unknown(row.kind);
    },
    finish() {
      const known = indexed(ref.path);
      facts.title ??= toText(known?.taskName);
      facts.cwd ??= toText(known?.projectDir);
      return log.summary();
    },
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));

/** What a block says as a call and its result. */
function toCall(block: string, event: JsonRecord): { name: string; input: Json | undefined; output: string } {
  switch (block) {
    case "Terminal":
      return {
        name: block,
        input: { command: toText(event.command) ?? "" },
        output: toText(event.presentableOutput) ?? "",
      };
    case "ViewFiles":
      return { name: block, input: toJson({ files: toPaths(event.files) }), output: "" };
    case "FileChanges":
      return { name: block, input: toJson({ files: toPaths(event.changes), changes: event.changes }), output: "" };
    default:
      return {
        name: toText(event.toolType) ?? block,
        input: toJson({ description: event.text ?? null }),
        output: toText(event.details) ?? "",
      };
  }
}

/** Files come as paths or as objects that hold one. */
function toPaths(files: unknown): string[] {
  return toList(files).flatMap((file) => {
    const { path, filePath, relativePath, afterRelativePath, beforeRelativePath } = toRecord(file);
    const named = [file, path, filePath, relativePath, afterRelativePath, beforeRelativePath];
    return named.map(toText).find((text) => text !== undefined) ?? [];
  });
}

/** The last row of the index that names the session. */
function indexed(path: string): JsonRecord | undefined {
  const dir = dirname(path);
  const rows = (textBeside(join(dirname(dir), "index.jsonl")) ?? "").split("\n").map(parseRecord);
  return rows.findLast((row) => row?.sessionId === basename(dir));
}
