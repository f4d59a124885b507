/** Which files git does not hold, and what its names of commits are. */
import { lstat } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { exec, GIT_LIST_KEYS, GIT_OPTIONS, gitEnvironment, gitFiltersOff } from "sessarc/files";

/** Output of git that is read. */
const MOST_BYTES = 16 * 2 ** 20;

export interface Listed {
  /** Absolute; a folder ends with a slash. */
  path: string;
  kind: "changed" | "untracked" | "ignored";
}

export interface Repository {
  top: string;
  /** What below the paths differs from the last commit. Undefined if git does not answer in time. */
  list(paths: readonly string[], isEverythingWanted: boolean): Promise<Listed[] | undefined>;
  /** Branches, tags, remote branches and stashes with their commits. */
  names(): Promise<{ name: string; commit: string }[]>;
  /** Files that a stash holds beside its commit. */
  stashed(commit: string): Promise<{ path: string; bytes: Buffer; mode: number }[]>;
}

/** The folder with a `.git` at or above `path`. Opens no file and starts no process. */
export async function findTopFolder(path: string): Promise<string | undefined> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await lstat(join(folder, ".git")).catch(() => undefined)) return folder;
    if (folder === parse(folder).root) return undefined;
  }
}

/** `ends`: by `performance.now()`. Nothing that the repository names is run. */
export function openRepository(
  top: string,
  { env, ends }: { env: Readonly<Record<string, string | undefined>>; ends: number },
): Repository {
  let filtersOff: Promise<string[] | undefined> | undefined;
  const run = async (args: readonly string[], input?: string): Promise<Buffer | undefined> => {
    const left = ends - performance.now();
    if (left <= 0) return undefined;
    const done = await exec("git", [...GIT_OPTIONS, "-C", top, ...args], {
      // Never the repository: Windows looks for programs in the working directory first.
      cwd: parse(top).root,
      env: gitEnvironment(env),
      timeoutMs: Math.max(1, left),
      maxBytes: MOST_BYTES,
      input,
    }).catch(() => undefined);
    return done?.code === 0 && !done.truncated && !done.timedOut ? done.stdout : undefined;
  };
  const git = async (...args: readonly string[]): Promise<string[] | undefined> => {
    filtersOff ??= run(GIT_LIST_KEYS).then((keys) => keys && gitFiltersOff(keys));
    const off = await filtersOff;
    return off && lines(await run([...off, ...args]));
  };
  return {
    top,
    async list(paths, isEverythingWanted) {
      const specs = paths.map((path) => `:(top,literal)${path === top ? "" : path.slice(top.length + 1)}`);
      const ignored = isEverythingWanted ? "--ignored=matching" : "--ignored=no";
      const options = ["--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", ignored];
      const rows = await git("status", ...options, "--", ...new Set(specs));
      return rows?.map((row) => ({
        path: `${top}/${row.slice(3)}`,
        kind: row.startsWith("??") ? "untracked" : row.startsWith("!!") ? "ignored" : "changed",
      }));
    },
    async names() {
      const refs = await run(["for-each-ref", "--format=%(refname)%00%(objectname)%00"]);
      const stashes = await run(["stash", "list", "--format=%gd%x00%H%x00"]);
      return [...pairs(refs), ...pairs(stashes)].map(([name, commit]) => ({ name, commit }));
    },
    async stashed(commit) {
      const files: { path: string; bytes: Buffer; mode: number }[] = [];
      const changed = lines(await run(["diff-tree", "-r", "-z", "--raw", "--no-renames", `${commit}^1`, commit])) ?? [];
      const added = lines(await run(["ls-tree", "-r", "-z", `${commit}^3`])) ?? [];
      const wanted: { mode: string; blob: string; path: string }[] = [];
      for (let i = 0; i + 1 < changed.length; i += 2) {
        const [, mode = "", , blob = "", kind = ""] = (changed[i] ?? "").split(" ");
        if (kind !== "D") wanted.push({ mode, blob, path: changed[i + 1] ?? "" });
      }
      for (const row of added) {
        const [, mode = "", blob = "", path = ""] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(row) ?? [];
        if (blob !== "") wanted.push({ mode, blob, path });
      }
      for (const { mode, blob, path } of wanted) {
        if (!mode.startsWith("100")) continue;
        const bytes = await run(["cat-file", "blob", blob]);
        if (bytes) files.push({ path: `${top}/${path}`, bytes, mode: Number.parseInt(mode, 8) & 0o777 });
      }
      return files;
    },
  };
}

const lines = (bytes: Buffer | undefined): string[] | undefined =>
  bytes
    ?.toString("utf8")
    .split("\0")
    .filter((row) => row !== "");

function pairs(bytes: Buffer | undefined): [string, string][] {
  const rows =
    bytes
      ?.toString("utf8")
      .split("\0")
      .map((row) => row.replace(/^\n/, "")) ?? [];
  const found: [string, string][] = [];
  for (let i = 0; i + 1 < rows.length; i += 2) found.push([rows[i] ?? "", rows[i + 1] ?? ""]);
  return found;
}
