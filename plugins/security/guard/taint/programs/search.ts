/** The arguments of programs that search files for a pattern: `grep`, `rg`, `ag`, `ack`, and what they show. */
import type { Part } from "../part.ts";
import { type Below, toWord, type Word } from "../words.ts";

interface Search {
  /** Files and folders. */
  files: Word[];
  /** An expression for all patterns; undefined if it is unknown here. */
  pattern: string | undefined;
  /** Folders are findSearched. */
  recursive: boolean;
  /** Only files with such names are findSearched. */
  names: string[];
  /** Files with such names are left out. */
  not: string[];
  /** Files with names that begin with a dot are findSearched. */
  hidden: boolean;
  ignoresCase: boolean;
  /** The lines without a match are shown. */
  inverts: boolean;
  /** Lines around a match are shown as well. */
  context: boolean;
}

export const SEARCHERS: ReadonlySet<string> = new Set("grep egrep fgrep zgrep rg ag ack".split(" "));
/** Options whose value is the next word. */
const VALUED =
  /^(?:-\w*[ABCmdDtTgMjE]|--(?:(?:after-|before-)?context|max-count|include|exclude(?:-dir)?|glob|iglob|type(?:-not)?|max-depth|colou?r|sort|threads))$/;
const VALUED_GREP = /^(?:-\w*[ABCmdD]|--(?:(?:after-|before-)?context|max-count|include|exclude(?:-dir)?|colou?r))$/;
const NAMED = /^(?:-g|--(?:include|exclude|i?glob))$/;

export function readSearch(program: string, words: readonly Word[]): Search {
  const isGrep = /grep$/.test(program);
  const valued = isGrep ? VALUED_GREP : VALUED;
  const patterns: Word[] = [];
  const files: Word[] = [];
  const names: string[] = [];
  const options: string[] = [];
  let inFile = false;
  for (let n = 0; n < words.length; n++) {
    const word = words[n];
    if (!word) continue;
    const text = word.text;
    const value = words[n + 1];
    if (!text.startsWith("-") || text === "-") files.push(word);
    else if (/^(?:-[a-zA-Z]*e|--regexp)$/.test(text) && value) {
      patterns.push(value);
      options.push(text);
      n++;
    } else if (/^(?:-e.|--regexp=)/.test(text)) patterns.push({ ...word, text: text.replace(/^(?:-e|--regexp=)/, "") });
    else if (/^(?:-\w*f|--file)$/.test(text)) {
      inFile = true;
      n++;
    } else if (valued.test(text) && value) {
      if (NAMED.test(text)) names.push(text === "--exclude" ? `!${value.text}` : value.text);
      options.push(text);
      n++;
    } else {
      const [, option, name] = /^--(include|exclude|i?glob)=(.*)$/.exec(text) ?? [];
      if (name !== undefined) names.push(option === "exclude" ? `!${name}` : name);
      options.push(text);
    }
  }
  if (patterns.length === 0 && !inFile) patterns.push(...files.splice(0, 1));
  const has = (option: RegExp) => options.some((text) => option.test(text));
  const known = !inFile && patterns.length > 0 && patterns.every(({ open }) => !open);
  return {
    files,
    pattern: known
      ? patterns.map(({ text }) => toExpression(text, /^z?grep$/.test(program), has)).join("|")
      : undefined,
    recursive: isGrep ? has(/^(?:-[a-zA-Z]*[rR]\w*|--(?:dereference-)?recursive|--directories=recurse)$/) : true,
    names: names.filter((name) => !name.startsWith("!")),
    not: names.flatMap((name) => (name.startsWith("!") ? [name.slice(1)] : [])),
    ignoresCase: has(/^(?:-[a-zA-Z]*[iyS]\w*|--(?:ignore-case|smart-case))$/),
    inverts: has(/^(?:-[a-zA-Z]*v\w*|--invert-match)$/),
    context: has(/^(?:-\w*[ABC]\d*|--(?:(?:after|before)-)?context(?:=.*)?)$/),
    hidden: isGrep || has(/^(?:-u{2,}\w*|-\w*\.|--hidden|-\w*u\w*|--unrestricted)$/),
  };
}

function toExpression(text: string, isBasic: boolean, has: (option: RegExp) => boolean): string {
  const pattern = has(/^(?:-[a-zA-Z]*F|--fixed-strings|-Q)/)
    ? text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    : isBasic && !has(/^(?:-[a-zA-Z]*[EP]|--(?:extended|perl)-regexp)/)
      ? toExtended(text)
      : text;
  return has(/^(?:-[a-zA-Z]*w|--word-regexp)/) ? `\\b(?:${pattern})\\b` : `(?:${pattern})`;
}

/** A basic expression in the syntax of extended ones, where `+?(){}|` are special without a backslash. */
const toExtended = (text: string): string =>
  text.replace(/\\?[+?(){}|]/g, (one) => (one.startsWith("\\") ? one.slice(1) : `\\${one}`));

/** Matches that begin with these words show secrets wherever they are found: the fixed heads of tokens and keys. */
const HEADS =
  /gh[pousr]_|github_pat_|glpat-|\bsk-|\bsk_live|\brk_live|xox[abprs]-|AKIA|ASIA|AIza|npm_|pypi-|hf_|SG\\?\.|dop_v1_|shpat_|whsec_|eyJ|PRIVATE KEY|AGE-SECRET/;

/** Whether the pattern searches for tokens. */
export const seeksTokens = (pattern: string): boolean => HEADS.test(pattern);

/** The part of each file below a folder that a search shows. */
export const toSearchPart = (
  pattern: string,
  {
    ignoresCase = false,
    inverts = false,
    context = false,
  }: Partial<Pick<Search, "ignoresCase" | "inverts" | "context">>,
): Part => ({ kind: "search", pattern, inverts, ignoresCase, context });

/** The files and folders of a search, with what it shows of the files below a folder. `fed`: the program has an input. */
export function findSearched(program: string, words: readonly Word[], fed: boolean): Word[] {
  const search = readSearch(program, words);
  if (!search.recursive) return search.files;
  const places = search.files.length > 0 ? search.files : fed ? [] : [toWord(".")];
  const below: Below = {
    names: search.names,
    not: search.not,
    plain: !search.hidden,
    ignores:
      !/grep$/.test(program) && !words.some(({ text }) => /^(?:-\w*u\w*|--(?:no-ignore|unrestricted)\S*)$/.test(text)),
    tokens: search.pattern !== undefined && seeksTokens(search.pattern),
  };
  const part = search.pattern === undefined ? undefined : toSearchPart(search.pattern, search);
  return places.flatMap((word) => [word, { ...word, below, ...(part === undefined ? {} : { part }) }]);
}
