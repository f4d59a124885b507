/** Code that cannot be read before it runs, because it is encoded or comes from the network. */

import { resolveEscapes, type SimpleCommand, type Word } from "../words.ts";
import { INTERPRETERS, isInterpreter, isShell, SHELLS, type Step, takesCode } from "./programs.ts";

/** Programs that decode or change their input, by the words with which they do. */
const DECODERS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(["base64", "base32", "basenc", "gbase64"].map((name) => [name, /^(?:-\w*[dD]\w*|--decode)$/])),
  xxd: /^-\w*r/,
  openssl: /^-d$/,
  ...Object.fromEntries(["gzip", "bzip2", "xz", "zstd", "brotli"].map((name) => [name, /^-\w*d/])),
  ...Object.fromEntries(
    ["gunzip", "zcat", "bunzip2", "bzcat", "unxz", "xzcat", "uudecode", "rev", "tr"].map((name) => [name, /^/]),
  ),
};
/** Programs whose output comes from another machine. */
const LOADERS = new Set("curl wget fetch http https xh aria2c nc ncat socat ssh lynx w3m".split(" "));
/** Programs without which a line runs no hidden code. */
export const HIDES_OR_RUNS_CODE: ReadonlySet<string> = new Set([
  ...[...Object.keys(DECODERS), ...LOADERS, ...SHELLS, ...INTERPRETERS],
  ...["make", "gmake", "eval", ".", "source"],
]);
/** Code that runs a text, and code that decodes or loads one. */
const RUNS_TEXT = /\b(?:exec|eval|execfile|Function|instance_eval|runInThisContext|assert)\b/;
const DECODES =
  /b64decode|base64|fromhex|unhexlify|decompress|codecs\.decode|\batob\b|gzinflate|str_rot13|urlopen|urlretrieve|requests\.get|open-uri|\bfetch\(|https?:\/\//i;
/** Code that decodes what it prints. */
const UNPACKS = /\bunpack\b|b64decode|decode_base64|base64_decode|fromhex|unhexlify|["']base64["']|decode64/;
/** Code that starts a decoded line: `os.system(base64.b64decode(…))`. */
const STARTS_DECODED =
  /\b(?:system|popen\w*|exec\w*|spawn\w*|run|call|check_output|getoutput)\s*\(\s*(?:[\w.]+\(\s*)*[\w.]*(?:b64decode|fromhex|unhexlify|decompress|decode_base64|base64_decode|atob\b|Buffer\.from\([^)]*,\s*["'](?:base64|hex))/;
const CODE_LIMIT = 20_000;

/** Whether the output is decoded or comes from the network. */
export function hides({ program, words }: Step): boolean {
  if (takesCode(program, words) && isInterpreter(program) && words.some(({ text }) => UNPACKS.test(text))) return true;
  const decodes = Object.hasOwn(DECODERS, program) ? DECODERS[program] : undefined;
  if (decodes === undefined) return LOADERS.has(program);
  return words.length === 0 ? decodes.test("") : words.some(({ text }) => decodes.test(text));
}

/** Whether the code runs what it decodes or loads itself. */
export function hidesCode(code: string): boolean {
  const text = code.slice(0, CODE_LIMIT);
  return (RUNS_TEXT.test(text) && DECODES.test(text)) || STARTS_DECODED.test(text);
}

/** Whether the program runs its standard input. */
export function runsInput({ program, words }: Step): boolean {
  const texts = words.map(({ text }) => text);
  if (program === "make" || program === "gmake")
    return texts.some(
      (text, n) =>
        /^-\w*f(?:-|\/dev\/stdin)$/.test(text) ||
        (/^(?:-|\/dev\/stdin)$/.test(text) && /^(?:-\w*f|--file)$/.test(texts[n - 1] ?? "")),
    );
  if (isShell(program)) {
    if (texts.some((text) => /^-\w*c$/.test(text))) return false;
    return (
      texts.some((text) => /^-\w*s$/.test(text)) || texts.every((text) => text.startsWith("-") || text === "/dev/stdin")
    );
  }
  return (
    isInterpreter(program) &&
    !takesCode(program, words) &&
    texts.every((text) => /^-[a-zA-Z]?$|^\/dev\/stdin$/.test(text) && text !== "-m")
  );
}

/** Whether the program runs the text of this word (`bash -c`, `eval`), or the file that a process substitution stands for (`source <(…)`). */
export function runsWord({ program, words }: Step, word: Word, isFile: boolean): boolean {
  if (isFile) return program === "." || program === "source" || isShell(program) || isInterpreter(program);
  if (program === "eval") return true;
  const before = words[words.indexOf(word) - 1]?.text ?? "";
  return (
    (isShell(program) && /^-\w*c$/.test(before)) || (isInterpreter(program) && /^(?:-\w*[cer]|--eval)$/.test(before))
  );
}

/** The script that the program runs: `sh a.sh`, `. a.sh`, `./a.sh`. */
export function findScript({ program, words }: Step, command: SimpleCommand): string | undefined {
  if (isShell(program) || isInterpreter(program) || program === "." || program === "source")
    return words.find(({ text }) => !text.startsWith("-"))?.text;
  const own = command.words.at(-1 - words.length)?.text;
  return own?.includes("/") ? own : undefined;
}

/** Files that a program loads from the network: `curl -o a`, `wget https://x/a`. */
export function findFilesFetched({ program, words }: Step): string[] {
  if (program !== "curl" && program !== "wget") return [];
  const texts = words.map(({ text }) => text);
  const option = program === "curl" ? /^(?:-\w*o|--output)$/ : /^(?:-\w*O|--output-document)$/;
  const named = texts.filter((_, n) => option.test(texts[n - 1] ?? ""));
  const byAddress =
    program === "wget" ? named.length === 0 : texts.some((text) => /^(?:-\w*O\w*|--remote-name)$/.test(text));
  const addresses = byAddress
    ? texts.filter((text) => /^https?:/.test(text)).map((text) => text.replace(/[?#].*|\/+$/g, ""))
    : [];
  return [...named, ...addresses]
    .map((path) => path.slice(path.lastIndexOf("/") + 1))
    .filter((name) => name !== "" && name !== "-");
}

/** The text that `echo` or `printf` prints; undefined for other programs and where it is not known. */
export function readTextPrinted({ program, words }: Step): string | undefined {
  if (!/^(?:echo|printf)$/.test(program) || words.some(({ open }) => open)) return undefined;
  const texts = words.map(({ text }) => text);
  if (program === "echo") {
    const options = texts.findIndex((text) => !/^-[neE]+$/.test(text));
    const said = texts.slice(Math.max(0, options)).join(" ");
    return texts.some((text, n) => n < options && /e/.test(text)) ? resolveEscapes(said) : said;
  }
  const [format = "", ...values] = texts[0] === "--" ? texts.slice(1) : texts;
  const used = [...values];
  return resolveEscapes(format)
    .replace(/%[sbq]/g, () => used.shift() ?? "")
    .concat(...used.map((value) => `\n${value}`));
}

/** The shell lines of a makefile: those that begin with a tab, and those after a rule's `;`. */
export const readRecipes = (makefile: string): string[] =>
  makefile.split("\n").flatMap((line) => {
    const recipe = line.startsWith("\t") ? line : /^[^\t#=]*:[^=;]*;(.*)$/.exec(line)?.[1];
    return recipe === undefined
      ? []
      : [
          recipe
            .trim()
            .replace(/^[@+-]+/, "")
            .replaceAll("$$", "$"),
        ];
  });
