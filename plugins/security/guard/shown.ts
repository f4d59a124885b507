/** Which files the commands of a shell line would show or send, by what is known of the programs. */
import { basename, normalize } from "node:path";
import { Slices } from "sessarc";
import {
  copied,
  goesTo,
  isInterpreter,
  isQuiet,
  isShell,
  programOf,
  runsUnknown,
  showsUnknown,
  takesCode,
  unwrapped,
  wordsListed,
  wordsShown,
} from "./programs.ts";
import { parseShell, STEPS } from "./shell.ts";
import { type Variables, WORD_LIMIT } from "./variables.ts";
import type { SimpleCommand, Word } from "./words.ts";

export interface ShownFile {
  /** As written, `~` and variables replaced. */
  path: string;
  /** A pattern still to be compared with what is there. */
  pattern: boolean;
  /** Folders it may be seen from, when the line changes the folder; the call's own first. */
  folders: string[];
}

export interface Shown {
  files: ShownFile[];
  /** Files are shown that only the shell will know. */
  unsure: boolean;
  /** The line says more than is looked at. */
  cut: boolean;
}

const DEPTH = 3;
const FOLDERS_LIMIT = 64;
/** Names under which files are left, and files under one of them. */
const COPIES_LIMIT = 500;
const COPIED_LIMIT = 20;
/** Words and quoted names between two places where the work may be interrupted. */
const PAUSE = 500;

/** At most `limit` names that may be a file's. */
export async function filesShown(line: string, cwd: string | null, home: string, limit: number): Promise<Shown> {
  const shown: Shown = { files: [], unsure: false, cut: false };
  const vars: Variables = new Map([["HOME", { text: home, pattern: false }]]);
  // Where it is by then depends on the folders it went to.
  if (cwd !== null) vars.set("PWD", { text: ".", pattern: false });
  const known = { shown, known: new Set<string>(), copies: new Map<string, Word[]>(), listed: [], limit };
  const slices = new Slices();
  for (const _ of look(line, { ...known, vars, folders: [""], home, left: { steps: STEPS }, depth: 0 }))
    if (slices.due) await slices.turn();
  return shown;
}

interface View {
  vars: Variables;
  folders: string[];
  home: string;
  shown: Shown;
  /** What is in `shown`, and from how many folders. */
  known: Set<string>;
  /** Files by the names under which the line leaves them. */
  copies: Map<string, Word[]>;
  /** Files whose names the command before printed. */
  listed: Word[];
  left: { steps: number };
  depth: number;
  limit: number;
}

function* look(line: string, view: View): Generator<void> {
  for (const command of yield* parseShell(line, view.vars, view.left)) {
    yield* lookAt(command, view);
    yield;
  }
}

function* lookAt(command: SimpleCommand, view: View): Generator<void> {
  if (command.unknown) view.shown.cut = true;
  const [first, ...rest] = yield* unwrapped(spread(command.words));
  const program = programOf(first?.text ?? "");
  if (!isQuiet(program, rest)) for (const word of command.input) show(word, view);
  if (program === "cd" || program === "pushd") return goTo(rest[0], view);
  goTo(goesTo(program, rest), view);
  const texts = rest.map(({ text }) => text);
  if (view.depth === DEPTH) view.shown.cut ||= program === "eval" || isShell(program);
  else {
    const inner = { ...view, depth: view.depth + 1 };
    if (program === "eval") yield* look(texts.join(" "), inner);
    if (isShell(program)) {
      const at = texts.findIndex((text) => /^-\w*c$/.test(text));
      if (at >= 0) yield* look(texts[at + 1] ?? "", inner);
      for (const body of command.bodies) yield* look(body, inner);
    }
  }
  if (isInterpreter(program)) {
    const code = takesCode(program, rest) ? [...texts, ...command.bodies] : command.bodies;
    for (const one of code) yield* showQuoted(one, view);
  }
  yield;
  const unsure = showsUnknown(program, rest);
  view.shown.unsure ||= unsure;
  if (command.bodies.length + command.input.length === 0) view.shown.unsure ||= runsUnknown(program, rest);
  const added = unsure && program === "xargs" ? [...view.listed, ...command.bodies.flatMap(wordsOf)] : [];
  view.listed = wordsListed(program, rest);
  yield;
  const words = wordsShown(program, rest);
  yield;
  for (const [n, word] of [...added, ...words].entries()) {
    for (const part of named(word)) show(part, view);
    if (n % PAUSE === 0) yield;
  }
  const copy = copied(program, rest);
  if (copy) remember(copy, view);
}

