/** What a commit holds and what it changed, as `git ls-tree`, `git diff-tree -M` and `git rev-list` say. Paths are latin1 bytes. */

import { createCache } from "sessarc";
import { at, type GitExec, type GitResult, toGitError } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";

export type ChangeStatus = "added" | "modified" | "deleted" | "renamed" | "type-changed";

export interface Change {
  status: ChangeStatus;
  path: string;
  /** Of a rename. */
  previousPath: string | undefined;
}

interface ListedFile {
  mode: string;
  /** Of the content. */
  hash: string;
  /** Bytes; null for a submodule and where the content is not in this clone. */
  size: number | null;
  path: string;
}

/** `cut`: there are more than LIST_LIMIT. */
interface Listing<T> {
  items: readonly T[];
  cut: boolean;
}

export interface Changes {
  /** Files of a commit's tree, sorted as git does. */
  files(repo: Repository, commit: string): Promise<Listing<ListedFile>>;
  /** Against `parent`, undefined for a first commit; renames by git's own similarity. Kept: commits do not change. */
  between(repo: Repository, parent: string | undefined, commit: string): Promise<Listing<Change>>;
  /** The commit that made `path` what it is in `commit` (`git rev-list -1 <commit> -- <path>`). */
  lastChange(repo: Repository, commit: string, path: string): Promise<string | undefined>;
}

const LIST_LIMIT = 50_000;
/** A longer comparison is made again rather than kept. */
const KEEP_LIMIT = 1_000;
const EMPTY_TREE = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};
const STATUSES: Record<string, ChangeStatus> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  T: "type-changed",
};

export function createChanges(exec: GitExec): Changes {
  const changes = createCache<Listing<Change>>(256);
  const files = createCache<Listing<ListedFile>>(4);
  const lastChanges = createCache<string | undefined>(2048);

  return {
    files: (repo, commit) =>
      files.get(`${repo.commonDir} ${commit}`, async () => {
        // In a partial clone the sizes of absent contents are unknown.
        const sized = await listFiles(exec, repo, commit, ["-l"]);
        return sized ?? (await listFiles(exec, repo, commit, [])) ?? { items: [], cut: false };
      }),
    between: (repo, parent, commit) =>
      changes.get(`${repo.commonDir} ${parent} ${commit}`, async () => {
        const from = parent ?? (commit.length === 40 ? EMPTY_TREE.sha1 : EMPTY_TREE.sha256);
        const found = await diffTrees(exec, repo, from, commit, "-M");
        // In a partial clone there may be no contents to compare.
        const listing = found ??
          (await diffTrees(exec, repo, from, commit, "--no-renames")) ?? { items: [], cut: false };
        if (listing.items.length > KEEP_LIMIT) changes.delete(`${repo.commonDir} ${parent} ${commit}`);
        return listing;
      }),
    lastChange: (repo, commit, path) =>
      lastChanges.get(`${repo.commonDir} ${commit} ${path}`, () => lastChange(exec, repo, commit, path)),
  };
}

async function listFiles(exec: GitExec, repo: Repository, commit: string, options: string[]) {
  const items: ListedFile[] = [];
  const args = ["ls-tree", "-r", "-z", "--full-tree", ...options, "--end-of-options", commit];
  const { result, cut } = await records(exec, repo, args, (record) => {
    // <mode> <type> <hash> [<size>]TAB<path>
    const tab = record.indexOf("\t");
    const [mode = "", , hash = "", size] = record.slice(0, tab).split(/ +/);
    items.push({
      mode,
      hash,
      size: size === undefined || size === "-" ? null : Number(size),
      path: record.slice(tab + 1),
    });
    return items.length < LIST_LIMIT;
  });
  if (result.code === 0 || cut) return { items, cut };
  if (options.length > 0) return undefined;
  throw toGitError(result, "ls-tree");
}

async function diffTrees(exec: GitExec, repo: Repository, from: string, to: string, renames: string) {
  const items: Change[] = [];
  let status: ChangeStatus | undefined;
  let source: string | undefined;
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", renames];
  const { result, cut } = await records(exec, repo, [...args, "--end-of-options", from, to, "--"], (record) => {
    // :<mode> <mode> <hash> <hash> <status>[score] NUL [<source> NUL] <path>
    if (status === undefined) {
      status = STATUSES[/ ([A-Z])\d*$/.exec(record)?.[1] ?? ""] ?? "modified";
    } else if (status === "renamed" && source === undefined) {
      source = record;
    } else {
      items.push({ status, path: record, previousPath: source });
      status = undefined;
      source = undefined;
    }
    return items.length < LIST_LIMIT;
  });
  if (result.code === 0 || cut) return { items, cut };
  if (renames === "-M") return undefined;
  throw toGitError(result, "diff-tree");
}

async function lastChange(exec: GitExec, repo: Repository, commit: string, path: string): Promise<string | undefined> {
  const args = [...at(repo), "rev-list", "-1"];
  // An argument must be UTF-8, a line of input cannot hold a newline: a name that is neither has no way in.
  const text = Buffer.from(path, "latin1").toString("utf8");
  const asArgument = path.includes("\n");
  if (asArgument && text.includes("\uFFFD")) return undefined;
  const result = asArgument
    ? await exec.run([...args, "--end-of-options", commit, "--", text])
    : await exec.run([...args, "--stdin"], { input: Buffer.from(`${commit}\n--\n${path}\n`, "latin1") });
  if (result.code !== 0) throw toGitError(result, "rev-list");
  return result.stdout.toString("latin1").trim() || undefined;
}

/** Runs git and passes on NUL-ended records as they arrive, so that a long listing never blocks the event loop. */
async function records(
  exec: GitExec,
  repo: Repository,
  args: string[],
  onRecord: (record: string) => boolean,
): Promise<{ result: GitResult; cut: boolean }> {
  let rest = "";
  const result = await exec.run([...at(repo), ...args], {
    timeoutMs: 15_000,
    maxBytes: Number.POSITIVE_INFINITY,
    onData(chunk) {
      const parts = (rest + chunk.toString("latin1")).split("\0");
      rest = parts.pop() ?? "";
      return parts.every(onRecord);
    },
  });
  return { result, cut: result.truncated };
}
