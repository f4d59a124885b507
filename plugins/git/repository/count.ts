/** How many commits a HEAD has. */
import { at, type GitExec, toGitError } from "../process/exec.ts";
import { type Repository, shallowStamp } from "./repository.ts";

const COUNT_MS = 30_000;

/** Kept per HEAD; when HEAD moves, only the commits on either side of the old and the new one are counted. */
export function createCounter(exec: GitExec): (repo: Repository, head: string) => Promise<number> {
  const kept = new Map<string, { head: string; shallow: string; count: Promise<number> }>();
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
  return async (repo, head) => {
    const shallow = await shallowStamp(repo);
    const last = kept.get(repo.gitDir);
    if (last?.head === head && last.shallow === shallow) return last.count;
    const count = (async () => {
      const before = last?.shallow === shallow ? await last.count.catch(() => undefined) : undefined;
      if (last === undefined || before === undefined) return full(repo, head);
      // The old HEAD may be gone (history rewritten and pruned).
      return moved(repo, last.head, head, before).catch(() => full(repo, head));
    })();
    kept.set(repo.gitDir, { head, shallow, count });
    count.catch(() => {
      if (kept.get(repo.gitDir)?.count === count) kept.delete(repo.gitDir);
    });
    return count;
  };
}
