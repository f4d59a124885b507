/** Puts files back as they were before a step. */
import { type Blobs, SessarcError } from "sessarc";
import type { Delta, Source } from "./index-file.ts";
import type { Tree } from "./tree.ts";

/** An object of the repository; undefined when it is not there any more. */
export type ReadObject = (hash: string) => Promise<Buffer | undefined>;

/** All contents are found before the first file is written: what cannot be taken back whole is left alone. */
export async function restore(
  tree: Tree,
  blobs: Blobs,
  readObject: ReadObject,
  changes: readonly Delta[],
): Promise<void> {
  const contents = new Map<string, Buffer>();
  for (const { path, before } of changes) {
    if (!before || "link" in before) continue;
    const data = await findContent(before, blobs, readObject);
    if (!data) throw new SessarcError("REPLAY_CONTENT_LOST", { path });
    contents.set(path, data);
  }
  // New files are removed first: one may have the name of an old folder.
  for (const { path, before } of changes) if (before === null) await tree.remove(path);
  for (const { path, before } of changes) {
    if (before === null) continue;
    if ("link" in before) await tree.link(path, before.link);
    else {
      // A link that came in its place goes: writing would follow it.
      await tree.remove(path);
      await tree.write(path, contents.get(path) ?? Buffer.alloc(0), before.mode);
    }
  }
}

/** Undefined for a link, and for what is neither in the sandbox nor in the repository any more. */
export function findContent(
  source: Source,
  blobs: Blobs,
  readObject: ReadObject,
): Promise<Buffer | undefined> | undefined {
  if ("blob" in source) return blobs.get(source.blob);
  if ("git" in source) return readObject(source.git);
  return undefined;
}
