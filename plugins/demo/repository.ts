/** A real git repository whose history follows the sample sessions. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSessarcError } from "sessarc";
import { codeOf, exec } from "sessarc/files";
import type { Commit } from "./play.ts";

/** Writes `commits` into a new repository at `path`. False, and only the last files, when git is missing. */
export async function writeRepository(path: string, commits: readonly Commit[]): Promise<boolean> {
  await mkdir(path, { recursive: true });
  if (!(await git(path, ["init", "-q", "-b", "main"]))) return false;
  // One process for the whole history: starting git once per commit would be most of the time `--demo` takes.
  await git(path, ["fast-import", "--quiet"], commits.map(toFastImport).join(""));
  await git(path, ["reset", "-q", "--hard"]);
  return true;
}

function toFastImport(commit: Commit): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const files = Object.entries(commit.files).map(([name, text]) => `M 100644 inline ${name}\n${data(text)}`);
  const author = `Sample Author <author@example.com> ${Math.floor(commit.at / 1000)} +0000`;
  return `commit refs/heads/main\nauthor ${author}\ncommitter ${author}\n${data(commit.message)}${files.join("")}\n`;
}

export async function writeFiles(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const target = join(path, name);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

/** False when there is no git; throws when git is there and refuses. */
async function git(cwd: string, args: readonly string[], input?: string): Promise<boolean> {
  // Nothing of the user's own settings (signing, hooks, templates) takes part.
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const result = await exec("git", args, { cwd, env, input, timeoutMs: 20_000 }).catch((error: unknown) => {
    if (isSessarcError(error) && codeOf(error.cause) === "ENOENT") return undefined;
    throw error;
  });
  if (result && result.code !== 0) throw new Error(`git ${args[0]} failed: ${result.stderr.toString().trim()}`);
  return result !== undefined;
}
