/** The files a session changed, as they are now: on the disk, and by git against the last commit. */
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { isSessarcError, type Kernel } from "sessarc";
import { isFolder, isInside } from "sessarc/files";
import type { FileState } from "./words.ts";

interface ChangedFile {
  path: string;
  edits: number;
  state: FileState;
}

interface FolderState {
  branch: string | null;
  files: ChangedFile[];
}

/** Files named in a brief; the most changed first. */
const MOST = 40;
/** A larger file is not compared. */
const LARGEST = 2 * 2 ** 20;

/** `changed`: edits by path, as the calls named it. */
export async function stateOfFiles(
  kernel: Kernel,
  cwd: string | null,
  changed: ReadonlyMap<string, number>,
): Promise<FolderState> {
  const git = kernel.find("git");
  const isThere = cwd !== null && (await isFolder(cwd));
  const status = isThere ? await git?.status(cwd).catch(notGit) : undefined;
  const place = isThere ? await git?.identity(cwd) : undefined;
  const root = place?.kind === "repository" ? place.root : undefined;
  const head = status && "head" in status ? status.head : null;
  const readState = async (path: string): Promise<FileState> => {
    const file = isAbsolute(path) ? path : join(cwd ?? "", path);
    const info = await stat(file).catch(() => undefined);
    if (!info?.isFile()) return "gone";
    if (!git || root === undefined || head === null || !isInside(root, file)) return "untracked";
    if (info.size > LARGEST) return "unknown";
    const committed = await git.fileAt(root, head, relative(root, file).split(sep).join("/")).catch(notGit);
    if (!committed) return "untracked";
    if (committed.content === null) return "unknown";
    return (await readFile(file, "utf8")) === committed.content ? "committed" : "changed";
  };
  const files: ChangedFile[] = [];
  const sorted = [...changed].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, MOST);
  for (const [path, edits] of sorted) files.push({ path, edits, state: await readState(path) });
  return { branch: status && "branch" in status ? status.branch : null, files };
}

/** For `.catch`: what git does not know is no error of a brief. */
function notGit(error: unknown): undefined {
  if (!isSessarcError(error)) throw error;
}
