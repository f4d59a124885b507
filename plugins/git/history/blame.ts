/**
 * Which commit brought each line of a file, as `git blame -w` reports: a change of blanks alone moves no line. Reads the object store,
 * without textconv; revisions that the repository lists as ignored are skipped.
 */
import { at, type GitExec, toGitError } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";

interface BlamedLine {
  text: string;
  commit: string;
  /** Number of the line in the commit's version of the file, from 1. */
  original: number;
}

export interface LineCommit {
  hash: string;
  author: string;
  /** Committer time, ISO 8601 UTC. */
  at: string;
  /** Author time: a rebase and a cherry-pick keep it. */
  authoredAt: string;
  subject: string;
  /** Path of the file in this commit. */
  path: string;
}

export interface BlamedFile {
  lines: BlamedLine[];
  /** By hash. */
  commits: Map<string, LineCommit>;
  /** Header lines of `git blame --porcelain`, by hash, without `filename`. */
  headers: Map<string, string[]>;
  /** The version that a commit changed, by the commit's hash; absent for a commit that added the file. */
  previous: Map<string, { commit: string; path: string }>;
  /** Paths the file had, as far as its lines show. */
  names: string[];
  /** Commits that changed the file under one of its names: author times in seconds, ascending. */
  touched: number[];
  /** The same commits, oldest first. */
  versions: Version[];
}

export interface BlameAt {
  /** Full hash; HEAD where none was asked for. */
  commit: string;
  at: string;
  /** Path in its tree. */
  path: string;
  /** Null for a file that is binary, larger than 2 MiB, or has a name that is no UTF-8. */
  file: BlamedFile | null;
}

type Parsed = Omit<BlamedFile, "names" | "touched" | "versions">;

const DEADLINE_MS = 20_000;

/** `path`: a path in the tree of `commit` (a full hash). Renames are followed. */
export async function blame(exec: GitExec, repo: Repository, commit: string, path: string): Promise<BlamedFile> {
  const versions = await readVersions(exec, repo, commit, [path]);
  const file = (await blameInTwo(exec, repo, commit, path, versions)) ?? (await porcelain(exec, repo, commit, path));
  const names = toNames(file, path);
  const all = names.length === 1 ? versions : await readVersions(exec, repo, commit, names);
  const touched = all.map(({ authored }) => authored).sort((a, b) => a - b);
  return { ...file, names, touched, versions: all.toReversed() };
}

async function porcelain(exec: GitExec, repo: Repository, revisions: string, path: string): Promise<Parsed> {
  const options = ["blame", "--porcelain", "--no-textconv", "-w"];
  const result = await exec.run([...at(repo), ...options, revisions, "--", path], { timeoutMs: DEADLINE_MS });
  if (result.code !== 0) throw toGitError(result, "blame");
  return parse(result.stdout.toString("utf8"));
}

/** Versions of a file from which on two processes share the work, and the newest that one of them takes: they are the largest. */
const LONG = 400;
const NEWEST = 1 / 3;

/**
 * Two halves of a long history at once, which takes about half as long. Lines that are older than the middle commit come out as lines of that
 * commit, and the other half says whose they are. Undefined for a short history, and where merges pass the middle commit by.
 */
async function blameInTwo(
  exec: GitExec,
  repo: Repository,
  commit: string,
  path: string,
  versions: readonly Version[],
): Promise<Parsed | undefined> {
  const middle = versions.length < LONG ? undefined : versions[Math.floor(versions.length * NEWEST)]?.hash;
  if (middle === undefined) return undefined;
  const [newer, older] = await Promise.all([
    porcelain(exec, repo, `${middle}..${commit}`, path),
    // The middle commit may have deleted the file.
    porcelain(exec, repo, middle, path).catch(() => undefined),
  ]);
  const ends = [...newer.headers].flatMap(([hash, rows]) => (rows.includes("boundary") ? [hash] : []));
  if (!older || ends.some((hash) => hash !== middle || newer.commits.get(hash)?.path !== path)) return undefined;
  const joined: Parsed = { lines: [], commits: new Map(), headers: new Map(), previous: new Map() };
  for (const line of newer.lines) {
    const isOlder = line.commit === middle;
    const from = isOlder ? older : newer;
    const own = isOlder ? older.lines[line.original - 1] : line;
    const known = from.commits.get(own?.commit ?? "");
    if (!own || !known) return undefined;
    joined.lines.push({ text: line.text, commit: own.commit, original: own.original });
    joined.commits.set(known.hash, known);
    joined.headers.set(known.hash, from.headers.get(known.hash) ?? []);
    const previous = from.previous.get(known.hash);
    if (previous) joined.previous.set(known.hash, previous);
  }
  return joined;
}

/** Names the file had, as far as its lines show. */
function toNames({ commits, previous }: Parsed, path: string): string[] {
  const names = new Set([path]);
  for (const one of commits.values()) if (one.path !== "") names.add(one.path);
  for (const one of previous.values()) names.add(one.path);
  return [...names];
}

export interface Version {
  hash: string;
  /** Author time in seconds. */
  authored: number;
}

/** Commits that changed a file under one of these names, newest first. */
async function readVersions(
  exec: GitExec,
  repo: Repository,
  commit: string,
  names: readonly string[],
): Promise<Version[]> {
  const args = [...at(repo), "log", "--format=%H %at", "--end-of-options", commit, "--", ...names];
  const result = await exec.run(args, { timeoutMs: DEADLINE_MS });
  if (result.code !== 0) throw toGitError(result, "log");
  return result.stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [hash = "", authored] = line.split(" ");
      return { hash, authored: Number(authored) };
    });
}

/** Of each line a header and, after a tab, the line; of each commit its headers, once. */
function parse(text: string): Parsed {
  const file: Parsed = { lines: [], commits: new Map(), headers: new Map(), previous: new Map() };
  let commit: LineCommit = { hash: "", author: "", at: "", authoredAt: "", subject: "", path: "" };
  let original = 0;
  for (const row of text.split("\n")) {
    if (row.startsWith("\t")) {
      file.lines.push({ text: row.slice(1).replace(/\r$/, ""), commit: commit.hash, original });
      continue;
    }
    const cut = row.indexOf(" ");
    const [word, rest] = cut < 0 ? [row, ""] : [row.slice(0, cut), row.slice(cut + 1)];
    if (/^[0-9a-f]{40,64}$/.test(word)) {
      original = Number(rest.split(" ", 1)[0]);
      const known = file.commits.get(word);
      commit = known ?? { ...commit, hash: word };
      if (!known) file.headers.set(word, []);
      file.commits.set(word, commit);
      continue;
    }
    if (word === "author") commit.author = rest;
    else if (word === "author-time") commit.authoredAt = new Date(Number(rest) * 1000).toISOString();
    else if (word === "committer-time") commit.at = new Date(Number(rest) * 1000).toISOString();
    else if (word === "summary") commit.subject = rest;
    else if (word === "filename") commit.path = unquoted(rest);
    else if (word === "previous") {
      const blank = rest.indexOf(" ");
      file.previous.set(commit.hash, { commit: rest.slice(0, blank), path: unquoted(rest.slice(blank + 1)) });
    }
    if (word !== "" && word !== "filename") file.headers.get(commit.hash)?.push(row);
  }
  return file;
}

/** Git quotes names with control characters, quotes or bytes above 127, like C. */
export function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const escapes: Record<string, string> = { a: "\x07", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" };
  const bytes = Buffer.from(name.slice(1, -1), "utf8")
    .toString("latin1")
    .replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
    );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
