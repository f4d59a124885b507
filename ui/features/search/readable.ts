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

const WRITERS: Record<Form, (text: string) => string> = {
  plain: (text) => text,
  json: (text) =>
    text
      .replace(/\\u001b\[[0-9;]*m/gi, "")
      .replace(KEYS, (_, before: string) => `${before === "" ? "" : " · "}`)
      // A key that was found stays.
      .replace(/[,{[\s]*"([\w\ue000\ue001-]+)"\s*:\s*/g, (_, key: string) => (key.includes(ON) ? ` · ${key}: ` : " · "))
      .replace(/(?<!\\)"\s*,\s*"/g, ", ")
      .replace(/\\[nrt]/g, " ")
      .replace(/(?<!\\)"(?=\s*(?:[,·}\]]|$))|(?<=·\s|:\s|^|\[)"/g, "")
      .replace(/\\(["\\/])/g, "$1")
      .replace(/^[\s·{[]+|[\s}\]]+$/g, ""),
  markdown: (text) =>
    text
      .replace(/^\s{0,3}#{1,6}\s+/gm, "")
      .replace(/\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)/g, "$1")
      .replace(/\*\*|__(?=\S)|(?<=\S)__|`+/g, "")
      .replace(/^\s*\|?[\s:|-]{3,}\|?\s*$/gm, "")
      .replace(/\s*\|\s*/g, " · "),
};
