/** Replacements of literal text, as the assistants' edit tools make them. */
import type { TextEdit } from "sessarc/adapter";
import { type Coding, toCoding } from "../sandbox/encoding.ts";
import { nearestTo } from "./nearest.ts";

type Outcome = { ok: true; data: Buffer } | { ok: false; reason: string };

/** All edits or none. `before` is null for a file that is not there. Linear in the file for each edit. */
export function applyEdits(before: Buffer | null, edits: readonly TextEdit[]): Outcome {
  const coding = toCoding(before ?? Buffer.alloc(0));
  let text = before === null ? null : coding.decode(before);
  for (const [index, edit] of edits.entries()) {
    const result = applyEdit(text, edit, coding);
    if (typeof result === "object") {
      const which = edits.length > 1 ? `edit ${index + 1} of ${edits.length}: ` : "";
      return { ok: false, reason: which + result.reason };
    }
    text = result;
  }
  return { ok: true, data: coding.encode(text ?? "") };
}

function applyEdit(text: string | null, edit: TextEdit, coding: Coding): string | { reason: string } {
  const [old, next] = [coding.of(edit.old), coding.of(edit.new)];
  if (old === "")
    return text === null || text === ""
      ? next
      : { reason: "the file is not empty, and the edit names no text to replace" };
  if (text === null) return { reason: "the file is not there" };
  const { parts, by } = split(text, old, next);
  if (parts.length === 1) return { reason: `the text to replace is not in the file${nearestTo(text, old)}` };
  if (parts.length > 2 && edit.all !== true)
    return { reason: `the text to replace occurs ${parts.length - 1} times, and the edit needs exactly one` };
  return parts.join(by);
}

/** Tools show files with CRLF without their CR; what an edit then says with LF is meant in the file's own line ends. */
function split(text: string, old: string, next: string): { parts: string[]; by: string } {
  const windows = (part: string) => part.replace(/(?<!\r)\n/g, "\r\n");
  if (isWindows(text)) return { parts: text.split(windows(old)), by: windows(next) };
  const parts = text.split(old);
  if (parts.length > 1 || !text.includes("\r\n")) return { parts, by: next };
  return { parts: text.split(windows(old)), by: windows(next) };
}

/** Every line end is CRLF. */
const isWindows = (text: string) => text.includes("\r\n") && !/(?<!\r)\n/.test(text);

/** Text after line `line` (0: before the first), with the file's own line ends. */
export function insertAfter(before: Buffer | null, line: number, inserted: string): Outcome {
  if (before === null) return { ok: false, reason: "the file is not there" };
  const coding = toCoding(before);
  const text = coding.decode(before);
  const lines = text.split("\n");
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (!Number.isInteger(line) || line < 0 || line > count)
    return { ok: false, reason: `the file has ${count} lines, not ${line}` };
  const end = isWindows(text) ? "\r" : "";
  const added = coding
    .of(inserted)
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map((part) => part + end);
  // Behind a last line without an end, the end goes before what is added.
  if (line === lines.length && end !== "") {
    lines[line - 1] += end;
    added[added.length - 1] = (added.at(-1) ?? "").slice(0, -1);
  }
  lines.splice(line, 0, ...added);
  return { ok: true, data: coding.encode(lines.join("\n")) };
}
