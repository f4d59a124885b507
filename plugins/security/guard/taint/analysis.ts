/**
 * Taint analysis of a shell line: which files, credentials and parts of git's history reach the answer or another machine. Each command is
 * followed from its sources through what the line propagates to its sink. A module of the worker pool.
 */
import { basename } from "node:path";
import type { Doubt } from "./doubts.ts";
import { isSecretFile } from "./files/stores.ts";
import type { Part } from "./part.ts";
import { selectListed } from "./programs/folders.ts";
import { type GitPast, readPast } from "./programs/git.ts";
import {
  findFilesFetched,
  findScript,
  HIDES_OR_RUNS_CODE,
  hides,
  hidesCode,
  readRecipes,
  readTextPrinted,
  runsInput,
  runsWord,
} from "./programs/hidden.ts";
import {
  findInnerLine,
  findLinesInCode,
  findLinesInOptions,
  findMountedLine,
  LINE_WORD,
  quote,
  TAKES_LINES,
} from "./programs/inner.ts";
import {
  findCopies,
  findFilesInScript,
  findFileWords,
  findListedWords,
  isInterpreter,
  isProgram,
  isQuiet,
  isShell,
  readFolder,
  readStep,
  runsUnknown,
  type Step,
  showsUnknown,
  takesCode,
  takesInput,
  takesLine,
} from "./programs/programs.ts";
import {
  COPIED_LIMIT,
  findFilesLoaded,
  findFilesPrinted,
  printsLoaded,
  TaintedFiles,
  TaintedVariables,
} from "./propagation.ts";
import { type Allowance, parseShell } from "./shell.ts";
import { type Flow, findSinks } from "./sink.ts";
import { findCredential, findFilesInCode, readFileName } from "./source.ts";
import { type Below, readProgram, type SimpleCommand, toWord, type Variables, WORD_LIMIT, type Word } from "./words.ts";

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

export interface ReachingFile {
  /** As written, `~` and variables replaced. */
  path: string;
  /** `path` is a pattern to compare with the existing files. */
  pattern: boolean;
  /** Folders that the path may be relative to, because the line changes the folder. The call's folder comes first. */
  folders: string[];
  /** Only this part of the file arrives. */
  part?: Part;
  /** The path is a folder, of whose files these arrive. */
  below?: Below;
}

/** A git command whose output is read from the repository. */
export interface ReachingPast extends GitPast {
  /** The command as written. */
  said: string;
  folders: string[];
  part?: Part;
}

/** The sources that reach the answer or another machine. */
export interface Reaching {
  files: ReachingFile[];
  /** What git prints of the history. */
  past: ReachingPast[];
  /** Commands that may show a credential that is in no file, or run code that is encoded or downloaded. */
  doubts: Doubt[];
  /** The line shows files that only the shell can determine. */
  unsure: boolean;
  /** A part of the line was not checked. */
  cut: boolean;
}

/** Commands, words and expansions of a line. */
const STEPS = 150_000;
const DEPTH = 3;
const FOLDERS_LIMIT = 64;
const ALIASES_LIMIT = 100;
const WORK = 10_000;
/** Commands that an answer names, and commands of git that are read. */
const DOUBTS_LIMIT = 5;
const PAST_LIMIT = 3;
/** Lines inside a command. */
const LINES_LIMIT = 20;

export async function analyseLine({ line, placed, home, limit, characters }: ShellLine): Promise<Reaching> {
  const reaching: Reaching = { files: [], past: [], doubts: [], unsure: false, cut: false };
  const vars: Variables = new Map([
    ["HOME", { text: home, pattern: false }],
    ["HISTFILE", { text: `${home}/.bash_history`, pattern: false }],
  ]);
  // A line that changes the folder resolves names from each of its folders.
  if (placed) vars.set("PWD", { text: ".", pattern: false });
  const left: Allowance = { steps: STEPS, characters, cut: false, broken: false };
  followLine(line, {
    ...{ reaching, known: new Set(), limit, left, work: { left: WORK }, depth: 0 },
    ...{ vars, home, folders: [""], aliases: new Map() },
    ...{ variables: new TaintedVariables(), copies: new TaintedFiles(home), fetched: new Set() },
    ...{ listed: [], listedIn: new Map() },
  });
  reaching.cut ||= left.cut;
  reaching.unsure ||= left.broken;
  return reaching;
}

