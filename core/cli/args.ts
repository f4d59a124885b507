/** From argv to a command, its flags and its operands; an unknown word is an error that names the nearest known one. */
import { parseArgs } from "node:util";
import type { Command, CommandContext } from "../contract/plugin.ts";
import { UsageError } from "../terminal/errors.ts";
import { nearest } from "../utils/text.ts";

export type Flags = CommandContext["flags"];
type Options = Command["options"];

/** A word that names no command. */
export class UnknownCommandError extends UsageError {}

/** Flags every command takes. */
export const COMMON_OPTIONS = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  config: { type: "string" },
  "data-dir": { type: "string" },
  plugin: { type: "string", multiple: true },
  debug: { type: "boolean" },
} as const satisfies Options;

export const COMMON_HELP: Readonly<Record<string, string>> = {
  help: "This text",
  json: "Print the objects of the HTTP API",
  config: "Configuration file to use",
  "data-dir": "Folder of the archive",
  plugin: "Add a plugin for this run (package or path; may repeat)",
  debug: "Show stacks of what fails, plugins' included (as DEBUG=sessarc:* does)",
};

/** What shells offer for the common flags. */
export const COMMON_VALUES = { config: "file", "data-dir": "folder", plugin: "file" } as const;

/**
 * Which word of argv names the command. Flags that take a value in another word are only known per command,
 * so before the command only flags of `defaults` (those of `serve`) and the common ones may stand.
 */
export function splitCommand(argv: readonly string[], defaults: Options): { name: string | undefined; rest: string[] } {
  const options: Options = { ...defaults, ...COMMON_OPTIONS };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word === "--") break;
    if (!word.startsWith("-") || word === "-") {
      return { name: word, rest: [...argv.slice(0, i), ...argv.slice(i + 1)] };
    }
    const option = findOption(word.replace(/=.*$/s, ""), options);
    // Unknown: reported as an unknown flag, before its value is taken for a command.
    if (!option) break;
    if (option.type === "string" && !word.includes("=")) i++;
  }
  return { name: undefined, rest: [...argv] };
}

/** The option a word spells: `--port`, `--no-open` or `-p`. */
function findOption(word: string, options: Options) {
  if (word === "--version" || word === "-v") return { type: "boolean" as const };
  if (word.startsWith("--")) return options[word.slice(2)] ?? options[word.slice(2).replace(/^no-/, "")];
  return Object.values(options).find((option) => option.short === word.slice(1));
}

/** Throws UsageError for unknown flags, missing values and unexpected values. */
export function parseFlags(
  command: Pick<Command, "name" | "options" | "operands" | "values">,
  argv: readonly string[],
): { flags: Flags; args: string[] } {
  const options = toSafe({ ...COMMON_OPTIONS, ...command.options });
  const args = moveNames(joinValues(argv, options), options);
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === "option") checkOption(command.name, token, options);
  }
  const { values, positionals } = parseArgs({
    args,
    options,
    strict: true,
    allowPositionals: true,
    allowNegative: true,
  });
  for (const [name, value] of Object.entries(values)) checkValue(name, value, command.values?.[name]);
  checkOperand(command, positionals[0]);
  return { flags: values, args: positionals };
}

/**
 * In a command that writes, `-n` is the dry run that users of git, make and rsync mean by it: a number would be taken and the work done. No help
 * shows it; where there is `--limit`, too, both are spelled out.
 */
function toSafe(options: Options): Options {
  const dry = options["dry-run"];
  return dry && !options.limit ? { ...options, "dry-run": { ...dry, short: "n" } } : options;
}

/**
 * An id or name that begins with one dash, as `-home-de` does: no group of short flags contains another dash, a colon or a dot. It may still be the
 * value of a short flag, written without a space.
 */
const isName = (word: string, options: Options): boolean =>
  /^-[^-=\s][^=]*[-:._]/.test(word) && findOption(word.slice(0, 2), options)?.type !== "string";

