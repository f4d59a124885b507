/** The service `git`: what other plugins and the routes ask about repositories. Nothing starts before the first question. */
import { BoundedMap, type Pool, type PoolTask, SessarcError } from "sessarc";
import { type AddingCommits, commitsAdding } from "./history/added.ts";
import { type BlameAt, type BlamedFile, blame } from "./history/blame.ts";
import { type Change, type ChangeStatus, createChanges } from "./history/changes.ts";
import { type Choice, choose, type Witness } from "./history/choose.ts";
import { type ExportedTree, type ExportJob, exportTree } from "./history/export-job.ts";
import { type FileAt, readFileAt, readText } from "./history/file.ts";
import { type FileChange, loadFileChanges } from "./history/file-changes.ts";
import { createHistory } from "./history/history.ts";
import { readNotes, removeNotes, writeNotes } from "./history/notes.ts";
import { type Commit, type CommitObject, findEntry, percentForm, readCommit, toText } from "./history/objects.ts";
import {
  type CommitPatch,
  type FilePatch,
  findRange,
  loadPatches,
  loadRange,
  loadStaged,
  type PatchQuery,
  readLastChanges,
  readTips,
} from "./history/patches.ts";
import type { Objects } from "./process/batch.ts";
import { at, createExec, type GitExec } from "./process/exec.ts";
import { createBatchPool } from "./process/pool.ts";
import { createExcludesReader } from "./process/user-config.ts";
import { createIdentityReader, type IdentityReader } from "./repository/identity.ts";
import { CountFile, type CountFileOptions } from "./repository/kept-counts.ts";
import { createFinder, type Repository, readShallow } from "./repository/repository.ts";
import { createStatusReader, type StatusReader } from "./repository/status.ts";

export interface GitOptions {
  /** Program to start; default `git`, found on PATH. */
  binary?: string | undefined;
  /** `cat-file` processes alive at once. Default 8. */
  maxProcesses?: number | undefined;
  /** Idle time after which a `cat-file` process ends. Default 60,000. */
  idleMs?: number | undefined;
  /** Time for one object; past it its process is ended. Default 10,000. */
  timeoutMs?: number | undefined;
  /** Environment of git; default: this process's. Variables that steer git are taken out. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** File that caches the commit counts of HEADs; without it they are recounted after a start. */
  counts?: CountFileOptions | undefined;
  /** Where long work runs; default: this thread. */
  pool?: Pick<Pool, "run"> | undefined;
}

export interface CommitAt {
  /** Null when nothing was committed at that time. */
  commit: Commit | null;
  /** The time is before the first commit (or before what a shallow clone holds). */
  beforeHistory: boolean;
  /** Git keeps no record of uncommitted work: false only for the commit's own stamp, when no other commit has it. */
  dirtyUnknown: boolean;
  /** What it is known by: stamps and parents, the commits that the session's log saw made, or the contents of files in it. */
  evidence: Choice["evidence"];
  /** Commits that fit as well, newest first: stamps have whole seconds. Empty when it is this one. */
  others: Commit[];
}

export interface TreeFile {
  path: string;
  /** Percent-encoded bytes of a path that is no UTF-8; absent otherwise. `fileAt` takes either. */
  pathBytes?: string;
  /** Six octal digits. */
  mode: string;
  /** Bytes; null for a submodule. */
  size: number | null;
}

export interface TreeChange {
  path: string;
  pathBytes?: string;
  status: ChangeStatus;
  /** Of a rename. */
  previousPath?: string;
}

export interface TreeAt {
  /** Full hash. */
  commit: string;
  files: TreeFile[];
  /** Against the first parent; all files for a first commit. */
  changed: TreeChange[];
  /** A list was cut at 50,000 rows. */
  truncated: boolean;
}

/**
 * `path` is any folder of the repository. The readers throw NO_REPOSITORY for a path without one, COMMIT_NOT_FOUND,
 * FILE_NOT_FOUND, OBJECT_MISSING (shallow and partial clones), GIT_MISSING, GIT_TIMEOUT and GIT_FAILED.
 */
