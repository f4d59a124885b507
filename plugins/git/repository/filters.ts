/**
 * `git status` runs the repository's own filter programs on files whose stat changed. Their names are free, so
 * they are asked for and each is switched off on the command line.
 */

import { SessarcError } from "sessarc";
import { BoundedMap } from "#internal/adapter";
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
    const result = await exec.run([...at(repo), "config", "--list", "--includes", "--name-only", "-z"], {
      timeoutMs,
      maxBytes: 4 * 1024 * 1024,
    });
    // Not knowing the names, we do not run status.
    if (result.code !== 0 || result.truncated) throw toGitError(result, "config");
    const args = toArguments(result.stdout.toString("latin1").split("\0"));
    known.set(repo.gitDir, { text, args });
    return args;
  };
}

function toArguments(keys: string[]): string[] {
  const names = new Set<string>();
  for (const key of keys) {
    const name = /^filter\.(.*)\.[a-z0-9-]+$/s.exec(key)?.[1];
    if (name === undefined) continue;
    const text = Buffer.from(name, "latin1").toString("utf8");
    // A name that is no UTF-8 cannot be passed on, so it cannot be switched off.
    if (text.includes("\uFFFD")) throw new SessarcError("GIT_FAILED", { command: "config" });
    names.add(text);
  }
  return [...names].flatMap((name) => [
    ...set(`filter.${name}.clean`, ""),
    ...set(`filter.${name}.smudge`, ""),
    ...set(`filter.${name}.process`, ""),
    ...set(`filter.${name}.required`, "false"),
  ]);
}

/** `-c` splits at the first `=`, `--config-env` at the last; git too old for it ends with an error, which is safe. */
function set(key: string, value: "" | "false"): string[] {
  if (!key.includes("=")) return ["-c", `${key}=${value}`];
  return [`--config-env=${key}=${value === "" ? "SESSARC_GIT_EMPTY" : "SESSARC_GIT_FALSE"}`];
}
