/** Texts of logs as a fact stores them: one line, plain, and telling. */
import { stripVTControlCharacters } from "node:util";

/** Characters of a fact's text. */
export const MOST_TEXT = 300;

/** Control and format characters (those that turn the direction of a text, or are not seen), and variation selectors. */
const UNSEEN = /(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}])+/gu;

/** One line without escape sequences, control and invisible characters. */
export const plainLine = (text: string): string =>
  stripVTControlCharacters(text).replace(UNSEEN, " ").replace(/\s+/g, " ").trim();

/**
 * The start of a line, cut between words: half of a word may be half of a secret. A first word that is longer is left out.
 */
export function clipLine(line: string, most = MOST_TEXT): string {
  if (line.length <= most) return line;
  const start = line.slice(0, most);
  const space = start.lastIndexOf(" ");
  return space <= 0 ? "…" : `${start.slice(0, space)} …`;
}

/** Characters of a result that are read at its start, and at its end. */
const HEAD = 4_096;
const TAIL = 8_192;
const LINES = 200;

const STRONG =
  /^(?:\[\w+\]\s*)?(?:[\w.$]*(?:Error|Exception)\b|error(?:\[\w+\])?[: ]|fatal:|panic:|FAIL(?:ED)?\b|[✗✘×]\s|E\s{2,}|npm (?:ERR!|error)|ERROR\b|ERR_\w+)|\berror (?:TS|CS)\d+|: (?:fatal )?error:|: error /;
const WEAK =
  /\b(?:error|failed|failure|cannot|can't|could not|couldn't|not found|no such|denied|refused|unable|undefined|unexpected|invalid|missing|unknown|timed? ?out|conflict|exceeded|expected|must|E[A-Z]{4,})\b/i;
const NOISE =
  /^(?:exit code:? ?\d+|command failed(?: with)? exit code.*|at\s.+[:(]\d+|File ".+", line \d+.*|\s*\^+|[-=*~_\s]+|npm (?:ERR!|error) (?:code|errno|A complete log|path|syscall)\b.*|Traceback.*|\d+ (?:failed|error)s?)$/i;

/** The first line of a failed call's result that says why; empty where there is no text. Reads 12 KB at most. */
export function tellingLine(text: string): string {
  const part = text.length <= HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`;
  let weak: string | undefined;
  let last = "";
  const lines = part.split("\n");
  const read = lines.length <= 2 * LINES ? lines : [...lines.slice(0, LINES), ...lines.slice(-LINES)];
  for (const raw of read) {
    const line = plainLine(raw.slice(0, 1_000));
    if (line.length < 4 || NOISE.test(line)) continue;
    if (STRONG.test(line)) return clipLine(line);
    if (weak === undefined && WEAK.test(line)) weak = line;
    last = line;
  }
  return clipLine(weak ?? last);
}
