/** Filters as data: how much of their input they write to stdout. They write nothing anywhere else. */
import { isQuiet, takesInput, unwrapped } from "./programs.ts";
import { selected } from "./select.ts";
import { programOf, type SimpleCommand, type Word } from "./words.ts";

/**
 * What a command prints of its input:
 * `nothing` but its size; the `names` of lines like `A=x`; whole `lines` or their beginnings; `some` of it; or
 * `unknown`: the command may show the input in another way than its output.
 */
type Left = "nothing" | "names" | "lines" | "some" | "unknown";

export interface Stage {
  program: string;
  /** The words after the program. */
  words: Word[];
  left: Left;
  /** The command prints only these lines (`selected`). */
  part?: string | undefined;
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

/** Returns which program `command` runs and what it leaves of its input. */
export function stageOf(command: SimpleCommand): Stage {
  const all = spread(command.words);
  const [first, ...rest] = unwrapped(all);
  const before = all.slice(0, all.length - rest.length - Number(first !== undefined));
  // `env` needs no program.
  const alone = first === undefined || /^(?:-|\w+=|$)/.test(first.text) ? before.at(-1)?.text : undefined;
  const isEnv = alone !== undefined && programOf(alone) === "env";
  const program = isEnv ? "env" : programOf(first?.text ?? "");
  const words = isEnv && first ? [first, ...rest] : rest;
  const unsure = command.aside || before.some(({ text }) => MEDDLERS.has(programOf(text)));
  const left = unsure ? "unknown" : leaves(program, words, command);
  const texts = words.slice(0, WORDS_LIMIT).map(({ text }) => text);
  const isPlain = words.length <= WORDS_LIMIT && words.every(({ open, pattern }, n) => !open && !(pattern && n === 0));
  return {
    program,
    words,
    left,
    part: unsure || !isPlain ? undefined : selected(program, texts),
  };
}

function leaves(program: string, words: readonly Word[], { words: all, input }: SimpleCommand): Left {
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

/** `{cat,a}` → `cat a`. */
function spread(words: Word[]): Word[] {
  const [first, ...rest] = words;
  const [, list] = (first?.pattern && /^\{([^{}]+,[^{}]*)\}$/.exec(first.text)) || [];
  if (!first || list === undefined) return words;
  return [...list.split(",").map((text) => ({ ...first, text })), ...rest];
}
