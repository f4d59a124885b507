/** Agent transcripts: append-only `.jsonl` and the older `.txt`. No times but in prompts, no tool ids, no results, no tokens. */

import { isRecord, type Json, type SessionSummary, toJson, toList, toRecord, toText } from "sessarc";
import { type LineParser, type NewEvent, pathsIn } from "sessarc/adapter";
import { openRegular } from "sessarc/files";
import type { Conversation } from "../stores/types.ts";
import { toPrompt } from "./text.ts";

interface TranscriptParser extends LineParser {
  readonly paths: ReadonlySet<string>;
}

const PATHS = 100;

export function createTranscriptParser(conversation: Conversation): TranscriptParser {
  const paths = new Set<string>();
  const unknown: Record<string, number> = {};
  let first: string | undefined;
  let last: string | undefined;

  const count = (what: string) => {
    const name = what.slice(0, 60);
    unknown[name] = (unknown[name] ?? 0) + 1;
  };

  function* block(value: unknown, role: string): Generator<NewEvent> {
    const part = typeof value === "string" ? { type: "text", text: value } : toRecord(value);
    const type = toText(part.type);
    const text = toText(part.text) ?? toText(part.thinking);
    if (type === "text" && role === "user") {
      const prompt = toPrompt(text ?? "");
      first ??= prompt.at;
      last = prompt.at ?? last;
      if (prompt.note) yield { kind: "note", at: prompt.at, text: prompt.note };
      if (prompt.text) yield { kind: "user", at: prompt.at, text: prompt.text };
    } else if (type === "text") {
      if (text) yield { kind: role === "assistant" ? "assistant" : "note", text };
    } else if (type === "thinking" || type === "reasoning") {
      if (text) yield { kind: "thinking", text };
    } else if (type === "tool_use") {
      const input = toJson(part.input);
      for (const path of pathsIn(input)) if (/^(\/|[A-Za-z]:[\\/])/.test(path) && paths.size < PATHS) paths.add(path);
      yield {
        kind: "tool_use",
        text: "",
        tool_name: toText(part.name) ?? "unknown",
        tool_use_id: toText(part.id),
        tool_input: input,
      };
    } else if (type === "tool_result") {
      const content = part.content ?? "";
      const shown = typeof content === "string" ? content : JSON.stringify(content);
      yield {
        kind: "tool_result",
        text: shown,
        tool_use_id: toText(part.tool_use_id),
        is_error: part.is_error === true,
      };
    } else if (type === "image") yield { kind: "note", text: "[image]" };
    else count(`block:${type ?? "no type"}`);
  }

  return {
    paths,
    row(row) {
      const fields = toRecord(row);
      const role = toText(fields.role);
      if (role === undefined) {
        if (fields.type !== "turn_ended") count(`row:${toText(fields.type) ?? "no role"}`);
        return undefined;
      }
      const message = isRecord(fields.message) ? fields.message : fields;
      const content = typeof message.content === "string" ? [message.content] : toList(message.content);
      const drafts: NewEvent[] = [];
      for (const value of content) drafts.push(...block(value, role));
      return drafts;
    },
    finish: () => toSummary(conversation, first, last, unknown),
  };
}

function toSummary(
  { title, cwd, parent, createdAt, updatedAt }: Conversation,
  first: string | undefined,
  last: string | undefined,
  unknown: Record<string, number>,
): SessionSummary {
  const times = [
    createdAt && new Date(createdAt).toISOString(),
    first,
    last,
    updatedAt && new Date(updatedAt).toISOString(),
  ];
  const known = times.filter((time) => typeof time === "string").sort();
  const startedAt = times.find((time) => typeof time === "string");
  return {
    title,
    cwd,
    parent,
    startedAt,
    endedAt: known.at(-1),
    usage: {},
    skipped: { lines: 0, unknown: { ...unknown } },
  };
}

/**
 * The text form: `user:` and `assistant:` on a line of their own begin a turn, `[Thinking]`, `[Tool call] Name` and `[Tool result]`
 * begin a block in it. Streams; memory is one block.
 */
export async function* textDrafts(path: string, conversation: Conversation): AsyncGenerator<NewEvent, SessionSummary> {
  const parser = createTranscriptParser(conversation);
  let role = "";
  let kind: "text" | "thinking" | "tool_use" | "tool_result" = "text";
  let name = "";
  let body: string[] = [];

  const flush = (): NewEvent[] => {
    const text = body.join("\n").trim();
    const block =
      kind === "tool_use"
        ? { type: kind, name, input: toArguments(body) }
        : kind === "tool_result"
          ? { type: kind, content: text }
          : { type: kind, text };
    const empty = text === "" && kind !== "tool_use";
    body = [];
    name = "";
    if (role === "" || empty) return [];
    const made = parser.row({ role, message: { content: [block] } }, { offset: 0, length: 0 });
    return Array.isArray(made) ? made : made ? [made] : [];
  };

  for await (const line of readLines(path)) {
    const turn = /^(user|assistant):\s*$/.exec(line);
    const marker = /^\[(Thinking|Tool call|Tool result)\]\s?(.*)$/.exec(line);
    // A thought and a call end at the next blank line.
    const over = line.trim() === "" && (kind === "thinking" || kind === "tool_use");
    if (turn || marker || over) {
      yield* flush();
      kind = "text";
    }
    if (turn) role = turn[1] ?? "";
    else if (marker) {
      kind = marker[1] === "Thinking" ? "thinking" : marker[1] === "Tool call" ? "tool_use" : "tool_result";
      const rest = marker[2] ?? "";
      if (kind === "tool_use") name = rest.trim() || "unknown";
      else if (rest) body.push(rest);
    } else if (!over) body.push(line);
  }
  yield* flush();
  return parser.finish();
}

/** Lines with the blank ones kept: they mean something here. Split at `\n` only. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest: string | undefined;
  for await (const chunk of (await openRegular(path)).createReadStream({ encoding: "utf8" })) {
    const text: string = rest === undefined ? String(chunk).replace(/^\uFEFF/, "") : rest + String(chunk);
    const lines = text.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  if (rest) yield rest;
}

/** Indented `key: value` lines as an object, anything else as text. */
function toArguments(lines: readonly string[]): Json {
  const pairs = lines.map((line) => /^\s+([A-Za-z_]\w*):\s?(.*)$/.exec(line));
  if (lines.length > 0 && pairs.every((pair) => pair !== null)) {
    return Object.fromEntries(pairs.map((pair) => [pair[1] ?? "", pair[2] ?? ""]));
  }
  return lines.join("\n").trim();
}
