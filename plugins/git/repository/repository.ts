/** Finds the repository of a folder by reading, as git would, without starting it. */
import { promises as fs, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { BoundedMap } from "sessarc";
import { type ConfigEntry, configValue, parseConfig } from "./config.ts";

export interface Repository {
  /** Real path of the main work tree; of a bare repository, its own folder. Worktrees and subfolders share it. */
  root: string;
  /** The work tree that holds the folder: `root`, or a linked worktree; null in a bare repository. */
  worktree: string | null;
  /** HEAD and index of `worktree`. */
  gitDir: string;
  /** Objects, refs and configuration, shared by all worktrees. */
  commonDir: string;
  bare: boolean;
  /** Text of the configuration files, `config` then `config.worktree`. */
  configText: string;
  config: readonly ConfigEntry[];
}

/** Files git keeps small. A larger one is not read: git does not write such files. */
const SMALL = 512 * 1024;
/** packed-refs and shallow grow with the number of branches. */
const LISTS = 8 * 1024 * 1024;

/**
 * The repository `path` is in; undefined for none; null when `path` does not exist or is not absolute.
 * A file stands for its folder. Costs a few stats and reads per parent folder; nothing is cached.
 */
export async function findRepository(path: string): Promise<Repository | undefined | null> {
  const stat = isAbsolute(path) ? await findStat(path) : undefined;
  if (!stat) return null;
  const real = await fs.realpath(path).catch(() => undefined);
  if (real === undefined) return null;
  let folder = stat.isDirectory() ? real : dirname(real);
  for (;;) {
    const found = await repositoryAt(folder);
    if (found !== "none") return found;
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

/**
 * findRepository with a cache: a main work tree asked for by its own real path is read once, then costs one
 * stat of its configuration, which is read again when it changed. All other places are read each time.
 */
export function createFinder(): typeof findRepository {
  const known = new BoundedMap<string, { stamp: string; repo: Repository }>(1000);
  return async (path) => {
    const kept = known.get(path);
    const before = await findStamp(join(path, ".git", "config"));
    if (kept !== undefined && kept.stamp === before) return kept.repo;
    known.delete(path);
    const repo = await findRepository(path);
    const plain =
      repo && repo.worktree === path && repo.gitDir === join(path, ".git") && repo.commonDir === repo.gitDir;
    // With `worktreeConfig` there is a second file to watch: not worth it.
    if (plain && before !== undefined && !/worktreeConfig/i.test(repo.configText)) {
      known.set(path, { stamp: before, repo });
    }
    return repo;
  };
}

/** What HEAD says, without a process: undefined where refs are not plain files (reftable) or HEAD is unreadable. */
export async function readHead(repo: Repository): Promise<{ branch: string | null; hash: string | null } | undefined> {
  const text = (await readSmall(join(repo.gitDir, "HEAD")))?.trim() ?? "";
  if (isHash(text)) return { branch: null, hash: text };
  let ref = /^ref: (refs\/.+)$/.exec(text)?.[1];
  if (!ref || !isPlainRef(ref) || ref === "refs/heads/.invalid") return undefined;
  const branch = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : ref;
  for (let hops = 0; hops < 5; hops++) {
    const value: string | undefined = (await readSmall(join(repo.commonDir, ref)))?.trim();
    if (value && isHash(value)) return { branch, hash: value };
    const next: string | undefined = /^ref: (refs\/.+)$/.exec(value ?? "")?.[1];
    if (!next) break;
    if (!isPlainRef(next)) return undefined;
    ref = next;
  }
  const packed = await readSmall(join(repo.commonDir, "packed-refs"), LISTS);
  if (packed === undefined) return { branch, hash: null };
  const end = packed.indexOf(` ${ref}\n`);
  const hash = end < 0 ? "" : packed.slice(packed.lastIndexOf("\n", end) + 1, end);
  return { branch, hash: isHash(hash) ? hash : null };
}

/** Commits whose parents are cut off in a shallow clone; empty in a full one. */
export async function readShallow(repo: Repository): Promise<Set<string>> {
  const text = await readSmall(join(repo.commonDir, "shallow"), LISTS);
  return new Set(text ? text.split("\n").filter(isHash) : []);
}

/** Changes when the history is deepened. */
export async function shallowStamp(repo: Repository): Promise<string> {
  const stat = await findStat(join(repo.commonDir, "shallow"));
  return stat ? `${stat.size}:${stat.mtimeMs}` : "";
}

async function repositoryAt(folder: string): Promise<Repository | undefined | "none"> {
  const dotGit = join(folder, ".git");
  const stat = await findStat(dotGit);
  if (stat?.isFile()) {
    const target = await readLink(dotGit);
    const gitDir = target && (await fs.realpath(resolve(folder, target)).catch(() => undefined));
    // git refuses to look further up past a broken link.
    return gitDir ? openRepository(gitDir, folder) : undefined;
  }
  if (stat?.isDirectory()) {
    const found = await openRepository(await fs.realpath(dotGit), folder);
    if (found) return found;
  }
  // Bare, or the folder is (inside) a .git folder itself.
  const bare = (await findStat(join(folder, "HEAD"))) ? await openRepository(folder, null) : undefined;
  return bare ?? "none";
}

async function openRepository(gitDir: string, worktree: string | null): Promise<Repository | undefined> {
  const common = (await readSmall(join(gitDir, "commondir")))?.trim();
  const commonDir = common ? await fs.realpath(resolve(gitDir, common)).catch(() => undefined) : gitDir;
  if (!commonDir || !(await isGitDir(gitDir, commonDir))) return undefined;
  const configText = `${await readConfig(join(commonDir, "config"))}\n${await readConfig(join(gitDir, "config.worktree"))}`;
  const config = parseConfig(configText);
  const bare = /^(true|yes|on|1)$/i.test(configValue(config, "core.bare") ?? "false");
  const place = { gitDir, commonDir, configText, config };
  if (gitDir !== commonDir) {
    return { ...place, root: await mainRoot(commonDir, config), worktree, bare: worktree === null };
  }
  const around = worktree ?? (await folderAround(gitDir, bare));
  // A bare repository kept in `project/.git` beside its worktrees has the project folder as its root, too.
  const tree = bare ? null : around;
  return { ...place, root: around ?? gitDir, worktree: tree, bare: tree === null };
}

/** The project's folder around a git folder: `.git`, one that a `.git` file beside it names, or a bare one that is hidden beside its work trees. */
async function folderAround(gitDir: string, bare: boolean): Promise<string | null> {
  const folder = dirname(gitDir);
  if (basename(gitDir) === ".git" || (bare && basename(gitDir).startsWith("."))) return folder;
  const target = await readLink(join(folder, ".git"));
  const named = target && (await fs.realpath(resolve(folder, target)).catch(() => undefined));
  return named === gitDir ? folder : null;
}

/** The main work tree of a linked one: the folder around .git, or, of a submodule, the one that its configuration names. */
async function mainRoot(commonDir: string, config: readonly ConfigEntry[]): Promise<string> {
  const named = configValue(config, "core.worktree");
  if (named === undefined || basename(commonDir) === ".git") {
    const bare = /^(true|yes|on|1)$/i.test(configValue(config, "core.bare") ?? "false");
    return (await folderAround(commonDir, bare)) ?? commonDir;
  }
  const root = resolve(commonDir, named);
  // A configuration may name any folder: believed only when that folder says the same.
  const back = await readLink(join(root, ".git"));
  return back && (await fs.realpath(resolve(root, back)).catch(() => undefined)) === commonDir ? root : commonDir;
}

/** Target of a `.git` file. */
async function readLink(dotGit: string): Promise<string | undefined> {
  return /^gitdir: (.+?)[\r\n]*$/.exec((await readSmall(dotGit)) ?? "")?.[1];
}

async function isGitDir(gitDir: string, commonDir: string): Promise<boolean> {
  const [head, objects, refs] = await Promise.all([
    readSmall(join(gitDir, "HEAD")),
    findStat(join(commonDir, "objects")),
    findStat(join(commonDir, "refs")),
  ]);
  const text = head?.trim() ?? "";
  return (
    (text.startsWith("ref: refs/") || isHash(text)) && objects?.isDirectory() === true && refs?.isDirectory() === true
  );
}

/** A configuration that is there and cannot be read counts as one that may hold anything (see filters.ts). */
async function readConfig(path: string): Promise<string> {
  const stat = await findStat(path);
  return stat ? ((await findRead(path, stat, SMALL)) ?? "# include filter") : "";
}

/** A missing or unreadable file is undefined; so are pipes and devices, which would block the reader for good. */
async function readSmall(path: string, limit = SMALL): Promise<string | undefined> {
  const stat = await findStat(path);
  return stat && findRead(path, stat, limit);
}

async function findRead(path: string, stat: Stats, limit: number): Promise<string | undefined> {
  if (!stat.isFile() || stat.size > limit) return undefined;
  return fs.readFile(path, "utf8").catch(() => undefined);
}

/** Equal for an unchanged file. The change time cannot be set back. */
async function findStamp(path: string): Promise<string | undefined> {
  const stat = await findStat(path);
  return stat && `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}

async function findStat(path: string): Promise<Stats | undefined> {
  return fs.stat(path).catch(() => undefined);
}

const isHash = (text: string) => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
const isPlainRef = (ref: string) => !ref.split("/").some((part) => part === ".." || part === "." || part === "");
