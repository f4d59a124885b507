/** What an owner that died left in the data directory: files in the making, and claims to its lock. */
import type { Dirent } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isTempName } from "../utils/atomic.ts";
import { isRefused } from "../utils/gone.ts";
import { DERIVED } from "./derived.ts";
import { durableFs } from "./durable-fs.ts";
import { isClaim, type Lock } from "./lock.ts";

/** Folders that only sessarc writes. In other folders only direct children are removed: deeper ones may be the user's copies. */
const OURS = new Set(["files", "transcripts", DERIVED]);
/** Only for the owner of `lock`, before it writes. What is not ours to read stays, and is no reason not to start. Folders are looked through when another owner died: that takes time. */
export async function sweepLeftovers(dataDir: string, lock: Lock): Promise<void> {
  for (const entry of await readdir(dataDir, { withFileTypes: true }))
    await sweepEntry(dataDir, entry, lock).catch((error: unknown) => {
      if (!isRefused(error)) throw error;
    });
}

async function sweepEntry(dataDir: string, entry: Dirent, lock: Lock): Promise<void> {
  const { name } = entry;
  const path = join(dataDir, name);
  if (entry.isFile() && (isTempName(name) || isClaim(name, lock.info.token))) await rm(path, { force: true });
  if (!entry.isDirectory()) return;
  if (!lock.tookOver) return;
  if (OURS.has(name)) await durableFs({ base: path }).sweep();
  else
    for (const inner of await readdir(path, { withFileTypes: true }))
      if (inner.isFile() && isTempName(inner.name)) await rm(join(path, inner.name), { force: true });
}
