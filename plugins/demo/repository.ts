/** A real git repository whose history follows the sample sessions. */
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Commit } from "./play.ts";

/** Writes `commits` into a new repository at `path`. False, and only the last files, when git is missing. */
export async function writeRepository(path: string, commits: readonly Commit[]): Promise<boolean> {
  await mkdir(path, { recursive: true });
  const available = await git(path, ["init", "-q", "-b", "main"], {});
  for (const commit of commits) {
    await writeFiles(path, commit.files);
    if (!available) continue;
    const when = new Date(commit.at).toISOString();
    await git(path, ["add", "-A"], {});
    await git(path, ["commit", "-q", "-m", commit.message], { GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when });
  }
  return available;
}

export async function writeFiles(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const target = join(path, name);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

/** False when there is no git; throws when git is there and refuses. */
function git(cwd: string, args: readonly string[], extra: Record<string, string>): Promise<boolean> {
  const author = { NAME: "Sample Author", EMAIL: "author@example.com" };
  const env = {
    PATH: process.env.PATH,
    // Nothing of the user's own settings (signing, hooks, templates) takes part.
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: author.NAME,
    GIT_AUTHOR_EMAIL: author.EMAIL,
    GIT_COMMITTER_NAME: author.NAME,
    GIT_COMMITTER_EMAIL: author.EMAIL,
    ...extra,
  };
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, { cwd, env, stdio: ["ignore", "ignore", "pipe"], timeout: 20_000 });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on("error", (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? resolve(false) : reject(error)));
    child.on("close", (code) =>
      code === 0 ? resolve(true) : reject(new Error(`git ${args[0]} failed: ${said.trim()}`)),
    );
  });
}
