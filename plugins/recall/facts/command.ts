/** A shell command as facts know it: the part that says most, without what changes from one run to the next. */

import { clipLine, plainLine } from "./text.ts";

export interface NormalCommand {
  /** `npx vitest run test/cli` */
  subject: string;
  /** `vitest run`: of every command that does the same to something else. */
  family: string;
}

/** Characters of a command that are read. */
const MOST = 2_048;
const SUBJECT = 200;

/** They prepare, show or pass on; what they are run for is another part of the command. */
const PLUMBING = new Set(
  "cd export set source . echo printf true false test [ mkdir sleep pwd ls cat head tail grep egrep rg sed awk sort uniq wc tee which type date find xargs cut tr jq kill pkill rm cp mv touch chmod stat file diff less".split(
    " ",
  ),
);
/** They run another program with their own options before it. */
const WRAPPERS = new Set("sudo time env nice nohup timeout command exec stdbuf xvfb-run".split(" "));
/** They run a program of a package, by its name. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [""],
  bunx: [""],
  uvx: [""],
  pnpm: ["exec", "dlx"],
  yarn: ["dlx", "exec"],
  bun: ["x"],
  npm: ["exec", "x"],
  uv: ["run"],
  poetry: ["run"],
  pipenv: ["run"],
  bundle: ["exec"],
};
/** Programs whose first word says what is done. */
const WITH_SUBCOMMAND = new Set(
  "npm pnpm yarn bun deno npx git docker docker-compose podman kubectl helm terraform cargo go gradle gradlew mvn make just task pip pip3 uv poetry conda brew apt apt-get dotnet swift flutter dart mix rake rails bundle gem composer php artisan aws gcloud az gh vercel netlify firebase supabase prisma vitest jest playwright turbo nx lerna ng next vite astro systemctl biome dbt alembic ansible".split(
    " ",
  ),
);
/** Of these the word after `run` says it: `npm run build`. */
const RUN = new Set(["run", "run-script", "compose", "stack"]);

/** Undefined where nothing but plumbing is run. Linear in the first 2 KB. */
export function normalizeCommand(command: string): NormalCommand | undefined {
  const parts = splitCommand(command.slice(0, MOST)).flatMap((words) => {
    const rest = withoutWrappers(words);
    return rest.length > 0 ? [rest] : [];
  });
  const part = parts.findLast(([name = ""]) => !PLUMBING.has(baseOf(name)));
  if (!part) return undefined;
  const [name = "", ...rest] = part;
  return {
    subject: clipLine(plainLine([baseOf(name), ...rest].join(" ")), SUBJECT),
    family: plainLine(toFamily(part)),
  };
}

function withoutWrappers(words: readonly string[]): readonly string[] {
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (/^\w+=/.test(word)) continue;
    if (!WRAPPERS.has(baseOf(word))) break;
    // Its options, and the number that `timeout` and `nice` take.
    while (/^(?:-|\d+(?:\.\d+)?[smhd]?$)/.test(words[at + 1] ?? "")) at++;
  }
  return words.slice(at);
}

function toFamily(part: readonly string[]): string {
  const [first = "", ...rest] = part;
  const name = baseOf(first);
  const runs = RUNNERS[name];
  const plain = rest.filter((word) => !word.startsWith("-"));
  if (runs) {
    const [next = "", ...more] = plain;
    if (runs.includes("") && next !== "") return toFamily(plain);
    if (runs.includes(next) && more.length > 0) return toFamily(more);
  }
  if (/^(?:python\d?(?:\.\d+)?|py)$/.test(name) && rest[0] === "-m") return toFamily(rest.slice(1));
  if (/^(?:node|python\d?(?:\.\d+)?|py|ruby|perl|tsx|ts-node|bash|sh|zsh|deno)$/.test(name)) {
    const [script] = plain;
    return script === undefined || /\s/.test(script) ? name : `${name} ${baseOf(script)}`;
  }
  if (!WITH_SUBCOMMAND.has(name)) return name;
  const [sub, next] = plain;
  if (sub === undefined || !/^[\w:.@/-]+$/.test(sub)) return name;
  return RUN.has(sub) && next !== undefined && /^[\w:.-]+$/.test(next) ? `${name} ${sub} ${next}` : `${name} ${sub}`;
}

/** The last part of a path. */
export const baseOf = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1) || path;

/** The simple commands of a line, each as its words without quotes; redirections are left out. */
function splitCommand(command: string): string[][] {
  const commands: string[][] = [[]];
  const token =
    /\s*(?:(\n|&&|\|\||[;|&()])|(\d?>>?&?\d?|<<?-?)|((?:\\.|"(?:\\.|[^"\\])*"?|'[^']*'?|[^\s;|&()<>"'\\])+)|\\?.)/gsy;
  let skips = false;
  for (const [whole, end, redirect, word] of command.matchAll(token)) {
    if (end !== undefined || /^[ \t]*\n/.test(whole)) commands.push([]);
    if (redirect !== undefined) {
      // A text that follows is no command.
      if (redirect.startsWith("<<")) break;
      skips = !/&\d$/.test(redirect);
    } else if (word !== undefined) {
      if (skips) skips = false;
      else commands.at(-1)?.push(word.replace(/\\(.)|["']/gs, "$1"));
    }
  }
  return commands.filter((words) => words.length > 0);
}
