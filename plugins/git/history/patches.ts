/** What commits added and removed, line by line, as `git log -p -w -M` reports. Merges are left out: their lines are in their parents. */
import { at, type GitExec, toGitError } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";
import { unquoted } from "./blame.ts";

export interface FilePatch {
  path: string;
  /** Of a rename, else `path`. */
  previousPath: string;
  /** How many lines; their texts where they were asked for. */
  added: number;
  removed: number;
  addedLines: string[];
  /** Their numbers in the commit's version of the file, from 1. */
  addedAt: number[];
  removedLines: string[];
}

export interface CommitPatch {
  hash: string;
  author: string;
  email: string;
  /** ISO 8601 UTC. */
  authoredAt: string;
  at: string;
  subject: string;
  /** Lines `Name: value` at the end of its message. */
  trailers: string[];
  files: FilePatch[];
}

export interface PatchQuery {
  /** Arguments of `git rev-list`: full hashes, `^` before those to leave out. */
  commits: readonly string[];
  /** ISO 8601: commits before it are left out. */
  since?: string | undefined;
  /** Only these files, as their paths are in the commits, a few; default all. */
  files?: readonly string[] | undefined;
  /** Whether the texts of a file's lines are wanted. */
  wants(path: string): boolean;
}

const DEADLINE_MS = 60_000;
const MARK = "\x01";
const TRAILER = "\x02";
/** Lines of one file in one commit whose texts are passed on. */
const LINES = 20_000;

/** Commits from which on two processes share the work. */
const LONG = 500;

/** Oldest first: a commit comes after its parents. */
export async function loadPatches(exec: GitExec, repo: Repository, query: PatchQuery): Promise<CommitPatch[]> {
  // Of a few files the patches are few.
  const hashes = query.files ? [] : await readHashes(exec, repo, query);
  const middle = hashes.length < LONG ? undefined : hashes[hashes.length >> 1];
  if (middle === undefined) return readPatches(exec, repo, query);
  const excluded = query.commits.filter((one) => one.startsWith("^"));
  const [older, newer] = await Promise.all([
    readPatches(exec, repo, { ...query, commits: [middle, ...excluded] }),
    readPatches(exec, repo, { ...query, commits: [...query.commits, `^${middle}`] }),
  ]);
  return [...older, ...newer];
}

const CHOICE = ["--topo-order", "--no-merges"];
const toSince = ({ since }: PatchQuery) => (since === undefined ? [] : [`--since=${since}`]);

/** Newest first. */
async function readHashes(exec: GitExec, repo: Repository, query: PatchQuery): Promise<string[]> {
  const args = [...at(repo), "rev-list", ...CHOICE, ...toSince(query), "--end-of-options", ...query.commits, "--"];
  const result = await exec.run(args, { timeoutMs: DEADLINE_MS, maxBytes: Number.POSITIVE_INFINITY });
  if (result.code !== 0) throw toGitError(result, "rev-list");
  return result.stdout.toString("latin1").split("\n").filter(Boolean);
}

async function readPatches(exec: GitExec, repo: Repository, query: PatchQuery): Promise<CommitPatch[]> {
  const args = [
    // Newest first: git reads versions that are stored as differences a third faster in this order.
    ...["log", ...CHOICE, ...FORM],
    `--format=${["", "%H", "%at", "%ct", "%an", "%ae", "%s", "%(trailers:unfold,separator=%x02)"].join("%x01")}`,
    ...toSince(query),
    ...["--end-of-options", ...query.commits, "--", ...(query.files ?? [])],
  ];
  return (await parsePatches(exec, repo, args, query.wants, [])).reverse();
}

/** What `tree` (a full hash) has other than HEAD. */
export async function loadStaged(exec: GitExec, repo: Repository, tree: string): Promise<FilePatch[]> {
  const head = await exec.run([...at(repo), "rev-parse", "--verify", "--quiet", "HEAD^{tree}"]);
  const before = head.code === 0 ? head.stdout.toString("latin1").trim() : NO_FILES[tree.length === 64 ? 1 : 0];
  const whole = { hash: "", author: "", email: "", authoredAt: "", at: "", subject: "", trailers: [], files: [] };
  const args = ["diff-tree", "-r", ...FORM, "--end-of-options", before ?? "", tree, "--"];
  const [found] = await parsePatches(exec, repo, args, () => true, [whole]);
  return found?.files ?? [];
}

