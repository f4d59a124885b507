/** Which files git prints, and which it stores and can print later. */

import { isSecretFile } from "../files/stores.ts";
import type { Part } from "../part.ts";
import { toWord, type Word } from "../words.ts";
import { findSearched } from "./search.ts";

/** The name of everything that the line added to git; before a path, the name of that file in git. */
const INDEX = ":";
/** Most files of one `git add` that have names of their own; most words that are checked. */
const ADDED_LIMIT = 20;
const WORDS_LIMIT = 5_000;
const NO_TEXT = /^--(?:quiet|name-only|name-status|summary|(?:num|short)?stat)$/;

/** The subcommand and the words after it. */
function readSubcommand(words: readonly Word[]): { name: string; rest: Word[] } {
  const at = words.findIndex(({ text }, n) => !text.startsWith("-") && !/^-[Cc]$/.test(words[n - 1]?.text ?? ""));
  return { name: words[at]?.text ?? "", rest: words.slice(at + 1) };
}

/** The words that name files the program prints or sends. */
export function findGitFiles(words: Word[]): Word[] {
  const { name, rest } = readSubcommand(words);
  const has = (option: RegExp) => rest.some(({ text }) => option.test(text));
  if (/^(?:blame|annotate)$/.test(name)) return rest;
  if (name === "grep") return [...rest, ...searchTracked(rest)];
  if (name === "config" && has(/^(?:-l|--list|--get-regexp)$/) && !has(/^--name-only$/))
    return [toWord(".git/config"), toWord("~/.gitconfig")];
  if (name === "remote" && has(/^(?:-v|--verbose|get-url)$/)) return [{ ...toWord(".git/config"), part: URLS }];
  if (name === "show" || name === "cat-file")
    return [...rest.slice(0, WORDS_LIMIT).flatMap(readIndexed), ...(has(NO_TEXT) ? [] : [all])];
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
  const { name, rest } = readSubcommand(words);
  const has = (option: RegExp) => rest.some(({ text }) => option.test(text));
  if (has(NO_TEXT)) return false;
  if (name === "show" || name === "diff" || name === "archive") return true;
  if (name === "cat-file") return !has(/^-[tes]$/);
  return /^(?:log|stash|format-patch|whatchanged)$/.test(name) && has(/^(?:-\w*[pu]|--patch|-[GSL].*|--stdout)$/);
}

/** `git grep` searches files as `grep -r` does, without those that git ignores. */
function searchTracked(rest: readonly Word[]): Word[] {
  const ignores = !rest.some(({ text }) => text === "--no-index");
  const words = rest.filter(({ text }) => text !== "--no-index" && text !== "--");
  return findSearched("grep", [toWord("-r"), ...words], false).map((word) =>
    word.below ? { ...word, below: { ...word.below, ignores } } : word,
  );
}

const URLS: Part = { kind: "matches", pattern: "url", inverts: false, ignoresCase: false };

const all: Word = { text: INDEX, open: false, pattern: false };

/** `:a` is the added file, `main:a` a file that the line may have committed. */
function readIndexed(word: Word): Word[] {
  const [, revision, path = ""] = /^([^-:][^:]*)?:(?:[0-3]:)?(?:\.\/)?(.+)$/.exec(word.text) ?? [];
  if (path === "") return [];
  return revision === undefined ? [{ ...word, text: path }] : [{ ...word, text: `${INDEX}${path}` }];
}

/** Files that git can print after this command: `git add a`. */
export function findGitCopies(words: readonly Word[]): { files: Word[]; to: Word }[] {
  const { name, rest } = readSubcommand(words);
  if (name !== "add" && name !== "stage") return [];
  const files = rest.filter(({ text }) => !text.startsWith("-")).slice(0, ADDED_LIMIT);
  if (files.length === 0) return [];
  const own = (word: Word) => ({ ...word, text: `${INDEX}${word.text.replace(/^\.\//, "")}` });
  return [{ files, to: all }, ...files.map((word) => ({ files: [word], to: own(word) }))];
}

/** What a command prints of the history: the arguments with which the guard reads the same, and nothing else happens. */
export interface GitPast {
  args: string[];
  /** The command names a file with secrets or a stash: the user is asked if git cannot answer. */
  asks: boolean;
}