export interface Git extends StatusReader {
  /** Without a process, unless root commits are asked for. Never throws for a path outside a repository. */
  identity: IdentityReader;
  /**
   * Newest commit of HEAD's history committed at or before `time` (ISO 8601). Stamps have whole seconds: inside the second of a commit
   * the `witness` decides which side of it the moment is on, if it can; it also knows commits that were amended or rebased since.
   */
  commitAt(path: string, time: string, witness?: Witness): Promise<CommitAt>;
  /** The commit of HEAD's history that came after the one `commitAt` answers; null when there is none. */
  commitAfter(path: string, time: string, witness?: Witness): Promise<Commit | null>;
  /** `commit`: 7 to 64 hex digits. `files: false` leaves out the list of all files. */
  treeAt(path: string, commit: string, options?: { files?: boolean }): Promise<TreeAt>;
  /** `file`: a path as `treeAt` answers it, its `pathBytes`, or its bytes. */
  fileAt(path: string, commit: string, file: string | Uint8Array): Promise<FileAt>;
  /** Which commit brought each line of a file, at `commit` or at HEAD. A folder or an unknown path is FILE_NOT_FOUND. */
  blameAt(path: string, commit: string | undefined, file: string | Uint8Array): Promise<BlameAt>;
  /** Text of a file in a commit; null where the commit has no such file, or it is binary or larger than 2 MiB. */
  textAt(path: string, commit: string, file: string): Promise<string | null>;
  /** Full hash of the commit that a branch, tag, hash or expression as `HEAD~2` names. Throws COMMIT_NOT_FOUND. */
  resolve(path: string, rev: string): Promise<string>;
  /** What commits added and removed, oldest first. Linear in the patches. */
  patches(path: string, query: PatchQuery): Promise<CommitPatch[]>;
  /** Hashes that a commit, a branch, `base..head` or `last` means, newest first, merges left out. Throws COMMIT_NOT_FOUND. */
  range(path: string, spec: string): Promise<string[]>;
  /** What the commits of a range (as `range` takes it) added and removed, oldest first. Throws COMMIT_NOT_FOUND. Linear in their patches. */
  rangePatches(path: string, spec: string): Promise<CommitPatch[]>;
  /** What a tree (`git write-tree`, a full hash) has other than HEAD, and when each of its files was last changed by a commit (ms). */
  staged(path: string, tree: string): Promise<{ files: FilePatch[]; changed: Map<string, number> }>;
  /** Hashes of a commit and of all it comes from, newest first. Linear in the history. */
  reachable(path: string, hash: string): Promise<string[]>;
  /** Notes under a ref (`refs/notes/…`), by commit. */
  notes(path: string, ref: string, commits: readonly string[]): Promise<Map<string, string>>;
  /** Replaces the notes of these commits under `ref`: the one thing that is ever written into a repository, at the user's request. */
  writeNotes(path: string, ref: string, notes: ReadonlyMap<string, string>): Promise<void>;
  /** Removes the notes of these commits under `ref`. */
  removeNotes(path: string, ref: string, commits: readonly string[]): Promise<void>;
  /** Hashes of HEAD and of the local branches. */
  tips(path: string): Promise<{ head: string | undefined; branches: { name: string; hash: string }[] }>;
  /** Writes the files of a commit into an empty folder, straight from the object store, in a pool worker. */
  exportTree(path: string, commit: string, folder: string, limits: ExportJob["limits"]): Promise<ExportedTree>;
  /** Hashes of a commit's files, by path; at most 50,000. */
  hashesAt(path: string, commit: string): Promise<Map<string, string>>;
  /** A file's content by its full hash; undefined when the repository does not hold it, or it is larger than `limit` bytes. */
  object(path: string, hash: string, limit: number): Promise<Buffer | undefined>;
  /** Changes of a file, or of all files below a folder, in the commits of all branches and of the reflog, newest first; 5,000 at most. */
  fileChanges(path: string, file: string): Promise<FileChange[]>;
  /** Commits of all branches whose added lines hold `text`, one line of text at most. */
  commitsAdding(path: string, text: string, signal?: AbortSignal): Promise<AddingCommits>;
  /** Ends every process; the service is not usable afterwards. */
  close(): Promise<void>;
}

const EXPORT: PoolTask<[ExportJob], ExportedTree> = {
  specifier: "sessarc/plugins/git/export-job",
  export: "exportTree",
  inline: exportTree,
};

const HASH = /^[0-9a-f]{7,64}$/i;
/** No blank, no control character, no option. */
const REV = /^[^\s\p{C}-][^\s\p{C}]{0,199}$/u;

