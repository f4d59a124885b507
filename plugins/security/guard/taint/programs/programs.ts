/** Programs as data: which of their files they print or send, and which they copy. */

import { readProgram, type SimpleCommand, toWord, type Word, wordsAfter } from "../words.ts";
import { findByFd, findByName, findExec, findPlaces, selectListed, toFolders, withFolders } from "./folders.ts";
import { findGitCopies, findGitFiles, gitPrintsUnknown } from "./git.ts";
import { findSearched, SEARCHERS } from "./search.ts";

const names = (list: string) => new Set(list.split(" "));
/** They print or send all their files. */
const READERS = names(
  [
    "cat bat batcat head tail less more nl tac strings xxd od hexdump base64 base32 type get-content gc",
    "grep egrep fgrep rg ag ack sed awk gawk mawk cut sort uniq paste rev fold fmt pr column comm join",
    "diff sdiff jq yq tr iconv expand unexpand zcat zgrep dd http nc socat view vim nvim nano ed ex xargs",
    "uuencode mail mutt emacs wdiff shuf look hd hexyl lolcat most pygmentize glow m4 xmllint plutil zless zmore bzcat xzcat",
    "vimdiff colordiff delta telegram-send slackcat xh",
  ].join(" "),
);
export const SHELLS: ReadonlySet<string> = names("sh bash zsh dash ksh ash fish su");
/** They print the size or a digest of their input, or nothing. */
const COUNTERS = names("wc cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum");
/** They print their arguments, which may be names of files. */
const NAMERS = names("echo printf ls");
/** They run the command that follows them. */
const WRAPPERS = names(
  "sudo doas env command exec nohup nice time timeout stdbuf setsid builtin busybox toybox watch unshare nsenter ionice chroot strace taskset flock parallel",
);
/** They also take that command as a shell line. */
const LINE_TAKERS = names("watch parallel flock script");
/** With such an option they print nothing from the file. */
const QUIET = new Map<string, RegExp>([
  ...["grep", "egrep", "fgrep", "rg", "ag", "ack"].map(
    (name) =>
      [
        name,
        /^(?:-[abhHinorsvwxEFGPRIzZ]*[qclL]\w*|--(?:quiet|silent|count|files(?:-with(?:out)?-match(?:es)?)?|type-list|version|help))$/,
      ] as const,
  ),
  ["git", /^(?:-[hinw]*[qcl]|--(?:quiet|silent|count|files-with-matches))$/],
  ["sed", /^(?:-[nErsuz]*i.*|--in-place.*)$/],
  ["yq", /^(?:-\w*i\w*|--inplace)$/],
  ["diff", /^(?:-\w*q\w*|--brief)$/],
  ["perl", /^-[0lnpaws]*i/],
  ["ruby", /^-[0lnpaws]*i/],
]);
/** Scripts of `jq`, `yq` and `awk` that leave no value. */
const NAMES_ONLY =
  /^END ?\{ ?print NR;? ?\}$|^(?:\. ?\| ?)?(?:keys(?:_unsorted)?(?:\[\]| ?\| ?\.\[\])?|length|type|has\("[^"]*"\))$/;
/** Interpreters, and the option that code follows. The code opens the files that it names. */
const CODE = new Map<string, RegExp>([
  ...["python", "python2", "python3"].map((name) => [name, /^-\w*c$/] as const),
  ...["node", "bun"].map((name) => [name, /^(?:-e|-p|-pe|--eval|--print)$/] as const),
  ...["perl", "ruby"].map((name) => [name, /^-\w*[eEnp]\w*$/] as const),
  ...["awk", "gawk", "mawk"].map((name) => [name, /^/] as const),
  ["php", /^-r$/],
  ["emacs", /^--?eval$/],
  ["rscript", /^-e$/],
  ["lua", /^-e$/],
  ["deno", /^eval$/],
]);
/** Words before the program that may be a program that takes a line. */
const WRAPPED_LIMIT = 8;
const COPIERS = names("cp mv ln install");
const OUT = /^(?:-|\/dev\/(?:stdout|stderr|tty|fd\/[12])|\/proc\/self\/fd\/[12])$/;

/** A path on another machine. */
const HOST = /^[\w.@-]+:/;
/** A path in one of `rclone`'s stores. */
const REMOTE = /^[\w.-]{2,}:/;

/** Programs that print or send only some of their files, or do so only with certain options. */
const SOME: Record<string, (words: Word[]) => Word[]> = {
  curl: (words) => [
    ...wordsAfter(words, /^(?:-\w*T|--upload-file)$/),
    // If a file is not a configuration, curl prints each line that it does not understand.
    ...[
      ...wordsAfter(words, /^(?:-\w*K|--config)$/),
      ...words.flatMap((word) =>
        /^(?:-K|--config=)./.test(word.text) ? [sliceWord(word, word.text[1] === "K" ? 2 : 9)] : [],
      ),
    ].filter(({ text }) => !/curl[^/]*$|\.(?:conf|config|cfg)$/i.test(text)),
    ...wordsAfter(words, /^--data-urlencode$/).map((word) => sliceWord(word, word.text.indexOf("@"))),
    ...words.filter(({ text }) => /^(?:--?[\w-]+=|-[dF]|[\w.-]+=)?[@<]|^-T.|^--upload-file=|^file:/i.test(text)),
  ],
  wget: (words) => [
    ...wordsAfter(words, /^--(?:post|body)-file$/),
    ...words.filter(({ text }) => /^--(?:post|body)-file=/.test(text)),
  ],
  openssl: (words) => {
    const [out] = wordsAfter(words, /^-out$/);
    const hides =
      words.some(({ text }) => /^-(?:noout|pubout)$/.test(text)) && !words.some(({ text }) => text === "-text");
    if ((out && !OUT.test(out.text)) || hides) return [];
    return [...wordsAfter(words, /^-in$/), ...words.filter(({ text }) => text.startsWith("-in="))];
  },
  rsync: (words) =>
    withFolders(
      words,
      findSent(words, HOST, /^(?:-[ef]|--(?:exclude|include|exclude-from|include-from|files-from|filter|rsh))$/),
    ),
  scp: (words) => withFolders(words, findSent(words, HOST, /^-[iFloPcSJDX]$/)),
  gsutil: (words) => withFolders(words, findSent(words, /^gs:/, /^-[mhox]$/)),
  gcloud: (words) =>
    words.some(({ text }) => text === "storage")
      ? withFolders(words, findSent(words, /^gs:/, /^--(?!recursive$)/))
      : [],
  rclone: (words) =>
    /^(?:cat|rcat)$/.test(words[0]?.text ?? "") ? words : withFolders(words, findSent(words, REMOTE, /^--/)),
  s3cmd: (words) => withFolders(words, findSent(words, /^s3:/, /^--/)),
  mc: (words) => (/^(?:cp|mirror|put|cat|pipe)$/.test(words[0]?.text ?? "") ? words.slice(1) : []),
  az: (words) => wordsAfter(words, /^(?:-f|--file|--source|-s)$/),
  kubectl: (words) => (words[0]?.text === "cp" ? findSent(words, /^[\w.@/-]+:/, /^-c$/) : []),
  gh: (words) =>
    /^(?:gist (?:create|edit)|release (?:upload|create))$/.test(`${words[0]?.text} ${words[1]?.text}`)
      ? words.slice(2)
      : wordsAfter(words, /^(?:-F|--body-file|--input)$/),
  op: (words) => (words[0]?.text === "inject" ? wordsAfter(words, /^-i$/) : []),
  dotenv: (words) => (words.some(({ text }) => /^(?:get|list)$/.test(text)) ? wordsAfter(words, /^-[ef]$/) : []),
  glab: (words) => (words[0]?.text === "snippet" ? words.slice(2) : []),
  ...Object.fromEntries(
    ["croc", "wormhole", "magic-wormhole", "transfer", "ffsend"].map((name) => [name, (words: Word[]) => words]),
  ),
  aws: (words) => withFolders(words, findSent(words, /^s3:/, /^--(?:exclude|include)$/)),
  cmp: (words) => (words.some(({ text }) => /^-\w*[bl]/.test(text)) ? words : []),
  find: (words) => (runsReader(words) ? [...findPlaces(words), ...selectListed(words, findByName(words))] : []),
  ...Object.fromEntries(
    ["fd", "fdfind"].map((name) => [
      name,
      (words: Word[]) => (fdRuns(words) ? selectListed(words.slice(findExec(words)), findByFd(words)) : []),
    ]),
  ),
  git: findGitFiles,
  tar: (words) => {
    const { creates, prints, archive, files } = readTar(words);
    if (creates) return archive === undefined || OUT.test(archive.text) ? files : [];
    return prints && archive ? [archive] : [];
  },
  zip: (words) => {
    const { archive, files } = readZip(words);
    return archive && OUT.test(archive.text) ? files : [];
  },
  ...Object.fromEntries(
    ["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "lz4", "brotli", "pigz"].map((name) => [
      name,
      (words: Word[]) => (words.some(({ text }) => /^(?:-\w*c\w*|--(?:to-)?stdout)$/.test(text)) ? words : []),
    ]),
  ),
};

