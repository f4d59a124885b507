/** Folders of the data directory in whose place something else was put: until it is out of the way nothing in them is read or written. */
import { lstat, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "../utils/gone.ts";
import { DERIVED } from "./derived.ts";
import { acquireLock } from "./lock.ts";
import { DAMAGED } from "./present.ts";

/** A link to a folder will do for these: a larger disk, maybe one that is away just now. */
const FOLDERS = ["files", DERIVED, "transcripts"];
const OF_TRANSCRIPTS = /^[0-9a-f]{2}$/;

/** What stands where a folder has to be, by its path in `dataDir`. Lists one folder of at most 256 others. */
export async function findBlocked(dataDir: string): Promise<string[]> {
  const blocked: string[] = [];
  for (const name of FOLDERS) {
    const path = join(dataDir, name);
    const found = await ifThere(lstat(path));
    const isLink = found?.isSymbolicLink() === true;
    const led = isLink ? await stat(path).catch(() => undefined) : found;
    if (led && !led.isDirectory()) blocked.push(name);
    if (name !== "transcripts" || !led?.isDirectory()) continue;
    // No key leads through a link in it, wherever that points.
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => []))
      if (OF_TRANSCRIPTS.test(entry.name) && !entry.isDirectory()) blocked.push(join(name, entry.name));
  }
  return blocked;
}

/** Gives each of `blocked` another name beside its own, which it answers. Throws ARCHIVE_LOCKED. */
export async function putAside(dataDir: string, blocked: readonly string[]): Promise<string[]> {
  const lock = await acquireLock(dataDir);
  try {
    const stamp = new Date().toISOString().replace(/[:.]/g, "-");
    const kept: string[] = [];
    for (const name of blocked) {
      const aside = join(dataDir, `${name}${DAMAGED}${stamp}`);
      await rename(join(dataDir, name), aside);
      kept.push(aside);
    }
    return kept;
  } finally {
    await lock.release();
  }
}
