/** From a list of entries back to files: exact bytes, exact modes. And the removal of what we made. */
import { chmod, lstat, mkdir, open, readdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Blobs, eachInLanes, SessarcError } from "sessarc";
import type { FileEntry, TreeEntry } from "../content/tree.ts";

/**
 * Writes `entries` into `folder`, which must not exist. Throws SKILL_SNAPSHOT_DAMAGED when bytes are gone; what was written so far stays for
 * the caller to remove. The owner can always enter and change a folder, whatever its mode was.
 */
export async function materialise(
  folder: string,
  entries: readonly TreeEntry[],
  objects: Blobs,
  snapshot: string,
): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await mkdir(folder, { mode: 0o700 });
  const folders = entries.filter((entry) => entry.kind === "folder");
  // Sorted by path: a folder comes before what is in it.
  for (const { path } of folders) await mkdir(join(folder, path), { mode: 0o700 });
  const files = entries.filter((entry): entry is FileEntry => entry.kind === "file");
  await eachInLanes(files, 8, async ({ path, mode, hash }) => {
    const bytes = await objects.get(hash);
    if (!bytes) throw new SessarcError("SKILL_SNAPSHOT_DAMAGED", { snapshot });
    await writeSynced(join(folder, path), bytes, mode);
  });
  for (const entry of entries) if (entry.kind === "link") await symlink(entry.target, join(folder, entry.path));
  for (const { path, mode } of folders.reverse()) await chmod(join(folder, path), mode | 0o700);
  // As other folders of skills are: tools of the same user read it, the data directory around it is closed to others.
  await chmod(folder, 0o755);
}

/** Removes a folder that sessarc made, with its contents, folders without write permission included. Gone already is fine. */
export async function removeOwn(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => undefined);
  if (!stat) return;
  if (stat.isDirectory()) await openUp(folder);
  await rm(folder, { recursive: true, force: true });
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await openUp(join(folder, entry.name));
}

/** A new file with exactly this mode, on disk when it resolves. */
async function writeSynced(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    // The umask has no say in it.
    if (mode !== 0o600) await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