/** The empty tree by SHA-1 and by SHA-256, which git has without storing it. */
const NO_FILES = [
  "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];
const FORM = ["-p", "-U0", "-M", "-w", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-algorithm=histogram"];

/** Puts the patches that git prints behind `found`, in its order. */
async function parsePatches(
  exec: GitExec,
  repo: Repository,
  args: readonly string[],
  wants: PatchQuery["wants"],
  found: CommitPatch[],
): Promise<CommitPatch[]> {
  let file: FilePatch | undefined;
  let wanted = false;
  /** Lines of the running hunk that are still to come. */
  let minus = 0;
  let plus = 0;
  /** Number of the next added line. */
  let number = 0;
  const onLine = (line: string) => {
    if (minus > 0 || plus > 0) {
      if (line.startsWith("-")) {
        minus--;
        if (wanted && file && file.removedLines.length < LINES) file.removedLines.push(line.slice(1));
        if (file) file.removed++;
      } else if (line.startsWith("+")) {
        plus--;
        if (wanted && file && file.addedLines.length < LINES) {
          file.addedLines.push(line.slice(1));
          file.addedAt.push(number);
        }
        number++;
        if (file) file.added++;
      }
      return;
    }
    if (line.startsWith(MARK)) {
      const [, hash = "", authored = "0", committed = "0", author = "", email = "", subject = "", trailers = ""] =
        line.split(MARK);
      found.push({
        ...{ hash, author, email, authoredAt: iso(authored), at: iso(committed), subject, files: [] },
        trailers: trailers.split(TRAILER).filter(Boolean),
      });
      file = undefined;
    } else if (line.startsWith("diff --git ")) {
      file = { path: "", previousPath: "", added: 0, removed: 0, addedLines: [], addedAt: [], removedLines: [] };
      found.at(-1)?.files.push(file);
    } else if (!file) return;
    else if (line.startsWith("rename from ")) file.previousPath = unquoted(line.slice(12));
    else if (line.startsWith("rename to ")) file.path = unquoted(line.slice(10));
    else if (line.startsWith("--- ")) file.previousPath ||= named(line.slice(4));
    else if (line.startsWith("+++ ")) {
      file.path ||= named(line.slice(4)) || file.previousPath;
      file.previousPath ||= file.path;
      wanted = wants(file.path) || wants(file.previousPath);
    } else {
      const [, before, start, after] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
      if (!line.startsWith("@@")) return;
      minus = before === undefined ? 1 : Number(before);
      plus = after === undefined ? 1 : Number(after);
      number = Number(start);
    }
  };
  let rest: Buffer = Buffer.alloc(0);
  const result = await exec.run([...at(repo), ...args], {
    timeoutMs: DEADLINE_MS,
    maxBytes: Number.POSITIVE_INFINITY,
    onData(chunk) {
      const all = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const end = all.lastIndexOf(10);
      rest = all.subarray(end + 1);
      if (end >= 0) for (const line of all.toString("utf8", 0, end).split("\n")) onLine(line);
      return true;
    },
  });
  if (result.code !== 0) throw toGitError(result, args[0] ?? "");
  return found;
}

/** Commits in which the last change of files is looked for. */
const RECENT = 2_000;
/** Files asked for: a command line has a limit. */
const PATHS = 1_000;

/** ms of the author time of the last of HEAD's commits that changed each file; files without one are left out. */
export async function readLastChanges(
  exec: GitExec,
  repo: Repository,
  paths: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const args = ["log", `-n${RECENT}`, "-z", "--no-merges", "--no-renames", "--name-only", "--format=%x01%at"];
  const result = await exec.run([...at(repo), ...args, "--end-of-options", "HEAD", "--", ...paths.slice(0, PATHS)], {
    timeoutMs: DEADLINE_MS,
  });
  let time = 0;
  for (const part of result.stdout.toString("utf8").split("\0")) {
    const name = part.replace(/^\n/, "");
    if (name.startsWith(MARK)) time = Number(name.slice(1)) * 1_000;
    else if (name !== "" && !found.has(name)) found.set(name, time);
  }
  return found;
}

const iso = (seconds: string) => new Date(Number(seconds) * 1000).toISOString();

/** `a/src/x.ts`, quoted or not; empty for a file that is not there. */
function named(text: string): string {
  const path = unquoted(text.replace(/\t$/, ""));
  return path === "/dev/null" ? "" : path.replace(/^[ab]\//, "");
}

/** Hashes that a commit, a branch, `base..head` or `last` means, newest first, merges left out; undefined for an unknown name. */
export async function findRange(exec: GitExec, repo: Repository, spec: string): Promise<string[] | undefined> {
  const revs = await findRevs(exec, repo, spec);
  return revs && listHashes(exec, repo, revs);
}

/** What these commits added and removed, oldest first; undefined for an unknown name. */
export async function loadRange(exec: GitExec, repo: Repository, spec: string): Promise<CommitPatch[] | undefined> {
  const revs = await findRevs(exec, repo, spec);
  return revs && loadPatches(exec, repo, { commits: revs, wants: () => true });
}

async function listHashes(exec: GitExec, repo: Repository, revs: readonly string[]): Promise<string[] | undefined> {
  const result = await exec.run([...at(repo), "rev-list", "--no-merges", "--end-of-options", ...revs, "--"]);
  return result.code === 0 ? result.stdout.toString("latin1").split("\n").filter(Boolean) : undefined;
}

/** The same as arguments of `git rev-list`: full hashes, `^` before those to leave out. */
async function findRevs(exec: GitExec, repo: Repository, spec: string): Promise<string[] | undefined> {
  const findHash = async (rev: string) => {
    const result = await exec.run([
      ...at(repo),
      "rev-parse",
      "--verify",
      "--quiet",
      "--end-of-options",
      `${rev}^{commit}`,
    ]);
    return result.code === 0 ? result.stdout.toString("latin1").trim() : undefined;
  };
  if (!/^[^\s\p{C}-][^\s\p{C}]{0,399}$/u.test(spec)) return undefined;
  if (spec === "last") {
    const [last] = (await listHashes(exec, repo, ["HEAD"])) ?? [];
    return last === undefined ? undefined : alone(last);
  }
  const [, base, head] = /^(.+?)\.\.\.?(.*)$/.exec(spec) ?? [];
  if (base !== undefined) {
    const [from, to] = await Promise.all([findHash(base), findHash(head || "HEAD")]);
    return from === undefined || to === undefined ? undefined : [to, `^${from}`];
  }
  const branch = await findHash(`refs/heads/${spec}`);
  if (branch === undefined) {
    const commit = await findHash(spec);
    return commit === undefined ? undefined : alone(commit);
  }
  // What the branch has that the branch it leaves from has not.
  for (const trunk of ["main", "master", "trunk"]) {
    const tip = trunk === spec ? undefined : await findHash(`refs/heads/${trunk}`);
    if (tip === undefined) continue;
    const own = await listHashes(exec, repo, [branch, `^${tip}`]);
    if (own && own.length > 0) return [branch, `^${tip}`];
  }
  return [branch];
}

/** One commit without those before it. */
const alone = (hash: string): string[] => [hash, `^${hash}^@`];

/** Tips of HEAD and of all local branches. */
export async function readTips(
  exec: GitExec,
  repo: Repository,
): Promise<{ head: string | undefined; branches: { name: string; hash: string }[] }> {
  const [head, refs] = await Promise.all([
    exec.run([...at(repo), "rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    exec.run([...at(repo), "for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads"]),
  ]);
  return {
    head: head.code === 0 ? head.stdout.toString("latin1").trim() : undefined,
    branches: refs.stdout
      .toString("utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => ({ hash: line.slice(0, line.indexOf(" ")), name: line.slice(line.indexOf(" ") + 1) })),
  };
}
