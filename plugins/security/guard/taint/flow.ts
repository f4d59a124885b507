/** Where the output of each command ends: with the reader of the answer, in files or in variables, after pipes and filters. */
import { normalize } from "node:path";
import { type Stage, stageOf } from "./filters.ts";
import { signsIn, takesInput } from "./programs.ts";
import type { SimpleCommand, Word } from "./words.ts";

interface End {
  shown: boolean;
  /** Of lines like `A=x` only the names arrive. */
  names: boolean;
  /** Only these lines arrive (`selected`). */
  part?: string | undefined;
  files: Word[];
  /** The output becomes a word of a command on the way. */
  word: boolean;
  /** Variables that get the output; "" for the variables that its lines name: `export $(cat .env)`. */
  variables: string[];
}

export interface Flow {
  stage: Stage;
  end: End;
  /** The commands that write to its input, or whose output becomes its word or file. */
  fed: SimpleCommand[];
}

/** Most files of one output. With more it counts as shown. */
const FILES_LIMIT = 20;
const SHOWN: End = { shown: true, names: false, files: [], word: false, variables: [] };
const NOWHERE: End = { ...SHOWN, shown: false };
/** They print their arguments. */
const SAYS = /^(?:echo|printf)$/;
const DECLARES = /^(?:export|declare|typeset|readonly|local|env)$/;
/** Whether the command is a test that prints none of its words. A comparison of numbers prints a word that is not a number. */
export const asks = ({ program, words }: Stage): boolean =>
  /^(?:\[|\[\[|test)$/.test(program) && !words.some(({ text }) => /^-(?:eq|ne|lt|le|gt|ge)$/.test(text));

/** Returns the stage of each command and where its output ends. */
export function flowsOf(commands: readonly SimpleCommand[]): Map<SimpleCommand, Flow> {
  const flows = new Map<SimpleCommand, Flow>();
  // The reader of an output comes after its writer.
  for (let n = commands.length - 1; n >= 0; n--) {
    const command = commands[n];
    if (!command) continue;
    const stage = stageOf(command);
    const end = endOf(command, flows);
    flows.set(command, { stage, end: ofProgram(stage, end), fed: [] });
  }
  for (const command of commands) {
    const reader = command.pipe ?? command.into?.command;
    if (reader) flows.get(reader)?.fed.push(command);
  }
  return flows;
}

/** `tee` writes to files as well, `read` assigns to variables. */
function ofProgram(stage: Stage, end: End): End {
  if (stage.program === "tee") return written(stage, end);
  if (!/^(?:read|mapfile|readarray)$/.test(stage.program)) return end;
  const variables = stage.words.map(({ text }) => text).filter((text) => /^[A-Za-z_]\w*$/.test(text));
  return { ...NOWHERE, variables: variables.length > 0 ? variables : ["REPLY", "MAPFILE"] };
}

function endOf({ out, pipe, into, aside }: SimpleCommand, flows: Map<SimpleCommand, Flow>): End {
  if (aside) return SHOWN;
  if (out) return toFile(out);
  if (pipe) return through(flows.get(pipe));
  if (!into) return SHOWN;
  return into.file ? endOfFile(into, flows) : { ...endOfWord(into, flows), word: true };
}

type Into = NonNullable<SimpleCommand["into"]>;

/** `cat <(cat a)` */
function endOfFile({ command }: Into, flows: Map<SimpleCommand, Flow>): End {
  const owner = flows.get(command);
  return /^(?:\.|source)$/.test(owner?.stage.program ?? "") ? { ...NOWHERE, variables: [""] } : through(owner);
}

function endOfWord(into: Into, flows: Map<SimpleCommand, Flow>): End {
  const owner = flows.get(into.command);
  if (into.word.sets !== undefined) return { ...NOWHERE, variables: [into.word.sets] };
  if (!owner) return SHOWN;
  const { program, left } = owner.stage;
  if (asks(owner.stage)) return NOWHERE;
  const { words } = owner.stage;
  if (takesInput(program, words) || signsIn(program, words, words.indexOf(into.word))) return NOWHERE;
  if (DECLARES.test(program) || isForProgram(into)) return { ...NOWHERE, variables: [""] };
  return SAYS.test(program) && left !== "unknown" ? owner.end : SHOWN;
}

/** `env $(cat .env) node app.js` */
const isForProgram = ({ command, word }: { command: SimpleCommand; word: Word }): boolean =>
  command.words[0]?.text === "env" && command.words[1] === word;

function toFile(out: Word): End {
  const path = normalize(out.text);
  if (path === "/dev/null") return NOWHERE;
  if (out.open || out.pattern || path === "" || /(?:^|\/)(?:dev|proc)\//.test(path)) return SHOWN;
  return { ...NOWHERE, files: [out] };
}

/** Where the output ends after a filter. */
function through(flow: Flow | undefined): End {
  if (!flow) return SHOWN;
  const { stage, end } = flow;
  switch (stage.left) {
    case "unknown":
      return SHOWN;
    case "nothing":
      return NOWHERE;
    case "names":
      return { ...end, names: true };
    case "some":
      return { ...end, names: false, part: stage.part };
    case "lines":
      return { ...end, part: stage.part ?? end.part };
  }
}

function written({ words }: Stage, end: End): End {
  const files = [...end.files, ...words.filter(({ text }) => !text.startsWith("-"))];
  return files.length > FILES_LIMIT || files.some(({ open, pattern }) => open || pattern) ? SHOWN : { ...end, files };
}
