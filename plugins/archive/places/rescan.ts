/** What changed at some paths, without listing everything again. */
import { stat } from "node:fs/promises";
import { sep } from "node:path";
import type { Adapter, AdapterEnv, Database } from "sessarc";
import { listLogs } from "./listing.ts";
import { type Found, isBetterCopy, type Scan, versionOf } from "./scan.ts";

/** A database is changed through the files beside it. */
const BESIDE = /-(?:wal|shm|journal)$/;

/**
 * Logs at `paths`, entered into `scan`. A log that is one file and was there before costs one stat; for all others the root that
 * holds them is listed again, and of what it has beside them only that is told which the archive was not seen to have as it is: one of a
 * hundred thousand is new. Of those that are gone only logs that are one file are told, in `gone`: a full scan finds the rest.
 */
export async function rescan(
  scan: Scan,
  paths: readonly string[],
  adapters: readonly Adapter[],
  env: AdapterEnv,
  db: Database,
): Promise<{ touched: Found[]; gone: string[] }> {
  const gone: string[] = [];
  const touched = new Map<string, Found>();
  const roots = new Map<string, { adapter: Adapter; root: string }>();
  const asked = new Set(paths.map((path) => path.replace(BESIDE, "")));
  for (const path of asked) {
    const known = scan.found.at(path);
    const [one] = known;
    if (one && known.length === 1 && one.ref.exclusive && one.ref.version === undefined) {
      const now = await stat(path).catch(() => undefined);
      if (!now) {
        gone.push(one.id);
        scan.found.setStored(one.id, "other"); // the archive is to say that it is missing, and that it is back
      }
      if (!now?.isFile()) continue;
      one.ref = { ...one.ref, size: now.size, mtime: now.mtimeMs };
      scan.found.set(one);
      touched.set(one.id, one);
      continue;
    }
    for (const adapter of adapters) {
      for (const root of adapter.roots(env)) {
        if (path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
          roots.set(`${adapter.name}\n${root}`, { adapter, root });
      }
    }
  }
  for (const { adapter, root } of roots.values()) {
    try {
      for await (const ref of listLogs(adapter, root, env, db)) {
        const id = `${ref.tool}:${ref.key}`;
        const other = scan.found.get(id);
        const isThere = other?.ref.path === ref.path;
        if (other && !isThere && !isBetterCopy(ref, other.ref)) continue;
        if (other?.stored === "same" && isThere && versionOf(other.ref) === versionOf(ref) && !asked.has(ref.path))
          continue;
        const found: Found = { id, ref, adapter, root, stored: "not" };
        scan.found.set(found);
        touched.set(id, found);
      }
    } catch {
      // A store that cannot be read right now is read at its next change, or reported by the next full scan.
    }
  }
  return { touched: [...touched.values()], gone };
}
