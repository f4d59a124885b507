/** The files that the commands of a shell line would show or send, by what is known of the programs. A module of the worker pool. */
import { basename, dirname, join, normalize } from "node:path";
import { credentialPrinted } from "./credentials.ts";
import type { Doubt } from "./doubts.ts";
import { type Flow, flowsOf } from "./flow.ts";
import { listedFor } from "./folders.ts";
import { type GitPast, gitPast } from "./git.ts";
import { filesLoaded, Held, printedBy, printsLoaded } from "./held.ts";
import { filesFetched, hides, hidesCode, recipes, runsInput, runsWord, scriptOf, textPrinted } from "./hidden.ts";
import { codeLines, innerLine, mountedLine, optionLines, quoted } from "./inner.ts";
import {
  copied,
  goesTo,
  isInterpreter,
  isProgram,
  isQuiet,
  isShell,
  runsUnknown,
  scriptFiles,
  showsUnknown,
  takesCode,
  takesInput,
  takesLine,
  wordsListed,
  wordsShown,
} from "./programs.ts";
import { type Allowance, parseShell } from "./shell.ts";
import { isSecretFile } from "./stores.ts";
import { type Below, programOf, type SimpleCommand, type Variables, WORD_LIMIT, type Word, wordOf } from "./words.ts";

export interface ShellLine {
  line: string;
  /** False if the folder in which the line runs is unknown. */
  placed: boolean;
  home: string;
  /** Most names of files to return. */
  limit: number;
  /** Characters to parse, those of substitutions and inner lines included. */
  characters: number;
}

export interface ShownFile {
  /** As written, `~` and variables replaced. */
  path: string;
  /** `path` is a pattern to compare with the existing files. */
  pattern: boolean;
  /** Folders that the path may be relative to, because the line changes the folder. The call's folder comes first. */
  folders: string[];
  /** Only this part of the file is shown (`Word.part`). */
  part?: string;
  /** The path is a folder, of whose files these are shown. */
  below?: Below;
}

/** A git command whose output is read from the repository. */
export interface PastShown extends GitPast {
  /** The command as written. */
  said: string;
  folders: string[];
  part?: string;
}

export interface Shown {
  files: ShownFile[];
  /** The line shows files that only the shell can determine. */
  unsure: boolean;
  /** What git prints of the history. */
  past: PastShown[];
  /** Commands that may show a credential that is in no file, or run code that is encoded or downloaded. */
  doubts: Doubt[];
  /** A part of the line was not checked. */
  cut: boolean;
}

/** Commands, words and expansions of a line. */
const STEPS = 150_000;
const DEPTH = 3;
const FOLDERS_LIMIT = 64;
/** Names under which the line stores files, and files under one name. */
const COPIES_LIMIT = 500;
const COPIED_LIMIT = 20;
const ALIASES_LIMIT = 100;
const WORK = 10_000;
/** Commands that an answer names, and commands of git that are read. */
const DOUBTS_LIMIT = 5;
const PAST_LIMIT = 3;
/** Lines inside a command. */
const LINES_LIMIT = 20;

export async function filesShown({ line, placed, home, limit, characters }: ShellLine): Promise<Shown> {
  const shown: Shown = { files: [], unsure: false, past: [], doubts: [], cut: false };
  const vars: Variables = new Map([
    ["HOME", { text: home, pattern: false }],
    ["HISTFILE", { text: `${home}/.bash_history`, pattern: false }],
  ]);
  // A line that changes the folder resolves names from each of its folders.
  if (placed) vars.set("PWD", { text: ".", pattern: false });
  const left: Allowance = { steps: STEPS, characters, cut: false, broken: false };
  const known = {
    shown,
    known: new Set<string>(),
    copies: new Map<string, Word[]>(),
    listed: [],
    listedIn: new Map<string, Word[]>(),
    fetched: new Set<string>(),
    limit,
  };
  const shell = { vars, held: new Held(), aliases: new Map<string, string>(), folders: [""], home };
  showLine(line, { ...known, ...shell, left, work: { left: WORK }, depth: 0 });
  shown.cut ||= left.cut;
  shown.unsure ||= left.broken;
  return shown;
}

