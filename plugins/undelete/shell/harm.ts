/** What a shell command may have destroyed: files by name or pattern, all files below a folder, names of git. */
import { codeHarms } from "./code.ts";
import { readGitHarm } from "./git-harm.ts";
import { toFull, withoutSlash } from "./paths.ts";
import type { Commands, Kind, ShellWord } from "./words.ts";

export interface Harm {
  /** What did it: `rm`, `git clean`. */
  how: string;
  /** A file or a folder with all that is below it. */
  path: string;
  /** The path itself is gone, and not only changes in it. */
  isGone: boolean;
  kinds: readonly Kind[];
  /** The same name from the folders in which the line was before, the last one first: a `cd` may have been in a subshell. */
  otherwise?: readonly string[];
  /** Only what this pattern matches; a whole path. */
  pattern?: string;
  /** Only files below the path with names that one of these patterns matches. */
  names?: readonly string[];
  /** Where the path is a folder: only these names in it, as `mv` and `cp` write. */
  into?: readonly string[];
  /** git does it in its whole repository, wherever it is started. */
  isWide?: boolean;
  /** The shell alone knows the name: the path is the folder it may be in. */
  isUnknown?: boolean;
}

export interface Move {
  from: string;
  to: string;
}

export interface LineHarm {
  harms: Harm[];
  moves: Move[];
  /** Folders of repositories that lose names of commits: branches, stashes. */
  names: { how: string; folder: string }[];
}

const REMOVES = new Set(["rm", "unlink", "shred", "rmdir", "trash", "del"]);
const FILLS = new Set(["tee", "truncate"]);
/** They write into their last operand. */
const WRITES = new Set(["cp", "mv", "install", "ln", "rsync"]);
const CHANGES = new Set(["sed", "perl", "ruby", "gsed"]);
const OWN = new Set([...REMOVES, ...FILLS, ...WRITES, ...CHANGES, "cd", "pushd", "find", "git", "dd", "xargs"]);
/** The program may be as many words after a `sudo -u x` or `timeout 5`. */
const WRAPPED = 8;
const WRAPPERS =
  /^(?:sudo|env|command|exec|nohup|time|doas|timeout|nice|ionice|builtin|busybox|xargs|parallel|\w+=.*|!)$/;
const MOST = 500;
/** Folders of a line that are remembered. */
const MOST_FOLDERS = 8;

