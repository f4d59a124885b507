/** How commands are kept away from everything but the sandbox: found out once, by trying. */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { toMessage } from "sessarc";
import { exec } from "sessarc/files";
import { createGroup, needsGroup } from "./group.ts";

export type Isolation = { kind: "bubblewrap" | "sandbox-exec"; program: string } | { kind: "none"; reason: string };

export interface IsolationOptions {
  platform: NodeJS.Platform;
  /** PATH in which the programs are looked for. */
  path: string;
  /** Further folders that commands may read: tool chains outside the system's own. */
  readable: readonly string[];
}

interface Invocation {
  program: string;
  args: string[];
  /** Of the program itself; commands get `ENVIRONMENT`. */
  cwd: string;
}

/** What a command is handed beside its text. */
export interface Placement {
  /** The sandbox's files, on this machine. */
  tree: string;
  /** An empty folder for the home. */
  home: string;
  /** Where the command sees the files: the session's own folder where that is possible, so that recorded paths fit. */
  mount: string;
  /** Inside `mount`. */
  cwd: string;
  /** Folder of the real repository's objects, which commands may read; null where there is no repository. */
  objects: string | null;
  /** Network, and what it needs of the system: only where the user asked for it. */
  network?: boolean | undefined;
  /** The home is `home`, and stays; else it is in memory. */
  keepHome?: boolean | undefined;
  /** Variables of the user's environment that the user named. */
  env?: Readonly<Record<string, string>> | undefined;
}

/** Where isolated commands see `objects`. */
export const OBJECTS = "/replay-objects";

const TRY_MS = 5_000;
/** Bytes of `/tmp` and of the home, each. */
const SCRATCH = 256 * 1024 * 1024;
const HOME = "/home/sandbox";

/** Runs `true` in the isolation that this machine should have. */
export async function findIsolation(options: IsolationOptions): Promise<Isolation> {
  const name = { linux: "bwrap", darwin: "sandbox-exec" }[options.platform as string];
  if (name === undefined) return { kind: "none", reason: `there is no isolation for ${options.platform}` };
  const program = options.path
    .split(":")
    .map((folder) => join(folder, name))
    .find((file) => file.startsWith("/") && existsSync(file));
  if (program === undefined) {
    const reason = name === "bwrap" ? "bubblewrap (bwrap) is not installed" : `${name} was not found`;
    return { kind: "none", reason };
  }
  const kind = name === "bwrap" ? "bubblewrap" : "sandbox-exec";
  const trial: Placement = { tree: "/usr", home: "/usr", mount: "/workspace", cwd: "/workspace", objects: null };
  const { args } = invoke({ kind, program }, trial, ["true"], options);
  const failure = await exec(program, args, { env: {}, timeoutMs: TRY_MS }).then(({ code, stderr, timedOut }) => {
    if (code === 0) return undefined;
    return stderr.toString().trim().split("\n", 1)[0] || (timedOut ? "it does not end" : `exit code ${code}`);
  }, toMessage);
  if (failure !== undefined) return { kind: "none", reason: `${name} does not work here: ${failure}` };
  if (needsGroup()) {
    const group = await createGroup({ processes: 1, memoryBytes: 2 ** 24 });
    if (!group)
      return { kind: "none", reason: "the service runs as root, and no control group can be made to limit processes" };
    await group.remove();
  }
  return { kind, program };
}

/** The environment of a command: nothing of the user's. `home` and `extra` are paths as the command sees them. */
export function environment(home: string, extra: readonly string[]): Record<string, string> {
  const path = ["/usr/local/bin", "/usr/bin", "/bin", ...extra];
  return {
    PATH: [...new Set(path)].join(":"),
    HOME: home,
    TMPDIR: "/tmp",
    LANG: "C.UTF-8",
    TERM: "dumb",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
  };
}