export const isShell = (program: string): boolean => SHELLS.has(program);
/** Clients that store their input or sign in with it, by the words after their name. */
const TAKERS: Readonly<Record<string, RegExp>> = {
  gh: /^(?:secret|variable) set\b|^auth login\b.*--with-token/,
  glab: /^variable set\b|^auth login\b.*--stdin/,
  wrangler: /^(?:pages )?secret (?:put|bulk)\b/,
  vercel: /^env add\b/,
  fly: /^secrets (?:set|import)\b/,
  flyctl: /^secrets (?:set|import)\b/,
  vault: /^(?:kv put|write)\b.*=-(?: |$)/,
  kubectl: /^create secret\b/,
  gcloud: /^secrets (?:create|versions add)\b.*--data-file[= ]-/,
  doppler: /^secrets (?:set|upload)\b/,
  pass: /^insert\b/,
  "secret-tool": /^store\b/,
};
/** Whether the client signs in with this word: a header, or a name and password. */
export const signsIn = (program: string, words: readonly Word[], at: number): boolean =>
  /^(?:curl|wget)$/.test(program) &&
  (/^(?:-u|--user)$/.test(words[at - 1]?.text ?? "") ||
    (/^(?:-H|--header)$/.test(words[at - 1]?.text ?? "") && SIGN_IN.test(words[at]?.text ?? "")));
