/** Propagation: which variables and files of a line carry the contents of other files, and the commands that print them. */
import { basename, dirname, join, normalize } from "node:path";
import { isShell, isTest, type Step, signsIn, takesCode } from "./programs/programs.ts";
import { findNamesPrinted } from "./source.ts";
import type { SimpleCommand, Word } from "./words.ts";

/** Most files in all variables and in one; most variables that one command names. */
const VARIABLES_LIMIT = 200;
const FILES_LIMIT = 20;
const NAMES_LIMIT = 200;
/** Words that are findSearched for files to load. */
const WORDS_LIMIT = 2_000;
/** Names under which a line stores files, and files under one name. */
const COPIES_LIMIT = 500;
export const COPIED_LIMIT = 20;
/** They print their arguments or their input. */
const SAYS = /^(?:echo|printf|print|cat|tee)$/;
const LISTS = /^(?:export|declare|typeset|readonly)$/;

/** Variables with contents of files. */
export class TaintedVariables {
  /** The shell prints each command with its values (`set -x`). */
  traced = false;
  /** Commands that print a credential, by the variable that gets their output. */
  readonly credentials = new Map<string, string>();
  readonly #files = new Map<string, Word[]>();
  #size = 0;

  /** `name`: "" for the variables that the lines of the file set. Returns false if there are too many files. */
  add(name: string, file: Word): boolean {
    const files = this.#files.get(name) ?? [];
    if (files.length === FILES_LIMIT || this.#size === VARIABLES_LIMIT) return false;
    this.#size++;
    this.#files.set(name, [...files, file]);
    return true;
  }

  /** The files, or parts of files, that a variable in `word` may contain. `sure`: only those assigned to it by name. */
  in({ names = [] }: Pick<Word, "names">, sure = false): Word[] {
    if (names.length > NAMES_LIMIT) return this.all;
    return names.flatMap((name) => [
      ...(this.#files.get(name) ?? []),
      ...(sure ? [] : (this.#files.get("") ?? []).map((file) => toVariablePart(file, name))),
    ]);
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get all(): Word[] {
    return [...this.#files.values()].flat();
  }
}

const toVariablePart = (file: Word, name: string): Word =>
  file.part === undefined ? { ...file, part: { kind: "variable", name } } : file;

/** Files that the line copies, packs or writes, by the names of the copies. */
export class TaintedFiles {
  readonly #copies = new Map<string, Word[]>();
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  get size(): number {
    return this.#copies.size;
  }

  /** A command that shows `to` later shows the files. */
  add({ files, to }: { files: readonly Word[]; to: Word }): void {
    if (to.open || to.pattern || this.#copies.size > COPIES_LIMIT) return;
    for (const file of files.slice(0, COPIED_LIMIT)) {
      const all = [file, ...(this.#copies.get(this.#toName(file)) ?? [])];
      const path = this.#toName(to);
      for (const name of [path, join(path, basename(file.text)), `*/${basename(path)}`])
        this.#copies.set(name, [...(this.#copies.get(name) ?? []), ...all].slice(0, COPIED_LIMIT));
    }
  }

  /** Files whose copies may have this name, or a name that fits the pattern. `moved`: the line changes the folder. */
  find(word: Word, moved: boolean): Word[] {
    if (this.#copies.size === 0) return [];
    const name = this.#toName(word);
    if (word.pattern) {
      const [start = ""] = /^[^*?[{]*/.exec(name) ?? [];
      return [...this.#copies].flatMap(([known, files]) => (known.startsWith(start) ? files : []));
    }
    const inFolders: Word[] = [];
    for (let folder = dirname(name); folder.length > 1; folder = dirname(folder))
      for (const file of this.#copies.get(folder) ?? [])
        inFolders.push({ ...file, text: join(file.text, name.slice(folder.length)) });
    // Seen from another folder, the copy has another path.
    const elsewhere = moved ? (this.#copies.get(`*/${basename(name)}`) ?? []) : [];
    return [...(this.#copies.get(name) ?? []), ...inFolders, ...elsewhere];
  }

  #toName({ text }: Word): string {
    return normalize(text.replace(/^~(?=\/|$)/, this.#home));
  }
}

/** The files that a command prints because variables contain them. */
export function findFilesPrinted(
  step: Step,
  { sets, filled, words: all }: SimpleCommand,
  variables: TaintedVariables,
): Word[] {
  const { program, words } = step;
  const texts = words.map(({ text }) => text);
  if (program === "set") {
    variables.traced = (variables.traced && !texts.some((text) => /^\+\w*x/.test(text))) || isTracing(texts);
    return texts.length === 0 || isTracing(texts) ? variables.all : [];
  }
  if (variables.isEmpty) return [];
  if (LISTS.test(program)) {
    const names = texts.filter((text) => !text.startsWith("-"));
    if (names.length > 0) return texts.some((text) => /^-\w*p/.test(text)) ? variables.in({ names }) : [];
    return sets.length === 0 ? variables.all : [];
  }
  if (program === "env" && texts.every((text, n) => /^$|^-|=/.test(text) || texts[n - 1] === "-u"))
    return variables.all;
  if (program === "printenv") {
    const names = texts.filter((text) => !text.startsWith("-"));
    // The output has values without names, so it has no lines of the file.
    return names.length === 0 ? variables.all : variables.in({ names }).map((file) => ({ ...file, mixed: true }));
  }
  if (isTest(step)) return [];
  const isCode = isShell(program) || takesCode(program, words);
  // The program itself may be a variable.
  const names = new Set<string>();
  for (const list of [withoutSignIn(program, all), filled])
    for (const word of list) for (const name of word.names ?? []) names.add(name);
  if (takesCode(program, words))
    for (const text of texts) for (const name of findNamesPrinted(text, true)) names.add(name);
  // The value may no longer consist of lines of the file.
  return variables.in({ names: [...names] }, !isCode && !SAYS.test(program)).map((file) => ({ ...file, mixed: true }));
}

/** The words of a command without those with which a client signs in. */
const withoutSignIn = (program: string, words: readonly Word[]): readonly Word[] =>
  words.filter((_, n) => !signsIn(program, words, n));

const isTracing = (texts: readonly string[]): boolean =>
  texts.some((text, n) => /^-\w*[xv]/.test(text) || (text === "-o" && /^(?:xtrace|verbose)$/.test(texts[n + 1] ?? "")));

/** The files from which a program loads variables for the program it runs: `docker run --env-file .env x env`. */
export function findFilesLoaded({ program, words }: Step): Word[] {
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