/** What is known at a command. Lines inside other words share it, except for what they have of their own. */
interface State {
  reaching: Reaching;
  /** Keys of the files in `reaching`. */
  known: Set<string>;
  limit: number;
  left: Allowance;
  /** Files of commands, and copies compared with patterns, that remain. */
  work: { left: number };
  depth: number;

  vars: Variables;
  home: string;
  folders: string[];
  aliases: Map<string, string>;
  /** The line runs on another machine, whose files are unknown. */
  remote?: boolean;

  variables: TaintedVariables;
  copies: TaintedFiles;
  /** Names of files whose content is decoded or comes from the network. */
  fetched: Set<string>;
  /** Files whose names the preceding command printed. */
  listed: Word[];
  lister?: SimpleCommand;
  /** Files whose names are read into a variable: `find -name x | while read f`. */
  listedIn: Map<string, Word[]>;
}

/** A command in its line. */
interface Place {
  command: SimpleCommand;
  step: Step;
  /** Another command writes to its input. */
  isPiped: boolean;
  /** What a command of the line passes on and where it arrives. Found when the first source needs it: most lines have none. */
  findFlow(command: SimpleCommand): Flow | undefined;
}

/** `rest`: words that follow the line, as after an alias. */
function followLine(line: string, state: State, rest: readonly Word[] = []): void {
  const commands = parseShell(line, state.vars, state.left);
  const last = commands.at(-1);
  if (last) last.words = [...last.words, ...rest];
  const steps = new Map(commands.map((command) => [command, readStep(command)]));
  const piped = new Set(commands.map(({ pipe }) => pipe));
  let flows: Map<SimpleCommand, Flow> | undefined;
  const findFlow = (command: SimpleCommand): Flow | undefined => {
    flows ??= findSinks(steps);
    return flows.get(command);
  };
  const mayHide = [...steps.values()].some(({ program }) => HIDES_OR_RUNS_CODE.has(program));
  for (const [command, step] of steps) {
    const place: Place = { command, step, isPiped: piped.has(command), findFlow };
    if (mayHide || state.fetched.size > 0) followHidden(place, state);
    followCommand(place, state);
  }
}

/** From the sources of a command to its sink. */
function followCommand(place: Place, state: State): void {
  const { command, step } = place;
  const { program, words } = step;
  followCredential(place, state);
  for (const word of command.sets)
    for (const file of state.variables.in(word)) taintVariable(word.sets ?? "", file, state);
  const files = isQuiet(program, words) || takesInput(program, words) ? [] : [...command.input];
  if (program === "cd" || program === "pushd") changeFolder(words[0], state);
  else {
    changeFolder(readFolder(program, words), state);
    followInside(place, state);
    if (program === "." || program === "source") for (const word of words.slice(0, 1)) taintVariable("", word, state);
    files.push(...findFilesPrinted(step, command, state.variables), ...findFilesNamed(place, state));
  }
  propagate(files, place, state);
  for (const copy of findCopies(program, words)) state.copies.add(copy);
}

/** A credential that the command prints reaches the answer, or taints the variables that get it. */
function followCredential({ command, step, findFlow }: Place, state: State): void {
  const printed = findCredential(step, command, state.variables.credentials);
  const sink = printed === undefined ? undefined : findFlow(command)?.sink;
  if (printed === undefined || !sink || sink.namesOnly || isStored(command)) return;
  if (sink.answer) doubt("prints-credentials", printed, state);
  for (const name of sink.variables) state.variables.credentials.set(name, printed);
}

/** Whether the output goes to a program that stores it: `| docker login --password-stdin`. */
const isStored = ({ pipe }: SimpleCommand): boolean =>
  pipe !== undefined && takesInput(readProgram(pipe.words[0]?.text ?? ""), pipe.words.slice(1));