const SIGN_IN = /^(?:(?:proxy-)?authorization|private-token|(?:x-)?(?:[a-z]+-)?api-?key):/i;

/** Whether the program stores its input and prints nothing of it. */
export function takesInput(program: string, words: readonly Word[]): boolean {
  const texts = words.map(({ text }) => text);
  if (READERS.has(program) || SHELLS.has(program) || CODE.has(program)) return false;
  if (texts.some((text) => /^--(?:password|token|client-secret)-stdin$/.test(text))) return true;
  const taker = Object.hasOwn(TAKERS, program) ? TAKERS[program] : undefined;
  return taker?.test(texts.join(" ").slice(0, 2_000)) ?? false;
}

export const INTERPRETERS: ReadonlySet<string> = new Set(CODE.keys());
export const isInterpreter = (program: string): boolean => CODE.has(program);

/** Programs that may follow a wrapper. */
const PROGRAMS = new Set([
  ...READERS,
  ...SHELLS,
  ...WRAPPERS,
  ...COPIERS,
  ...CODE.keys(),
  ...Object.keys(SOME),
  ...["eval", "printenv"],
]);
export const isProgram = (text: string): boolean => PROGRAMS.has(readProgram(text));

/** The program that a command runs. */
export interface Step {
  program: string;
  /** The words after the program. */
  words: Word[];
  /** The words before it: `sudo -u x`. */
  wrappers: Word[];
}

export function readStep({ words: written }: SimpleCommand): Step {
  const all = spreadBraces(written);
  const [first, ...rest] = unwrap(all);
  const wrappers = all.slice(0, all.length - rest.length - Number(first !== undefined));
  // `env` needs no program.
  const alone = first === undefined || /^(?:-|\w+=|$)/.test(first.text) ? wrappers.at(-1)?.text : undefined;
  if (alone !== undefined && readProgram(alone) === "env")
    return { program: "env", words: first ? [first, ...rest] : rest, wrappers };
  return { program: readProgram(first?.text ?? ""), words: rest, wrappers };
}

/** `{cat,a}` → `cat a`. */
function spreadBraces(words: Word[]): Word[] {
  const [first, ...rest] = words;
  const [, list] = (first?.pattern && /^\{([^{}]+,[^{}]*)\}$/.exec(first.text)) || [];
  if (!first || list === undefined) return words;
  return [...list.split(",").map((text) => ({ ...first, text })), ...rest];
}

