/** Finds HEAD's commit at a time, among the commits of HEAD by committer time. */

import { createCache } from "sessarc";
import { at, type GitExec, toGitError } from "../process/exec.ts";
import { type Repository, shallowStamp } from "../repository/repository.ts";

export interface History {
  /**
   * The newest commits reachable from `head` that were committed at or before `seconds`, as `git rev-list --min-age=<seconds> <head>`
   * lists them, also where clocks went backwards.
   */
  around(repo: Repository, head: string, seconds: number): Promise<Around>;
  /** The commit listed before `hash`: a newer one; of `undefined` the oldest. Undefined when there is none, or it lies beyond the kept list. */
  after(repo: Repository, head: string, hash: string | undefined): Promise<string | undefined>;
  /** Whether `hash` is in the history; undefined when that is longer than the kept list and does not show it. */
  holds(repo: Repository, head: string, hash: string): Promise<boolean | undefined>;
}

/** Git's stamps have whole seconds: which of `second` was made before a moment inside of it, they do not say. */
interface Around {
  /** Commits of the very second, in git's order. */
  second: string[];
  /** The newest one of a second before. */
  before: string | undefined;
}

/** One walk of git, kept: hashes in git's order, and for each place the smallest time up to it. */
interface CommitList {
  hashes: Buffer;
  hashBytes: number;
  /** Committer times. */
  times: Float64Array;
  /** The smallest time so far. Never rises, so the first place at or before a time is found by halving. */
  earliest: Float64Array;
  /** False when the history is longer than the list. */
  complete: boolean;
}

/** Longer histories answer from the newest commits and ask git for older times. About 36 bytes each. */
const LIST_COMMITS = 250_000;
const LIST_MS = 30_000;
/** Places searched for commits of one second: they are adjacent unless clocks are skewed. */
const SECOND = 256;

export function createHistory(exec: GitExec): History {
  const lists = createCache<CommitList>(8);

  async function loadList(repo: Repository, head: string): Promise<CommitList> {
    const key = `${repo.commonDir} ${head} ${await shallowStamp(repo)}`;
    return lists.get(key, () => readList(exec, repo, head));
  }

  return {
    async around(repo, head, seconds) {
      const list = await loadList(repo, head);
      const place = firstAtOrBelow(list.earliest, seconds);
      if (place === list.earliest.length) return list.complete ? NOTHING : older(repo, head, seconds);
      // Behind a commit of an earlier second stands nothing newer, whatever clocks said.
      if (list.times[place] !== seconds) return { second: [], before: hashAt(list, place) };
      const end = Math.min(place + SECOND, list.times.length);
      const second: string[] = [];
      let before: string | undefined;
      for (let i = place; i < end; i++) {
        if (list.times[i] === seconds) second.push(hashAt(list, i));
        else if ((list.times[i] ?? 0) < seconds) before ??= hashAt(list, i);
      }
      return { second, before };
    },
    async after(repo, head, hash) {
      const list = await loadList(repo, head);
      const place = hash === undefined ? (list.complete ? list.times.length : -1) : toPlace(list, hash);
      return place > 0 ? hashAt(list, place - 1) : undefined;
    },
    async holds(repo, head, hash) {
      const list = await loadList(repo, head);
      return toPlace(list, hash) >= 0 || (list.complete ? false : undefined);
    },
  };

  /** What lies beyond the kept list. */
  async function older(repo: Repository, head: string, seconds: number): Promise<Around> {
    const args = ["rev-list", "-1", "--timestamp", `--min-age=${seconds}`, "--end-of-options", head, "--"];
    const result = await exec.run([...at(repo), ...args], { timeoutMs: LIST_MS });
    if (result.code !== 0) throw toGitError(result, "rev-list");
    const [time, hash] = result.stdout.toString("latin1").trim().split(" ");
    if (hash === undefined) return NOTHING;
    return Number(time) === seconds ? { second: [hash], before: undefined } : { second: [], before: hash };
  }
}

const NOTHING: Around = { second: [], before: undefined };

const hashAt = (list: CommitList, place: number) =>
  list.hashes.toString("hex", place * list.hashBytes, (place + 1) * list.hashBytes);

/** -1 when the list does not hold it. */
function toPlace(list: CommitList, hash: string): number {
  const wanted = Buffer.from(hash, "hex");
  for (let at = list.hashes.indexOf(wanted); at >= 0; at = list.hashes.indexOf(wanted, at + 1)) {
    if (at % list.hashBytes === 0) return at / list.hashBytes;
  }
  return -1;
}

async function readList(exec: GitExec, repo: Repository, head: string): Promise<CommitList> {
  const hashBytes = head.length / 2;
  const hashes: Buffer[] = [];
  const times: number[] = [];
  const earliest: number[] = [];
  let rest = "";
  const args = ["rev-list", "--timestamp", `--max-count=${LIST_COMMITS + 1}`, "--end-of-options", head, "--"];
  const result = await exec.run([...at(repo), ...args], {
    timeoutMs: LIST_MS,
    maxBytes: Number.POSITIVE_INFINITY,
    onData(chunk) {
      const lines = (rest + chunk.toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const space = line.indexOf(" ");
        const time = Number(line.slice(0, space));
        times.push(time);
        earliest.push(Math.min(time, earliest.at(-1) ?? time));
        hashes.push(Buffer.from(line.slice(space + 1), "hex"));
      }
      return undefined;
    },
  });
  if (result.code !== 0) throw toGitError(result, "rev-list");
  const complete = times.length <= LIST_COMMITS;
  const lists = { times: Float64Array.from(times), earliest: Float64Array.from(earliest) };
  return { hashes: Buffer.concat(hashes), hashBytes, ...lists, complete };
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
