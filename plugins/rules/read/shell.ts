/** Shell lines as words that can be compared: without what only shapes the output, and relative to the session's folder. */

const LIMIT = 2_000;
/** Words of which a rule may be made; a longer line is a script. */
const MOST_WORDS = 24;

/** The words of a command, `&&` among them; undefined for scripts: several lines, here-documents, loops, a line that is too long. */
export function toWords(line: string, cwd: string | null): string[] | undefined {
  if (line.length > LIMIT || /\n|<<|\$\(|`/.test(line.trim())) return undefined;
  let words = split(line.trim());
  const cut = words.findIndex((word) => word === "|" || word === "||" || word === ";" || word === "&");
  if (cut >= 0) words = words.slice(0, cut);
  words = words.filter((word, i) => !/^\d?>/.test(word) && !/^\d?>{1,2}$/.test(words[i - 1] ?? ""));
  if (words[0] === "timeout" && /^\d+[smh]?$/.test(words[1] ?? "")) words = words.slice(2);
  if (words[0] === "cd" && words[2] === "&&" && isSame(words[1] ?? "", cwd)) words = words.slice(3);
  if (cwd !== null) words = words.map((word) => (word.startsWith(`${cwd}/`) ? word.slice(cwd.length + 1) : word));
  const isScript = words.some((word) => ["for", "while", "if", "{", "("].includes(word));
  return words.length === 0 || words.length > MOST_WORDS || isScript ? undefined : words;
}

const isSame = (folder: string, cwd: string | null) => cwd !== null && folder.replace(/(.)\/+$/, "$1") === cwd;

/** Words as they are written, quotes included; each operator is a word. */
const split = (text: string): string[] =>
  text.match(/&&|\|\||[|;&]|\d?>{1,2}(?:&\d|\s*\S+)?|(?:"(?:\\.|[^"])*"|'[^']*'|\\.|[^\s|;&>"'\\])+/g) ?? [];

/** What differs from call to call: a path, a file, a number, a text in quotes. */
export const isArgument = (word: string): boolean => /["'/\\]|^\S+\.\w{1,5}$|^\d+$/.test(word);

/** The program with its first words: what makes two calls the same one. Folder, variables, flags and arguments are not in it. */
export function toHead(words: readonly string[]): string {
  const head: string[] = [];
  for (const word of programOf(words)) {
    if (head.length > 0 && (word.startsWith("-") || isArgument(word))) break;
    head.push(word);
    if (head.length === 2) break;
  }
  return head.join(" ");
}

/** From the last `&&` on, without variables. */
function programOf(words: readonly string[]): readonly string[] {
  const last = words.lastIndexOf("&&");
  const own = words.slice(last + 1);
  const first = own.findIndex((word) => !/^\w+=/.test(word));
  return first < 0 ? own : own.slice(first);
}

/** Programs whose failure is an answer: nothing was found, two files differ. */
const ANSWERS = new Set([
  "grep",
  "egrep",
  "fgrep",
  "rg",
  "ag",
  "find",
  "fd",
  "diff",
  "cmp",
  "test",
  "[",
  "ls",
  "cat",
  "head",
  "tail",
  "stat",
  "which",
  "command",
  "type",
  "pgrep",
  "kill",
  "pkill",
  "sleep",
  "wc",
  "file",
  "sed",
  "awk",
  "jq",
  "echo",
]);

/** Whether a failure of the command says only what it was asked. */
export const isQuestion = (words: readonly string[]): boolean => ANSWERS.has(programOf(words)[0] ?? "");

/** Changes what the next command finds: an installation, another state of the files. */
const CHANGES =
  /^(?:(?:npm|pnpm|yarn|bun|pip|pip3|uv|poetry|bundle|cargo|brew|apt|apt-get|composer|go)\s+(?:install|ci|i|add|sync|get|update|upgrade)\b|git\s+(?:checkout|switch|stash|pull|apply|reset|restore|merge|rebase|clean)\b|sed\s+-i|(?:mv|rm|cp|mkdir|touch|chmod|ln|tee|export|source|patch)\b)/;

/** Whether the command makes another question of the same command after it. */
export const isChange = (line: string, words: readonly string[]): boolean =>
  CHANGES.test(programOf(words).join(" ")) || /(^|[^2&\d])>{1,2}\s*[^&\s]/.test(line.replaceAll(/["'][^"']*["']/g, ""));

/** Words that weaken a check, or what it protects: never a rule. */
const WEAKENS =
  /^(?:--no-verify|--force(?:-.*)?|-f|-k|--insecure|sudo|doas|--skip.*|--no-(?:check|gpg|verify|ssl|audit|sandbox|strict).*|--ignore-scripts|--dangerously.*|--allow-.*|--disable-.*|--unsafe.*|--trust.*|--yolo|777|true|--exit-zero|--passWithNoTests|-y|--yes|--privileged|rm|--hard|HUSKY=0|SKIP=.*)$/;

/** Whether a way that works does so by leaving a protection out. */
export const isEvasion = (added: readonly string[]): boolean => added.some((word) => WEAKENS.test(word));

/** Says that the call itself was wrong: a missing program, script, file or server, an option that is unknown. */
const CALL =
  /not found|no such|missing script|no rule to make|unknown (?:command|option|argument|flag|subcommand|script)|unrecogni[sz]ed|could ?n[o']t (?:find|open|connect|read)|cannot (?:find|open)|can't (?:open|find)|does not (?:contain|exist)|no module named|not recognized|not installed|no configuration|unsupported|permission denied|connection (?:refused|to|failed)|invalid option|usage:/i;

export const isWrongCall = (result: string): boolean => CALL.test(result.slice(0, 2_000));
