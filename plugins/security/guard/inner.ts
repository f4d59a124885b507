/** Shell lines inside the words of other programs. */
import type { Word } from "./words.ts";

const RUNNERS = /^(?:npx|dotenv|dotenvx|doppler|op|aws-vault|infisical|chamber|envchain)$/;
/** Options with a value, of the programs that run a command elsewhere. */
const REMOTE_OPTION = /^(?:-[A-Za-z]*[bcDeEFiIJlLmopQRSuwW]|--(?:user|env|workdir|container|namespace|index))$/;

/** Returns the shell line that a program runs: on another machine or in a container (`remote`: `ssh x 'cat a'`, `docker exec x env`), or here with more variables (`op run -- env`). */
export function innerLine(program: string, words: readonly Word[]): { line: string; remote: boolean } | undefined {
  const texts = words.slice(0, 200).map(({ text }) => text);
  const dashes = texts.indexOf("--");
  if (RUNNERS.test(program) && dashes >= 0)
    return {
      line: texts
        .slice(dashes + 1)
        .map(quoted)
        .join(" "),
      remote: false,
    };
  const line = remoteLine(program, texts, dashes);
  return line === undefined ? undefined : { line, remote: true };
}

function remoteLine(program: string, texts: readonly string[], dashes: number): string | undefined {
  let at = 0;
  if (/^(?:docker|podman|nerdctl|kubectl|oc|docker-compose)$/.test(program)) {
    at = texts.indexOf("exec") + 1;
    if (at === 0) return undefined;
    if (dashes > 0)
      return texts
        .slice(dashes + 1)
        .map(quoted)
        .join(" ");
  } else if (program !== "ssh") return undefined;
  while (texts[at]?.startsWith("-")) at += REMOTE_OPTION.test(texts[at] ?? "") ? 2 : 1;
  const line = texts.slice(at + 1);
  // A container gets the words as they are; the shell of another machine parses them again.
  return line.length === 0 ? undefined : program === "ssh" ? line.join(" ") : line.map(quoted).join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
