/**
 * Sources: what a command reads that may be secret. Files that its words or its code name, and credentials from the environment, from a
 * client that is signed in or from a key store, where the guard can read no file.
 */

import { SECRET_PLACE } from "./files/stores.ts";
import { PRINTERS } from "./programs/printers.ts";
import { isInterpreter, type Step, takesCode } from "./programs/programs.ts";
import { type SimpleCommand, toWord, type Word } from "./words.ts";

/** Names of variables with secrets. */
const SECRET_NAME =
  /PASSWORD(?:_|\d|$)|(?:^|_)(?:TOKEN|SECRET|PASS(?:WD|PHRASE)?|PWD|PAT|CREDENTIALS?|APIKEY|(?:API|ACCESS|PRIVATE|SECRET|AUTH|ENCRYPTION|SIGNING|MASTER|SERVICE_ROLE)_?KEY|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|AMQP|BROKER)_?UR[LI]|DSN|CONNECTION_STRING)(?:_|\d|$)/i;
/** Variables of the shell. */
const OWN_NAME = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK)$/;

const isSecretName = (name: string): boolean => SECRET_NAME.test(name) && !OWN_NAME.test(name);

const WHOLE = /^(?:printenv|env)$/;
/** How code reads one variable of the environment, how it reads all, and how it prints. */
const READS =
  /(?:process\.env|os\.environ|os\.getenv|getenv|ENVIRON|ENV|Bun\.env|Deno\.env\.get)(?:\.get)?(?:\.|\(\s*["']|\[\s*["']|\{)(\w+)/g;
const READS_ALL =
  /(?:process\.env|(?:os\.)?\benviron(?:\.(?:items|values|copy)\(\))?|Bun\.env|Deno\.env\.toObject\(\)|os\.Environ\(\)|(?<![\w$.])ENV(?:\.(?:to_h|to_a|each\w*|map|sort\w*|inspect))?|\$_ENV|%ENV|\bgetenv\(\)|\bin ENVIRON)(?!\w|\.|\[|\((?!\))|\{)/g;
const PRINTS = /\b(?:console\.\w+|print\w*|puts|echo|p|pp|say|inspect|var_dump|stdout\.write|dump)[\s(["'`]/;
/** They print what they convert. */
const CONVERTS = /(?:JSON\.stringify|inspect|Object\.(?:entries|values|assign)|String|dict|str|repr|dumps)\(\s*$/;
const ASKS = /(?:!!|Boolean\(|bool\(|len\(|keys\(|\bin |typeof )$/;
/** Characters of code that are findSearched. */
const CODE_LIMIT = 20_000;
const DECLARED = /^(?:export|declare|typeset|readonly)$/;

/** Returns how an answer names the credential that the command prints; undefined if it prints none. `assigned`: variables that contain one. */
export function findCredential(
  { program, words }: Step,
  command: SimpleCommand,
  assigned: ReadonlyMap<string, string>,
): string | undefined {
  const texts = words.map(({ text }) => text);
  const said = `\`${[program, ...texts.slice(0, 3)].join(" ").slice(0, 60)}\``;
  const variable = (name: string | undefined) => (name === undefined ? undefined : `\`$${name.slice(0, 60)}\``);
  const isSecret = (name: string) => isSecretName(name) || assigned.has(name);
  if (program === "echo" || program === "printf") return variable(words.flatMap(readNames).find(isSecret));
  if (program === "cat" && command.filled.length > 0) return variable(command.filled.flatMap(readNames).find(isSecret));
  if ([...words, ...command.input].some(({ text }) => SECRET_PLACE.test(text))) return said;
  if (program === "jq") return variable(texts.flatMap(readNamesOfJq).find(isSecretName)) ?? readAllOfJq(texts, said);
  if (takesCode(program, words) || (isInterpreter(program) && command.bodies.length > 0)) {
    const prints = /^-\w*p/.test(texts[0] ?? "");
    for (const text of [...texts, ...command.bodies]) {
      if (printsAll(text, prints)) return said;
      const name = findNamesPrinted(text, prints).find(isSecretName);
      if (name !== undefined) return variable(name);
    }
    // The shell puts the value into the code: `python3 -c "print('$TOKEN')"`.
    const filled = [...words, ...command.filled].filter(({ text }) => PRINTS.test(text));
    if (filled.length > 0) return variable(filled.flatMap(readNames).find(isSecret));
    if (program !== "php") return undefined;
  }
  if (WHOLE.test(program)) {
    const named = texts.filter((text) => !text.startsWith("-"));
    // With a program, `env` prints nothing.
    if (program === "env" ? named.length > 0 : named.length > 0 && !named.some(isSecretName)) return undefined;
    return isNarrowed(command) ? undefined : said;
  }
  // The names go on to a command that expands them: `compgen -e | while read n`.
  if (program === "compgen" && texts.some((text) => /^-\w*[ve]$|^(?:variable|export)$/.test(text)))
    return command.pipe?.words[0]?.text === "read" || command.into?.word.sets !== undefined ? said : undefined;
  if (program === "history") return listsHistory(texts, command) ? said : undefined;
  if (program === "set" && texts.length === 0) return isNarrowed(command) ? undefined : said;
  if (DECLARED.test(program)) {
    const isList = texts.some((text) => /^-\w*p/.test(text)) || texts.every((text) => /^-\w*x/.test(text));
    return isList && command.sets.length === 0 && !isNarrowed(command) ? said : undefined;
  }
  return printsCredential(program, texts) ? said : undefined;
}

/** `history` prints all that was typed; with a number, a filter or a search for something else only a part. */
const listsHistory = (texts: readonly string[], command: SimpleCommand): boolean =>
  texts.length === 0 && (asksForSecrets(command) || !SHORTENS.test(command.pipe?.words[0]?.text ?? ""));
const SHORTENS = /^(?:[ef]?grep|rg|head|tail|wc|sed|awk|cut|fzf)$/;

const readNames = ({ names, open, text }: Word): string[] =>
  names ?? (open ? [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = ""]) => name) : []);

const SECRET_WORDS =
  /secret|token|pass|key|cred|auth|url|dsn|aws|azure|github|gitlab|openai|anthropic|stripe|slack|^\W*$/i;

/** The words that a `grep` after the command asks for; undefined without one. */
function readAsked({ pipe }: SimpleCommand): string[] | undefined {
  const [program, ...words] = pipe?.words ?? [];
  if (!program || !/^(?:e|f)?grep$|^rg$/.test(program.text)) return undefined;
  if (words.some(({ text }) => /^-\w*v/.test(text))) return undefined;
  return words.flatMap(({ text }) => (text.startsWith("-") ? [] : [text]));
}

/** `printenv | grep PATH` asks for a variable without a secret. */
function isNarrowed(command: SimpleCommand): boolean {
  const asked = readAsked(command) ?? [];
  return asked.length > 0 && !asked.some((text) => SECRET_WORDS.test(text));
}

const asksForSecrets = (command: SimpleCommand): boolean =>
  (readAsked(command) ?? []).some((text) => SECRET_WORDS.test(text));

/** Returns the variables of the environment that the code prints. `whole`: the program prints the value of its code. */
export function findNamesPrinted(code: string, whole: boolean): string[] {
  return [...code.slice(0, CODE_LIMIT).matchAll(READS)].flatMap(({ 1: name = "", index }) =>
    isPrinted(code, index, whole) ? [name] : [],
  );
}

function printsAll(code: string, whole: boolean): boolean {
  const isLoop = /\b(?:for|each\w*|map)\b/.test(code) && PRINTS.test(code);
  const places = [...code.slice(0, CODE_LIMIT).matchAll(READS_ALL)];
  return places.some(({ index }) => isLoop || isPrinted(code, index, whole));
}

/** Whether the statement prints the value that starts at `index`, and not only whether there is one. */
function isPrinted(code: string, index: number, whole: boolean): boolean {
  const before = code.slice(Math.max(0, index - 200), index);
  const statement = before.slice(before.search(/[^;\n]*$/));
  return !ASKS.test(before) && (PRINTS.test(statement) || (whole && (!/[(=]/.test(before) || CONVERTS.test(before))));
}

const readNamesOfJq = (text: string): string[] =>
  [...text.matchAll(/(?:\$ENV|\benv)\.(\w+)/g)].map(([, name = ""]) => name);
const readAllOfJq = (texts: readonly string[], said: string): string | undefined =>
  texts.some((text) => /^(?:\$ENV|env)(?:$| ?\| ?(?!keys))/.test(text)) ? said : undefined;

/** Whether the program prints a credential with these words. */
function printsCredential(program: string, texts: readonly string[]): boolean {
  const printer = Object.hasOwn(PRINTERS, program) ? PRINTERS[program] : undefined;
  return printer !== undefined && readSpellings(texts).some((text) => printer.test(text));
}

/** The words, and the words after options that precede the subcommand, with a value or without: `aws --profile p sts …`. */
function readSpellings(texts: readonly string[]): string[] {
  const starts = [0];
  for (let at = 0; texts[at]?.startsWith("-") && at < 16; ) {
    at++;
    starts.push(at);
    if (texts[at]?.startsWith("-")) continue;
    starts.push(at + 1);
    if (texts[at + 1]?.startsWith("-")) at++;
  }
  return starts.map((start) => texts.slice(start).join(" ").slice(0, 2_000));
}

/** The file that a word may name: the word itself, or what follows an option (`--file=x`, `-Tx`), curl's `@` and `<`, or `if=`. */
export function readFileName(word: Word): Word[] {
  const { text } = word;
  const after = (start: number): Word => ({ ...word, text: text.slice(start) });
  const at = /^(?:--?[\w-]+=|[\w.[\]-]+=)?[@<](?=.)/.exec(text);
  if (at) return [{ ...word, text: text.slice(at[0].length).replace(/;\w+=.*$/s, "") }];
  const value = /^(?:(?:--?[\w-]+|if)=|(?:FILE|OPEN|GOPEN):)(?=.)/.exec(text);
  if (value) return [after(value[0].length)];
  if (/^-[dFT]@?.+/.test(text)) return [after(2 + Number(text[2] === "@"))];
  return text.startsWith("-") ? [] : [word];
}

/** Code before and after the name of a file that is only tested, loaded or written. */
const NOT_READ_BEFORE =
  /(?:exists(?:Sync)?|is_?file|stat(?:Sync)?|getsize|unlink(?:Sync)?|remove|(?:write|append)File(?:Sync)?|load_dotenv|config|loadEnvFile)\(\s*(?:\{\s*path\s*:\s*)?$/i;
const NOT_READ_AFTER = /^\s*(?:,\s*(?:mode\s*=\s*)?["'][wax]|\)\.(?:exists|is_file|stat|unlink|touch|write_text)\()/;

/** The files that code on the command line names: `open(".env")`. */
export function* findFilesInCode(code: string): Generator<Word> {
  for (const match of code.matchAll(/(["'`])([^"'`\n]{1,512})\1/g)) {
    const end = match.index + match[0].length;
    if (NOT_READ_BEFORE.test(code.slice(Math.max(0, match.index - 40), match.index))) continue;
    if (NOT_READ_AFTER.test(code.slice(end, end + 20))) continue;
    // In Perl, `<` before the name opens the file for reading.
    yield toWord((match[2] ?? "").replace(/^\+?<\s*/, ""));
  }
}