/** The command after `sudo -u x`, `env A=1`, `timeout 5` and the like. */
function unwrap(words: Word[]): Word[] {
  let at = 0;
  while (WRAPPERS.has(readProgram(words[at]?.text ?? ""))) {
    let next = at + 1;
    while (next < words.length && !isProgram(words[next]?.text ?? "")) next++;
    // No known program follows, so the next word is the program.
    if (next === words.length) return words.slice(at + 1);
    at = next;
  }
  return words.slice(at);
}

/** Whether the command is a test that prints none of its words. A comparison of numbers prints a word that is not a number. */
export const isTest = ({ program, words }: Step): boolean =>
  /^(?:\[|\[\[|test)$/.test(program) && !words.some(({ text }) => /^-(?:eq|ne|lt|le|gt|ge)$/.test(text));

/** Whether a word may be a shell line: `watch -n 1 'cat a'`. */
export const takesLine = (words: readonly Word[]): boolean =>
  words.slice(0, WRAPPED_LIMIT).some(({ text }) => LINE_TAKERS.has(readProgram(text)));

/** Whether one of the words is code. */
export const takesCode = (program: string, words: readonly Word[]): boolean =>
  words.some(({ text }) => CODE.get(program)?.test(text) ?? false);

/** Whether the program prints nothing of its input. */
export function isQuiet(program: string, words: readonly Word[]): boolean {
  if (/^(?:[jy]q|awk)$/.test(program) && NAMES_ONLY.test(words.find(({ text }) => !text.startsWith("-"))?.text ?? ""))
    return true;
  const quiet = QUIET.get(program);
  if (!quiet) return COUNTERS.has(program);
  return words.some(({ text }) => quiet.test(text)) && !words.some(({ text }) => text.includes("/dev/"));
}

/** The words that name files the program prints or sends. `fed`: another command writes to its input. */
export function findFileWords(program: string, words: Word[], fed = false): Word[] {
  if (isQuiet(program, words)) return [];
  if (SEARCHERS.has(program)) return findSearched(program, words, fed);
  const some = Object.hasOwn(SOME, program) ? SOME[program] : undefined;
  if (some) return some(words);
  if (READERS.has(program)) return words;
  if (COPIERS.has(program)) return OUT.test(words.at(-1)?.text ?? "") ? words.slice(0, -1) : [];
  const [module] = wordsAfter(words, /^-m$/);
  if (module?.text === "http.server") return toFolders(words, wordsAfter(words, /^(?:-d|--directory)$/));
  return takesCode(program, words) || (CODE.has(program) && /^(?:json\.tool|base64)$/.test(module?.text ?? ""))
    ? words
    : [];
}

/** Files that the program copies or packs, and where to. */
export function findCopies(program: string, words: Word[]): { files: Word[]; to: Word }[] {
  if (program === "tar" || program === "zip") {
    const { archive, files } = program === "tar" ? readTar(words) : readZip(words);
    return archive ? [{ files, to: archive }] : [];
  }
  if (program === "git") return findGitCopies(words);
  if (!COPIERS.has(program) && program !== "rsync") return [];
  const files = words.filter(({ text }) => !text.startsWith("-"));
  const to = files.pop();
  return to ? [{ files, to }] : [];
}

/** The folder of the option `-C`. */
export const readFolder = (program: string, words: readonly Word[]): Word | undefined =>
  program === "git" || program === "tar" ? wordsAfter(words, /^-C$/)[0] : undefined;

/** Whether the program prints files that its words do not name: `xargs cat`, `find -exec cat`, `git show main:a`. */
export function showsUnknown(program: string, words: Word[]): boolean {
  if (program === "xargs" || program === "find") return runsReader(words, program === "xargs");
  if (/^fd(?:find)?$/.test(program)) return fdRuns(words);
  if (program === "unzip") return words.some(({ text }) => /^-\w*[pc]/.test(text));
  return program === "git" && gitPrintsUnknown(words);
}

/** Files whose names the program prints. */
export function findListedWords(program: string, words: Word[]): Word[] {
  if (program === "find") return findByName(words);
  if (/^fd(?:find)?$/.test(program)) return findByFd(words);
  return NAMERS.has(program) ? words : [];
}

/** Whether the program runs code from its input, which is unknown: `… | sh`. */
export const runsUnknown = (program: string, words: readonly Word[]): boolean =>
  (isShell(program) || isInterpreter(program)) && words.every(({ text }) => /^-[lisex]*$/.test(text));

/** Whether the program that `find` or `xargs` starts prints the files they add. */
function runsReader(words: readonly Word[], anywhere = false): boolean {
  const start = anywhere ? 0 : words.findIndex(({ text }) => /^-(?:exec|execdir|ok)$/.test(text));
  const at = start < 0 ? -1 : words.findIndex(({ text }, n) => n >= start && isProgram(text));
  if (at < 0) return false;
  const program = readProgram(words[at]?.text ?? "");
  if (program === "find" || program === "xargs") return true;
  const rest = words.slice(at + 1).filter(({ text }) => text !== ";" && text !== "+");
  if (!rest.some(({ text }) => text.includes("{}"))) rest.push({ text: "{}", open: true, pattern: false });
  return (
    isShell(program) || WRAPPERS.has(program) || findFileWords(program, rest).some(({ text }) => text.includes("{}"))
  );
}

/** Whether `fd -x` starts a program that prints the files. */
function fdRuns(words: readonly Word[]): boolean {
  const at = findExec(words);
  return at >= 0 && runsReader(words.slice(at + 1), true);
}

/** The words before the address of the receiver, without options and their values. */
function findSent(words: Word[], address: RegExp, option: RegExp): Word[] {
  const end = words.findLastIndex(({ text }) => address.test(text));
  const taken = new Set(wordsAfter(words, option));
  return words
    .slice(0, Math.max(0, end))
    .filter((word) => !taken.has(word) && !option.test(word.text.replace(/=.*/s, "")));
}

/** Commands of a script that a program reads: the files they send or print. `.read x`, `put x`. */
export function findFilesInScript(program: string, script: string): Word[] {
  const command = Object.hasOwn(SCRIPTS, program) ? SCRIPTS[program] : undefined;
  if (!command) return [];
  return script
    .slice(0, SCRIPT_LIMIT)
    .split(/[\n;]/)
    .flatMap((line) => command.exec(line.trim())?.[1]?.split(/\s+/) ?? [])
    .filter((text) => text !== "" && !text.startsWith("-"))
    .map((text) => toWord(text.replace(/^(["'])(.*)\1$/, "$2")))
    .map((word) => ({ ...word, pattern: /[*?[]/.test(word.text) }));
}

const SCRIPT_LIMIT = 10_000;
const SENDS = /^-?(?:put|mput|reput|append|send|mirror\s+-R)\s+(.+)$/;
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  sftp: SENDS,
  ftp: SENDS,
  lftp: SENDS,
  // What is no SQL is printed in the error.
  sqlite3: /^\.(?:read|import)\s+(.+)$/,
  sqlite: /^\.(?:read|import)\s+(.+)$/,
  psql: /^\\(?:i|ir|include)\s+(.+)$/,
  mysql: /^(?:source|\\\.)\s+(.+)$/i,
};

const sliceWord = (word: Word, start: number): Word => ({ ...word, text: start < 0 ? "" : word.text.slice(start) });

/** Arguments of tar: `czf a.tgz b`, `-c -f a.tar b`, `--create --file=a.tar b`. */
function readTar(words: Word[]): { creates: boolean; prints: boolean; archive: Word | undefined; files: Word[] } {
  // The first options need no dash.
  const all = words.map((word, n) => (n === 0 && /^\w+$/.test(word.text) ? { ...word, text: `-${word.text}` } : word));
  const named = all.find(({ text }) => text.startsWith("--file="));
  const archive = named ? sliceWord(named, "--file=".length) : wordsAfter(all, /^(?:-\w*f|--file)$/)[0];
  const taken = new Set([...wordsAfter(all, /^(?:-[CTX]|--(?:exclude|directory|files-from|exclude-from))$/), archive]);
  return {
    creates: all.some(({ text }) => /^(?:-\w*[cru]\w*|--(?:create|append|update))$/.test(text)),
    prints: all.some(({ text }) => /^(?:-\w*O\w*|--to-stdout)$/.test(text)),
    archive,
    files: toFolders(
      all,
      all.filter((word) => !word.text.startsWith("-") && !taken.has(word)),
    ),
  };
}

function readZip(words: Word[]): { archive: Word | undefined; files: Word[] } {
  const end = words.findIndex(({ text }) => /^(?:-x|--exclude)/.test(text));
  const [archive, ...files] = words.slice(0, end < 0 ? words.length : end).filter(({ text }) => !/^-./.test(text));
  const recursive = words.some(({ text }) => /^(?:-\w*r\w*|--recurse-paths)$/.test(text));
  return { archive, files: recursive ? toFolders(words, files) : files };
}
