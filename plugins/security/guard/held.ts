/** Variables that hold what is in files, as a line goes on, and the commands that tell of them. */
import { namesPrinted } from "./credentials.ts";
import type { Stage } from "./filters.ts";
import { asks } from "./flow.ts";
import { isShell, signsIn, takesCode } from "./programs.ts";
import type { SimpleCommand, Word } from "./words.ts";

/** Files in all variables, and in one; variables that one command tells by name. */
const HELD_LIMIT = 200;
const FILES_LIMIT = 20;
const NAMES_LIMIT = 200;
/** Words in which a program is told which files to load. */
const WORDS_LIMIT = 2_000;
/** They say their words, or what they get. */
const SAYS = /^(?:echo|printf|print|cat|tee)$/;
const LISTS = /^(?:export|declare|typeset|readonly)$/;

export class Held {
  /** The shell tells each command with its values. */
  traced = false;
  /** Commands that print a credential, by the variable that gets it. */
  readonly credentials = new Map<string, string>();
  readonly #files = new Map<string, Word[]>();
  #size = 0;

  /** `name`: "" for those that the lines of the file set. False when that is one too many. */
  add(name: string, file: Word): boolean {
    const files = this.#files.get(name) ?? [];
    if (files.length === FILES_LIMIT || this.#size === HELD_LIMIT) return false;
    this.#size++;
    this.#files.set(name, [...files, file]);
    return true;
  }

  /** What of which files a variable that `word` puts in may hold. `sure`: only what was given it by name. */
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

/** What a command tells of files that variables hold. */
export function told(stage: Stage, { sets, filled, words: all }: SimpleCommand, held: Held): Word[] {
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
    // Values without their names are no lines of the file.
    return names.length === 0 ? held.all : held.in({ names }).map((file) => ({ ...file, mixed: true }));
  }
  if (asks(stage)) return [];
  const isCode = isShell(program) || takesCode(program, words);
  // What stands before the program may be a variable as well.
  const names = new Set<string>();
  for (const list of [sent(program, all), filled])
    for (const word of list) for (const name of word.names ?? []) names.add(name);
  if (takesCode(program, words)) for (const text of texts) for (const name of namesPrinted(text, true)) names.add(name);
  // A value need not consist of the lines of its file any more.
  return held.in({ names: [...names] }, !isCode && !SAYS.test(program)).map((file) => ({ ...file, mixed: true }));
}

/** Its words without those by which a client signs in. */
const sent = (program: string, words: readonly Word[]): readonly Word[] =>
  words.filter((_, n) => !signsIn(program, words, n));

const traces = (texts: readonly string[]): boolean =>
  texts.some((text, n) => /^-\w*[xv]/.test(text) || (text === "-o" && /^(?:xtrace|verbose)$/.test(texts[n + 1] ?? "")));

/** The files by which a program gives variables to the one it runs: `docker run --env-file .env x env`. */
export function filesLoaded({ program, words }: Stage): Word[] {
  if (!/^(?:docker|podman|nerdctl|docker-compose)$/.test(program)) return [];
  return words.slice(0, WORDS_LIMIT).flatMap((word, n) => {
    if (words[n - 1]?.text === "--env-file") return [word];
    return word.text.startsWith("--env-file=") ? [{ ...word, text: word.text.slice("--env-file=".length) }] : [];
  });
}

/** Whether the program it runs there tells all of them. */
export const tellsLoaded = (words: readonly Word[]): boolean =>
  words.some(({ text }, n) => n > 0 && /^(?:--entrypoint=)?(?:\/\S*\/)?(?:env|printenv)$/.test(text)) ||
  (words.some(({ text }) => text === "compose") &&
    words.some(({ text }) => text === "config") &&
    !words.some(({ text }) => /^(?:-q|--(?:quiet|services|images|volumes|profiles|hash.*))$/.test(text)));
