/** One sandbox on disk: its files, their index, the contents that were replaced. Its place is ours alone. */
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Blobs, type Services, SessarcError } from "sessarc";
import { isGone } from "sessarc/files";
import { createBlobs } from "sessarc/storage";
import { type Index, readIndex, refresh, writeIndex } from "./index-file.ts";
import { restore } from "./restore.ts";
import { createTree, FILE_LIMIT, type Tree } from "./tree.ts";

const FILES_LIMIT = 100_000;

export interface Sandbox {
  readonly path: string;
  readonly home: string;
  readonly tree: Tree;
  /** The same files and what lies in `.git`, for putting back what a command changed. */
  readonly whole: Tree;
  readonly blobs: Blobs;
  /** Reads all files; returns and stores what changed since the last read. */
  refresh(): ReturnType<typeof refresh>;
  save(index: Index): Promise<void>;
  /** The files as they were when they were last compared. */
  index(): Promise<Index>;
}

/** Folder of a session's sandbox: nothing of it comes from a request or a log but through a hash. */
export const toFolder = (sessionId: string) => createHash("sha256").update(sessionId).digest("hex").slice(0, 24);

export function openSandbox(place: string): Sandbox {
  const path = join(place, "files");
  const blobs = createBlobs(join(place, "blobs"));
  const indexFile = join(place, "index.json");
  return {
    path,
    home: join(place, "home"),
    tree: createTree(path),
    whole: createTree(path, { git: true }),
    blobs,
    refresh: async () => refresh(path, await readIndex(indexFile), blobs),
    index: () => readIndex(indexFile),
    save: (index) => writeIndex(indexFile, index),
  };
}

/** False for what lies in `.git`: it is put back, and not listed. */
export const isProjectFile = (path: string) => path !== ".git" && !path.startsWith(".git/");

interface Seed {
  git: Services["git"] | undefined;
  repository: string | null;
  commit: string | null;
  /** Bytes that the sandbox may hold. */
  bytes: number;
}

/**
 * A sandbox at `place` filled with the commit's files; `prepare` completes it. Only a whole one replaces the one before, after
 * `replacing`: when anything fails earlier, that one is left as it is. Returns what the sandbox lacks, in sentences. Throws REPLAY_TOO_LARGE.
 */
export async function seedSandbox<T>(
  place: string,
  seed: Seed,
  { prepare, replacing }: { prepare(sandbox: Sandbox): Promise<T>; replacing(): Promise<unknown> },
): Promise<{ sandbox: Sandbox; files: number; bytes: number; notes: string[]; prepared: T }> {
  const stage = `${place}.new-${randomBytes(4).toString("hex")}`;
  try {
    const filled = await fill(stage, seed);
    // A commit of more files than git lists at once.
    if (filled.bytes > seed.bytes) throw new SessarcError("REPLAY_TOO_LARGE", { limit: seed.bytes });
    const prepared = await prepare(openSandbox(stage));
    await replacing();
    await setAside(place);
    await rename(stage, place);
    return { ...filled, sandbox: openSandbox(place), prepared };
  } catch (error) {
    await removeAll(stage);
    throw error;
  }
}

/** `bytes`: of the commit's files. */
async function fill(place: string, seed: Seed): Promise<{ files: number; bytes: number; notes: string[] }> {
  await mkdir(join(place, "home"), { recursive: true, mode: 0o700 });
  await mkdir(join(place, "files"), { recursive: true, mode: 0o700 });
  const sandbox = openSandbox(place);
  const index: Index = new Map();
  const notes: string[] = [];
  let bytes = 0;
  if (seed.git && seed.repository !== null && seed.commit !== null) {
    await refuseLarge(seed.git, seed.repository, seed.commit, seed.bytes);
    const limits = { files: FILES_LIMIT, fileBytes: FILE_LIMIT };
    const tree = await seed.git.exportTree(seed.repository, seed.commit, sandbox.path, limits);
    for (const { path, mode, hash, link, sign } of tree.files) {
      index.set(path, { sign, source: link === undefined ? { mode, git: hash } : { mode, link } });
      // A sign's second part is the size.
      bytes += Number(sign.split(":")[1] ?? 0);
    }
    notes.push(...leftOut(tree));
  }
  await sandbox.save(index);
  return { files: index.size, bytes, notes };
}

/** Before the first file is written. */
async function refuseLarge(git: Services["git"], repository: string, commit: string, limit: number): Promise<void> {
  const { files } = await git.treeAt(repository, commit);
  const bytes = files.reduce((sum, { size }) => sum + (size !== null && size <= FILE_LIMIT ? size : 0), 0);
  if (bytes > limit) throw new SessarcError("REPLAY_TOO_LARGE", { limit });
}

const WHY: Readonly<Record<string, string>> = {
  submodule: "submodules are empty",
  "link-outside": "links that lead out of the project are left out",
  "unsafe-name": "files with unsafe names are left out",
  "too-large": "very large files are left out",
  "too-many": `files past the first ${FILES_LIMIT} are left out`,
  duplicate: "files that the commit lists twice are left out",
  missing: "files whose content the repository does not hold (a partial clone) are left out",
};

function leftOut(tree: Awaited<ReturnType<Services["git"]["exportTree"]>>): string[] {
  const groups = new Map<string, string[]>();
  for (const { path, why } of tree.leftOut) groups.set(why, [...(groups.get(why) ?? []).slice(0, 3), path]);
  const counts = new Map<string, number>();
  for (const { why } of tree.leftOut) counts.set(why, (counts.get(why) ?? 0) + 1);
  const notes = [...groups].map(
    ([why, paths]) => `${counts.get(why)}: ${WHY[why] ?? why} (${paths.slice(0, 3).join(", ")})`,
  );
  if (tree.pointers > 0) notes.push(`${tree.pointers}: files of Git LFS are pointers`);
  if (tree.unlisted > 0)
    notes.push(`${tree.unlisted}: files whose name is no UTF-8 are there, but changes to them are not shown`);
  return notes;
}

/** Name of an earlier sandbox, removed in the background, and by the next sweep if the service ends before. */
export const ASIDE = /^[0-9a-f]{24}\.gone-[0-9a-f]{8}$/;
/** Name of a sandbox that is being filled. */
export const STAGE = /^[0-9a-f]{24}\.new-[0-9a-f]{8}$/;

async function setAside(place: string): Promise<void> {
  const aside = `${place}.gone-${randomBytes(4).toString("hex")}`;
  try {
    await rename(place, aside);
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  // A failure leaves it to the sweep.
  void removeAll(aside).catch(() => undefined);
}

/** Commands may have taken the rights to remove from folders of their own. */
export async function removeAll(place: string): Promise<void> {
  try {
    await rm(place, { recursive: true, force: true, maxRetries: 2 });
  } catch (error) {
    if (!["EACCES", "EPERM", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await openFolders(place);
    await rm(place, { recursive: true, force: true });
  }
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
}

/** Bytes on disk. */
export async function readSize(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await readSize(path);
    else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

/** Restores what an unfinished step changed, and compares all files again. */
export async function undoSinceLook(sandbox: Sandbox, readObject: Parameters<typeof restore>[2]): Promise<void> {
  const { changes } = await sandbox.refresh();
  if (changes.length === 0) return;
  await restore(sandbox.whole, sandbox.blobs, readObject, changes);
  await sandbox.save((await sandbox.refresh()).index);
}
