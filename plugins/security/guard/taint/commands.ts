/** The simple commands of a shell line and of the lines inside it, for other plugins. */
import { findLinesInCode, findLinesInOptions } from "./programs/inner.ts";
import { isInterpreter, isShell, readStep, takesCode, takesLine } from "./programs/programs.ts";
import { type Allowance, parseShell } from "./shell.ts";
import type { SimpleCommand, Variables, Word } from "./words.ts";

export interface ShellCommand {
  words: ShellWord[];
  /** The file its output goes to. */
  out?: ShellWord & { appends?: true };
  /** Code that its interpreter runs: `python -c`, a here-document. */
  code?: string;
}

export interface ShellWord {
  text: string;
  /** Its value is known: no variable and no pattern is left in it. */
  isPlain: boolean;
  /** A pattern for names of files, all of whose variables are known. */
  isPattern: boolean;
}

/** Commands, words and expansions of a line. */
const STEPS = 20_000;
const CHARACTERS = 64 * 1024;
const DEPTH = 4;
const LINES_LIMIT = 50;

/** Undefined for a line that is too long or has a syntax error. */
export function readCommands(
  line: string,
  variables: Readonly<Record<string, string>> = {},
): ShellCommand[] | undefined {
  const vars: Variables = new Map(Object.entries(variables).map(([name, text]) => [name, { text, pattern: false }]));
  const left: Allowance = { steps: STEPS, characters: CHARACTERS, cut: false, broken: false };
  const commands = readLine(line, vars, left, 0);
  return left.cut || left.broken ? undefined : commands;
}

function readLine(line: string, vars: Variables, left: Allowance, depth: number): ShellCommand[] {
  return parseShell(line, vars, left).flatMap((command) => {
    const lines = depth < DEPTH ? findLines(command).slice(0, LINES_LIMIT) : [];
    const more = lines.flatMap((one) => {
      // What is inside a word may be no line at all.
      const own = { ...left, broken: false };
      const read = readLine(one, vars, own, depth + 1);
      Object.assign(left, { steps: own.steps, characters: own.characters, cut: own.cut });
      return own.broken ? [] : read;
    });
    return [toShellCommand(command), ...more];
  });
}

/** `sh -c 'rm a'`, `eval "rm a"`, `trap 'rm a' EXIT`, `env -S 'rm a'`, a here-document of a shell. */
function findLines(command: SimpleCommand): string[] {
  const { program, words } = readStep(command);
  const texts = words.map(({ text }) => text);
  const lines = findLinesInOptions(program, words);
  if (program === "eval") lines.push(texts.join(" "));
  if (program === "trap") lines.push(...texts.slice(0, 1));
  if (takesLine(command.words)) lines.push(...texts.filter((text) => /\s/.test(text)));
  if (isShell(program)) {
    const at = texts.findIndex((text) => /^-\w*c$/.test(text));
    lines.push(...(at >= 0 ? texts.slice(at + 1, at + 2) : []), ...command.bodies);
  }
  const code = readCode(command);
  return code === undefined ? lines : [...lines, ...findLinesInCode(program, code)];
}

function readCode(command: SimpleCommand): string | undefined {
  const { program, words } = readStep(command);
  if (!isInterpreter(program)) return undefined;
  const code = [...(takesCode(program, words) ? words.map(({ text }) => text) : []), ...command.bodies].join("\n");
  return code === "" ? undefined : code;
}

function toShellCommand(command: SimpleCommand): ShellCommand {
  const { words, out } = command;
  const code = readCode(command);
  return {
    words: words.map(toShellWord),
    ...(out && { out: { ...toShellWord(out), ...(out.appends && { appends: true as const }) } }),
    ...(code !== undefined && { code }),
  };
}

const toShellWord = ({ text, open, pattern }: Word): ShellWord => ({
  text,
  isPlain: !open && !pattern,
  isPattern: pattern && !open,
});
