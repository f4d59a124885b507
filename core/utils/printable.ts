/** Text that came from logs or from outside, made safe to print on a terminal. */
import { stripVTControlCharacters } from "node:util";

/**
 * C0 (but tab and newline), DEL and C1: they steer a terminal. And the marks that turn the direction of text: with them a line shows another
 * order than it has, so that a file or a person appears under another name.
 */
const UNSAFE = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
const ANY = new RegExp(`[${UNSAFE}]`);
const EACH = new RegExp(`[${UNSAFE}]`, "g");

/** The text without escape sequences, control characters and direction marks. Keeps newlines and tabs. */
export function printable(text: string): string {
  return ANY.test(text) ? stripVTControlCharacters(text).replace(EACH, "") : text;
}

/** What `createStyle` writes: nothing else that begins with an escape passes to a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what styles begin with
const STYLES = /(\u001b\[(?:1|2|1;4|22|22;24|31|32|33|34|39)m)/;

/**
 * What a command prints, as a terminal may get it: `printable`, but for the styles of this program where `colour` is on. JSON stays the value
 * that it is: unsafe characters in it are escaped (`\u202e`).
 */
export function toTerminal(text: string, colour: boolean): string {
  if (!ANY.test(text)) return text;
  if (isJson(text)) return text.replace(EACH, escaped);
  return text
    .split("\n")
    .map((line) => (isJson(line) ? line.replace(EACH, escaped) : ofLine(line, colour)))
    .join("\n");
}

function ofLine(line: string, colour: boolean): string {
  if (!colour) return printable(line);
  return line
    .split(STYLES)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join("");
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

function isJson(text: string): boolean {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
