/** The one way git is run for skills: argument lists, an environment of its own, nothing of the user's configuration, no helpers. */
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isSessarcError, type Kernel, SessarcError } from "sessarc";
import { type ExecResult, exec, GIT_OPTIONS, GIT_VARIABLES } from "sessarc/files";

export interface Git {
  /** Runs to the end; the exit code is an answer. Throws SKILL_UPSTREAM_LATE, SKILL_UPSTREAM_FAILED (too large), SKILL_GIT_MISSING. */
  run(args: readonly string[], options?: { input?: string; maxBytes?: number }): Promise<ExecResult>;
  /** An empty bare repository of this run; gone with it. */
  readonly folder: string;
}

/** All commands of one fetch together. */
const DEADLINE_MS = 60_000;
/** What a fetch may put on the disk. */
const MAX_DISK = 256 * 2 ** 20;
const LOOK_MS = 200;

/** Protocols that a fetch may use: that of its address alone. */
const toProtocol = (url: string): "https" | "ssh" | "file" =>
  url.startsWith("ssh://") ? "ssh" : url.startsWith("file://") ? "file" : "https";

/**
 * The user's own keys, agent and known hosts, and nothing that asks or forwards. A host that the user's ssh does not know is refused: whose
 * key it is, is for the user to say.
 */
const SSH =
  "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ForwardAgent=no -o ForwardX11=no -o ClearAllForwardings=yes -o PermitLocalCommand=no -o ConnectTimeout=15";

const fixed = (protocol: "https" | "ssh" | "file"): string[] => [
  ...GIT_OPTIONS,
  "--literal-pathspecs",
  ...[
    "http.followRedirects=false",
    `protocol.${protocol}.allow=always`,
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "transfer.bundleURI=false",
    "init.templateDir=",
  ].flatMap((pair) => ["-c", pair]),
];

/** How the machine reaches the network; nothing else of the user's environment. */
const KEPT = /^(PATH|SystemRoot|windir|TEMP|TMP|TMPDIR|(https?|all|no)_proxy|SSL_CERT_(FILE|DIR))$/i;

function environment(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  protocol: "https" | "ssh" | "file",
): Record<string, string | undefined> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name))),
    PATH: env.PATH ?? process.env.PATH,
    // No .netrc, no configuration, no key of the user's.
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: home,
    ...GIT_VARIABLES,
    GIT_ASKPASS: "false",
    SSH_ASKPASS: "false",
    GIT_SSH_COMMAND: protocol === "ssh" ? SSH : "false",
    GIT_SSH_VARIANT: "ssh",
    ...(protocol === "ssh" && env.SSH_AUTH_SOCK !== undefined ? { SSH_AUTH_SOCK: env.SSH_AUTH_SOCK } : {}),
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

/** Gives `work` git in a folder of its own below `parent`, which is gone afterwards. `url` says which protocol is allowed; it was checked before. */
export async function withGit<T>(
  kernel: Pick<Kernel, "env">,
  parent: string,
  url: string,
  work: (git: Git) => Promise<T>,
): Promise<T> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(join(parent, "fetch-"));
  const folder = join(place, "repository.git");
  const home = join(place, "home");
  const ends = performance.now() + DEADLINE_MS;
  const protocol = toProtocol(url);
  const env = environment(kernel.env.env, home, protocol);
  const git: Git = {
    folder,
    async run(args, { input, maxBytes } = {}) {
      const full = new AbortController();
      const watch = setInterval(async () => {
        if ((await readSize(place)) > MAX_DISK)
          full.abort(new SessarcError("SKILL_UPSTREAM_FAILED", { url, reason: "it is too large" }));
      }, LOOK_MS);
      try {
        const result = await exec("git", [...fixed(protocol), ...args], {
          cwd: place,
          env,
          timeoutMs: Math.max(1, ends - performance.now()),
          signal: full.signal,
          ...(input !== undefined && { input }),
          ...(maxBytes !== undefined && { maxBytes }),
        });
        if (result.timedOut) throw new SessarcError("SKILL_UPSTREAM_LATE", { url, ms: DEADLINE_MS });
        if (result.truncated) throw new SessarcError("SKILL_UPSTREAM_FAILED", { url, reason: "it is too large" });
        return result;
      } catch (error) {
        if (isSessarcError(error) && error.code === "COMMAND_FAILED")
          throw new SessarcError("SKILL_GIT_MISSING", {}, { cause: error });
        throw error;
      } finally {
        clearInterval(watch);
      }
    },
  };
  try {
    await mkdir(home, { mode: 0o700 });
    const made = await git.run(["init", "--quiet", "--bare", "--template=", "--", folder]);
    if (made.code !== 0) throw failed(url, made);
    return await work(git);
  } finally {
    await rm(place, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** git's own words go to the cause, which stays inside: they may name paths and repeat what a server said. */
export function failed(url: string, result: ExecResult): SessarcError {
  const text = result.stderr.toString();
  const reason = /Could not resolve host|Failed to connect|unable to access/i.test(text)
    ? "it cannot be reached"
    : /Host key verification failed/i.test(text)
      ? "ssh does not know this host: connect to it once with `ssh`, and check its key"
      : /Permission denied|not found|does not exist|does not appear to be a git repository|could not read Username|Authentication/i.test(
            text,
          )
        ? "there is no such repository, or it is not open to you"
        : "git failed";
  return new SessarcError(
    "SKILL_UPSTREAM_FAILED",
    { url, reason },
    { cause: new Error(`exit ${result.code}: ${text}`) },
  );
}

/** Bytes below a folder; an estimate while git writes there. */
async function readSize(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      lstat(join(folder, name)).then(
        (stat) => stat.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