/** `home`: what `~` is. Linear in the words. */
export function readHarm(commands: Commands, cwd: string | null, home?: string): LineHarm {
  const done: LineHarm = { harms: [], moves: [], names: [] };
  let folder = cwd;
  const before: (string | null)[] = [];
  // A file that `mktemp` made is no loss.
  const isTemporary = commands.some(({ words }) => words[0]?.text === "mktemp");
  const resolve = (text: string, from: string | null) =>
    toFull(home === undefined ? text : text.replace(/^~(?=\/|$)/, home), from);
  const add: AddHarm = (how, word, isGone, more = {}) => {
    if (!word || done.harms.length === MOST) return;
    // Of a pattern or a variable only the folder before it is known.
    const text = word.isPlain ? word.text : word.text.replace(/[^/]*[*?[{$`].*$/s, "");
    const isUnknown = !word.isPlain && !word.isPattern;
    if (isUnknown && isTemporary) return;
    const path = resolve(text === "" ? "." : text, folder);
    if (path === undefined) return;
    const pattern = word.isPattern ? resolve(word.text, folder) : undefined;
    const others = word.isPlain ? before.flatMap((one) => resolve(text, one) ?? []).filter((one) => one !== path) : [];
    const otherwise = [...new Set(others)].map(withoutSlash);
    done.harms.push({
      ...{ how, path: withoutSlash(path), isGone: isGone && word.isPlain, kinds: ["all"] },
      ...(pattern !== undefined && { pattern: withoutSlash(pattern) }),
      ...(otherwise.length > 0 && { otherwise }),
      ...(isUnknown && { isUnknown }),
      ...more,
    });
  };
  for (const [n, { words, out, code }] of commands.entries()) {
    const start = findProgram(words);
    const name = nameOfProgram(words[start]);
    const rest = words.slice(start + 1);
    const operands = readOperands(rest);
    if (out && !out.appends && !/^\/dev\//.test(out.text)) add(">", out, false);
    if (code !== undefined) for (const one of codeHarms(code)) add("code", one, false);
    const isFed = words.slice(0, start).some(({ text }) => /(?:^|\/)(?:xargs|parallel)$/.test(text));
    if (isFed && (REMOVES.has(name) || FILLS.has(name) || name === "mv")) addFed(name, commands[n - 1], add);
    if (name === "cd" || name === "pushd") {
      if (before.unshift(folder) > MOST_FOLDERS) before.pop();
      folder = resolve(operands[0]?.text ?? ".", folder) ?? folder;
    } else if (REMOVES.has(name)) for (const word of operands) add(name, word, true);
    else if (FILLS.has(name) && !rest.some(({ text }) => text === "-a"))
      for (const word of operands) add(name, word, false);
    else if (name === "dd") {
      const to = rest.find(({ text }) => text.startsWith("of="));
      if (to) add(name, { ...to, text: to.text.slice(3) }, false);
    } else if (CHANGES.has(name) && rest.some(({ text }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(text))) {
      for (const word of operands) add(`${name} -i`, word, false);
    } else if (WRITES.has(name)) addWritten(name, operands, rest);
    else if (name === "find") addFound(rest, add);
    else if (name === "git")
      readGitHarm(rest, {
        add: (how, word, kinds, more) =>
          add(how, word, more?.isGone === true, { kinds, ...(more?.isWide && { isWide: true }) }),
        names: (how, word) => done.names.push({ how, folder: resolve(word.text, folder) ?? word.text }),
      });
  }
  return done;

  function addWritten(name: string, operands: readonly ShellWord[], rest: readonly ShellWord[]): void {
    const named = rest.findIndex(({ text }) => text === "-t" || text === "--target-directory");
    const to = named >= 0 ? rest[named + 1] : operands.at(-1);
    const from = operands.filter((word) => word !== to);
    if (!to || from.length === 0 || /^[\w.@-]+:/.test(to.text)) return;
    if (name === "rsync") {
      if (rest.some(({ text }) => /^--del/.test(text))) add("rsync --delete", to, false);
      return;
    }
    if (name === "ln" && !rest.some(({ text }) => /^-[a-z]*f|^--force$/.test(text))) return;
    add(name, to, false, { into: from.map(({ text }) => text.replace(/\/+$/, "").replace(/^.*\//, "")) });
    if (name !== "mv") return;
    const target = to.isPlain ? resolve(to.text, folder) : undefined;
    for (const word of from) {
      const source = word.isPlain ? resolve(word.text, folder) : undefined;
      if (source !== undefined && target !== undefined)
        done.moves.push({ from: withoutSlash(source), to: withoutSlash(target) });
    }
  }
}

/** Words that are no option; after `--` all are. */
function readOperands(words: readonly ShellWord[]): ShellWord[] {
  const dashes = words.findIndex(({ text }) => text === "--");
  const before = words.slice(0, dashes < 0 ? undefined : dashes).filter(({ text }) => !text.startsWith("-"));
  return dashes < 0 ? before : [...before, ...words.slice(dashes + 1)];
}

export type AddHarm = (how: string, word: ShellWord | undefined, isGone: boolean, more?: Partial<Harm>) => void;

const nameOfProgram = (word: ShellWord | undefined): string =>
  (word?.text ?? "").replace(/^.*\//, "").replace(/^\\/, "");

/** The place of the program after `sudo -u x` and the like. */
function findProgram(words: readonly ShellWord[]): number {
  if (!WRAPPERS.test(nameOfProgram(words[0]))) return 0;
  const at = words.slice(0, WRAPPED).findIndex((word, n) => n > 0 && OWN.has(nameOfProgram(word)));
  return at < 0 ? 0 : at;
}

/** `… | xargs rm`: what the command before it named, else anything below the folder. */
function addFed(name: string, source: Commands[number] | undefined, add: AddHarm): void {
  const words = source?.words ?? [];
  if (words[0]?.text === "find") addPlaces(`find | xargs ${name}`, words.slice(1), add);
  else add(`xargs ${name}`, { text: ".", isPlain: true, isPattern: false }, false, { isUnknown: true });
}

const EXECUTES = /^-(?:exec|execdir|ok|okdir)$/;

/** `find -delete`, `find -exec rm`. */
function addFound(rest: readonly ShellWord[], add: AddHarm): void {
  const at = rest.findIndex(({ text }) => EXECUTES.test(text));
  const program = nameOfProgram(rest[at + 1]);
  const runs = at >= 0 && (OWN.has(program) || /^(?:\w*sh|python\d?|node)$/.test(program));
  if (runs || rest.some(({ text }) => text === "-delete")) addPlaces("find", rest, add);
}

function addPlaces(how: string, rest: readonly ShellWord[], add: AddHarm): void {
  const end = rest.findIndex(({ text }) => /^[-!(]/.test(text));
  const places = rest.slice(0, end < 0 ? undefined : end);
  const isSimple = !rest.some(({ text }) => /^(?:!|-not|-o|-or|-prune|-i?regex|-i?path|-i?wholename)$/.test(text));
  const names = rest.flatMap(({ text }, n) => (/^-i?name$/.test(rest[n - 1]?.text ?? "") ? [text] : []));
  const more = isSimple && names.length > 0 ? { names } : {};
  for (const place of places.length > 0 ? places : [{ text: ".", isPlain: true, isPattern: false }])
    add(how, place, false, more);
}
