/** What a snippet shows: no escape codes, of arguments the values without the signs of JSON, of messages the words without those of Markdown. */
import { plain } from "../session/ansi.ts";

export type Form = "json" | "markdown" | "plain";

interface Piece {
  text: string;
  hit: boolean;
}

/** Private characters around each match, so that what spans its edge is still recognized. */
const [ON, OFF] = ["\ue000", "\ue001"];

/** `ranges`: the matches in `text`, as [start, end). */
export function piecesOf(text: string, ranges: readonly (readonly [number, number])[], form: Form): Piece[] {
  let marked = "";
  let at = 0;
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (start < at) continue;
    marked += text.slice(at, start) + ON + text.slice(start, end) + OFF;
    at = end;
  }
  const shown = WRITERS[form](plain(marked + text.slice(at)));
  return shown.split(ON).flatMap((part, i) => {
    const [hit = "", rest = ""] = i === 0 ? ["", part] : part.split(OFF);
    return [
      { text: hit, hit: true },
      { text: rest, hit: false },
    ].filter((piece) => piece.text !== "");
  });
}

export const readable = (text: string, form: Form): string =>
  piecesOf(text, [], form)
    .map((piece) => piece.text)
    .join("");

/** Names of arguments that are no words: the archive searches a call's names and values as one text. */
const KEYS =
  /(^|\s+)(?:file_path|filePath|absolute_path|target_file|notebook_path|old_string|new_string|oldString|newString|old_str|new_str|file_text|replace_all|replaceAll|code_edit|new_source|patchText)(?=\s|$)\s*/g;

/** The same for names that are words as well: only where one has a line to itself, as the archive writes it before its value. */
const NAMES =
  /(^|\n)(?:prompt|subagent_type|description|command|pattern|query|content|path|glob|output_mode|run_in_background|url|skill|args|questions|question|header|options|multiSelect|todos|activeForm|subject|cmd|workdir|timeout|head_limit)\n\s*/g;

/** The number that a log writes before a line of a file. */
const LINE_NUMBER = /(^|\n)[ \t]*\d+→[ \t]*/g;

/** Between two values. */
const PARTED = / {1,2}· /;
/** Characters of a value from which on its repetition is left out. */
const LONG = 12;
const bareOf = (part: string) => part.replaceAll(ON, "").replaceAll(OFF, "").replace(/\s+/g, " ").trim();

/** What no other value says as well: an edit has the lines around the change before and after it. The longer value is shown, of two equal ones the first. */
function isNews(part: string, at: number, parts: readonly string[]): boolean {
  const own = bareOf(part);
  if (own.length < LONG) return true;
  return !parts.some((other, i) => {
    const text = bareOf(other);
    return i !== at && text.includes(own) && (text.length > own.length || i < at);
  });
}

const WRITERS: Record<Form, (text: string) => string> = {
  plain: (text) => text.replace(LINE_NUMBER, "$1"),
  json: (text) =>
    text
      .replace(/\\u001b\[[0-9;]*m/gi, "")
      .replace(KEYS, (_, before: string) => `${before === "" ? "" : " · "}`)
      .replace(NAMES, (_, before: string) => `${before === "" ? "" : " · "}`)
      // A key that was found stays.
      .replace(/[,{[\s]*"([\w\ue000\ue001-]+)"\s*:\s*/g, (_, key: string) => (key.includes(ON) ? ` · ${key}: ` : " · "))
      .replace(/(?<!\\)"\s*,\s*"/g, ", ")
      .replace(/\\[nrt]/g, " ")
      .replace(/(?<!\\)"(?=\s*(?:[,·}\]]|$))|(?<=·\s|:\s|^|\[)"/g, "")
      .replace(/\\(["\\/])/g, "$1")
      .replace(/^[\s·{[]+|[\s}\]]+$/g, "")
      .split(PARTED)
      .filter(isNews)
      .join(" · "),
  markdown: (text) =>
    text
      .replace(/^\s{0,3}#{1,6}\s+/gm, "")
      .replace(/\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)/g, "$1")
      .replace(/\*\*|__(?=\S)|(?<=\S)__|`+/g, "")
      .replace(/^\s*\|?[\s:|-]{3,}\|?\s*$/gm, "")
      .replace(/\s*\|\s*/g, " · "),
};