/** Puts such names after `--`, where nothing is a flag. */
function moveNames(argv: readonly string[], options: Options): string[] {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  const names = flags.filter((word) => isName(word, options));
  if (names.length === 0) return [...argv];
  return [...flags.filter((word) => !names.includes(word)), "--", ...names, ...(end < 0 ? [] : argv.slice(end + 1))];
}

/** `--limit -1` and `--project -home-de` are a flag and its value: no flag begins with a digit. */
function joinValues(argv: readonly string[], options: Options): string[] {
  const args: string[] = [];
  for (const word of argv) {
    const before = args.at(-1);
    const takes = before !== undefined && !before.includes("=") && findOption(before, options)?.type === "string";
    if (takes && before.startsWith("-") && (/^-\d/.test(word) || isName(word, options)))
      args[args.length - 1] = before.startsWith("--") ? `${before}=${word}` : before + word;
    else args.push(word);
  }
  return args;
}

function checkValue(name: string, given: Flags[string], allowed: NonNullable<Command["values"]>[string] | undefined) {
  if (!Array.isArray(allowed)) return;
  const wrong = [given].flat().find((value) => !allowed.includes(String(value)));
  if (wrong === undefined) return;
  throw new UsageError(`--${name} takes ${oneOf(allowed)}, not ${JSON.stringify(wrong)}`);
}

function checkOperand({ name, operands }: Pick<Command, "name" | "operands">, given: string | undefined): void {
  if (given === undefined || !Array.isArray(operands) || operands.includes(given)) return;
  if (operands.length === 0) throw new UsageError(`\`sessarc ${name}\` takes no ${JSON.stringify(given)}`);
  const near = nearest(given, operands);
  const hint = near ? `; did you mean ${near}?` : "";
  const known = operands.length === 1 ? operands.join() : `one of ${operands.join(", ")}`;
  throw new UsageError(`\`sessarc ${name}\` takes ${known}, not ${JSON.stringify(given)}${hint}`);
}

/** `a`, `a or b`, `a, b or c`. */
function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function checkOption(
  command: string,
  token: { name: string; rawName: string; value?: string | undefined; inlineValue?: boolean | undefined },
  options: Options,
): void {
  const positive = token.name.startsWith("no-") ? token.name.slice(3) : token.name;
  const option = options[token.name] ?? (options[positive]?.type === "boolean" ? options[positive] : undefined);
  if (!option) {
    const known = Object.keys(options);
    const near =
      token.name.length === 1 ? meantBy(token.name, known) : (nearest(token.name, known) ?? nearest(positive, known));
    throw new UsageError(
      `Unknown flag ${token.rawName} for \`sessarc ${command}\`${near ? `; did you mean --${near}?` : ""}`,
    );
  }
  if (
    option.type === "string" &&
    (token.value === undefined || (!token.inlineValue && /^--?[a-z]/i.test(token.value)))
  ) {
    throw new UsageError(`${token.rawName} needs a value`);
  }
  if (option.type === "boolean" && token.inlineValue) throw new UsageError(`${token.rawName} takes no value`);
}

/** What one letter stands for elsewhere, or begins. */
const meantBy = (letter: string, known: readonly string[]): string | undefined =>
  known.find((name) => (letter === "n" ? name === "limit" : name.startsWith(letter)));

/** The common flags among words whose command is not known yet. */
export function commonFlags(argv: readonly string[]): Flags {
  return parseArgs({ args: [...argv], options: COMMON_OPTIONS, strict: false, allowPositionals: true }).values as Flags;
}

/** A flag that may repeat; undefined when it was not given. */
export function listFlag(flags: Flags, name: string): string[] | undefined {
  const value = flags[name];
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** A flag that holds one text. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

/** A whole number from `min` to `max`; throws UsageError otherwise. */
export function numberFlag(flags: Flags, name: string, min: number, max: number): number | undefined {
  const text = textFlag(flags, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new UsageError(`--${name} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
  }
  return value;
}
