/** The history as a source: what a git command would print of earlier versions, read from the repository. */
import { parse } from "node:path";
import { exec, GIT_LIST_KEYS, GIT_OPTIONS, gitEnvironment, gitFiltersOff } from "sessarc/files";

/** Bytes that are read. */
const MOST_BYTES = 2 ** 20;

/** Returns what git prints; undefined if it cannot answer. `complete`: that is all of it. Nothing that the repository names is run. */
export async function readGitOutput(
  args: readonly string[],
  folder: string,
  { env, timeoutMs }: { env: Readonly<Record<string, string | undefined>>; timeoutMs: number },
): Promise<{ text: string; complete: boolean } | undefined> {
  const ends = performance.now() + timeoutMs;
  const git = (more: readonly string[]) =>
    exec("git", [...GIT_OPTIONS, "-C", folder, ...more], {
      // Never the repository: Windows looks for programs in the working directory first.
      cwd: parse(folder).root,
      env: gitEnvironment(env),
      timeoutMs: Math.max(1, ends - performance.now()),
      maxBytes: MOST_BYTES,
    });
  try {
    const keys = await git(GIT_LIST_KEYS);
    const filtersOff = keys.code === 0 && !keys.truncated ? gitFiltersOff(keys.stdout) : undefined;
    if (!filtersOff) return undefined;
    const { code, stdout, truncated, timedOut } = await git([...filtersOff, ...args]);
    const complete = code === 0 && !truncated && !timedOut;
    return complete || truncated || timedOut ? { text: stdout.toString("utf8"), complete } : undefined;
  } catch {
    // Without git, or without the folder, the command prints nothing either.
    return undefined;
  }
}