export function createGit(options: GitOptions = {}): Git {
  const env = options.env ?? process.env;
  const binary = options.binary ?? "git";
  const exec = createExec({ binary, env });
  const find = createFinder();
  const command = createCommandProbe(exec);
  const { maxProcesses: max, idleMs, timeoutMs } = options;
  const pool = createBatchPool(exec, { max, idleMs, timeoutMs, command });
  const history = createHistory(exec);
  const changes = createChanges(exec);
  const counts = new CountFile(options.counts);
  const blamed = new BoundedMap<string, BlamedFile>(16);

  async function open<T>(path: string, task: (repo: Repository, objects: Objects) => Promise<T>): Promise<T> {
    const repo = await find(path);
    if (!repo) throw new SessarcError("NO_REPOSITORY", { project: path });
    return pool.use(repo, (objects) => task(repo, objects));
  }

  async function chosen(repo: Repository, objects: Objects, time: string, witness?: Witness) {
    const moment = toMoment(time);
    const head = (await objects.info("HEAD^{commit}"))?.hash;
    const none: Choice = { commit: undefined, evidence: "time", others: [] };
    if (head === undefined) return { moment, head, choice: none };
    const ask = { repo, objects, history, shallow: await readShallow(repo) };
    return { moment, head, choice: await choose(ask, head, moment, witness) };
  }

  return {
    ...createStatusReader(exec, find, createExcludesReader({ binary, env }), counts),
    identity: createIdentityReader(exec),
    commitAt: (path, time, witness) =>
      open(path, async (repo, objects) => {
        const { moment, choice } = await chosen(repo, objects, time, witness);
        const { commit, evidence, others } = choice;
        const unknown = !moment.exact || others.length > 0 || Date.parse(commit?.at ?? "") !== moment.seconds * 1000;
        return {
          commit: commit ? toCommit(commit) : null,
          beforeHistory: !commit,
          dirtyUnknown: unknown,
          evidence,
          others: others.map(toCommit),
        };
      }),
    commitAfter: (path, time, witness) =>
      open(path, async (repo, objects) => {
        const { head, choice } = await chosen(repo, objects, time, witness);
        const hash = head && (await history.after(repo, head, choice.commit?.hash));
        return hash ? toCommit(await readCommit(objects, hash, await readShallow(repo))) : null;
      }),
    treeAt: (path, name, { files: wanted = true } = {}) =>
      open(path, async (repo, objects) => {
        const hash = await resolveCommit(objects, name);
        const commit = await readCommit(objects, hash, await readShallow(repo));
        const [files, changed] = await Promise.all([
          wanted ? changes.files(repo, hash) : { items: [], cut: false },
          changes.between(repo, commit.parents[0], hash),
        ]);
        return {
          commit: hash,
          files: files.items.map(({ path, mode, size }) => ({ ...shown(path), mode, size })),
          changed: changed.items.map(toTreeChange),
          truncated: files.cut || changed.cut,
        };
      }),
    fileAt: (path, name, file) =>
      open(path, async (repo, objects) => {
        const shallow = await readShallow(repo);
        const commit = await readCommit(objects, await resolveCommit(objects, name), shallow);
        return readFileAt({ repo, objects, changes, shallow }, commit, file);
      }),
    blameAt: (path, name, file) =>
      open(path, async (repo, objects) => {
        const head =
          name === undefined ? (await objects.info("HEAD^{commit}"))?.hash : await resolveCommit(objects, name);
        if (head === undefined) throw new SessarcError("COMMIT_NOT_FOUND", { commit: "HEAD" });
        const { hash, tree, at } = await readCommit(objects, head, await readShallow(repo));
        const found = await findEntry(objects, tree, file);
        const shown = typeof file === "string" ? file : Buffer.from(file).toString("utf8");
        if (!found?.entry.mode.startsWith("100"))
          throw new SessarcError("FILE_NOT_FOUND", { commit: hash, path: shown });
        const key = `${repo.commonDir} ${hash} ${found.path}`;
        let lines = blamed.use(key) ?? null;
        // `git blame` takes a path as text alone.
        const named = percentForm(found.path) === undefined;
        if (!lines && named && (await readText(objects, found.entry)).text !== null) {
          lines = await blame(exec, repo, hash, toText(found.path));
          blamed.set(key, lines);
        }
        return { commit: hash, at, path: toText(found.path), file: lines };
      }),
    textAt: (path, name, file) =>
      open(path, async (repo, objects) => {
        const { tree } = await readCommit(objects, await resolveCommit(objects, name), await readShallow(repo));
        return (await readText(objects, (await findEntry(objects, tree, file))?.entry)).text;
      }),
    resolve: (path, rev) =>
      open(path, async (_, objects) => {
        // It becomes a line of input of `git cat-file`.
        const info = REV.test(rev) ? await objects.info(`${rev}^{commit}`) : undefined;
        if (!info) throw new SessarcError("COMMIT_NOT_FOUND", { commit: rev });
        return info.hash;
      }),
    patches: (path, query) => open(path, (repo) => loadPatches(exec, repo, query)),
    range: (path, spec) =>
      open(path, async (repo) => {
        const hashes = await findRange(exec, repo, spec);
        if (!hashes) throw new SessarcError("COMMIT_NOT_FOUND", { commit: spec });
        return hashes;
      }),
    rangePatches: (path, spec) =>
      open(path, async (repo) => {
        const patches = await loadRange(exec, repo, spec);
        if (!patches) throw new SessarcError("COMMIT_NOT_FOUND", { commit: spec });
        return patches;
      }),
    staged: (path, tree) =>
      open(path, async (repo) => {
        const files = await loadStaged(exec, repo, tree);
        const names = [...new Set(files.flatMap(({ path, previousPath }) => [path, previousPath]))];
        return { files, changed: names.length === 0 ? new Map() : await readLastChanges(exec, repo, names) };
      }),
    reachable: (path, hash) =>
      open(path, async (repo) => {
        const result = await exec.run([...at(repo), "rev-list", "--end-of-options", hash, "--"]);
        return result.stdout.toString("latin1").split("\n").filter(Boolean);
      }),
    notes: (path, ref, commits) => open(path, (repo) => readNotes(exec, repo, ref, commits)),
    writeNotes: (path, ref, notes) => open(path, (repo) => writeNotes(exec, repo, ref, notes)),
    removeNotes: (path, ref, commits) => open(path, (repo) => removeNotes(exec, repo, ref, commits)),
    tips: (path) => open(path, (repo) => readTips(exec, repo)),
    async exportTree(path, name, folder, limits) {
      const [commit, repo] = await open(path, async (repo, objects) => [await resolveCommit(objects, name), repo]);
      const { gitDir, worktree } = repo;
      const job: ExportJob = { binary, env: { ...env }, repo: { gitDir, worktree }, commit, folder, limits };
      return options.pool ? options.pool.run(EXPORT, job) : exportTree(job);
    },
    hashesAt: (path, name) =>
      open(path, async (repo, objects) => {
        const { items } = await changes.files(repo, await resolveCommit(objects, name));
        return new Map(items.map(({ path, hash }) => [toText(path), hash]));
      }),
    object: (path, hash, limit) =>
      open(path, async (_, objects) => {
        if (!/^[0-9a-f]{40,64}$/.test(hash)) throw new SessarcError("INVALID_INPUT", { reason: "Not a full hash" });
        const object = await objects.contents(hash, limit);
        return object?.type === "blob" ? object.data : undefined;
      }),
    fileChanges: (path, file) => open(path, (repo) => loadFileChanges(exec, repo, file)),
    commitsAdding: (path, text, signal) => open(path, (repo) => commitsAdding(exec, repo, text, signal)),
    async close() {
      pool.close();
      await exec.close();
      await counts.close();
    },
  };
}

