/** What changed at some paths, without listing everything again. */
import { stat } from "node:fs/promises";
import { type Database, pages } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { isGone, isInside } from "sessarc/files";
import { listLogs } from "./listing.ts";
import { type FoundLog, isBetterCopy, type Scan, toVersion } from "./scan.ts";

/** A database is changed through the files beside it. */
const BESIDE = /-(?:wal|shm|journal)$/;

/** Logs checked together. */
const TOGETHER = 64;

/**
 * Logs at `paths`, entered into `scan`. A log that is one file and was there before costs one stat; for all others the root that
 * holds them is listed again (every adapter is asked whether it is one of its own, if the log is new), and of its other logs only those that differ from the archive are returned: one of a
 * hundred thousand is new. A path that is not there any more costs a stat for each log that was at it, or below it; where one is gone its
 * root is listed, too: it may have another name now. `gone`: those that are nowhere. An unreadable path is not gone.
 */
export async function rescan(
  scan: Scan,
  paths: readonly string[],
  adapters: readonly Adapter[],
  env: AdapterEnv,
  db: Database,
): Promise<{ touched: FoundLog[]; gone: string[] }> {
  const gone = new Set<string>();
  const touched = new Map<string, FoundLog>();
  const roots = new Map<string, { adapter: Adapter; root: string }>();
  const asked = new Set(paths.map((path) => path.replace(BESIDE, "")));
  const isGoneNow = async ({ id, ref, adapter, root }: FoundLog): Promise<void> => {
    if ((await look(ref.path)) !== "gone") return;
    gone.add(id);
    roots.set(`${adapter.name}\n${root}`, { adapter, root });
    scan.found.setStored(id, "other"); // the archive is to say that it is missing, and that it is back
  };
  const allGone = async (path: string): Promise<void> => {
    for (const some of pages(scan.found.below(path), TOGETHER)) await Promise.all(some.map(isGoneNow));
  };
  for (const path of asked) {
    const known = scan.found.at(path);
    const [one] = known;
    const now = await look(path);
    if (now === "gone") {
      await allGone(path);
      continue;
    }
    if (one && known.length === 1 && one.ref.exclusive && one.ref.version === undefined) {
      if (now === "closed" || !now.isFile()) continue;
      one.ref = { ...one.ref, size: now.size, mtime: now.mtimeMs };
      scan.found.set(one);
      touched.set(one.id, one);
      continue;
    }
    // Another folder than before: a volume was removed, or the folder was recreated.
    if (now !== "closed" && now.isDirectory()) await allGone(path);
    const holders = known.length > 0 ? known : toHolders(path, adapters, env);
    for (const { adapter, root } of holders) roots.set(`${adapter.name}\n${root}`, { adapter, root });
  }
  for (const { adapter, root } of roots.values()) {
    try {
      for await (const ref of listLogs(adapter, root, env, db)) {
        const id = `${ref.tool}:${ref.key}`;
        const other = scan.found.get(id);
        const isThere = other?.ref.path === ref.path;
        if (other && !isThere && !gone.has(id) && !isBetterCopy(ref, other.ref)) continue;
        gone.delete(id);
        if (other?.stored === "same" && isThere && toVersion(other.ref) === toVersion(ref) && !asked.has(ref.path))
          continue;
        const found: FoundLog = { id, ref, adapter, root, stored: "not" };
        scan.found.set(found);
        touched.set(id, found);
      }
    } catch {
      // A store that cannot be read right now is read at its next change, or reported by the next full scan.
    }
  }
  return { touched: [...touched.values()], gone: [...gone] };
}

/** Roots at or above a path. */
const toHolders = (path: string, adapters: readonly Adapter[], env: AdapterEnv) =>
  adapters.flatMap((adapter) =>
    adapter
      .roots(env)
      .filter((root) => isInside(root, path))
      .map((root) => ({ adapter, root })),
  );

/** What is at a path; `closed`: unknown. */
const look = (path: string) => stat(path).catch((error: unknown) => (isGone(error) ? "gone" : "closed"));
