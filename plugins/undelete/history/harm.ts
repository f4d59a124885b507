/** What a shell command may have destroyed: files by name, or all files below a folder. */
import type { Services } from "sessarc";
import { toFull } from "./paths.ts";

type Commands = NonNullable<Awaited<ReturnType<Services["guard"]["commands"]>>>;

export interface Harm {
  /** What did it: `rm`, `git clean`. */
  how: string;
  /** A file or a folder with all that is below it. */
  path: string;
  /** The path itself is gone, and not only changes in it. */
  isGone: boolean;
}

export interface Move {
  from: string;
  to: string;
}

const BEFORE = new Set(["sudo", "env", "command", "exec", "nohup", "time", "doas"]);
const REMOVES = new Set(["rm", "unlink", "shred", "rmdir", "trash", "del"]);
const FILLS = new Set(["tee", "truncate"]);

export function readHarm(commands: Commands, cwd: string | null): { harms: Harm[]; moves: Move[] } {
  const harms: Harm[] = [];
  const moves: Move[] = [];
  let folder = cwd;
  const add = (how: string, word: Commands[number]["words"][number] | undefined, isGone: boolean) => {
    if (!word) return;
    // Of a pattern or a variable only the folder before it is known.
    const text = word.isPlain ? word.text : word.text.replace(/[^/]*[*?[{$`].*$/s, "");
    const path = toFull(text === "" ? "." : text, folder);
    if (path !== undefined) harms.push({ how, path: withoutSlash(path), isGone: isGone && word.isPlain });
  };
  for (const { words, out } of commands) {
    let start = 0;
    while (BEFORE.has(words[start]?.text ?? "") || /^\w+=/.test(words[start]?.text ?? "")) start++;
    const name = (words[start]?.text ?? "").replace(/^.*\//, "");
    const rest = words.slice(start + 1);
    const operands = rest.filter(({ text }) => !text.startsWith("-"));
    if (out && !/^\/dev\//.test(out.text)) add(">", out, false);
    if (name === "cd" || name === "pushd") folder = toFull(operands[0]?.text ?? ".", folder) ?? folder;
    else if (REMOVES.has(name)) for (const word of operands) add(name, word, true);
    else if (FILLS.has(name) && !rest.some(({ text }) => text === "-a"))
      for (const word of operands) add(name, word, false);
    else if (name === "cp") add(name, operands.length > 1 ? operands.at(-1) : undefined, false);
    else if (name === "mv" && operands.length > 1) {
      const to = operands.at(-1);
      add(name, to, false);
      const target = to?.isPlain ? toFull(to.text, folder) : undefined;
      for (const word of operands.slice(0, -1)) {
        const from = word.isPlain ? toFull(word.text, folder) : undefined;
        if (from !== undefined && target !== undefined)
          moves.push({ from: withoutSlash(from), to: withoutSlash(target) });
      }
    } else if (name === "find" && rest.some(({ text }) => text === "-delete" || text === "-exec"))
      add("find", operands[0], false);
    else if (name === "git") addGit(rest, (how, word) => add(how, word, false));
  }
  return { harms, moves };
}

function addGit(words: Commands[number]["words"], add: (how: string, word: Commands[number]["words"][number]) => void) {
  const here = { text: ".", isPlain: true };
  let i = 0;
  let folder = here;
  for (; words[i]?.text.startsWith("-"); i++) {
    if (words[i]?.text === "-C") folder = words[i + 1] ?? here;
    if (words[i]?.text === "-C" || words[i]?.text === "-c") i++;
  }
  const verb = words[i]?.text ?? "";
  const rest = words.slice(i + 1);
  const has = (pattern: RegExp) => rest.some(({ text }) => pattern.test(text));
  const paths = rest.filter(({ text }) => text !== "--" && !text.startsWith("-"));
  // git works on the whole repository, wherever it is started: the caller widens the folder to its top.
  if (verb === "clean" && has(/^-[a-z]*f|^--force$/)) add("git clean", folder);
  else if (verb === "reset" && has(/^--hard$/)) add("git reset --hard", folder);
  else if (verb === "checkout" && has(/^(?:-f|--force)$/)) add("git checkout", folder);
  else if (verb === "checkout" && has(/^(?:--|\.)$/)) for (const path of paths) add("git checkout", path);
  else if (verb === "restore") for (const path of paths) add("git restore", path);
  else if (verb === "stash" && /^(?:drop|clear)$/.test(rest[0]?.text ?? "")) add("git stash drop", folder);
}

const withoutSlash = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, "") : path);