interface View {
  vars: Variables;
  folders: string[];
  home: string;
  shown: Shown;
  /** Keys of the files in `shown`. */
  known: Set<string>;
  /** Files by the names under which the line stores them. */
  copies: Map<string, Word[]>;
  held: Held;
  aliases: Map<string, string>;
  /** Files whose names the preceding command printed. */
  listed: Word[];
  /** Files whose names are read into a variable: `find -name x | while read f`. */
  listedIn: Map<string, Word[]>;
  lister?: SimpleCommand;
  /** Names of files whose content is decoded or comes from the network. */
  fetched: Set<string>;
  left: Allowance;
  /** Files of commands, and copies compared with patterns, that remain. */
  work: { left: number };
  depth: number;
  limit: number;
  /** The line runs on another machine, whose files are unknown. */
  remote?: boolean;
}

/** `rest`: words that follow the line, as after an alias. */
function showLine(line: string, view: View, rest: readonly Word[] = []): void {
  const commands = parseShell(line, view.vars, view.left);
  const last = commands.at(-1);
  if (last) last.words = [...last.words, ...rest];
  const flows = flowsOf(commands);
  for (const [command, flow] of [...flows].reverse()) {
    runHidden(command, flow, flows, view);
    showCommand(command, flow, view);
  }
}

function showCommand(command: SimpleCommand, flow: Flow, view: View): void {
  const { end } = flow;
  const printed =
    end.names || feeds(command) ? undefined : credentialPrinted(flow.stage, command, view.held.credentials);
  if (printed !== undefined && end.shown) doubt("prints-credentials", printed, view);
  if (printed !== undefined) for (const name of end.variables) view.held.credentials.set(name, printed);
  const { program, words: rest } = flow.stage;
  for (const word of command.sets) for (const file of view.held.in(word)) hold(word.sets ?? "", file, view);
  let given = isQuiet(program, rest) || takesInput(program, rest) ? [] : command.input;
  if (program === "cd" || program === "pushd") goTo(rest[0], view);
  else {
    goTo(goesTo(program, rest), view);
    showInside(command, flow, view);
    if (program === "." || program === "source") for (const word of rest.slice(0, 1)) hold("", word, view);
    given = [...given, ...printedBy(flow.stage, command, view.held), ...namedBy(command, flow, view)];
  }
  give(given, flow, view);
  for (const copy of copied(program, rest)) remember(copy, view);
}

function doubt(kind: Doubt["kind"], what: string, { shown: { doubts } }: View): void {
  if (doubts.length < DOUBTS_LIMIT) doubts.push({ kind, what });
}

const saidBy = ({ program, words }: Flow["stage"], more = ""): string =>
  `\`${[program, ...words.slice(0, 3).map(({ text }) => text)].join(" ").concat(more).slice(0, 60)}\``;

/** Code that the command runs from its input, from a word or from a file: a known text is followed, a decoded or loaded one is doubtful. */
function runHidden(
  command: SimpleCommand,
  { stage, end, fed }: Flow,
  flows: Map<SimpleCommand, Flow>,
  view: View,
): void {
  const comesHidden = (one: SimpleCommand, depth = 0): boolean => {
    const flow = flows.get(one);
    return (
      flow !== undefined &&
      (hides(flow.stage) || (depth < DEPTH * 3 && flow.fed.some((before) => comesHidden(before, depth + 1))))
    );
  };
  for (const name of filesFetched(stage)) view.fetched.add(name);
  if (comesHidden(command)) for (const { text } of end.files) view.fetched.add(basename(text));
  const runs = fed.filter(({ pipe, into }) =>
    pipe === command ? runsInput(stage) : into !== undefined && runsWord(stage, into.word, into.file),
  );
  const script = scriptOf(stage, command);
  if (
    runs.some((one) => comesHidden(one)) ||
    (script !== undefined && view.fetched.has(basename(script))) ||
    (isInterpreter(stage.program) && [...stage.words.map(({ text }) => text), ...command.bodies].some(hidesCode))
  )
    doubt("hidden-code", saidBy(stage), view);
  else if (view.depth < DEPTH) {
    const texts = runs.flatMap((one) => {
      const flow = flows.get(one);
      return (flow && textPrinted(flow.stage)) ?? [];
    });
    if (stage.program === "make" && runsInput(stage)) texts.push(...command.bodies);
    const lines = stage.program === "make" ? texts.flatMap(recipes) : isShell(stage.program) ? texts : [];
    for (const line of lines.slice(0, LINES_LIMIT)) showLine(line, { ...view, depth: view.depth + 1 });
  }
}

