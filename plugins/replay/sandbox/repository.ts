/**
 * The sandbox as a git repository: at the starting commit, with the history of the real one. The real repository's objects are read
 * through `objects/info/alternates`, nothing is written there. It has no remote, no hooks and an invented author.
 */
import { appendFile, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { devNull } from "node:os";
import { join } from "node:path";
import { type Services, SessarcError } from "sessarc";
import { exec, exists, GIT_OPTIONS, GIT_VARIABLES, isGone } from "sessarc/files";
import type { SandboxRow } from "../store.ts";
import type { Sandbox } from "./sandbox.ts";

interface Origin {
  /** Folder of the real repository that holds `objects`. */
  commonDir: string;
  commit: string | null;
  /** Branch that the session began on; null or an unusable name: `main`. */
  branch: string | null;
  /** Files of the commit that are not in the sandbox: git does not count them as deleted. */
  absent: readonly string[];
}

/** What the sandbox's HEAD holds. */
interface Head {
  commit: string;
  /** Null when HEAD is detached. */
  branch: string | null;
  tree: string;
}

const CONFIG = `[user]
\tname = Replay
\temail = replay@sessarc.invalid
[core]
\thooksPath = ${devNull}
\tfsmonitor = false
\tautocrlf = false
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol]
\tallow = never
`;

/** Nothing of the user's configuration; and no transport, so that a repository changed by a command cannot start one. */
const environment = (path: string) => ({
  PATH: process.env.PATH ?? "",
  HOME: path,
  ...GIT_VARIABLES,
});

const run = (path: string, args: readonly string[], input?: string) =>
  exec("git", [...GIT_OPTIONS, "--git-dir=.git", ...args], {
    cwd: path,
    env: environment(path),
    timeoutMs: 60_000,
    ...(input === undefined ? {} : { input }),
  });

/**
 * Makes the sandbox a repository where the project is one, once. Returns the folder of the real one's objects; null where
 * there is no repository. Throws REPLAY_NO_REPOSITORY.
 */
export async function asRepository(
  row: Pick<SandboxRow, "repository" | "base_commit" | "branch">,
  sandbox: Sandbox,
  git: Services["git"] | undefined,
): Promise<string | null> {
  const { repository, base_commit: commit, branch } = row;
  if (!git || repository === null) return null;
  const identity = await git.identity(repository, { rootCommits: false });
  if (identity.kind !== "repository") return null;
  const { commonDir } = identity;
  // Once: what a command makes of `.git` afterwards, its removal included, is a part of the replay.
  const made = join(sandbox.home, "..", "repository");
  if (!(await exists(made))) {
    // The sandbox's index is that of its start until its first command.
    const index = await sandbox.index();
    const files = commit === null ? [] : [...(await git.hashesAt(repository, commit)).keys()];
    await makeRepository(sandbox.path, { commonDir, commit, branch, absent: files.filter((path) => !index.has(path)) });
    await writeFile(made, "");
  }
  return join(commonDir, "objects");
}

/** Makes `.git` in the folder `path`, whose files are left as they are. Throws REPLAY_NO_REPOSITORY, and leaves nothing then. */
async function makeRepository(path: string, origin: Origin): Promise<void> {
  const git = join(path, ".git");
  const must = async (args: readonly string[], input?: string) => {
    const done = await run(path, args, input);
    if (done.code !== 0)
      throw new SessarcError(
        "REPLAY_NO_REPOSITORY",
        { command: args[0] ?? "" },
        { cause: new Error(done.stderr.toString()) },
      );
  };
  try {
    const { commit, branch } = origin;
    await must([
      "--work-tree=.",
      "init",
      "--quiet",
      "--template=",
      ...(commit?.length === 64 ? ["--object-format=sha256"] : []),
    ]);
    await appendFile(join(git, "config"), CONFIG);
    await mkdir(join(git, "objects", "info"), { recursive: true });
    await writeFile(join(git, "objects", "info", "alternates"), `${join(origin.commonDir, "objects")}\n`);
    await copyFile(join(origin.commonDir, "shallow"), join(git, "shallow")).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
    const name =
      branch !== null && /^\w(?:[\w./-]*\w)?$/.test(branch) && !/\.\.|\/\/|\.lock$/.test(branch) ? branch : "main";
    await must(["symbolic-ref", "HEAD", `refs/heads/${name}`]);
    if (commit === null) return;
    await must(["update-ref", `refs/heads/${name}`, commit]);
    await must(["read-tree", commit]);
    if (origin.absent.length > 0)
      await must(
        ["--work-tree=.", "update-index", "--skip-worktree", "-z", "--stdin"],
        `${origin.absent.join("\0")}\0`,
      );
    // Answers 1 where files differ from the commit.
    await run(path, ["--work-tree=.", "update-index", "-q", "--refresh"]);
  } catch (error) {
    await rm(git, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Where the real repository's objects are: on this machine, or where the isolation mounts them. Nothing happens where a command removed
 * the repository, or put a link that leads out of the sandbox in its place.
 */
export async function pointAt({ whole }: Pick<Sandbox, "whole">, objects: string): Promise<void> {
  try {
    if (!(await whole.read(".git/HEAD"))) return;
    await whole.remove(ALTERNATES);
    await whole.write(ALTERNATES, Buffer.from(`${objects}\n`), 0o644);
  } catch (error) {
    if (!(error instanceof SessarcError)) throw error;
  }
}

const ALTERNATES = ".git/objects/info/alternates";

/** Undefined where the sandbox is no repository, or has no commit. Runs nothing that the repository names. */
export async function findHead(path: string): Promise<Head | undefined> {
  if (!(await exists(join(path, ".git")))) return undefined;
  const [named, branch] = await Promise.all([
    run(path, ["rev-parse", "--quiet", "HEAD^{commit}", "HEAD^{tree}"]),
    run(path, ["symbolic-ref", "--quiet", "--short", "HEAD"]),
  ]);
  const [commit, tree] = named.stdout.toString().trim().split("\n");
  if (named.code !== 0 || commit === undefined || tree === undefined) return undefined;
  return { commit, tree, branch: branch.code === 0 ? branch.stdout.toString().trim() : null };
}

/** Hash of the tree of a commit that the sandbox's repository can read. */
export async function findTree(path: string, commit: string): Promise<string | undefined> {
  const done = await run(path, ["rev-parse", "--verify", "--quiet", `${commit}^{tree}`]);
  return done.code === 0 ? done.stdout.toString().trim() : undefined;
}
