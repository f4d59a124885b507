/** Which project a folder belongs to, answered from files alone. */
import { availableParallelism } from "node:os";
import { createCache, createLimit, isSessarcError } from "sessarc";
import { at, type GitExec } from "../process/exec.ts";
import { findRemote } from "./config.ts";
import { findRepository, type Repository, readHead, readShallow } from "./repository.ts";

/** `missing`: no such folder, or not an absolute path. */
export type Identity =
  | { kind: "missing" }
  | { kind: "folder" }
  | {
      kind: "repository";
      /** Real path of the main work tree (of a bare repository: its folder); equal for all worktrees and subfolders. */
      root: string;
      /** The work tree that holds the folder; null in a bare repository. */
      worktree: string | null;
      gitDir: string;
      commonDir: string;
      bare: boolean;
      /** Address of `origin` (else the first remote) without credentials. */
      remote: string | null;
      /** Sorted hashes of the commits without parents, empty before the first commit; absent when unknown (shallow clone, no git). */
      rootCommits?: readonly string[];
    };

export interface IdentityOptions {
  /** False: no process at all. Default true: one per repository and HEAD, in time linear in the history, 5 s at most. */
  rootCommits?: boolean;
}

export type IdentityReader = (path: string, options?: IdentityOptions) => Promise<Identity>;

export function createIdentityReader(exec: GitExec): IdentityReader {
  const rootCommits = createRootReader(exec);
  return async (path, options = {}) => {
    const repo = await findRepository(path);
    if (!repo) return { kind: repo === null ? "missing" : "folder" };
    const { root, worktree, gitDir, commonDir, bare } = repo;
    const roots = options.rootCommits === false ? undefined : await rootCommits(repo);
    return {
      kind: "repository",
      root,
      worktree,
      gitDir,
      commonDir,
      bare,
      remote: findRemote(repo.config),
      ...(roots ? { rootCommits: roots } : {}),
    };
  };
}

function createRootReader(exec: GitExec): (repo: Repository) => Promise<readonly string[] | undefined> {
  const kept = createCache<readonly string[] | undefined>(1000);
  const gate = createLimit(availableParallelism() + 1, { slowMs: 250 });
  return async (repo) => {
    if ((await readShallow(repo)).size > 0) return undefined;
    const head = await readHead(repo);
    if (head?.hash === null) return [];
    const read = () => gate(() => readRoots(exec, repo));
    return head ? kept.get(`${repo.gitDir} ${head.hash}`, read) : read();
  };
}

async function readRoots(exec: GitExec, repo: Repository): Promise<readonly string[] | undefined> {
  const args = [...at(repo), "rev-list", "--max-parents=0", "HEAD", "--"];
  const result = await exec.run(args, { timeoutMs: 5_000 }).catch((error: unknown) => {
    // Folders can be told apart without git, only not followed when they move.
    if (isSessarcError(error)) return undefined;
    throw error;
  });
  if (result?.code !== 0) return undefined;
  return result.stdout.toString("latin1").split("\n").filter(Boolean).sort();
}