/** Whether the output goes to a program that stores it: `| docker login --password-stdin`. */
const feeds = ({ pipe }: SimpleCommand): boolean =>
  pipe !== undefined && takesInput(programOf(pipe.words[0]?.text ?? ""), pipe.words.slice(1));

/** Shows the files of the shell lines and the code in the words of a command. */
function showInside(command: SimpleCommand, { stage }: Flow, view: View): void {
  const { program, words: rest } = stage;
  const texts = rest.map(({ text }) => text);
  const alias = view.aliases.get(command.words[0]?.text ?? "");
  if (program === "alias")
    for (const [, name = "", value = ""] of texts.flatMap((text) => [/^([\w.-]+)=(.*)$/s.exec(text) ?? []]))
      if (view.aliases.size < ALIASES_LIMIT) view.aliases.set(name, value);
  const lines = takesLine(command.words) ? command.words.flatMap(({ text }) => (/\s/.test(text) ? [text] : [])) : [];
  if (view.depth === DEPTH) view.shown.cut ||= program === "eval" || isShell(program) || alias !== undefined;
  else {
    const inner = { ...view, depth: view.depth + 1 };
    if (alias !== undefined) {
      // An alias is not expanded inside itself: `alias ls='ls -l'`.
      const aliases = new Map([...view.aliases].filter(([, value]) => value !== alias));
      showLine(alias, { ...inner, aliases }, command.words.slice(1));
    }
    const evaluated = program === "eval" ? [texts.join(" ")] : program === "trap" ? texts.slice(0, 1) : [];
    for (const line of [...evaluated, ...lines]) showLine(line, inner);
    const mounted = mountedLine(program, rest);
    for (const n of mounted?.keys() ?? [])
      if (mounted && isProgram(mounted[n] ?? "")) showLine(mounted.slice(n).map(quoted).join(" "), inner);
    for (const one of optionLines(program, rest).slice(0, LINES_LIMIT)) showLine(one, inner);
    const run = innerLine(program, rest);
    if (run) showLine(run.line, { ...inner, held: new Held(), aliases: new Map(), remote: run.remote });
    const loaded = filesLoaded(stage);
    const shell = loaded.length > 0 ? texts.findIndex((text) => isShell(programOf(text))) : isShell(program) ? 0 : -1;
    if (shell >= 0) {
      const held = loaded.length > 0 ? new Held() : view.held;
      for (const file of loaded) held.add("", file);
      const at = texts.findIndex((text, n) => n >= shell && /^-\w*c$/.test(text));
      if (at >= 0) showLine(texts[at + 1] ?? "", { ...inner, held });
      for (const body of command.bodies) showLine(body, { ...inner, held });
    }
  }
  if (isInterpreter(program)) {
    const code = takesCode(program, rest) ? [...texts, ...command.bodies] : command.bodies;
    for (const one of code) {
      showQuoted(one, view);
      if (view.depth < DEPTH)
        for (const line of codeLines(program, one).slice(0, LINES_LIMIT))
          showLine(line, { ...view, depth: view.depth + 1 });
    }
  }
}

/** The files that the command shows because its words name them. */
function namedBy(command: SimpleCommand, { stage, end, fed }: Flow, view: View): Word[] {
  const { program, words: rest } = stage;
  const past = gitPast(gitWords(stage));
  const isRead = past !== undefined && view.shown.past.length < PAST_LIMIT && !view.remote;
  if (isRead && end.shown) readPast(past, stage, end, view);
  const unsure = !isRead && showsUnknown(program, rest);
  view.shown.unsure ||= unsure;
  if (command.bodies.length + command.input.length === 0) view.shown.unsure ||= runsUnknown(program, rest);
  const shown = wordsShown(
    program,
    rest,
    fed.some(({ pipe }) => pipe === command),
  );
  const listed = view.lister?.into?.command === command && shown.some(({ open }) => open) ? view.listed : [];
  const added =
    unsure && program === "xargs" ? [...listedFor(rest, view.listed), ...command.bodies.flatMap(wordsOf)] : listed;
  // `find … | head -1 | xargs cat`
  if (view.lister?.pipe !== command || stage.left !== "lines") view.listed = wordsListed(program, rest);
  view.lister = command;
  for (const name of end.variables) if (view.listed.length > 0) view.listedIn.set(name, view.listed);
  const read = shown.flatMap(({ open, names = [] }) =>
    open ? names.flatMap((name) => view.listedIn.get(name) ?? []) : [],
  );
  const scripts = [...rest.map(({ text }) => text), ...command.bodies].flatMap((text) => scriptFiles(program, text));
  const loaded = filesLoaded(stage);
  const words = [...added, ...read, ...scripts, ...shown, ...(loaded.length > 0 && printsLoaded(rest) ? loaded : [])];
  return words.flatMap(named);
}

