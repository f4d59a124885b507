/** Which commit stood at a time: the commits of HEAD by committer time. */

import { Lru } from "../lru.ts";
import { at, type GitExec, toGitError } from "../process/exec.ts";
import { type Repository, shallowStamp } from "../repository/repository.ts";

export interface History {
  /**
   * The newest commit reachable from `head` that was committed at or before `seconds`; undefined when all are later.
   * Equal to `git rev-list -1 --min-age=<seconds> <head>`, also where clocks went backwards.
   */
  commitAt(repo: Repository, head: string, seconds: number): Promise<string | undefined>;
  /** The oldest commit that is newer than what `commitAt` answers; undefined when there is none, or it lies beyond the kept list. */
  commitAfter(repo: Repository, head: string, seconds: number): Promise<string | undefined>;
}

/** One walk of git, kept: hashes in git's order, and for each place the smallest time up to it. */
interface CommitList {
  hashes: Buffer;
  hashBytes: number;
  /** Never rises, so the first place at or before a time is found by halving. */
  earliest: Float64Array;
  /** False when the history is longer than the list. */
  complete: boolean;
}

/** Longer histories answer from the newest commits and ask git for older times. About 28 bytes each. */
const LIST_COMMITS = 250_000;
const LIST_MS = 30_000;

export function createHistory(exec: GitExec, limit = LIST_COMMITS): History {
  const lists = new Lru<Promise<CommitList>>(8);

  async function listOf(repo: Repository, head: string): Promise<CommitList> {
    const key = `${repo.commonDir} ${head} ${await shallowStamp(repo)}`;
    const kept = lists.get(key);
    if (kept) return kept;
    const made = readList(exec, repo, head, limit);
    made.catch(() => lists.delete(key));
    return lists.set(key, made);
  }

  return {
    async commitAfter(repo, head, seconds) {
      const list = await listOf(repo, head);
      const place = firstAtOrBelow(list.earliest, seconds);
      if (place === 0 || (place === list.earliest.length && !list.complete)) return undefined;
      return hashAt(list, place - 1);
    },
    async commitAt(repo, head, seconds) {
      const list = await listOf(repo, head);
      const place = firstAtOrBelow(list.earliest, seconds);
      if (place < list.earliest.length) return hashAt(list, place);
      if (list.complete) return undefined;
      const args = ["rev-list", "-1", `--min-age=${seconds}`, "--end-of-options", head, "--"];
      const result = await exec.run([...at(repo), ...args], { timeoutMs: LIST_MS });
      if (result.code !== 0) throw toGitError(result, "rev-list");
      return result.stdout.toString("latin1").trim() || undefined;
    },
  };
}

const hashAt = (list: CommitList, place: number) =>
  list.hashes.toString("hex", place * list.hashBytes, (place + 1) * list.hashBytes);

async function readList(exec: GitExec, repo: Repository, head: string, limit: number): Promise<CommitList> {
  const hashBytes = head.length / 2;
  const hashes: Buffer[] = [];
  const times: number[] = [];
  let rest = "";
  const args = ["rev-list", "--timestamp", `--max-count=${limit + 1}`, "--end-of-options", head, "--"];
  const result = await exec.run([...at(repo), ...args], {
    timeoutMs: LIST_MS,
    maxBytes: Number.POSITIVE_INFINITY,
    onData(chunk) {
      const lines = (rest + chunk.toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const space = line.indexOf(" ");
        times.push(Math.min(Number(line.slice(0, space)), times.at(-1) ?? Number.POSITIVE_INFINITY));
        hashes.push(Buffer.from(line.slice(space + 1), "hex"));
      }
      return undefined;
    },
  });
  if (result.code !== 0) throw toGitError(result, "rev-list");
  const complete = times.length <= limit;
  return { hashes: Buffer.concat(hashes), hashBytes, earliest: Float64Array.from(times), complete };
}

/** First index whose value is at most `bound`; the length when there is none. `values` never rise. */
function firstAtOrBelow(values: Float64Array, bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
