/** Calls of one session that failed or took long: one pass over its transcript. */

import { isRecord, type Json, type SessionEvent } from "sessarc";
import { createTodos, mainArgument } from "sessarc/adapter";
import { oneLine } from "sessarc/terminal";
import { answeredCalls } from "./answered-calls.ts";

export interface TroubledCall {
  seq: number;
  /** When it was made; null where the log does not say. */
  at: string | null;
  /** Name of the tool. */
  name: string;
  /** What it was called with, in one line: command, path or pattern, else its arguments; at most 300 characters. */
  argument: string;
  failed: boolean;
  /** What the error begins with; null for a call that did not fail. */
  error: string | null;
  /** From the call to its result; null where the log gives no times. */
  ms: number | null;
}

const LINE = 300;

/** `slow`: ms from which on a call that did not fail counts too; undefined: failures alone. The latest call first. */
export async function troubledCalls(
  chunks: AsyncIterable<readonly SessionEvent[]>,
  slow: number | undefined,
): Promise<TroubledCall[]> {
  const found: TroubledCall[] = [];
  for await (const { call, result } of answeredCalls(chunks)) {
    const failed = result.is_error === true;
    const ms = call ? between(call.at, result.at) : null;
    if (!failed && (slow === undefined || ms === null || ms < slow)) continue;
    const { seq, at = null, tool_name: name = "unknown" } = call ?? result;
    const error = failed ? errorLine(result.text) : null;
    found.push({ seq, at, name, argument: call ? toArgument(call.tool_input) : "", failed, error, ms });
  }
  return found.sort((a, b) => b.seq - a.seq);
}

function between(from: string | undefined, to: string | undefined): number | null {
  const ms = Date.parse(to ?? "") - Date.parse(from ?? "");
  return Number.isNaN(ms) || ms < 0 ? null : ms;
}

const shown = (text: string) => oneLine(text).slice(0, LINE);

function toArgument(input: Json | undefined): string {
  const main = mainArgument(input) || findTask(input);
  if (main !== "") return shown(main.slice(0, LINE * 4));
  return isRecord(input) && Object.keys(input).length > 0 ? shown(JSON.stringify(input).slice(0, LINE * 4)) : "";
}

/** Of a list of tasks the one in progress, else the first; empty where the call has no such list. */
function findTask(input: Json | undefined): string {
  const tasks = createTodos();
  tasks.add(input);
  return tasks.current() ?? "";
}

/** Codes of a terminal, and the tags some tools put around an error. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes begin with one.
const NOISE = /\u001b\[[0-9;?]*[A-Za-z]|<\/?(?:tool_use_error|error|stderr)>/g;

/** What Codex puts before a command's output. */
const HEADS = /^(?:Chunk ID|Wall time|Process exited with code|Original token count|Total output lines|Output)\b.*/;
const EXIT = /^(exit(ed)?( with)?( code)?:?) -?\d+\.?$/i;

/** The first line that says something: not a bare exit code alone; of a traceback its end. */
function errorLine(text: string): string {
  const lines = text
    .slice(0, 16_384)
    .replace(NOISE, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !HEADS.test(line));
  const [first = "", second] = lines;
  if (EXIT.test(first.trim()) && second !== undefined)
    return shown(`${first}: ${errorLine(lines.slice(1).join("\n"))}`);
  const trace = first.startsWith("Traceback (") ? lines.slice(1).find((line) => /^\S/.test(line)) : undefined;
  return shown(trace ?? first);
}