/** The words of git; after `xargs` the last one is unknown. */
function gitWords({ program, words }: Flow["stage"]): Word[] {
  if (program === "git") return words;
  const at = program === "xargs" ? words.findIndex(({ text }) => programOf(text) === "git") : -1;
  return at < 0 ? [] : [...words.slice(at + 1), { ...wordOf(""), open: true }];
}

/** Has the output of a git command read, or the part of it that is shown. */
function readPast(past: GitPast, stage: Flow["stage"], end: Flow["end"], { shown, folders }: View): void {
  const part = end.names ? "" : end.part;
  shown.past.push({ ...past, said: saidBy(stage), folders: [...folders], ...(part === undefined ? {} : { part }) });
}

/** Follows `files` to where the output of the command ends: shown, in files or in variables. */
function give(files: readonly Word[], flow: Flow, view: View): void {
  const { stage, end } = flow;
  if (!spend(files.length, view)) return;
  const kept = files.length <= COPIED_LIMIT || end.files.length + end.variables.length === 0;
  const known = stage.left !== "unknown" && kept;
  const isNames = known && (stage.left === "names" || (stage.left === "lines" && end.names));
  for (const file of files) {
    const word = file.mixed || file.part !== undefined ? file : isNames ? { ...file, part: "" } : chosen(file, flow);
    if (!known || end.shown || (end.word && view.held.traced)) show(word, view);
    for (const to of known ? end.files : []) remember({ files: [word], to }, view);
    for (const name of known ? end.variables : []) hold(name, word, view);
  }
}

/** The part of the file that the command prints. */
function chosen(file: Word, { stage, end }: Flow): Word {
  const part = stage.part ?? (stage.left === "lines" ? end.part : undefined);
  return part === undefined ? file : { ...file, part };
}

function spend(work: number, view: View): boolean {
  view.work.left -= work;
  if (view.work.left < 0) view.shown.cut = true;
  return view.work.left >= 0;
}

function hold(name: string, file: Word, view: View): void {
  if (view.held.traced || !view.held.add(name, file)) show(file, view);
}

/** The words that `xargs` reads from a text. */
const wordsOf = (text: string): Word[] => text.slice(0, WORD_LIMIT).split(/\s+/).map(wordOf);

function goTo(folder: Word | undefined, { folders, home, shown }: View): void {
  const place = folder && !folder.open ? folder.text.replace(/^~(?=\/|$)/, home) : undefined;
  if (place === undefined || folders.includes(place)) return;
  if (folders.length < FOLDERS_LIMIT) folders.push(place);
  else shown.cut = true;
}

/** A command that shows the copy later shows the file. */
function remember({ files, to }: { files: Word[]; to: Word }, { copies, home }: View): void {
  if (to.open || to.pattern || copies.size > COPIES_LIMIT) return;
  for (const file of files.slice(0, COPIED_LIMIT)) {
    const all = [file, ...(copies.get(nameOf(file, home)) ?? [])];
    const path = nameOf(to, home);
    for (const name of [path, join(path, basename(file.text)), `*/${basename(path)}`])
      copies.set(name, [...(copies.get(name) ?? []), ...all].slice(0, COPIED_LIMIT));
  }
}

const nameOf = ({ text }: Word, home: string): string => normalize(text.replace(/^~(?=\/|$)/, home));

