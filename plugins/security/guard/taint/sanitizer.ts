/** Sanitizers: how much of its input a program writes to its output, as data. They write nothing anywhere else. */
import type { Part } from "./part.ts";
import { isQuiet, type Step, takesInput } from "./programs/programs.ts";
import { readProgram, type SimpleCommand, type Word } from "./words.ts";

/**
 * What of its input a command passes on:
 * `nothing` but its size; the `names` of lines like `A=x`; whole `lines` or their beginnings; `some` of it; or
 * `unknown`: the command may show the input in another way than its output.
 */
type Passed = "nothing" | "names" | "lines" | "some" | "unknown";

export interface Sanitizer {
  passes: Passed;
  /** Only this part is passed on. */
  part?: Part | undefined;
}

const names = (list: string) => new Set(list.split(" "));
const AWKS = ["awk", "gawk", "mawk"];
const LINES = names("cat grep egrep fgrep head tail sort uniq tee env printenv read mapfile readarray");
const SOME = names(
  "sed awk gawk mawk tr cut tac base64 fold fmt column jq strings iconv expand unexpand xargs echo printf set export declare typeset",
);
/** Before a program, they send its output elsewhere or print what it reads. */
const MEDDLERS = names("watch strace parallel coproc nohup flock");
/** With such a word the program prints parts of lines, or writes not only to stdout. */
const NOT_LINES = /^(?:-\w*[co]\w*|--(?:bytes|only-matching).*)$/;
const NOT_ALONE = new Map<string, RegExp>([
  ["sort", /^(?:-\w*o|--output)/],
  ["sed", /(?:^-\w*e|^|[;{}/\d$pgI!=\n])\s*[wWe](?:\s|$)/],
  ["jq", /debug|stderr/],
  ["iconv", /^(?:-o|--output)/],
  ...AWKS.map((name) => [name, /[>|]|system|getline|^-[fi]|^--/] as const),
  ["printf", /^-v/],
  ["xargs", /^(?!-|\d+$|\\n$|\n$)/],
  ["env", /^[^-=]*$/],
  ["set", /^/],
  ...["export", "declare", "typeset"].map((name) => [name, /^(?!-[px]+$)/] as const),
]);
/** Commands with more words are not examined for what they leave out. */
const WORDS_LIMIT = 40;

// Scripts that cut lines at `=`, and scripts that keep the text before it with a group, in both spellings of groups.
const CUTS = /^s(\W)=(?:\.\*|\(\.\*\)|\\\(\.\*\\\))\$?\1(?:(?!\1)[^&\\\n])*\1g?$/;
const KEEPS = /^s(\W)\^?\\\(\[\^=\]\*\\\)=\.\*\$?\1\\1(?:(?!\1)[^&\\\n])*\1g?$/;
const KEEPS_EXTENDED = /^s(\W)\^?\(\[\^=\][*+]\)=\.\*\$?\1\\1(?:(?!\1)[^&\\\n])*\1g?$/;

