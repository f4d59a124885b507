/** Which files the commands of a shell line would show or send, by what is known of the programs. */
import { parseShell, type SimpleCommand, STEPS, WORD_LIMIT, type Word } from "./shell.ts";

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

const names = (list: string) => new Set(list.split(" "));
/** They print, or send, the files they are given. */
const READERS = names(
  "cat bat batcat head tail less more nl tac strings xxd od hexdump base64 base32 type get-content gc grep egrep fgrep rg ag ack sed awk gawk mawk cut sort uniq paste rev fold fmt pr column comm join diff sdiff cmp jq yq tr iconv expand unexpand zcat zgrep dd openssl curl wget http scp rsync nc socat tee view vim ed ex perl ruby php python python2 python3 node deno bun xargs find uuencode gpg mail",
);
const SHELLS = names("sh bash zsh dash ksh ash fish");
/** They run the command behind them. */
const WRAPPERS = names(
  "sudo doas env command exec nohup nice time timeout stdbuf setsid builtin then do else if while until",
);
/** Their code opens files by quoted names. */
const CODE = names("perl ruby php python python2 python3 node deno bun awk gawk");
const DEPTH = 3;
const FOLDERS_LIMIT = 64;

/** At most `limit` names that may be a file's. */
export function filesShown(line: string, cwd: string | null, home: string, limit: number): Shown {
  const shown: Shown = { files: [], unsure: false, cut: false };
  const vars = new Map([["HOME", home]]);
  if (cwd !== null) vars.set("PWD", cwd);
  look(line, { vars, folders: [""], home, shown, known: new Set(), left: { steps: STEPS }, depth: 0, limit });
  return shown;
}

interface View {
  vars: Map<string, string>;
  folders: string[];
  home: string;
  shown: Shown;
  /** What is in `shown`, and from how many folders. */
  known: Set<string>;
  left: { steps: number };
  depth: number;
  limit: number;
}

function look(line: string, view: View): void {
  for (const command of parseShell(line, view.vars, view.left)) lookAt(command, view);
}

function lookAt(command: SimpleCommand, view: View): void {
  if (command.unknown) view.shown.cut = true;
  const words = unwrapped(command.words);
  const program = (words[0]?.text ?? "").split("/").at(-1)?.toLowerCase() ?? "";
  for (const word of command.input) show(word, view);
  if (program === "cd" || program === "pushd") {
    const folder = words[1];
    const place = folder && !folder.open ? folder.text.replace(/^~(?=\/|$)/, view.home) : undefined;
    if (place === undefined || view.folders.includes(place)) return;
    if (view.folders.length < FOLDERS_LIMIT) view.folders.push(place);
    else view.shown.cut = true;
    return;
  }
  const texts = words.slice(1).map(({ text }) => text);
  if (view.depth === DEPTH) view.shown.cut ||= program === "eval" || SHELLS.has(program);
  else {
    const inner = { ...view, depth: view.depth + 1 };
    if (program === "eval") look(texts.join(" "), inner);
    if (SHELLS.has(program)) {
      const at = texts.findIndex((text) => /^-\w*c$/.test(text));
      if (at >= 0) look(texts[at + 1] ?? "", inner);
      for (const body of command.bodies) look(body, inner);
    }
  }
  if (CODE.has(program)) for (const code of [...texts, ...command.bodies]) showQuoted(code, view);
  if (!READERS.has(program)) return;
  if (program === "xargs" || (program === "find" && texts.some((text) => /^-(?:exec|execdir|ok)$/.test(text))))
    view.shown.unsure = true;
  for (const word of words.slice(1)) {
    for (const part of named(word)) show(part, view);
  }
}

/** The command behind `sudo -u x`, `env A=1`, `timeout 5` and the like. */
function unwrapped(words: Word[]): Word[] {
  let at = 0;
  while (WRAPPERS.has(words[at]?.text.split("/").at(-1) ?? "")) {
    let next = at + 1;
    while (next < words.length && !isProgram(words[next]?.text ?? "")) next++;
    // Nothing behind it is known: what stands right behind it is the program.
    if (next === words.length) return words.slice(at + 1);
    at = next;
  }
  return words.slice(at);
}

const isProgram = (text: string) => {
  const program = text.split("/").at(-1) ?? "";
  return READERS.has(program) || SHELLS.has(program) || WRAPPERS.has(program) || program === "eval";
};

/** The files one word may name: itself, behind an option (`--file=x`, `-Tx`), behind curl's `@` and `<`, behind `if=`. */
function named(word: Word): Word[] {
  const { text } = word;
  const behind = (start: number): Word => ({ ...word, text: text.slice(start) });
  const at = /^(?:--?[\w-]+=|[\w-]+=)?[@<](?=.)/.exec(text);
  if (at) return [behind(at[0].length)];
  const value = /^(?:--?[\w-]+|if)=(?=.)/.exec(text);
  if (value) return [behind(value[0].length)];
  if (/^-[dFT]@?.+/.test(text)) return [behind(2 + Number(text[2] === "@"))];
  return text.startsWith("-") ? [] : [word];
}

function show(word: Word, { folders, home, shown, known, limit }: View): void {
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

/** `open(".env")` in code given on the command line. */
function showQuoted(code: string, view: View): void {
  for (const match of code.matchAll(/(["'`])([^"'`\n]{1,512})\1/g))
    show({ text: match[2] ?? "", open: false, pattern: false }, view);
}
