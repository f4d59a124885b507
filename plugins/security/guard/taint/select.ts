/** Which lines of their input `grep`, `head`, `tail`, `sed -n` and `awk` print, and which field `jq` prints, for simple arguments. */
import type { RE2JS } from "re2js";
import { expressions } from "../../secrets/match/expressions.ts";

/** Patterns that mean the same to every `grep`. */
const PLAIN = /^\^?[\w=:. /-]+(?:\\?\|\^?[\w=:. /-]+)*\$?$/;
/** A group as extended expressions write it. */
const GROUP = /^\^?\([\w.-]+(?:\|[\w.-]+)*\)=?$/;
const CONTEXT = /^-(?:\w*[ABCefLlPzoc]|-(?:after|before|context|file|regexp|null|only))/;

/**
 * Returns `/PORT/`, `!/KEY/i`, `#1,10`, `#-5` or `.name`: lines that match, that do not match, by number, from the end; a field.
 * Returns undefined if any line may be printed.
 */
export function selected(program: string, words: readonly string[]): string | undefined {
  if (/^(?:[ef]?grep|rg)$/.test(program)) return matched(program, words);
  if (/^[jy]q$/.test(program)) return field(words);
  if (program === "head" || program === "tail") return counted(program, words);
  const [option, script, ...more] = words;
  const [, from, to] = /^(\d{1,6})(?:,(\d{1,6}))?p$/.exec(script ?? "") ?? [];
  if (program === "awk") return rows(words);
  if (program !== "sed" || option !== "-n" || more.some((word) => word.startsWith("-"))) return undefined;
  if (from !== undefined) return `#${from},${to ?? from}`;
  const [, printed, replaced] = /^(?:\/([^/]+)\/p|s\/(\^[^/]+)\/[^/&\\]*\/p)$/.exec(script ?? "") ?? [];
  const pattern = printed ?? replaced;
  return pattern !== undefined && PLAIN.test(pattern) ? `/${pattern}/` : undefined;
}

/** `awk -F= '/PORT/ {print $2}'` prints only rows that match. */
function rows(words: readonly string[]): string | undefined {
  const [script = "", ...files] = words.filter((word) => !/^-F.$/.test(word));
  const [, pattern, first] = /^(?:\/([^/]+)\/|\$1 ?== ?"(\w+)") ?\{ ?print [^{}>|]*\}$/.exec(script) ?? [];
  const [, sign, number] = /^NR ?(==|<=) ?(\d{1,6})$/.exec(script) ?? [];
  if (number !== undefined && files.every((word) => !/^-|=/.test(word)))
    return `#${sign === "==" ? number : 1},${number}`;
  const asked = pattern ?? (first === undefined ? undefined : `^${first}`);
  return asked !== undefined && PLAIN.test(asked) && files.every((word) => !/^-|=/.test(word))
    ? `/${asked}/`
    : undefined;
}

function matched(program: string, words: readonly string[]): string | undefined {
  const options = words.filter((word) => word.startsWith("-"));
  const pattern = words.find((word) => !word.startsWith("-"));
  if (pattern === undefined || options.some((word) => CONTEXT.test(word))) return undefined;
  const extended = /^(?:egrep|rg)$/.test(program) || options.some((word) => /^-[a-zA-Z]*[EP]/.test(word));
  if (!PLAIN.test(pattern) && !(extended && GROUP.test(pattern))) return undefined;
  const has = (letter: string) => options.some((word) => new RegExp(`^-[a-zA-Z]*${letter}`).test(word));
  return `${has("v") ? "!" : ""}/${pattern.replaceAll("\\|", "|")}/${has("i") ? "i" : ""}`;
}

/** The part of each file below a folder that a search shows: the lines that match, or with context (`+`) the whole file. */
export function matchedBelow(pattern: string, { ignoresCase = false, inverts = false, context = false }): string {
  return `~${inverts ? "!" : ""}${context ? "+" : ""}/${pattern}/${ignoresCase ? "i" : ""}`;
}

/** `jq -r .name a.json` prints one value of an object. */
function field(words: readonly string[]): string | undefined {
  const [filter = "", ...files] = words.filter((word) => !/^-[rcMe]+$/.test(word));
  return /^(?:\.[A-Za-z_]\w*)+$/.test(filter) && files.every((word) => !word.startsWith("-")) ? filter : undefined;
}

function counted(program: string, words: readonly string[]): string | undefined {
  const options = words.filter((word, n) => word.startsWith("-") || /^-(?:n|-lines)$/.test(words[n - 1] ?? ""));
  const [, count] = /^(?:-n ?|--lines[= ]|-)?(\d{1,6})?$/.exec(options.join(" ")) ?? [];
  if (options.length > 0 && count === undefined) return undefined;
  return program === "head" ? `#1,${count ?? 10}` : `#-${count ?? 10}`;
}

/** The lines of `part`; undefined if `part` does not select lines. */
export function linesLeft(lines: readonly string[], part: string): readonly string[] | undefined {
  if (part.startsWith("~")) return linesFound(lines, part);
  const [, not, pattern, flags] = /^(!?)\/(.*)\/(i?)$/s.exec(part) ?? [];
  if (pattern !== undefined) {
    const asked = new RegExp(pattern, flags);
    return lines.filter((line) => asked.test(line.slice(0, 10_000)) === (not === ""));
  }
  const [, from, to] = /^#(-?\d+)(?:,(\d+))?$/.exec(part) ?? [];
  if (from === undefined) return undefined;
  return to === undefined ? lines.slice(Number(from) - 1) : lines.slice(Number(from) - 1, Number(to));
}

/** The last expression: a search has the same one for each of its files. */
let compiled: { part: string; expression: RE2JS } | undefined;

/** The lines of a search with any expression. All lines if the expression cannot be read. */
function linesFound(lines: readonly string[], part: string): readonly string[] {
  const [, not, context, pattern = "", flags] = /^~(!?)(\+?)\/(.*)\/(i?)$/s.exec(part) ?? [];
  const { RE2JS, RE2JSException } = expressions();
  try {
    if (compiled?.part !== part)
      compiled = { part, expression: RE2JS.compile(pattern, flags === "i" ? RE2JS.CASE_INSENSITIVE : 0) };
    const asked = compiled.expression;
    const found = lines.filter((line) => asked.matcher(line.slice(0, 10_000)).find() === (not === ""));
    return context === "+" && found.length > 0 ? lines : found;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return lines;
  }
}