function doubt(kind: Doubt["kind"], what: string, { reaching: { doubts } }: State): void {
  if (doubts.length < DOUBTS_LIMIT) doubts.push({ kind, what });
}

const quoteStep = ({ program, words }: Step): string =>
  `\`${[program, ...words.slice(0, 3).map(({ text }) => text)].join(" ").slice(0, 60)}\``;

/** Code that the command runs from its input, from a word or from a file: a known text is followed, a decoded or loaded one is doubtful. */
function followHidden({ command, step, findFlow }: Place, state: State): void {
  const { sink, writers } = findFlow(command) ?? { sink: undefined, writers: [] };
  const comesHidden = (one: SimpleCommand, depth = 0): boolean => {
    const flow = findFlow(one);
    return (
      flow !== undefined &&
      (hides(flow.step) || (depth < DEPTH * 3 && flow.writers.some((before) => comesHidden(before, depth + 1))))
    );
  };
  for (const name of findFilesFetched(step)) state.fetched.add(name);
  if (comesHidden(command)) for (const { text } of sink?.files ?? []) state.fetched.add(basename(text));
  const runs = writers.filter(({ pipe, into }) =>
    pipe === command ? runsInput(step) : into !== undefined && runsWord(step, into.word, into.file),
  );
  const script = findScript(step, command);
  if (
    runs.some((one) => comesHidden(one)) ||
    (script !== undefined && state.fetched.has(basename(script))) ||
    (isInterpreter(step.program) && [...step.words.map(({ text }) => text), ...command.bodies].some(hidesCode))
  )
    doubt("hidden-code", quoteStep(step), state);
  else if (state.depth < DEPTH) {
    const texts = runs.flatMap((one) => {
      const flow = findFlow(one);
      return (flow && readTextPrinted(flow.step)) ?? [];
    });
    if (step.program === "make" && runsInput(step)) texts.push(...command.bodies);
    const lines = step.program === "make" ? texts.flatMap(readRecipes) : isShell(step.program) ? texts : [];
    for (const line of lines.slice(0, LINES_LIMIT)) followLine(line, { ...state, depth: state.depth + 1 });
  }
}

/** Follows the shell lines and the code in the words of a command. */
function followInside({ command, step }: Place, state: State): void {
  const { program, words } = step;
  const texts = words.map(({ text }) => text);
  const alias = state.aliases.get(command.words[0]?.text ?? "");
  if (program === "alias")
    for (const [, name = "", value = ""] of texts.flatMap((text) => [/^([\w.-]+)=(.*)$/s.exec(text) ?? []]))
      if (state.aliases.size < ALIASES_LIMIT) state.aliases.set(name, value);
  if (state.depth === DEPTH) state.reaching.cut ||= program === "eval" || isShell(program) || alias !== undefined;
  else {
    const inner = { ...state, depth: state.depth + 1 };
    if (alias !== undefined) {
      // An alias is not expanded inside itself: `alias ls='ls -l'`.
      const aliases = new Map([...state.aliases].filter(([, value]) => value !== alias));
      followLine(alias, { ...inner, aliases }, command.words.slice(1));
    }
    const evaluated = program === "eval" ? [texts.join(" ")] : program === "trap" ? texts.slice(0, 1) : [];
    const lines = takesLine(command.words) ? command.words.flatMap(({ text }) => (/\s/.test(text) ? [text] : [])) : [];
    for (const line of [...evaluated, ...lines]) followLine(line, inner);
    if (TAKES_LINES.has(program) || texts.some((text) => LINE_WORD.test(text))) followLinesInWords(step, inner);
    followShell(command, step, inner);
  }
  if (isInterpreter(program)) followCode(command, step, state);
}

/** Lines that a program runs in a container, on another machine or for an option. */
function followLinesInWords({ program, words }: Step, inner: State): void {
  const mounted = findMountedLine(program, words);
  for (const n of mounted?.keys() ?? [])
    if (mounted && isProgram(mounted[n] ?? "")) followLine(mounted.slice(n).map(quote).join(" "), inner);
  for (const one of findLinesInOptions(program, words).slice(0, LINES_LIMIT)) followLine(one, inner);
  const run = findInnerLine(program, words);
  if (run)
    followLine(run.line, { ...inner, variables: new TaintedVariables(), aliases: new Map(), remote: run.remote });
}

