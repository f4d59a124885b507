/** Commits whose added lines hold a text. The text stays in this process: as an argument of git, other users would see it. */
import { isSessarcError } from "sessarc";
import { at, type GitExec } from "../process/exec.ts";
import type { Repository } from "../repository/repository.ts";

export interface AddingCommit {
  hash: string;
  /** Time of the commit, ISO 8601. */
  at: string;
  path: string;
}

export interface AddingCommits {
  /** Newest first, 100 at most. */
  commits: AddingCommit[];
  /** The history is larger than what was searched. */
  partial: boolean;
}

const MOST_COMMITS = 100;
const MOST_BYTES = 128 * 2 ** 20;
const TIMEOUT_MS = 20_000;
const MARK = "\u0001";

/** Searches the history of all branches. Cost: git prints each commit's patch, up to 128 MB and 20 seconds. */
export async function commitsAdding(
  exec: GitExec,
  repo: Repository,
  text: string,
  signal?: AbortSignal,
): Promise<AddingCommits> {
  const commits: AddingCommit[] = [];
  let [hash, time, path, rest, bytes] = ["", "", "", "", 0];
  const needle = Buffer.from(text).toString("latin1");
  function take(line: string): void {
    if (line.startsWith(MARK)) [hash = "", time = ""] = line.slice(1).split(" ");
    else if (line.startsWith("+++ ")) path = Buffer.from(line.slice(4).replace(/^b\//, ""), "latin1").toString("utf8");
    else if (line.startsWith("+") && line.includes(needle)) {
      const last = commits.at(-1);
      if (last?.hash !== hash || last.path !== path) commits.push({ hash, at: time, path });
    }
  }
  function onData(chunk: Buffer): boolean {
    bytes += chunk.length;
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
    return bytes < MOST_BYTES && commits.length < MOST_COMMITS;
  }
  const args = ["log", "--all", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
  try {
    const { truncated } = await exec.run([...at(repo), ...args, `--format=${MARK}%H %cI`], {
      ...{ timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES, signal, onData },
    });
    take(rest);
    return { commits: commits.slice(0, MOST_COMMITS), partial: truncated };
  } catch (error) {
    if (isSessarcError(error) && error.code === "GIT_TIMEOUT") return { commits, partial: true };
    throw error;
  }
}
