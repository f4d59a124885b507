/** The commits that changed a file, or files below a folder. */
import { at, type GitExec } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";

export interface FileChange {
  hash: string;
  /** Time of the commit, ISO 8601. */
  at: string;
  /** First line of the message. */
  subject: string;
  /** From the top of the work tree. */
  path: string;
  /** Full hash of the content; null where the commit removed the file. */
  blob: string | null;
  /** Six octal digits. */
  mode: string;
}

const MOST = 5_000;
const MARK = "\u0002";

/** `file`: from the top of the work tree; empty for all files. Commits that only the reflog knows are read too: a reset leaves them behind. */
export async function loadFileChanges(exec: GitExec, repo: Repository, file: string): Promise<FileChange[]> {
  const args = ["log", "--all", "--reflog", "-m", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-color"];
  const { stdout } = await exec.run(
    [...at(repo), ...args, `--format=${MARK}%H %cI %s`, `--max-count=${MOST}`, "--", file === "" ? "." : file],
    { timeoutMs: 20_000 },
  );
  const found: FileChange[] = [];
  const tokens = stdout.toString("utf8").split("\0");
  let commit = { hash: "", at: "", subject: "" };
  for (let i = 0; i < tokens.length && found.length < MOST; i++) {
    const token = (tokens[i] ?? "").replace(/^\n+/, "");
    if (token.startsWith(MARK)) {
      const [hash = "", time = "", ...words] = token.slice(1).trim().split(" ");
      commit = { hash, at: time, subject: words.join(" ") };
    }
    if (!token.startsWith(":")) continue;
    const [, mode = "", , blob = "", status = ""] = token.split(" ");
    const path = tokens[++i] ?? "";
    const isGone = status.startsWith("D");
    if (isGone || mode.startsWith("100")) found.push({ ...commit, path, blob: isGone ? null : blob, mode });
  }
  return found;
}
