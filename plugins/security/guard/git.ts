/** Which files git prints, and which it stores and can print later. */
import type { Word } from "./words.ts";

/** The name of everything that the line added to git; before a path, the name of that file in git. */
const INDEX = ":";
/** Most files of one `git add` that have names of their own; most words that are checked. */
const ADDED_LIMIT = 20;
const WORDS_LIMIT = 5_000;
const NO_TEXT = /^--(?:quiet|name-only|name-status|summary|(?:num|short)?stat)$/;

/** The subcommand and the words after it. */
function subcommand(words: readonly Word[]): { name: string; rest: Word[] } {
  const at = words.findIndex(({ text }, n) => !text.startsWith("-") && !/^-[Cc]$/.test(words[n - 1]?.text ?? ""));
  return { name: words[at]?.text ?? "", rest: words.slice(at + 1) };
}

/** The words that name files the program prints or sends. */
export function gitShows(words: Word[]): Word[] {
  const { name, rest } = subcommand(words);
  const has = (option: RegExp) => rest.some(({ text }) => option.test(text));
  if (/^(?:blame|annotate|grep)$/.test(name)) return rest;
  if (name === "show" || name === "cat-file")
    return [...rest.slice(0, WORDS_LIMIT).flatMap(fromIndex), ...(has(NO_TEXT) ? [] : [all])];
  if (has(NO_TEXT)) return [];
  if (name === "diff" && has(/^--no-index$/)) return rest;
  if (name === "archive") return [];
  const shows = name === "diff" ? /^(?:--cached|--staged|HEAD)$/ : /^(?:-\w*[pu]|--patch)$/;
  // A diff or patch of a file may contain what is in the file now.
  const named = name === "diff" || (/^(?:log|stash)$/.test(name) && has(shows)) ? rest.filter(isPath) : [];
  return /^(?:diff|log|stash)$/.test(name) && has(shows) ? [all, ...named] : named;
}

const isPath = ({ text }: Word): boolean => !text.startsWith("-");

/** Whether git prints contents that only git has: earlier versions and changes. */
export function gitPrintsUnknown(words: readonly Word[]): boolean {
  const { name, rest } = subcommand(words);
  const has = (option: RegExp) => rest.some(({ text }) => option.test(text));
  if (has(NO_TEXT)) return false;
  if (name === "show" || name === "diff" || name === "archive") return true;
  if (name === "cat-file") return !has(/^-[tes]$/);
  return /^(?:log|stash|format-patch|whatchanged)$/.test(name) && has(/^(?:-\w*[pu]|--patch|-[GSL].*|--stdout)$/);
}

const all: Word = { text: INDEX, open: false, pattern: false };

/** `:a` is the added file, `main:a` a file that the line may have committed. */
function fromIndex(word: Word): Word[] {
  const [, revision, path = ""] = /^([^-:][^:]*)?:(?:[0-3]:)?(?:\.\/)?(.+)$/.exec(word.text) ?? [];
  if (path === "") return [];
  return revision === undefined ? [{ ...word, text: path }] : [{ ...word, text: `${INDEX}${path}` }];
}

/** Files that git can print after this command: `git add a`. */
export function gitTakes(words: readonly Word[]): { files: Word[]; to: Word }[] {
  const { name, rest } = subcommand(words);
  if (name !== "add" && name !== "stage") return [];
  const files = rest.filter(({ text }) => !text.startsWith("-")).slice(0, ADDED_LIMIT);
  if (files.length === 0) return [];
  const own = (word: Word) => ({ ...word, text: `${INDEX}${word.text.replace(/^\.\//, "")}` });
  return [{ files, to: all }, ...files.map((word) => ({ files: [word], to: own(word) }))];
}
