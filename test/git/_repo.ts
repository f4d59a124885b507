/** Real repositories in temporary folders, made by the git of this machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { createGit } from "../../plugins/git/git.ts";
import type { Git, GitOptions } from "../../plugins/git/index.ts";

const installed = spawnSync("git", ["--version"]).status === 0;

/** Like `describe`; skipped, with a notice, where git is not installed. */
export function describeGit(name: string, run: () => void): void {
  if (installed) describe(name, run);
  else describe.skip(`${name} (git is not installed)`, run);
}

/** A folder that is gone after the test. Real path, as git answers it. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sessarc-git-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The service, closed after the test. The home is empty, and a status has time enough on a busy machine. */
export function openGit(options: GitOptions = {}): Git {
  const git = createGit({ env: { ...process.env, HOME: tempFolder() }, ...options });
  onTestFinished(() => git.close());
  return {
    ...git,
    status: (path, more) => git.status(path, { deadlineMs: 60_000, ...more }),
    statusMany: (paths, more) => git.statusMany(paths, { deadlineMs: 60_000, ...more }),
  };
}

export interface Repo {
  root: string;
  git(...args: string[]): string;
  gitBytes(...args: string[]): Buffer;
  write(path: string, content: string | Buffer): void;
  /** Adds everything and commits at `seconds`; answers the hash. */
  commit(message: string, seconds?: number, ...options: string[]): string;
}

export const T0 = 1_700_000_000;
export const iso = (seconds: number, ms = 0) => new Date(seconds * 1000 + ms).toISOString();

export const testEnv = (seconds = T0): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_AUTHOR_NAME: "Ada Author",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Carl Committer",
  GIT_COMMITTER_EMAIL: "carl@example.org",
  GIT_AUTHOR_DATE: `@${seconds} +0000`,
  GIT_COMMITTER_DATE: `@${seconds} +0000`,
  // A commit starts no process that looks whether there is something to tidy.
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "maintenance.auto",
  GIT_CONFIG_VALUE_0: "false",
});

/** All of a commit in one go: for this large process to start another one is dearer than what git does. */
const COMMIT = 'git add -A && git commit -q --allow-empty -m "$@" && git rev-parse HEAD';

export function repoAt(root: string): Repo {
  let now = T0;
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, args, {
      cwd: root,
      env: testEnv(now),
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 1 << 28,
    });
  const gitBytes = (...args: string[]) => run("git", args);
  const git = (...args: string[]) =>
    gitBytes(...args)
      .toString()
      .trimEnd();
  return {
    root,
    git,
    gitBytes,
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    commit(message, seconds = now + 60, ...options) {
      now = seconds;
      return run("sh", ["-c", COMMIT, "sh", message, ...options])
        .toString()
        .trimEnd();
    },
  };
}

/** Asks git the same question once. For a repository that stays as it is. */
export function remembering(repo: Repo): Repo {
  const answers = new Map<string, Buffer>();
  const gitBytes = (...args: string[]) => {
    const key = args.join("\0");
    const answer = answers.get(key) ?? repo.gitBytes(...args);
    answers.set(key, answer);
    return answer;
  };
  return {
    ...repo,
    gitBytes,
    git: (...args) =>
      gitBytes(...args)
        .toString()
        .trimEnd(),
  };
}

export function makeRepo(root = tempFolder(), ...options: string[]): Repo {
  mkdirSync(root, { recursive: true });
  const repo = repoAt(root);
  // Without the two dozen sample files that nothing here reads.
  repo.git("init", "-q", "-b", "main", "--template=", ...options);
  if (options.length === 0) for (const name of ["info", "hooks"]) mkdirSync(join(root, ".git", name));
  return repo;
}

/** A program that writes each of its calls to a log and then is git: `calls()` are the sub commands so far. */
export function countingGit(): { binary: string; calls(): string[] } {
  const folder = tempFolder();
  const log = join(folder, "calls");
  const binary = join(folder, "git");
  writeFileSync(log, "");
  writeFileSync(binary, `#!/bin/sh\nprintf '%s\\0' "$*" >> '${log}'\nexec git "$@"\n`);
  chmodSync(binary, 0o755);
  const words = /\b(status|rev-list|rev-parse|cat-file|ls-tree|diff-tree|config|version)\b(?!\.)/;
  return {
    binary,
    calls: () =>
      readFileSync(log, "utf8")
        .split("\0")
        .filter(Boolean)
        .map((line) => words.exec(line.replace(/.*--git-dir=\S+/, ""))?.[1] ?? line),
  };
}

/** git as before 2.36: reports that version, and refuses later options. */
export function oldGit(): string {
  const binary = join(tempFolder(), "git");
  const script = `case "$*" in *" version") echo "git version 2.30.2"; exit;; *batch-command*) exit 129;; esac`;
  writeFileSync(binary, `#!/bin/sh\n${script}\nexec git "$@"\n`);
  chmodSync(binary, 0o755);
  return binary;
}
