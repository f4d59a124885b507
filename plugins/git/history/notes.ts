/** Git notes of commits: read of any ref, written under one. Nothing is ever pushed. */
import { at, type GitExec, toGitError } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";

const DEADLINE_MS = 20_000;
const MARK = "\x01";
/** Each note is a commit. A fixed identity writes it, so that the user's configuration changes nothing. */
const IDENTITY = ["-c", "user.name=sessarc", "-c", "user.email=sessarc@localhost"];

/** Notes under `ref` (`refs/notes/…`), by commit; commits without one are left out. */
export async function readNotes(
  exec: GitExec,
  repo: Repository,
  ref: string,
  commits: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  if (commits.length === 0) return found;
  const known = await exec.run([...at(repo), "rev-parse", "--verify", "--quiet", "--end-of-options", ref]);
  if (known.code !== 0) return found;
  const args = ["log", "--no-walk=unsorted", "--stdin", `--notes=${ref}`, `--format=${MARK}%H%n%N`];
  const result = await exec.run([...at(repo), ...args], {
    timeoutMs: DEADLINE_MS,
    input: commits.map((hash) => `${hash}\n`).join(""),
  });
  if (result.code !== 0) throw toGitError(result, "log");
  for (const part of result.stdout.toString("utf8").split(MARK).slice(1)) {
    const end = part.indexOf("\n");
    const text = part.slice(end + 1).trimEnd();
    if (text !== "") found.set(part.slice(0, end), text);
  }
  return found;
}

/** Replaces the notes of these commits under `ref`. Throws GIT_FAILED; notes written before the failure stay. */
export async function writeNotes(
  exec: GitExec,
  repo: Repository,
  ref: string,
  notes: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [hash, text] of notes) {
    const args = [...at(repo), ...IDENTITY, "notes", `--ref=${ref}`, "add", "-f", "-F", "-", hash];
    const result = await exec.run(args, { timeoutMs: DEADLINE_MS, input: text });
    if (result.code !== 0) throw toGitError(result, "notes");
  }
}

/** Removes the notes of these commits under `ref`. Commits without one are left out. Throws GIT_FAILED. */
export async function removeNotes(
  exec: GitExec,
  repo: Repository,
  ref: string,
  commits: readonly string[],
): Promise<void> {
  if (commits.length === 0) return;
  const args = [...at(repo), ...IDENTITY, "notes", `--ref=${ref}`, "remove", "--ignore-missing", "--stdin"];
  const result = await exec.run(args, {
    timeoutMs: DEADLINE_MS,
    input: commits.map((hash) => `${hash}\n`).join(""),
  });
  if (result.code !== 0) throw toGitError(result, "notes");
}
