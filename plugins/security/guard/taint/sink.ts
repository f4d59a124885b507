/** Sinks: where the output of each command arrives, after pipes and sanitizers. */
import { normalize } from "node:path";
import type { Part } from "./part.ts";
import { isTest, type Step, signsIn, takesInput } from "./programs/programs.ts";
import { readSanitizer, type Sanitizer } from "./sanitizer.ts";
import type { SimpleCommand, Word } from "./words.ts";

export interface Sink {
  /** The answer, which the model reads, or another machine. */
  answer: boolean;
  /** Files and variables carry the output on; "" stands for the variables that its lines name: `export $(cat .env)`. */
  files: Word[];
  variables: string[];
  /** Of lines like `A=x` only the names arrive. */
  namesOnly: boolean;
  /** Only this part arrives. */
  part?: Part | undefined;
  /** The output becomes a word of a command on the way. */
  word: boolean;
}

/** What a command passes on, and where that arrives. */
export interface Flow extends Sanitizer {
  step: Step;
  sink: Sink;
  /** The commands that write to its input, or whose output becomes its word or file. */
  writers: SimpleCommand[];
}

/** Most files of one output. With more it counts as shown. */
const FILES_LIMIT = 20;
const ANSWER: Sink = { answer: true, namesOnly: false, files: [], word: false, variables: [] };
const NOWHERE: Sink = { ...ANSWER, answer: false };
/** They print their arguments. */
const SAYS = /^(?:echo|printf)$/;
const DECLARES = /^(?:export|declare|typeset|readonly|local|env)$/;
const READS = /^(?:read|mapfile|readarray)$/;

/** Returns for each command what it passes on and where its output arrives. */
export function findSinks(steps: ReadonlyMap<SimpleCommand, Step>): Map<SimpleCommand, Flow> {
  const flows = new Map<SimpleCommand, Flow>();
  // The reader of an output comes after its writer.
  for (const [command, step] of [...steps].reverse()) {
    const sink = withOwnFiles(step, findSink(command, flows));
    flows.set(command, { step, ...readSanitizer(step, command), sink, writers: [] });
  }
  for (const command of steps.keys()) {
    const reader = command.pipe ?? command.into?.command;
    if (reader) flows.get(reader)?.writers.push(command);
  }
  return flows;
}

/** `tee` writes to files as well, `read` assigns to variables. */
function withOwnFiles({ program, words }: Step, sink: Sink): Sink {
  if (program === "tee") {
    const files = [...sink.files, ...words.filter(({ text }) => !text.startsWith("-"))];
    return files.length > FILES_LIMIT || files.some(({ open, pattern }) => open || pattern)
      ? ANSWER
      : { ...sink, files };
  }
  if (!READS.test(program)) return sink;
  const variables = words.map(({ text }) => text).filter((text) => /^[A-Za-z_]\w*$/.test(text));
  return { ...NOWHERE, variables: variables.length > 0 ? variables : ["REPLY", "MAPFILE"] };
}

function findSink({ out, pipe, into, aside }: SimpleCommand, flows: Map<SimpleCommand, Flow>): Sink {
  if (aside) return ANSWER;
  if (out) return findSinkAtFile(out);
  if (pipe) return findSinkAfter(flows.get(pipe));
  if (!into) return ANSWER;
  return into.file ? findSinkOfFile(into, flows) : { ...findSinkOfWord(into, flows), word: true };
}

type Into = NonNullable<SimpleCommand["into"]>;

/** `cat <(cat a)` */
function findSinkOfFile({ command }: Into, flows: Map<SimpleCommand, Flow>): Sink {
  const owner = flows.get(command);
  return /^(?:\.|source)$/.test(owner?.step.program ?? "") ? { ...NOWHERE, variables: [""] } : findSinkAfter(owner);
}

/** `echo $(cat a)` */
function findSinkOfWord(into: Into, flows: Map<SimpleCommand, Flow>): Sink {
  const owner = flows.get(into.command);
  if (into.word.sets !== undefined) return { ...NOWHERE, variables: [into.word.sets] };
  if (!owner) return ANSWER;
  const { program, words } = owner.step;
  if (isTest(owner.step)) return NOWHERE;
  if (takesInput(program, words) || signsIn(program, words, words.indexOf(into.word))) return NOWHERE;
  if (DECLARES.test(program) || isForProgram(into)) return { ...NOWHERE, variables: [""] };
  return SAYS.test(program) && owner.passes !== "unknown" ? owner.sink : ANSWER;
}

/** `env $(cat .env) node app.js` */
const isForProgram = ({ command, word }: Into): boolean =>
  command.words[0]?.text === "env" && command.words[1] === word;

function findSinkAtFile(out: Word): Sink {
  const path = normalize(out.text);
  if (path === "/dev/null") return NOWHERE;
  if (out.open || out.pattern || path === "" || /(?:^|\/)(?:dev|proc)\//.test(path)) return ANSWER;
  return { ...NOWHERE, files: [out] };
}

/** Where the output arrives after a sanitizer. */
function findSinkAfter(reader: Flow | undefined): Sink {
  if (!reader) return ANSWER;
  const { passes, part, sink } = reader;
  switch (passes) {
    case "unknown":
      return ANSWER;
    case "nothing":
      return NOWHERE;
    case "names":
      return { ...sink, namesOnly: true };
    case "some":
      return { ...sink, namesOnly: false, part };
    case "lines":
      return { ...sink, part: part ?? sink.part };
  }
}