/** The argument list that runs `words` isolated. */
export function invoke(
  isolation: { kind: "bubblewrap" | "sandbox-exec"; program: string },
  place: Placement,
  words: readonly string[],
  options: Pick<IsolationOptions, "readable">,
): Invocation {
  const chains = toolChains(options.readable);
  const bins = chains.map((folder) => join(folder, "bin"));
  if (isolation.kind === "bubblewrap") {
    const env = Object.entries({ ...environment(HOME, bins), ...place.env }).flatMap(([name, value]) => [
      "--setenv",
      name,
      value,
    ]);
    return { program: isolation.program, args: [...bubblewrap(place, chains), ...env, "--", ...words], cwd: "/" };
  }
  const env = Object.entries({ ...environment(place.home, bins), ...place.env }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const args = ["-p", profile(place, chains), "/usr/bin/env", "-i", ...env, ...words];
  return { program: isolation.program, args, cwd: join(place.tree, place.cwd.slice(place.mount.length)) };
}

/** New user, process, network, IPC and host name spaces; the system read only; home and /tmp in memory; the sandbox's files writable. */
function bubblewrap(place: Placement, chains: readonly string[]): string[] {
  const system = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((folder) => {
    const info = lstatSync(folder, { throwIfNoEntry: false });
    if (!info) return [];
    return info.isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder];
  });
  const files = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/nix/store"];
  if (place.network) files.push("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki");
  return [
    "--unshare-all",
    ...(place.network ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    ...["--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...["--ro-bind", "/usr", "/usr"],
    ...system,
    ...files.flatMap((file) => ["--ro-bind-try", file, file]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--perms", "1777", "--size", String(SCRATCH), "--tmpfs", "/tmp"],
    ...(place.keepHome ? ["--bind", place.home, HOME] : ["--size", String(SCRATCH), "--tmpfs", HOME]),
    ...chains.flatMap((folder) => ["--ro-bind-try", folder, folder]),
    ...(place.objects === null ? [] : ["--ro-bind", place.objects, OBJECTS]),
    ...["--bind", place.tree, place.mount, "--chdir", place.cwd],
  ];
}

/** Reading is denied below the homes, and writing and network everywhere, but for the sandbox's own folders. */
function profile(place: Placement, chains: readonly string[]): string {
  const text = (path: string) => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  const own = [place.tree, place.home].map((path) => `(subpath ${text(path)})`).join(" ");
  const readable = [...chains, ...(place.objects === null ? [] : [place.objects])]
    .map((path) => `(subpath ${text(path)})`)
    .join(" ");
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork process-exec signal sysctl-read mach-lookup)",
    `(allow file-read* (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library") (literal "/") (literal "/dev/null") (literal "/dev/urandom") (subpath "/private/var/db") ${readable})`,
    `(allow file-read* file-write* ${own} (literal "/dev/null") (literal "/dev/tty"))`,
    place.network ? "(allow network*)" : "(deny network*)",
  ].join("\n");
}

/** Folder of the Node that runs us, when it is not the system's: a project's scripts need it. */
function toolChains(readable: readonly string[]): string[] {
  const node = dirname(dirname(process.execPath));
  const known = ["/usr", "/usr/local", "/", "/bin"];
  return [...new Set([...(known.includes(node) ? [] : [node]), ...readable])];
}

/** The session's own folder, unless the command's system lies there. */
export function toMount(root: string | null): string {
  // A detour (`/x/../usr/bin`) would put the files over the system's own programs.
  if (root === null || !/^\/[^/]+\/./.test(root) || root.includes("\0") || normalize(root) !== root)
    return "/workspace";
  const top = `/${root.split("/")[1]}`;
  const taken =
    ["/usr", "/bin", "/sbin", "/etc", "/proc", "/dev", "/sys", "/nix"].includes(top) || top.startsWith("/lib");
  return taken || root === HOME || HOME.startsWith(`${root}/`) ? "/workspace" : root;
}
