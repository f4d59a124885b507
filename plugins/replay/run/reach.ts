/**
 * What a recorded command reaches, read from its text. Without isolation a command runs with the user's rights, so one that names a place
 * outside the sandbox is refused. The text does not say what a script or a program started by it does: isolation alone holds that.
 */
import { posix } from "node:path";

export type Reach = { runs: string | readonly string[] } | { refused: string };

interface Place {
  /** The session's folder as the log names it. */
  root: string | null;
  /** The sandbox's files on this machine. */
  tree: string;
  /** Folder of the command inside the project; empty: the project's folder. */
  cwd: string;
}

/** Where a simple command begins. */
const BEGINS = String.raw`(?:^|[;&|({!\n\x60]|\b(?:then|do|else|exec|env|command|xargs|time|nohup)\s)\s*`;
/** Programs that act outside the folder they run in, whatever their arguments are. */
const ELSEWHERE = new RegExp(
  String.raw`${BEGINS}(sudo|su|doas|pkexec|kill|pkill|killall|curl|wget|ssh|scp|sftp|rsync|nc|ncat|telnet|ftp|crontab|at|systemctl|service|launchctl|docker|podman|kubectl|mount|umount|shutdown|reboot|osascript|open|xdg-open)(?=$|[\s;&|)\x60}])`,
);
/** Programs that make a path or a command of a text. */
const COMPUTED = new RegExp(String.raw`${BEGINS}(eval|dirname|realpath|readlink)(?=$|[\s;&|)\x60}])`);
/** Git commands that talk to another repository. */
const REMOTE = /\bgit\b[^;&|\n]*?\s(push|pull|fetch|clone|ls-remote|remote|submodule|send-email)(?=$|[\s;&|)`])/;
const ADDRESS = /\b(?:https?|ssh|git|ftp|file):\/\//;
/** Where a path begins: at the start, after a blank, a quote, an operator, or the letter of an option. */
const ABSOLUTE = /(?:^|[\s"'`=:,;&|<>(){}[\]]|(?:^|\s)-[A-Za-z])(\/[^\s"'`;&|<>(){},:]*)/g;
const ALLOWED = /^\/dev\/(?:null|zero|urandom|random|stdin|stdout|stderr|tty|fd\/\d+)$/;
/** A program of the system as the first word of a command, or named by a script's first line. */
const PROGRAM = /^\/(?:usr\/(?:local\/)?)?s?bin\/[\w.+-]+$/;
const FIRST = /(?:^|[;&|(`{\n]|#!)\s*$/;

/** The command with the project's path replaced by the sandbox's, or why it is refused. */
export function toReach(command: string | readonly string[], place: Place): Reach {
  const runs = typeof command === "string" ? moved(command, place) : command.map((word) => moved(word, place));
  // A shell would read a blank in the sandbox's path as the end of a word.
  if (!PLAIN.test(place.tree) && JSON.stringify(runs) !== JSON.stringify(command))
    return { refused: "it names the project's folder, and the sandbox's path holds what a shell reads otherwise" };
  // A list of words may hold a command for a shell: each word is checked as one, too.
  const texts = typeof runs === "string" ? [runs] : [runs.join(" "), ...runs];
  const refused = texts.map((text) => refusal(text, place)).find((reason) => reason !== undefined);
  return refused === undefined ? { runs } : { refused };
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** `text` with the project's path, where it ends at a path's border, replaced by the sandbox's. */
export function moved(text: string, { root, tree }: Pick<Place, "root" | "tree">): string {
  if (root === null || !/^\/[^/]/.test(root)) return text;
  const plain = posix.normalize(root).replace(/\/$/, "");
  const form = new RegExp(`(?<![\\w./-])${plain.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.-])`, "g");
  return text.replace(form, () => tree);
}

/** Replaces the sandbox's path while a text is checked. */
const SANDBOX = "\u0001";

function refusal(text: string, { root, tree, cwd }: Place): string | undefined {
  const rest = text.replaceAll(tree, SANDBOX);
  // Quotes and backslashes inside a path are no part of it: `."."/x` is `../x`.
  const bare = rest.replace(/["'\\]/g, "");
  if (root !== null && root.length > 1 && rest.includes(root)) return `it names the real project's folder ${root}`;
  const [outside] = [...absolutePaths(rest), ...absolutePaths(bare)];
  if (outside !== undefined) return `it names ${outside}, outside the sandbox`;
  const home = /(?:^|[\s"'=:])~[A-Za-z_][\w-]*/.exec(rest);
  if (home) return `it names another user's home ${home[0].trim()}`;
  if (/\$'|\$\{!?\w+[^\w}]/.test(rest)) return "it computes a text that cannot be checked";
  if (/(?:^|[\s/=])\.(?:[*?[]|\{)|\}\./.test(bare)) return "it holds a pattern that may mean `..`";
  if (Math.max(climbs(rest), climbs(bare)) > depthOf(cwd)) return "it leaves the sandbox by `..`";
  const address = ADDRESS.exec(rest);
  if (address) return `it names an address (${address[0]}…)`;
  const program = ELSEWHERE.exec(bare) ?? REMOTE.exec(bare);
  if (program) return `it runs ${program[1]}, which acts outside the sandbox`;
  const computed = COMPUTED.exec(bare);
  if (computed) return `it runs ${computed[1]}, whose result cannot be checked`;
  if (/(?:^|[\s"'])(?:[A-Za-z]:\\|\\\\)/.test(rest)) return "it names a path of Windows";
  return undefined;
}

/** Absolute paths of the text that are not allowed. */
function absolutePaths(text: string): string[] {
  return [...text.matchAll(ABSOLUTE)].flatMap((match) => {
    const path = match[1] ?? "";
    const before = text.slice(0, match.index + match[0].length - path.length);
    const isAddress = path.startsWith("//") && before.endsWith(":");
    const isProgram = PROGRAM.test(path) && FIRST.test(before);
    return isAddress || isProgram || ALLOWED.test(path) ? [] : [path];
  });
}

/** How many folders the `..` of all words climb together: `cd` adds them up. */
function climbs(text: string): number {
  let sum = 0;
  for (const word of text.split(/[\s"'`;&|<>(){}=:,]+/)) {
    let depth = 0;
    let lowest = 0;
    for (const part of word.replace(SANDBOX, "").split("/")) {
      if (part === "" || part === ".") continue;
      // What a variable holds may be anything of the sandbox: from there each `..` counts.
      if (part !== ".." && /^[$~]/.test(part)) depth = 0;
      else depth += part === ".." ? -1 : 1;
      lowest = Math.min(lowest, depth);
    }
    if (lowest < 0 && word.includes(SANDBOX)) return Number.POSITIVE_INFINITY;
    sum -= lowest;
  }
  return sum;
}

const depthOf = (cwd: string) => cwd.split("/").filter((part) => part !== "").length;