/** `bash -c 'cat a'`, also in a container that gets variables from a file. */
function followShell(command: SimpleCommand, step: Step, inner: State): void {
  const texts = step.words.map(({ text }) => text);
  const loaded = findFilesLoaded(step);
  const shell =
    loaded.length > 0 ? texts.findIndex((text) => isShell(readProgram(text))) : isShell(step.program) ? 0 : -1;
  if (shell < 0) return;
  const variables = loaded.length > 0 ? new TaintedVariables() : inner.variables;
  for (const file of loaded) variables.add("", file);
  const at = texts.findIndex((text, n) => n >= shell && /^-\w*c$/.test(text));
  if (at >= 0) followLine(texts[at + 1] ?? "", { ...inner, variables });
  for (const body of command.bodies) followLine(body, { ...inner, variables });
}

/** Files that the code of an interpreter names, and the lines that it starts. */
function followCode(command: SimpleCommand, { program, words }: Step, state: State): void {
  const texts = words.map(({ text }) => text);
  for (const code of takesCode(program, words) ? [...texts, ...command.bodies] : command.bodies) {
    for (const file of findFilesInCode(code)) {
      // No further file would be added.
      if (state.reaching.files.length === state.limit && state.reaching.cut) break;
      reachAnswer(file, state);
    }
    if (state.depth < DEPTH)
      for (const line of findLinesInCode(program, code).slice(0, LINES_LIMIT))
        followLine(line, { ...state, depth: state.depth + 1 });
  }
}

/** The files that the command shows because its words name them. */
function findFilesNamed(place: Place, state: State): Word[] {
  const { command, step, isPiped, findFlow } = place;
  const { program, words } = step;
  const unsure = !followPast(place, state) && showsUnknown(program, words);
  state.reaching.unsure ||= unsure;
  if (command.bodies.length + command.input.length === 0) state.reaching.unsure ||= runsUnknown(program, words);
  const shown = findFileWords(program, words, isPiped);
  const listed = state.lister?.into?.command === command && shown.some(({ open }) => open) ? state.listed : [];
  const added =
    unsure && program === "xargs"
      ? [...selectListed(words, state.listed), ...command.bodies.flatMap(splitWords)]
      : listed;
  // `find … | head -1 | xargs cat`
  if (state.lister?.pipe !== command || findFlow(command)?.passes !== "lines")
    state.listed = findListedWords(program, words);
  state.lister = command;
  if (state.listed.length > 0 && (isPiped || command.pipe || command.into))
    for (const name of findFlow(command)?.sink.variables ?? []) state.listedIn.set(name, state.listed);
  const read = shown.flatMap(({ open, names = [] }) =>
    open ? names.flatMap((name) => state.listedIn.get(name) ?? []) : [],
  );
  const scripts = [...words.map(({ text }) => text), ...command.bodies].flatMap((text) =>
    findFilesInScript(program, text),
  );
  const loaded = findFilesLoaded(step);
  const all = [...added, ...read, ...scripts, ...shown, ...(loaded.length > 0 && printsLoaded(words) ? loaded : [])];
  return all.flatMap(readFileName);
}

/** Has the guard read what a git command prints of the history, or the part of it that arrives. Returns false if it cannot. */
function followPast({ command, step, findFlow }: Place, { reaching, folders, remote }: State): boolean {
  const words = findGitWords(step);
  const past = words && readPast(words);
  if (past === undefined || reaching.past.length >= PAST_LIMIT || remote) return false;
  const sink = findFlow(command)?.sink;
  if (!sink?.answer) return true;
  const part: Part | undefined = sink.namesOnly ? { kind: "names" } : sink.part;
  reaching.past.push({
    ...{ ...past, said: quoteStep(step), folders: [...folders] },
    ...(part === undefined ? {} : { part }),
  });
  return true;
}