/** Files whose copies may have this name, or a name that fits the pattern. */
function copiesOf(word: Word, view: View): Word[] {
  const { copies, home, folders } = view;
  if (copies.size === 0 || (word.pattern && !spend(copies.size, view))) return [];
  const name = nameOf(word, home);
  if (word.pattern) {
    const [start = ""] = /^[^*?[{]*/.exec(name) ?? [];
    const found: Word[] = [];
    for (const [known, files] of copies) if (known.startsWith(start)) found.push(...files);
    return found;
  }
  const inFolders: Word[] = [];
  for (let folder = dirname(name); folder.length > 1; folder = dirname(folder))
    for (const file of copies.get(folder) ?? [])
      inFolders.push({ ...file, text: join(file.text, name.slice(folder.length)) });
  // Seen from another folder, the copy has another path.
  const elsewhere = folders.length > 1 ? (copies.get(`*/${basename(name)}`) ?? []) : [];
  return [...(copies.get(name) ?? []), ...inFolders, ...elsewhere];
}

/** The file that a word may name: the word itself, or what follows an option (`--file=x`, `-Tx`), curl's `@` and `<`, or `if=`. */
function named(word: Word): Word[] {
  const { text } = word;
  const behind = (start: number): Word => ({ ...word, text: text.slice(start) });
  const at = /^(?:--?[\w-]+=|[\w.[\]-]+=)?[@<](?=.)/.exec(text);
  if (at) return [{ ...word, text: text.slice(at[0].length).replace(/;\w+=.*$/s, "") }];
  const value = /^(?:(?:--?[\w-]+|if)=|(?:FILE|OPEN|GOPEN):)(?=.)/.exec(text);
  if (value) return [behind(value[0].length)];
  if (/^-[dFT]@?.+/.test(text)) return [behind(2 + Number(text[2] === "@"))];
  return text.startsWith("-") ? [] : [word];
}

/** Shows a file, and the files that it may be a copy of. */
function show(word: Word, view: View): void {
  showOne(word, view);
  for (const file of copiesOf(word, view)) showOne(word.below ? { ...file, below: word.below } : file, view);
}

function showOne(word: Word, view: View): void {
  const { folders, home, shown, known, limit } = view;
  if (view.remote) {
    shown.unsure = true;
    if (isSecretFile(word.text.slice(0, WORD_LIMIT)))
      doubt("prints-credentials", `\`${word.text.slice(0, 60)}\` of another machine`, view);
    return;
  }
  const { part, below } = word;
  const id = `${folders.length} ${word.pattern} ${part ?? "*"} ${below ? JSON.stringify(below) : ""} ${word.text}`;
  if (word.open) shown.unsure = true;
  // No file has a longer name, but a long pattern may match files.
  else if (word.text.length > WORD_LIMIT) shown.cut ||= word.pattern;
  else if (word.text === "" || known.has(id)) return;
  else if (shown.files.length === limit) shown.cut = true;
  else {
    known.add(id);
    const path = word.text.replace(/^~(?=\/|$)/, home);
    const some = { ...(part === undefined ? {} : { part }), ...(below === undefined ? {} : { below }) };
    shown.files.push({ path, pattern: word.pattern, folders: [...folders], ...some });
  }
}

/** Code before and after the name of a file that is only tested, loaded or written. */
const NOT_SHOWN_BEFORE =
  /(?:exists(?:Sync)?|is_?file|stat(?:Sync)?|getsize|unlink(?:Sync)?|remove|(?:write|append)File(?:Sync)?|load_dotenv|config|loadEnvFile)\(\s*(?:\{\s*path\s*:\s*)?$/i;
const NOT_SHOWN_BEHIND = /^\s*(?:,\s*(?:mode\s*=\s*)?["'][wax]|\)\.(?:exists|is_file|stat|unlink|touch|write_text)\()/;

/** `open(".env")` in code on the command line. */
function showQuoted(code: string, view: View): void {
  for (const match of code.matchAll(/(["'`])([^"'`\n]{1,512})\1/g)) {
    const end = match.index + match[0].length;
    if (NOT_SHOWN_BEFORE.test(code.slice(Math.max(0, match.index - 40), match.index))) continue;
    if (NOT_SHOWN_BEHIND.test(code.slice(end, end + 20))) continue;
    // No further file would be added.
    if (view.shown.files.length === view.limit && view.shown.cut) return;
    // In Perl, `<` before the name opens the file for reading.
    show(wordOf((match[2] ?? "").replace(/^\+?<\s*/, "")), view);
  }
}