/** Options that only choose what is printed. Others are left out, so that more is read than the command prints. */
const CHOOSES =
  /^(?:-\d+|-n\d+|-U\d+|-[GS].+|-[iwmcrEFP]|--(?:all|branches|tags|remotes|cached|staged|reverse|full-history|follow|first-parent|(?:no-)?merges|root|max-count=\d+|since=.*|until=.*|author=.*|grep=.*|skip=\d+))$/;
const CHOOSES_BY_VALUE = /^-[nGSU]$/;
/** Most bytes, revisions and paths that the guard passes on. */
const PASSED_LIMIT = 50;

/** Undefined if the command prints nothing of the history. */
export function readPast(words: readonly Word[]): GitPast | undefined {
  const { name, rest } = readSubcommand(words);
  const texts = rest.slice(0, PASSED_LIMIT).map(({ text }) => text);
  const has = (option: RegExp) => texts.some((text) => option.test(text));
  if (has(NO_TEXT)) return undefined;
  const end = texts.indexOf("--");
  const isValue = (n: number) => CHOOSES_BY_VALUE.test(texts[n - 1] ?? "");
  const plain = texts.filter(
    (text, n) => text !== "--" && (end < 0 || n < end) && !text.startsWith("-") && !isValue(n),
  );
  const files = end < 0 ? [] : texts.slice(end + 1);
  const options = texts.filter(
    (text, n) => (end < 0 || n < end) && (CHOOSES.test(text) || CHOOSES_BY_VALUE.test(text) || isValue(n)),
  );
  const after = files.length > 0 ? ["--", ...files] : [];
  // A revision that only the shell knows may be any.
  const open = rest.some((word) => word.open);
  const revisions = open ? ["--all"] : plain;
  const asks = [...plain, ...files].some((text) => isSecretFile(text.replace(/^[^:]*:/, "")));
  const read = (...args: string[]): GitPast => ({ args, asks });
  // A submodule's configuration is its own: git would run what it names.
  const patch = ["-p", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--submodule=short"];
  switch (name) {
    case "show":
      return open
        ? read("log", ...patch, "--all", ...after)
        : read("show", ...patch.slice(1), ...options, ...plain, ...after);
    case "log":
    case "whatchanged":
    case "reflog":
      if (!PATCHES.test(texts.join(" "))) return undefined;
      return read(
        "log",
        ...(name === "reflog" ? ["-g"] : []),
        ...patch,
        ...options,
        ...revisions.filter((text) => name !== "reflog" || text !== "show"),
        ...after,
      );
    case "fast-export":
      return read("log", ...patch, ...options, ...revisions);
    case "diff":
    case "difftool":
      if (has(/^--no-index$/)) return undefined;
      return read("diff", ...patch.slice(1), ...options, ...(open ? ["HEAD"] : plain), ...after);
    case "stash": {
      if (plain[0] !== "show" || !PATCHES.test(texts.join(" "))) return undefined;
      const stash = /^\d+$/.test(plain[1] ?? "") ? `stash@{${plain[1]}}` : (plain[1] ?? "stash@{0}");
      return { args: ["diff", ...patch.slice(1), `${stash}^1`, stash, ...after], asks: true };
    }
    case "cat-file":
      if (has(/^-[tes]$|^--batch/)) return undefined;
      return open ? read("log", ...patch, "--all") : read("cat-file", "-p", plain.at(-1) ?? "");
    case "grep": {
      const [pattern = "", ...more] = plain;
      if (open) return read("log", ...patch, "--all", "-G", pattern);
      return more.length > 0
        ? read(
            "grep",
            "-h",
            "--no-textconv",
            ...options.filter((text) => /^-[iwEFP]$/.test(text)),
            "-e",
            pattern,
            ...more,
            ...after,
          )
        : undefined;
    }
    case "blame":
    case "annotate":
      return read("blame", "--no-textconv", "-s", ...plain, ...after);
    case "archive":
      return has(/^(?:-o|--output)/) ? undefined : read("archive", "--format=tar", ...plain, ...after);
    case "format-patch":
      return has(/^--stdout$/) ? read("format-patch", "--stdout", ...patch.slice(1), ...options, ...plain) : undefined;
    default:
      return undefined;
  }
}

const PATCHES = /(?:^| )(?:-\w*[pu]\w*|--patch\S*|-[GSL])/;