/** The words of git; after `xargs` the last one is unknown. */
function findGitWords({ program, words }: Step): Word[] | undefined {
  if (program === "git") return words;
  const at = program === "xargs" ? words.findIndex(({ text }) => readProgram(text) === "git") : -1;
  return at < 0 ? undefined : [...words.slice(at + 1), { ...toWord(""), open: true }];
}

/** Follows `files` to the sink of the command: the answer, files or variables. */
function propagate(files: readonly Word[], { command, findFlow }: Place, state: State): void {
  const flow = files.length === 0 ? undefined : findFlow(command);
  if (!flow) return;
  const { passes, sink } = flow;
  if (!spend(files.length, state)) return;
  const isFew = files.length <= COPIED_LIMIT || sink.files.length + sink.variables.length === 0;
  const isKnown = passes !== "unknown" && isFew;
  for (const file of files) {
    const word = isKnown ? sanitize(file, flow) : selectPart(file, flow);
    if (!isKnown || sink.answer || (sink.word && state.variables.traced)) reachAnswer(word, state);
    if (!isKnown) continue;
    for (const to of sink.files) state.copies.add({ files: [word], to });
    for (const name of sink.variables) taintVariable(name, word, state);
  }
}

/** What the command and those after it leave of a file. */
function sanitize(file: Word, flow: Flow): Word {
  const { passes, sink } = flow;
  if (file.mixed || file.part !== undefined) return file;
  const namesOnly = passes === "names" || (passes === "lines" && sink.namesOnly);
  return namesOnly ? { ...file, part: { kind: "names" } } : selectPart(file, flow);
}

/** The part of the file that the command prints. */
function selectPart(file: Word, { passes, part: own, sink }: Flow): Word {
  if (file.mixed || file.part !== undefined) return file;
  const part = own ?? (passes === "lines" ? sink.part : undefined);
  return part === undefined ? file : { ...file, part };
}

function spend(work: number, { work: remaining, reaching }: State): boolean {
  remaining.left -= work;
  if (remaining.left < 0) reaching.cut = true;
  return remaining.left >= 0;
}

function taintVariable(name: string, file: Word, state: State): void {
  if (state.variables.traced || !state.variables.add(name, file)) reachAnswer(file, state);
}

/** The words that `xargs` reads from a text. */
const splitWords = (text: string): Word[] => text.slice(0, WORD_LIMIT).split(/\s+/).map(toWord);

function changeFolder(folder: Word | undefined, { folders, home, reaching }: State): void {
  const place = folder && !folder.open ? folder.text.replace(/^~(?=\/|$)/, home) : undefined;
  if (place === undefined || folders.includes(place)) return;
  if (folders.length < FOLDERS_LIMIT) folders.push(place);
  else reaching.cut = true;
}

/** A file reaches the answer, and so do the files that it may be a copy of. */
function reachAnswer(word: Word, state: State): void {
  addFile(word, state);
  const { copies, folders } = state;
  if (copies.size === 0 || (word.pattern && !spend(copies.size, state))) return;
  for (const file of copies.find(word, folders.length > 1))
    addFile(word.below ? { ...file, below: word.below } : file, state);
}

function addFile(word: Word, state: State): void {
  const { folders, home, reaching, known, limit } = state;
  if (state.remote) {
    reaching.unsure = true;
    if (isSecretFile(word.text.slice(0, WORD_LIMIT)))
      doubt("prints-credentials", `\`${word.text.slice(0, 60)}\` of another machine`, state);
    return;
  }
  const { part, below } = word;
  const key = JSON.stringify([folders.length, word.pattern, part ?? null, below ?? null, word.text]);
  if (word.open) reaching.unsure = true;
  // No file has a longer name, but a long pattern may match files.
  else if (word.text.length > WORD_LIMIT) reaching.cut ||= word.pattern;
  else if (word.text === "" || known.has(key)) return;
  else if (reaching.files.length === limit) reaching.cut = true;
  else {
    known.add(key);
    const path = word.text.replace(/^~(?=\/|$)/, home);
    const some = { ...(part === undefined ? {} : { part }), ...(below === undefined ? {} : { below }) };
    reaching.files.push({ path, pattern: word.pattern, folders: [...folders], ...some });
  }
}