/** Whether of lines like `A=x` nothing after `=` is printed. `text`: all words, joined by blanks. */
const NAMES: Record<string, (text: string, words: readonly string[]) => boolean> = {
  cut: (text, words) =>
    /(?:^| )-d ?=(?= |$)/.test(text) &&
    /(?:^| )-f ?1(?= |$)/.test(text) &&
    words.every((word) => !word.startsWith("-") || /^-(?:d=?|f1?|s)$/.test(word)),
  sed: (_, words) => {
    const options = words.filter((word) => word.startsWith("-"));
    const [named, ...more] = options.filter((word) => word.endsWith("e"));
    const script = words.find((word) => !word.startsWith("-"));
    if (!script || more.length > 0 || !options.every((word) => /^-[Ers]*e?$/.test(word))) return false;
    // The script follows `-e`, or is the first word that is not an option.
    if (named && words[words.indexOf(named) + 1] !== script) return false;
    const extended = options.some((word) => /[Er]/.test(word));
    return CUTS.test(script) || (extended ? KEEPS_EXTENDED : KEEPS).test(script);
  },
  ...Object.fromEntries(
    AWKS.map((name) => [
      name,
      (text: string) =>
        /^-F ?= (?:NF ?|!?\/[^/]*\/ ?)?\{ ?print \$1(?: ?"[^"$\\]*")?;? ?\}(?: [^-= ][^= ]*)*$/.test(text),
    ]),
  ),
  ...Object.fromEntries(
    ["grep", "egrep"].map((name) => [
      name,
      (text: string) =>
        /^-[hnEP]*o[hnEP]* (?:-[hnEP]+ )?\^\(?\w*(?:\[\^=\]|\[[\w-]+\]|\\w)[*+]\)?=?(?: [^-][^ ]*)*$/.test(text),
    ]),
  ),
};

/** Returns what a command passes on of its input. */
export function readSanitizer({ program, words, wrappers }: Step, command: SimpleCommand): Sanitizer {
  if (command.aside || wrappers.some(({ text }) => MEDDLERS.has(readProgram(text)))) return { passes: "unknown" };
  const isPlain = words.length <= WORDS_LIMIT && words.every(({ open, pattern }, n) => !open && !(pattern && n === 0));
  return { passes: readPassed(program, words, command), part: isPlain ? readPart(program, words) : undefined };
}

function readPassed(program: string, words: readonly Word[], { words: all, input }: SimpleCommand): Passed {
  if (isQuiet(program, words) || takesInput(program, words)) return "nothing";
  // `$(< file)`
  if (program === "") return all.length === 0 && input.length > 0 ? "lines" : "unknown";
  if (!LINES.has(program) && !SOME.has(program)) return "unknown";
  const alone = NOT_ALONE.get(program);
  if (words.some(({ text }) => alone?.test(text) || /\/(?:dev\/(?!null$)|proc\/)/.test(text))) return "unknown";
  const texts = words.slice(0, WORDS_LIMIT).map(({ text }) => text);
  if (words.length <= WORDS_LIMIT && NAMES[program]?.(texts.join(" ").replace(/\s+/g, " "), texts)) return "names";
  return LINES.has(program) && !words.some(({ text }) => NOT_LINES.test(text)) ? "lines" : "some";
}

/** Programs that select a part of their input. */
const SELECTORS = /^(?:[ef]?grep|rg|[jy]q|head|tail|sed|awk)$/;
/** Patterns that mean the same to every `grep`. */
const PLAIN = /^\^?[\w=:. /-]+(?:\\?\|\^?[\w=:. /-]+)*\$?$/;
/** A group as extended expressions write it. */
const GROUP = /^\^?\([\w.-]+(?:\|[\w.-]+)*\)=?$/;
const CONTEXT = /^-(?:\w*[ABCefLlPzoc]|-(?:after|before|context|file|regexp|null|only))/;

/** The part that `grep`, `head`, `tail`, `sed -n`, `awk` or `jq` prints; undefined if that may be any line. */
function readPart(program: string, words: readonly Word[]): Part | undefined {
  if (!SELECTORS.test(program)) return undefined;
  const texts = words.map(({ text }) => text);
  if (/grep$|^rg$/.test(program)) return readMatches(program, texts);
  if (/^[jy]q$/.test(program)) return readField(texts);
  if (program === "awk") return readRows(texts);
  return program === "sed" ? readPrinted(texts) : readCount(program, texts);
}

/** `sed -n 2,5p`, `sed -n /PORT/p` */
function readPrinted([option, script, ...more]: readonly string[]): Part | undefined {
  if (option !== "-n" || more.some((word) => word.startsWith("-"))) return undefined;
  const [, from, to] = /^(\d{1,6})(?:,(\d{1,6}))?p$/.exec(script ?? "") ?? [];
  if (from !== undefined) return { kind: "lines", from: Number(from), to: Number(to ?? from) };
  const [, printed, replaced] = /^(?:\/([^/]+)\/p|s\/(\^[^/]+)\/[^/&\\]*\/p)$/.exec(script ?? "") ?? [];
  return toMatches(printed ?? replaced);
}

/** `awk -F= '/PORT/ {print $2}'` prints only rows that match. */
function readRows(words: readonly string[]): Part | undefined {
  const [script = "", ...files] = words.filter((word) => !/^-F.$/.test(word));
  if (files.some((word) => /^-|=/.test(word))) return undefined;
  const [, sign, number] = /^NR ?(==|<=) ?(\d{1,6})$/.exec(script) ?? [];
  if (number !== undefined) return { kind: "lines", from: sign === "==" ? Number(number) : 1, to: Number(number) };
  const [, pattern, first] = /^(?:\/([^/]+)\/|\$1 ?== ?"(\w+)") ?\{ ?print [^{}>|]*\}$/.exec(script) ?? [];
  return toMatches(pattern ?? (first === undefined ? undefined : `^${first}`));
}

const toMatches = (pattern: string | undefined): Part | undefined =>
  pattern !== undefined && PLAIN.test(pattern)
    ? { kind: "matches", pattern, inverts: false, ignoresCase: false }
    : undefined;

function readMatches(program: string, words: readonly string[]): Part | undefined {
  const options = words.filter((word) => word.startsWith("-"));
  const pattern = words.find((word) => !word.startsWith("-"));
  if (pattern === undefined || options.some((word) => CONTEXT.test(word))) return undefined;
  const extended = /^(?:egrep|rg)$/.test(program) || options.some((word) => /^-[a-zA-Z]*[EP]/.test(word));
  if (!PLAIN.test(pattern) && !(extended && GROUP.test(pattern))) return undefined;
  const has = (letter: string) => options.some((word) => new RegExp(`^-[a-zA-Z]*${letter}`).test(word));
  return { kind: "matches", pattern: pattern.replaceAll("\\|", "|"), inverts: has("v"), ignoresCase: has("i") };
}

/** `jq -r .name a.json` prints one value of an object. */
function readField(words: readonly string[]): Part | undefined {
  const [filter = "", ...files] = words.filter((word) => !/^-[rcMe]+$/.test(word));
  return /^(?:\.[A-Za-z_]\w*)+$/.test(filter) && files.every((word) => !word.startsWith("-"))
    ? { kind: "field", path: filter.slice(1).split(".") }
    : undefined;
}

/** `head -5`, `tail -n 5` */
function readCount(program: string, words: readonly string[]): Part | undefined {
  const options = words.filter((word, n) => word.startsWith("-") || /^-(?:n|-lines)$/.test(words[n - 1] ?? ""));
  const [, count] = /^(?:-n ?|--lines[= ]|-)?(\d{1,6})?$/.exec(options.join(" ")) ?? [];
  if (options.length > 0 && count === undefined) return undefined;
  return program === "head"
    ? { kind: "lines", from: 1, to: Number(count ?? 10) }
    : { kind: "lines", from: -Number(count ?? 10) };
}
