/** Whole files as results of reads show them: their content before the session changed them, committed or not. */
import type { ToolRole } from "../contract/adapter.ts";
import type { RecordedCall, RecordedRead } from "../contract/tool-action.ts";
import type { Json } from "../utils/json.ts";
import { findText, NAMES } from "./tool-call.ts";

/** Arguments that make a read one of a part. */
const PARTS = [
  "offset",
  "limit",
  "start_line",
  "end_line",
  "view_range",
  "startLine",
  "endLine",
  "start_line_one_indexed",
  "end_line_one_indexed_inclusive",
  "pages",
];
/** Tools cut long files and long lines at about here, some without a word. */
const LINES = 2_000;
const WIDTH = 2_000;
/** Number, then what divides it from the line: `1→`, `1\t`, `00001| `, `1: `, `1. `, `1|`. */
const NUMBERED = /^\s*(\d+)(?:→|\t|\| ?|: |\. )(.*)$/s;
const NOTE = /\n*<system-reminder>[\s\S]*$|\n*\(End of file[^)]*\)\s*$/;
const CUT = /\btruncated\b|\[\.\.\.|more lines? (?:not shown|below)/i;

/** The file a read showed from its first line to its last; undefined when that is not certain. Linear in the text. */
export function wholeRead(
  call: RecordedCall,
  role: ToolRole | undefined,
  result: { text: string; failed: boolean },
): RecordedRead | undefined {
  if (role !== "read" || result.failed) return undefined;
  const path = findPath(call.input);
  if (path === undefined) return undefined;
  const text = unwrapped(result.text).replace(NOTE, "");
  const lines = text.split("\n");
  if (
    lines.length >= LINES ||
    lines.some((line) => line.length >= WIDTH) ||
    CUT.test(text.slice(0, 400) + text.slice(-400))
  )
    return undefined;
  const numbered = withoutNumbers(lines);
  return { path, text: numbered ?? text };
}

function findPath(input: Json | undefined): string | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  if (PARTS.some((name) => input[name] !== undefined && input[name] !== null)) return undefined;
  if (input.command !== undefined && input.command !== "view") return undefined;
  return findText(input, NAMES.path);
}

/** OpenCode stands a file between tags, with the path before them. */
function unwrapped(text: string): string {
  const match = /<(file|content)>\n?([\s\S]*?)\n?<\/\1>/.exec(text);
  return match && text.trimEnd().endsWith(">") ? (match[2] ?? "") : text;
}

/** Undefined when the lines are not numbered 1, 2, 3, …: the file itself may contain numbers. */
function withoutNumbers(lines: readonly string[]): string | undefined {
  const rest: string[] = [];
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  for (let i = 0; i < count; i++) {
    const match = NUMBERED.exec(lines[i] ?? "");
    if (!match || Number(match[1]) !== i + 1) return undefined;
    rest.push(match[2] ?? "");
  }
  return count === 0 ? undefined : rest.join("\n");
}
