/** Copies in tools' folders: compared with what they were made from, and removed file by file. */
import { lstatSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { inSlices } from "../content/slices.ts";
import { newStamp, readTree, stampTree, type TreeEntry, TreeError } from "../content/tree.ts";

export interface CopyState {
  same: boolean;
  files: FileChange[];
  /** What it was made from. */
  entries: readonly TreeEntry[];
  /** What the system said of all of it; undefined when it could not be read, and `entries` is empty then. */
  stamp: string | undefined;
}

export interface FileChange {
  path: string;
  status: "added" | "removed" | "changed";
}

/** Reads the folder at `path`. What cannot be read as a skill is no longer the same, as a whole. */
export async function compareCopy(path: string, entries: readonly TreeEntry[]): Promise<CopyState> {
  try {
    const stamp = newStamp();
    const tree = await inSlices(readTree(path, undefined, stamp));
    const files = [
      ...toChanges(entries, tree.entries),
      ...tree.skipped.map((name): FileChange => ({ path: name, status: "added" })),
    ];
    return { same: files.length === 0, files, entries, stamp: stamp.hash.digest("hex") };
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    // No file of it is known to be as it was made.
    return { same: false, files: [{ path: error.message, status: "changed" }], entries: [], stamp: undefined };
  }
}

/** Files and links that differ, by path; of modes the executable bit counts. */
export function toChanges(before: readonly TreeEntry[], after: readonly TreeEntry[]): FileChange[] {
  const old = toMarks(before);
  const now = toMarks(after);
  const changes: FileChange[] = [];
  for (const [path, mark] of now) {
    const known = old.get(path);
    if (known !== mark) changes.push({ path, status: known === undefined ? "added" : "changed" });
  }
  for (const path of old.keys()) if (!now.has(path)) changes.push({ path, status: "removed" });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What an entry is, in one word; folders are nothing of their own. */
export const findMark = (entry: TreeEntry): string | undefined =>
  entry.kind === "file"
    ? `${entry.mode & 0o111 ? "x" : "-"}${entry.hash}`
    : entry.kind === "link"
      ? `l${entry.target}`
      : undefined;

export const toMarks = (entries: readonly TreeEntry[]): Map<string, string> =>
  new Map(
    entries.flatMap((entry) => {
      const mark = findMark(entry);
      return mark === undefined ? [] : [[entry.path, mark] as const];
    }),
  );

/**
 * Removes the files that are as they were made and the folders that are empty then. Everything else stays, with its folders. False:
 * it was changed since it was compared, and nothing was removed.
 */
export function removeCopy(path: string, state: CopyState): boolean {
  if (!isAsCompared(path, state)) return false;
  const { entries, files } = state;
  const changed = new Set(files.map((file) => file.path));
  for (const entry of entries) {
    if (entry.kind === "folder" || changed.has(entry.path)) continue;
    const stat = lstatSync(join(path, entry.path), { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) unlinkSync(join(path, entry.path));
  }
  const folders = entries.filter((entry) => entry.kind === "folder").map((entry) => join(path, entry.path));
  for (const folder of [...folders.reverse(), path]) {
    try {
      rmdirSync(folder);
    } catch {
      // Not empty: something in it is not ours.
    }
  }
  return true;
}

/** It was not changed since it was compared. In one event-loop turn. */
export const isAsCompared = (path: string, { stamp }: CopyState): boolean =>
  stamp === undefined || stamp === findStamp(path);

/** In one turn: one stat a file. */
function findStamp(path: string): string | undefined {
  try {
    const work = stampTree(path);
    for (let step = work.next(); ; step = work.next()) if (step.done) return step.value.hash.digest("hex");
  } catch (error) {
    if (error instanceof TreeError) return undefined;
    throw error;
  }
}
