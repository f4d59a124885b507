/**
 * `git status` runs the repository's own filter programs on files whose stat changed. Their names are free, so
 * they are asked for and each is switched off on the command line.
 */

import { BoundedMap } from "sessarc";
import { GIT_LIST_KEYS, gitFiltersOff } from "sessarc/files";
import { at, type GitExec, toGitError } from "../process/exec.ts";
import type { Repository } from "./repository.ts";

/** Arguments that switch off every filter `repo` configures; mostly none. */
type FilterGuard = (repo: Repository, timeoutMs: number) => Promise<string[]>;

/**
 * One more process only for a repository whose configuration has the word `filter` (kept by the text of its
 * configuration) or includes other files (asked each time, since those may change).
 */
export function createFilterGuard(exec: GitExec): FilterGuard {
  const known = new BoundedMap<string, { text: string; args: string[] }>(1000);
  return async (repo, timeoutMs) => {
    const text = repo.configText;
    const includes = /include/i.test(text);
    if (!includes && !/filter/i.test(text)) return [];
    const kept = known.get(repo.gitDir);
    if (!includes && kept?.text === text) return kept.args;
    const result = await exec.run([...at(repo), ...GIT_LIST_KEYS], {
      timeoutMs,
      maxBytes: 4 * 1024 * 1024,
    });
    const args = result.code === 0 && !result.truncated ? gitFiltersOff(result.stdout) : undefined;
    // Not knowing the names, we do not run status.
    if (!args) throw toGitError(result, "config");
    known.set(repo.gitDir, { text, args });
    return args;
  };
}
