/** Shell lines inside the words of other programs. */
import type { Word } from "../words.ts";

/** Programs with a shell line in their words, besides those that have one after an option of `LINE_WORD`. */
export const TAKES_LINES: ReadonlySet<string> = new Set(
  [
    "npx dotenv dotenvx doppler op aws-vault infisical chamber envchain",
    "docker podman nerdctl docker-compose kubectl oc ssh scp sftp",
    "env fly flyctl pwsh powershell npm git vi vim nvi nvim ex",
  ]
    .join(" ")
    .split(" "),
);
const RUNNERS = /^(?:npx|dotenv|dotenvx|doppler|op|aws-vault|infisical|chamber|envchain)$/;
/** Options with a value, of the programs that run a command elsewhere. */
const REMOTE_OPTION = /^(?:-[A-Za-z]*[bcDeEFiIJlLmopQRSuwW]|--(?:user|env|workdir|container|namespace|index))$/;

/** Returns the shell line that a program runs: on another machine or in a container (`remote`: `ssh x 'cat a'`, `docker exec x env`), or here with more variables (`op run -- env`). */
export function findInnerLine(program: string, words: readonly Word[]): { line: string; remote: boolean } | undefined {
  const texts = words.slice(0, 200).map(({ text }) => text);
  const dashes = texts.indexOf("--");
  if (RUNNERS.test(program) && dashes >= 0)
    return {
      line: texts
        .slice(dashes + 1)
        .map(quote)
        .join(" "),
      remote: false,
    };
  const line = readRemoteLine(program, texts, dashes);
  return line === undefined ? undefined : { line, remote: true };
}

function readRemoteLine(program: string, texts: readonly string[], dashes: number): string | undefined {
  let at = 0;
  if (/^(?:docker|podman|nerdctl|kubectl|oc|docker-compose)$/.test(program)) {
    at = texts.indexOf("exec") + 1;
    if (at === 0) return undefined;
    if (dashes > 0)
      return texts
        .slice(dashes + 1)
        .map(quote)
        .join(" ");
  } else if (program !== "ssh") return undefined;
  while (texts[at]?.startsWith("-")) at += REMOTE_OPTION.test(texts[at] ?? "") ? 2 : 1;
  const line = texts.slice(at + 1);
  // A container gets the words as they are; the shell of another machine parses them again.
  return line.length === 0 ? undefined : program === "ssh" ? line.join(" ") : line.map(quote).join(" ");
}

/** Options whose value is a shell line, and what precedes the line in it. */
const LINE_OPTIONS: readonly [program: RegExp, option: RegExp, start: RegExp][] = [
  [/^env$/, /^(?:-\w*S|--split-string)$/, /^/],
  [/^(?:fly|flyctl)$/, /^(?:-C|--command)$/, /^/],
  [/^(?:pwsh|powershell)$/, /^-c(?:ommand)?$/i, /^/],
  [/^(?:npm|npx)$/, /^(?:-c|--call)$/, /^/],
  [/^git$/, /^-c$/, /^alias\.[^=]*=!|^core\.(?:pager|editor|sshCommand)=/i],
  [/^n?vim?$|^ex$/, /^(?:-c|--cmd)$/, /^:?(?:r(?:ead)? ?|%|silent )?!/],
  [/^(?:ssh|scp|sftp)$/, /^-o$/, /^(?:Proxy|Local)Command[= ]/i],
];
/** Options with a shell line in the same word. */
export const LINE_WORD = /^(?:--checkpoint-action=exec=|--to-command=|--split-string=|-S(?=\w))(.+)$/s;
/** Code that starts a program, with a line or a list of words. */
const STARTS =
  /\b(?:system|popen\w*|exec\w*|spawn\w*|shell_exec|passthru|run|call|check_output|check_call|getoutput|getstatusoutput|sh|capture2e?)\s*\(?\s*(?:(["'`])((?:(?!\1)[^\\]|\\.){1,2000}?)\1\s*(?:,\s*)?)?(?:\[([^\]\n]{1,2000})\])?/g;
const BACKTICKS = /`([^`\n]{1,2000})`|%x[({[]([^)}\]\n]{1,2000})/g;
const CODE_LIMIT = 20_000;

/** Returns the shell lines in the options of a program: `env -S 'cat a'`, `git -c alias.x='!cat a'`. */
export function findLinesInOptions(program: string, words: readonly Word[]): string[] {
  const texts = words.slice(0, 200).map(({ text }) => text);
  const named = LINE_OPTIONS.flatMap(([owner, option, start]) =>
    owner.test(program)
      ? texts
          .filter((text, n) => option.test(texts[n - 1] ?? "") && start.test(text))
          .map((text) => text.replace(start, ""))
      : [],
  );
  return [...named, ...texts.flatMap((text) => LINE_WORD.exec(text)?.[1] ?? [])];
}

/** Returns the shell lines that code starts: `os.system("cat a")`, `run(["cat", "a"])`, and in Perl, PHP and Ruby also between backticks. */
export function findLinesInCode(program: string, code: string): string[] {
  const lines: string[] = [];
  const text = code.slice(0, CODE_LIMIT);
  for (const [, , line, list] of text.matchAll(STARTS)) {
    const words = [...(list ?? "").matchAll(/(["'])([^"'\n]*)\1/g)].map(([, , word = ""]) => quote(word));
    if (line !== undefined) lines.push([line, ...words].join(" "));
    else if (words.length > 0) lines.push(words.join(" "));
  }
  if (/^(?:perl|php|ruby)$/.test(program))
    for (const [, ticks, percent] of text.matchAll(BACKTICKS)) lines.push(ticks ?? percent ?? "");
  return lines;
}

/** `-v $PWD:/w` and `--mount src=.,dst=/w`: what a container sees of this machine. */
const MOUNT = /^(?:type=bind,)?(?:src|source)=([^,]+),(?:dst|target|destination)=([^,]+)|^([^:]+):(\/[^:]*)(?::\w+)?$/;

/** Returns the words that a new container runs, with the paths of its mounts as they are on this machine: `docker run -v .:/w x cat /w/a`. */
export function findMountedLine(program: string, words: readonly Word[]): string[] | undefined {
  if (!/^(?:docker|podman|nerdctl)$/.test(program) || !words.slice(0, 3).some(({ text }) => text === "run"))
    return undefined;
  const texts = words.slice(0, 200).map(({ text }) => text);
  const mounts = texts.flatMap((text, n) => {
    const value = /^(?:-v|--volume|--mount)$/.test(texts[n - 1] ?? "")
      ? text
      : text.replace(/^--(?:volume|mount)=/, "");
    const [, source, target, short, at] = MOUNT.exec(value) ?? [];
    const [from, to] = [source ?? short, target ?? at];
    return from === undefined || to === undefined || to === "/" ? [] : [{ from, to: to.replace(/\/+$/, "") }];
  });
  if (mounts.length === 0) return undefined;
  return texts.map((text) => mounts.reduce((line, { from, to }) => line.replaceAll(`${to}/`, `${from}/`), text));
}

/** Written here, since the thread that analyses loads nothing of core. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