/** `exact`: a whole second. */
function toMoment(time: string): { seconds: number; exact: boolean } {
  const ms = Date.parse(time);
  if (!Number.isFinite(ms)) throw new SessarcError("INVALID_INPUT", { reason: "Not an ISO 8601 time" });
  return { seconds: Math.floor(ms / 1000), exact: ms % 1000 === 0 };
}

const toCommit = ({ tree: _, ...commit }: CommitObject): Commit => commit;

/** The full hash of an abbreviated one. A branch that is named like a hash does not count. */
async function resolveCommit(objects: Objects, name: string): Promise<string> {
  if (!HASH.test(name)) throw new SessarcError("INVALID_INPUT", { reason: "A commit is 7 to 64 hex digits" });
  const prefix = name.toLowerCase();
  const info = await objects.info(`${prefix}^{commit}`);
  if (!info?.hash.startsWith(prefix)) throw new SessarcError("COMMIT_NOT_FOUND", { commit: name });
  return info.hash;
}

/** `cat-file --batch-command` came with git 2.36. Asked once; a failure is asked again. */
function createCommandProbe(exec: GitExec): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= exec.run(["version"], { timeoutMs: 5_000 }).then(({ stdout }) => {
      const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout.toString("latin1")) ?? []).map(Number);
      return major > 2 || (major === 2 && minor >= 36);
    });
    asked.catch(() => {
      asked = undefined;
    });
    return asked;
  };
}

function shown(path: string): { path: string; pathBytes?: string } {
  const pathBytes = percentForm(path);
  return pathBytes === undefined ? { path: toText(path) } : { path: toText(path), pathBytes };
}

function toTreeChange({ path, status, previousPath }: Change): TreeChange {
  return { ...shown(path), status, ...(previousPath === undefined ? {} : { previousPath: toText(previousPath) }) };
}
