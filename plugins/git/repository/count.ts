/** How many commits a HEAD has. */
import { BoundedMap } from "sessarc";
import { at, type GitExec, toGitError } from "../process/exec.ts";
import type { CountFile } from "./kept-counts.ts";
import { type Repository, shallowStamp } from "./repository.ts";

const COUNT_MS = 30_000;
/** Repositories whose count is kept. */
const KEPT = 1_000;

interface Known {
  head: string;
  shallow: string;
  count: Promise<number>;
  /** Once it is counted. */
  settled?: number;
}

/** Kept per HEAD, in `file` from start to start; when HEAD moves, only the commits on either side of the old and the new one are counted. */
export function createCounter(exec: GitExec, file: CountFile): (repo: Repository, head: string) => Promise<number> {
  const known = new BoundedMap<string, Known>(KEPT);
  let loading: Promise<void> | undefined;
  let running = 0;
  const load = async () => {
    for (const [gitDir, { count, ...rest }] of await file.load())
      known.set(gitDir, { ...rest, count: Promise.resolve(count), settled: count });
  };
  const save = () =>
    file.save(
      [...known].flatMap(([gitDir, { head, shallow, settled }]) =>
        settled === undefined ? [] : [[gitDir, { head, shallow, count: settled }] as const],
      ),
    );
  const run = async (repo: Repository, args: string[]) => {
    const result = await exec.run([...at(repo), "rev-list", "--count", ...args], { timeoutMs: COUNT_MS });
    if (result.code !== 0) throw toGitError(result, "rev-list");
    return result.stdout.toString("latin1").trim();
  };
  const full = async (repo: Repository, head: string) => Number(await run(repo, ["--end-of-options", head, "--"]));
  const moved = async (repo: Repository, from: string, to: string, before: number) => {
    const sides = await run(repo, ["--left-right", "--end-of-options", `${from}...${to}`, "--"]);
    const [left = 0, right = 0] = sides.split("\t").map(Number);
    return before - left + right;
  };
  const counting = async (repo: Repository, head: string, shallow: string, last: Known | undefined) => {
    const before = last?.shallow === shallow ? await last.count.catch(() => undefined) : undefined;
    if (last === undefined || before === undefined) return full(repo, head);
    // The old HEAD may be gone (history rewritten and pruned).
    return moved(repo, last.head, head, before).catch(() => full(repo, head));
  };
  return async (repo, head) => {
    loading ??= load();
    await loading;
    const shallow = await shallowStamp(repo);
    const last = known.get(repo.gitDir);
    if (last?.head === head && last.shallow === shallow) return last.count;
    running++;
    const one: Known = { head, shallow, count: counting(repo, head, shallow, last) };
    known.set(repo.gitDir, one);
    one.count
      .then((count) => {
        one.settled = count;
      })
      .catch(() => {
        if (known.get(repo.gitDir) === one) known.delete(repo.gitDir);
      })
      .finally(() => {
        // Those that are counted together are written together.
        if (--running === 0) save();
      });
    return one.count;
  };
}
