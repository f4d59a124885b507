/**
 * Assignments in any language: identifier, up to 24 word characters or blanks, closing quote, operator, opening quote,
 * value. Written by hand because it runs at every `key` and `token` of a text; each loop is bounded.
 */

/** What the expression of a listed rule shows between identifier and value. The code below is its definition. */
export const ASSIGNMENT = "[\\w.\\- \\t]{0,24}[\\\\'\"`\\])]{0,4}[ \\t]{0,8}[=:>?|,+]{1,4}[\\s'\"`\\\\(\\[{]{0,60}";

/** What may follow a value. */
export const VALUE_END = "(?=[`'\"\\s;,)\\]}<\\\\&|#]|$|\\.(?:\\s|$))";

const GAP_LIMIT = 24;
const CLASS = new Uint8Array(128);
const WORD = 1;
const BLANK = 2;
const CLOSE = 4;
const OPERATOR = 8;
const OPEN = 16;
const LINE = 32;

mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", WORD);
mark(" \t", BLANK | OPEN);
mark("\\'\"`])", CLOSE);
mark("=:>?|,+", OPERATOR);
mark("'\"`\\([{", OPEN);
mark("\r\n", LINE | OPEN);

function mark(chars: string, flag: number): void {
  for (const char of chars) CLASS[char.charCodeAt(0)] = (CLASS[char.charCodeAt(0)] ?? 0) | flag;
}

function kind(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (CLASS[code] as number) : 0;
}

/** `"name": "DB_PASSWORD", "value": "…"`, `key="ApiKey" value="…"`: the name is a value itself, and its own value is beside it. */
const BESIDE = /[\w.-]{0,24}["'][ \t]*,?\s{0,40}["']?value["']?[ \t]*[:=][ \t]*/iy;
/** The same in lists of YAML: `- name: DB_PASSWORD`, and below it `value: …`. */
const BELOW = /[\w.-]{0,24}[ \t]*\r?\n[ \t]{1,40}value:[ \t]+/iy;
/** `variable "db_password" { default = "…" }` */
const DEFAULT =
  /[\w.-]{0,24}"[ \t]*\{[^{}"=]{0,100}(?:=[^{}"=\n]{0,80}\n\s{0,40})?(?:description[ \t]*=[ \t]*"[^"\n]{0,200}"\s{0,40})?default[ \t]*=[ \t]*/y;
/** `the token is …` */
const PROSE = /[ \t](?:is|was|are|will be)(?:[ \t](?:now|set to|currently|still))?:?[ \t]+/y;
/** `password: |` and the value in the next line. */
const BLOCK = /[\w.-]{0,24}["']?:[ \t]*[|>][-+]?[ \t]*\r?\n[ \t]+/y;

function otherStart(text: string, at: number): number {
  for (const form of [BESIDE, BELOW, DEFAULT, PROSE, BLOCK]) {
    form.lastIndex = at;
    if (form.test(text)) return opened(text, form.lastIndex, 0);
  }
  return -1;
}

/** Where the value begins that is assigned to the identifier ending at `at`; -1 when nothing is assigned. */
export function valueStart(text: string, at: number): number {
  const other = otherStart(text, at);
  if (other >= 0) return other;
  let i = at;
  const gapEnd = i + GAP_LIMIT;
  while (i < gapEnd && kind(text, i) & (WORD | BLANK)) i++;
  for (let n = 0; n < 4 && kind(text, i) & CLOSE; n++) i++;
  for (let n = 0; n < 8 && kind(text, i) & BLANK; n++) i++;
  const operator = i;
  while (i < operator + 4 && kind(text, i) & OPERATOR && (i === operator || text.charCodeAt(i) !== 43)) i++;
  if (i === operator || (text.charCodeAt(operator) === 43 && text.charCodeAt(i - 1) !== 61)) return -1;
  if (i === operator + 1 && text.charCodeAt(operator) === 58) i = afterType(text, i);
  return opened(text, i, text.charCodeAt(operator) === 44 ? 0 : 1);
}

/** `apiKey: string = "…"`, `password: &'static str = "…"`: the value follows the type. */
const TYPE = /[ \t]{0,4}[&?*]{0,2}(?:'\w+ )?[\w.][\w.<>[\]|?* -]{0,40}=(?!=)/y;

function afterType(text: string, at: number): number {
  TYPE.lastIndex = at;
  return TYPE.test(text) ? TYPE.lastIndex : at;
}

/**
 * Skips blanks, quotes and brackets, a line break where allowed (a list goes on in the next line, an assignment may), and
 * what a pager or a diff writes at the start of a line.
 */
function opened(text: string, at: number, breaks: number): number {
  let i = at;
  const limit = i + 60;
  let lines = 0;
  while (i < limit) {
    const flags = kind(text, i);
    if (flags & LINE) {
      if (text.charCodeAt(i) === 10 && ++lines > breaks) return -1;
      i++;
      if (text.charCodeAt(i - 1) === 10) i = lineStart(text, i);
    } else if (flags & OPEN) i++;
    else break;
  }
  // b"…", u'…', @"…": a letter that belongs to the quote behind it.
  if (/["'`]/.test(text.charAt(i + 1)) && /[a-zA-Z@$]/.test(text.charAt(i))) i += 2;
  return i;
}

/** Past `  12\t`, `  12→`, `12: `, `+` or `-` at the start of a line. */
function lineStart(text: string, at: number): number {
  let i = at;
  while (i < at + 8 && text.charCodeAt(i) === 32) i++;
  const digits = i;
  while (i < digits + 7 && isDigit(text.charCodeAt(i))) i++;
  if (i > digits) return "\t→|".includes(text.charAt(i) || "x") || (i <= digits + 4 && text[i] === ":") ? i + 1 : at;
  const sign = text.charAt(at);
  return sign === "+" || sign === "-" ? at + 1 : at;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
