/**
 * Which commit brought each line of a file, as `git blame` says. From the object store alone, without textconv; revisions the
 * repository wants ignored are.
 */
import { at, type GitExec, toGitError } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";

export interface BlamedLine {
  text: string;
  commit: string;
}

export interface LineCommit {
  hash: string;
  author: string;
  /** Committer time, ISO 8601 UTC. */
  at: string;
  subject: string;
}

export interface BlamedFile {
  lines: BlamedLine[];
  /** By hash. */
  commits: Map<string, LineCommit>;
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

const DEADLINE_MS = 20_000;

/** `path`: the path in the tree of `commit` (a full hash). Renames are followed. */
export async function blame(exec: GitExec, repo: Repository, commit: string, path: string): Promise<BlamedFile> {
  const options = ["blame", "--porcelain", "--no-textconv"];
  const result = await exec.run([...at(repo), ...options, commit, "--", path], { timeoutMs: DEADLINE_MS });
  if (result.code !== 0) throw toGitError(result, "blame");
  return parse(result.stdout.toString("utf8"));
}

/** Of each line a header and, behind a tab, the line; of each commit its heads, once. */
function parse(text: string): BlamedFile {
  const file: BlamedFile = { lines: [], commits: new Map() };
  let commit: LineCommit = { hash: "", author: "", at: "", subject: "" };
  for (const row of text.split("\n")) {
    if (row.startsWith("\t")) {
      file.lines.push({ text: row.slice(1).replace(/\r$/, ""), commit: commit.hash });
      continue;
    }
    const cut = row.indexOf(" ");
    const [word, rest] = cut < 0 ? [row, ""] : [row.slice(0, cut), row.slice(cut + 1)];
    if (/^[0-9a-f]{40,64}$/.test(word)) {
      commit = file.commits.get(word) ?? { hash: word, author: "", at: "", subject: "" };
      file.commits.set(word, commit);
    } else if (word === "author") commit.author = rest;
    else if (word === "committer-time") commit.at = new Date(Number(rest) * 1000).toISOString();
    else if (word === "summary") commit.subject = rest;
  }
  return file;
}
