/** The history as a source: what a git command would print of earlier versions, read from the repository. */
import { exec } from "#internal";

/** Bytes that are read. */
const MOST_BYTES = 2 ** 20;
/** Configuration and variables with which git starts no other program, asks nothing and contacts no other machine. */
const FIXED = [
  "--no-pager",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.alternateRefsCommand=",
    "core.askPass=",
    "credential.helper=",
    "protocol.allow=never",
    "log.showSignature=false",
    "gpg.program=false",
    "diff.external=",
    "diff.trustExitCode=false",
    "format.attach=",
    "submodule.recurse=false",
    "gc.auto=0",
  ].flatMap((pair) => ["-c", pair]),
];
const VARIABLES = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_PAGER: "cat",
  LC_ALL: "C",
};

/** Returns what git prints; undefined if it cannot answer. `complete`: that is all of it. */
export async function gitPrints(
  args: readonly string[],
  folder: string,
  { env, timeoutMs }: { env: Readonly<Record<string, string | undefined>>; timeoutMs: number },
): Promise<{ text: string; complete: boolean } | undefined> {
  const own = Object.entries(env).filter(([name]) => !/^(?:GIT_|SSH_ASKPASS)/i.test(name));
  try {
    const { code, stdout, truncated, timedOut } = await exec("git", [...FIXED, ...args], {
      cwd: folder,
      env: { ...Object.fromEntries(own), ...VARIABLES },
      timeoutMs,
      maxBytes: MOST_BYTES,
    });
    const complete = code === 0 && !truncated && !timedOut;
    return complete || truncated || timedOut ? { text: stdout.toString("utf8"), complete } : undefined;
  } catch {
    // Without git, or without the folder, the command prints nothing either.
    return undefined;
  }
}