/** What `xargs` makes of a text. */
const wordsOf = (text: string): Word[] =>
  text
    .slice(0, WORD_LIMIT)
    .split(/\s+/)
    .map((word) => ({ text: word, open: false, pattern: false }));

/** `{cat,a}` → `cat a`. */
function spread(words: Word[]): Word[] {
  const [first, ...rest] = words;
  const [, list] = (first?.pattern && /^\{([^{}]+,[^{}]*)\}$/.exec(first.text)) || [];
  if (!first || list === undefined) return words;
  return [...list.split(",").map((text) => ({ ...first, text })), ...rest];
}

function goTo(folder: Word | undefined, { folders, home, shown }: View): void {
  const place = folder && !folder.open ? folder.text.replace(/^~(?=\/|$)/, home) : undefined;
  if (place === undefined || folders.includes(place)) return;
  if (folders.length < FOLDERS_LIMIT) folders.push(place);
  else shown.cut = true;
}

/** Who shows the copy later shows the file. */
function remember({ files, to }: { files: Word[]; to: Word }, { copies }: View): void {
  if (to.open || to.pattern || copies.size > COPIES_LIMIT) return;
  for (const file of files.slice(0, COPIED_LIMIT)) {
    const all = [file, ...(copies.get(normalize(file.text)) ?? [])];
    for (const name of [normalize(to.text), normalize(`${to.text}/${basename(file.text)}`)])
      copies.set(name, [...(copies.get(name) ?? []), ...all].slice(0, COPIED_LIMIT));
  }
}

/** The files one word may name: itself, behind an option (`--file=x`, `-Tx`), behind curl's `@` and `<`, behind `if=`. */
function named(word: Word): Word[] {
  const { text } = word;
  const behind = (start: number): Word => ({ ...word, text: text.slice(start) });
  const at = /^(?:--?[\w-]+=|[\w.-]+=)?[@<](?=.)/.exec(text);
  if (at) return [{ ...word, text: text.slice(at[0].length).replace(/;\w+=.*$/s, "") }];
  const value = /^(?:--?[\w-]+|if)=(?=.)/.exec(text);
  if (value) return [behind(value[0].length)];
  if (/^-[dFT]@?.+/.test(text)) return [behind(2 + Number(text[2] === "@"))];
  return text.startsWith("-") ? [] : [word];
}

/** A file, and those it is a copy of by then. */
function show(word: Word, view: View): void {
  showOne(word, view);
  if (view.copies.size > 0) for (const file of view.copies.get(normalize(word.text)) ?? []) showOne(file, view);
}

function showOne(word: Word, { folders, home, shown, known, limit }: View): void {
  const id = `${folders.length} ${word.pattern} ${word.text}`;
  if (word.open) shown.unsure = true;
  // No file has a longer name, but a pattern stands for others.
  else if (word.text.length > WORD_LIMIT) shown.cut ||= word.pattern;
  else if (word.text === "" || known.has(id)) return;
  else if (shown.files.length === limit) shown.cut = true;
  else {
    known.add(id);
    shown.files.push({ path: word.text.replace(/^~(?=\/|$)/, home), pattern: word.pattern, folders: [...folders] });
  }
}

/** What asks for a file, loads it or writes it, and shows nothing of it. */
const NOT_SHOWN_BEFORE =
  /(?:exists(?:Sync)?|is_?file|stat(?:Sync)?|getsize|unlink(?:Sync)?|remove|(?:write|append)File(?:Sync)?|load_dotenv|config|loadEnvFile)\(\s*(?:\{\s*path\s*:\s*)?$/i;
const NOT_SHOWN_BEHIND = /^\s*(?:,\s*(?:mode\s*=\s*)?["'][wax]|\)\.(?:exists|is_file|stat|unlink|touch|write_text)\()/;

/** `open(".env")` in code given on the command line. */
function* showQuoted(code: string, view: View): Generator<void> {
  let n = 0;
  for (const match of code.matchAll(/(["'`])([^"'`\n]{1,512})\1/g)) {
    if (n++ % PAUSE === 0) yield;
    const end = match.index + match[0].length;
    if (NOT_SHOWN_BEFORE.test(code.slice(Math.max(0, match.index - 40), match.index))) continue;
    if (NOT_SHOWN_BEHIND.test(code.slice(end, end + 20))) continue;
    // All that follow would be too many.
    if (view.shown.files.length === view.limit && view.shown.cut) return;
    // Perl says with a sign that it reads.
    show({ text: (match[2] ?? "").replace(/^\+?<\s*/, ""), open: false, pattern: false }, view);
  }
}
