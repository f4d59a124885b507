/** Kimi Code's wire log → events, tokens and the session's facts. A reply is logged four times; the loop's events and `usage.record` count. */
import { basename, dirname, join } from "node:path";
import { isRecord, type JsonRecord, type SessionRef, toIso, toRecord, toText } from "sessarc";
import {
  contentParts,
  createSessionLog,
  type LineParser,
  type NewEvent,
  partsText,
  peekLog,
  readRecord,
} from "sessarc/adapter";
import { folderOfSession } from "./folders.ts";

type Ref = Pick<SessionRef, "path" | "parent">;

/** Rows without anything to show, or that repeat what others say. */
const SKIPPED =
  /^(context\.append_message|forked|llm\.tools_snapshot|turn\.(ended|step\..+)|(file_history|permission|plugin|prompt|runtime|subagent|token_counting)\..+)$/;
const NOTES: Record<string, string> = {
  "context.apply_compaction": "Context compacted",
  "context.undo": "Undone",
  "context.clear": "Context cleared",
  "turn.cancel": "Turn cancelled",
};

export function createParser(ref: Ref): LineParser {
  const agentDir = dirname(ref.path);
  const agent = basename(agentDir);
  const stateFile = join(dirname(dirname(agentDir)), "state.json");
  /** Models by the name that usage rows have; `step`: tokens of the running step are counted. */
  const log = createSessionLog<{ models: Record<string, string>; step: boolean }>({ models: {}, step: false });
  const { facts, own } = log;
  const made = readRecord(stateFile) ?? {};
  const forkedFrom = toText(made.forkedFrom);
  const forkedAt = forkedFrom === undefined ? undefined : Date.parse(toIso(made.createdAt) ?? "");

  const count = (usage: unknown, name: string | undefined, at: string | undefined): void => {
    const { inputOther: input, output, inputCacheRead: cacheRead, inputCacheCreation: cacheWrite5m } = toRecord(usage);
    const model = own.models[name ?? ""] ?? facts.model ?? name ?? "unknown";
    log.count({
      key: `${at}:${input}:${output}:${cacheRead}`,
      at,
      model,
      usage: { input, output, cacheRead, cacheWrite5m },
      inherited: forkedAt !== undefined && at !== undefined && Date.parse(at) < forkedAt,
    });
  };

  const loop = (event: JsonRecord, at: string | undefined): NewEvent[] => {
    const fields = { at, id: toText(event.uuid), model: facts.model };
    switch (event.type) {
      case "step.begin":
        own.step = false;
        return [];
      case "content.part": {
        const part = toRecord(event.part);
        if (part.type === "think") return log.say("thinking", part.think, fields);
        return log.say("assistant", part.text, fields);
      }
      case "tool.call":
        return [log.call(event.toolCallId, event.name, event.args, fields)];
      case "tool.result": {
        const { output, isError } = toRecord(event.result);
        const failed = typeof isError === "boolean" ? isError : undefined;
        return [log.result(event.toolCallId, partsText(output), { at, is_error: failed })];
      }
      case "step.end":
        if (!own.step) count(event.usage, undefined, at); // protocol 1.4 has no usage.record
        return [];
      default:
        log.unknown(`loop/${event.type}`);
        return [];
    }
  };

  const prompt = (row: JsonRecord, at: string | undefined): NewEvent[] => {
    const { kind } = toRecord(row.origin);
    const isPrompt = kind === undefined || kind === "user" || (agent !== "main" && kind === "system_trigger");
    const fields = { at, id: toText(row.promptId) };
    return contentParts(row.input).flatMap((part) => log.say(isPrompt ? "user" : "note", part.text, fields));
  };

  return {
    row(row) {
      if (!isRecord(row)) return;
      const at = log.time(row.time ?? row.created_at);
      switch (row.type) {
        case "turn.prompt":
        case "turn.steer":
          return prompt(row, at);
        case "context.append_loop_event":
          return loop(toRecord(row.event), at);
        case "llm.request": {
          const [model, alias] = [toText(row.model), toText(row.modelAlias)];
          facts.model = model ?? facts.model;
          if (model && alias) own.models[alias] = model;
          return;
        }
        case "usage.record":
          own.step = true;
          return count(row.usage, toText(row.model), at) ?? undefined;
        case "profile.bind":
          facts.cwd ??= toText(toRecord(row.environmentDisclosure).cwd);
          return;
        case "metadata":
          return;
        default: {
          const note = NOTES[String(row.type)];
          if (note) return log.say("note", toText(row.summary) ?? note, { at });
          // Events repeat for the screen what rows say.
          const isKnown = row.kind === "event" || (typeof row.type === "string" && SKIPPED.test(row.type));
          return isKnown ? undefined : log.unknown(row.type);
        }
      }
    },
    finish() {
      const known = readRecord(stateFile) ?? made;
      facts.title = agent === "main" ? toText(known.title) : undefined;
      facts.cwd = toText(known.cwd) ?? toText(known.workDir) ?? facts.cwd ?? folderOfSession(dirname(stateFile));
      facts.parent = ref.parent;
      if (agent === "main" && forkedFrom) facts.forkedFrom = forkedFrom;
      return log.summary();
    },
  };
}

export const peek = (ref: Ref) => peekLog(ref, createParser(ref));
