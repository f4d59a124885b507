/** Which files a shell command reads and what it searches for, for simple commands. Complex commands return nothing. */
import { pathsIn } from "./tool-call.ts";

interface ShellUse {
  reads: string[];
  searches: { pattern: string; paths: string[] }[];
  /** Files of a patch given to `apply_patch` on the command line. */
  patched: string[];
}

const READERS = new Set(["cat", "head", "tail", "less", "more", "nl", "bat", "tac"]);
const SEARCHERS = new Set(["rg", "grep", "egrep", "fgrep", "ag", "ack"]);
/** Options whose value is the next word. */
const VALUED = new Set([
  "-n",
  "-c",
  "-A",
  "-B",
  "-C",
  "-m",
  "-g",
  "-t",
  "-e",
  "-f",
  "--glob",
  "--type",
  "--include",
  "--exclude",
]);
const LIMIT = 8_192;
/** Most commands run something: without one of these words there is nothing to take apart. */
const WORTH = new RegExp(`\\b(?:sed|git|${[...READERS, ...SEARCHERS].join("|")})\\b`);
/** A stretch in which no character means anything to `split`. */
const PLAIN = /[^ \t\n'"\\<>;|&]+/y;

/** Linear in the command; only its first 8 KB are read (patches in full). */
export function readShell(command: string): ShellUse {
  const use: ShellUse = { reads: [], searches: [], patched: [] };
  const patch = command.indexOf("*** Begin Patch");
  if (patch >= 0) {
    use.patched = pathsIn(command.slice(patch), "patch");
    return use;
  }
  if (!WORTH.test(command)) return use;
  let folder = "";
  const at = (path: string) => (folder && !/^([/~]|[A-Za-z]:)/.test(path) ? `${folder}/${path}` : path);
  for (const words of split(command.slice(0, LIMIT))) {
    const [name = "", ...rest] = words;
    if (name === "cd" && rest[0]) folder = at(rest[0]);
    else if (READERS.has(name)) use.reads.push(...plain(rest).map(at));
    else if (name === "sed" && rest.includes("-n") && !rest.some((word) => word.startsWith("-i")))
      use.reads.push(
        ...plain(rest.filter((word) => word !== "-n"))
          .slice(1)
          .map(at),
      );
    else if (SEARCHERS.has(name) || (name === "git" && rest[0] === "grep")) {
      const [pattern, ...paths] = plain(name === "git" ? rest.slice(1) : rest);
      if (pattern !== undefined) use.searches.push({ pattern, paths: paths.map(at) });
    }
  }
  return use;
}

/** Words that are no options and no options' values. */
function plain(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (
      VALUED.has(word) &&
      /^\d+$|^-[gtefABCm]$|^--/.test(word === "-n" || word === "-c" ? (words[i + 1] ?? "") : word)
    )
      i++;
    else if (!word.startsWith("-") && word !== "") found.push(word);
  }
  return found;
}

/** Commands as words; quotes are taken off, what follows a redirection is left out. */
function split(text: string): Iterable<string[]> {
  if (/['"\\<>]/.test(text)) return splitQuoted(text);
  const commands = text.split(/[;|&\n]/).map((command) => command.split(/[ \t]/).filter((word) => word !== ""));
  return commands.filter((words) => words.length > 0);
}

function* splitQuoted(text: string): Generator<string[]> {
  let words: string[] = [];
  let word = "";
  let quote = "";
  let quoted = false;
  let skip = false;
  const endWord = () => {
    if ((word !== "" || quoted) && !skip) words.push(word);
    else if (word !== "" && skip) skip = false;
    word = "";
    quoted = false;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quote) {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"') word += text[++i] ?? "";
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      quoted = true;
    } else if (char === "\\") word += text[++i] ?? "";
    else if (char === "<" && text[i + 1] === "<")
      return; // a here-document follows: nothing after it is a command
    else if (char === ">" || char === "<") {
      if (/^\d$/.test(word)) word = "";
      endWord();
      if (text[i + 1] === ">" || text[i + 1] === "&") i++;
      skip = true;
    } else if (char === ";" || char === "|" || char === "&" || char === "\n") {
      endWord();
      skip = false;
      if (words.length > 0) yield words;
      words = [];
    } else if (char === " " || char === "\t") {
      endWord();
    } else {
      PLAIN.lastIndex = i;
      PLAIN.test(text);
      word += text.slice(i, PLAIN.lastIndex);
      i = PLAIN.lastIndex - 1;
    }
  }
  endWord();
  if (words.length > 0) yield words;
}
