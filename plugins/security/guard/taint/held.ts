/** Variables with contents of files, and the commands that print them. */
import { namesPrinted } from "./credentials.ts";
import type { Stage } from "./filters.ts";
import { asks } from "./flow.ts";
import { isShell, signsIn, takesCode } from "./programs.ts";
import type { SimpleCommand, Word } from "./words.ts";

/** Most files in all variables and in one; most variables that one command names. */
const HELD_LIMIT = 200;
const FILES_LIMIT = 20;
const NAMES_LIMIT = 200;
/** Words that are searched for files to load. */
const WORDS_LIMIT = 2_000;
/** They print their arguments or their input. */
const SAYS = /^(?:echo|printf|print|cat|tee)$/;
const LISTS = /^(?:export|declare|typeset|readonly)$/;

export class Held {
  /** The shell prints each command with its values (`set -x`). */
  traced = false;
  /** Commands that print a credential, by the variable that gets their output. */
  readonly credentials = new Map<string, string>();
  readonly #files = new Map<string, Word[]>();
  #size = 0;

  /** `name`: "" for the variables that the lines of the file set. Returns false if there are too many files. */
  add(name: string, file: Word): boolean {
    const files = this.#files.get(name) ?? [];
    if (files.length === FILES_LIMIT || this.#size === HELD_LIMIT) return false;
    this.#size++;
    this.#files.set(name, [...files, file]);
    return true;
  }

  /** The files, or parts of files, that a variable in `word` may contain. `sure`: only those assigned to it by name. */
  in({ names = [] }: Pick<Word, "names">, sure = false): Word[] {
    if (this.#size === 0) return [];
    if (names.length > NAMES_LIMIT) return this.all;
    return names.flatMap((name) => [
      ...(this.#files.get(name) ?? []),
      ...(sure ? [] : (this.#files.get("") ?? []).map((file) => ({ ...file, part: file.part ?? name }))),
    ]);
  }

  get all(): Word[] {
    return [...this.#files.values()].flat();
  }
}

/** The files that a command prints because variables contain them. */
export function printedBy(stage: Stage, { sets, filled, words: all }: SimpleCommand, held: Held): Word[] {
  const { program, words } = stage;
  const texts = words.map(({ text }) => text);
  if (program === "set") {
    held.traced = (held.traced && !texts.some((text) => /^\+\w*x/.test(text))) || traces(texts);
    return texts.length === 0 || traces(texts) ? held.all : [];
  }
  if (LISTS.test(program)) {
    const names = texts.filter((text) => !text.startsWith("-"));
    if (names.length > 0) return texts.some((text) => /^-\w*p/.test(text)) ? held.in({ names }) : [];
    return sets.length === 0 ? held.all : [];
  }
  if (program === "env" && texts.every((text, n) => /^$|^-|=/.test(text) || texts[n - 1] === "-u")) return held.all;
  if (program === "printenv") {
    const names = texts.filter((text) => !text.startsWith("-"));
    // The output has values without names, so it has no lines of the file.
    return names.length === 0 ? held.all : held.in({ names }).map((file) => ({ ...file, mixed: true }));
  }
  if (asks(stage)) return [];
  const isCode = isShell(program) || takesCode(program, words);
  // The program itself may be a variable.
  const names = new Set<string>();
  for (const list of [sent(program, all), filled])
    for (const word of list) for (const name of word.names ?? []) names.add(name);
  if (takesCode(program, words)) for (const text of texts) for (const name of namesPrinted(text, true)) names.add(name);
  // The value may no longer consist of lines of the file.
  return held.in({ names: [...names] }, !isCode && !SAYS.test(program)).map((file) => ({ ...file, mixed: true }));
}

/** The words of a command without those with which a client signs in. */
const sent = (program: string, words: readonly Word[]): readonly Word[] =>
  words.filter((_, n) => !signsIn(program, words, n));

const traces = (texts: readonly string[]): boolean =>
  texts.some((text, n) => /^-\w*[xv]/.test(text) || (text === "-o" && /^(?:xtrace|verbose)$/.test(texts[n + 1] ?? "")));

/** The files from which a program loads variables for the program it runs: `docker run --env-file .env x env`. */
export function filesLoaded({ program, words }: Stage): Word[] {
  if (!/^(?:docker|podman|nerdctl|docker-compose)$/.test(program)) return [];
  return words.slice(0, WORDS_LIMIT).flatMap((word, n) => {
    if (words[n - 1]?.text === "--env-file") return [word];
    return word.text.startsWith("--env-file=") ? [{ ...word, text: word.text.slice("--env-file=".length) }] : [];
  });
}

/** Whether the program that runs there prints all variables. */
export const printsLoaded = (words: readonly Word[]): boolean =>
  words.some(({ text }, n) => n > 0 && /^(?:--entrypoint=)?(?:\/\S*\/)?(?:env|printenv)$/.test(text)) ||
  (words.some(({ text }) => text === "compose") &&
    words.some(({ text }) => text === "config") &&
    !words.some(({ text }) => /^(?:-q|--(?:quiet|services|images|volumes|profiles|hash.*))$/.test(text)));
