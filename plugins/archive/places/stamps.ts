/**
 * Sizes and times of all logs and their folders at the last full scan, so that a command finds out without a scan whether the archive is
 * current. Kept as derived data: without the file, or with a damaged one, the next command scans.
 */
import { createHash } from "node:crypto";
import { readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Kernel, mustYield, VERSION, yieldNow } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { isInside } from "sessarc/files";
import type { Scan } from "./scan.ts";

/** Of a path that did not exist. */
const ABSENT = 0;
/** Of a path that may have changed after the scan began: it never equals a time. */
const UNKNOWN = -1;
/** Linux stamps files with a clock that ticks every 4 to 10 ms: a file may look that much older than it is. */
const TICK_MS = 20;

export interface Stamps {
  /** When the archive was in sync with the logs, ISO. */
  at: string;
  /** What decides where logs are looked for. */
  places: string;
  /** Names of the adapters that were asked. */
  adapters: string[];
  /** Path, size and modification time in ms of logs that are one file. */
  logs: [path: string, size: number, mtime: number][];
  /** Path and modification time of folders, databases and missing roots. */
  others: [path: string, mtime: number][];
}

/**
 * The stamps of a scan that began at `since` (ms). A log has the size and time that the scan saw; of a folder or a database that changed
 * since then it is not known what the scan saw, so that it counts as changed. About 5 µs a path, in slices.
 */
export async function takeStamps(scan: Scan, since: number, places: string): Promise<Omit<Stamps, "at">> {
  const logs: Stamps["logs"] = [];
  const stores = new Set<string>();
  const folders = new Set<string>();
  const missing: string[] = [];
  for (const { ref, root } of scan.found.values()) {
    if (mustYield()) await yieldNow();
    if (ref.exclusive && ref.size !== undefined && ref.mtime !== undefined) logs.push([ref.path, ref.size, ref.mtime]);
    else for (const path of [ref.path, `${ref.path}-wal`]) stores.add(path);
    for (let folder = dirname(ref.path); isInside(root, folder) && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
  }
  for (const { roots } of scan.tools)
    for (const { path, exists } of roots) {
      if (!exists) missing.push(path);
      else if (findStat(path)?.isDirectory()) folders.add(path);
      else stores.add(path);
    }
  // A folder without logs gets its first log without a change of the folder above it.
  for (const folder of [...folders]) {
    if (mustYield()) await yieldNow();
    for (const name of foldersIn(folder)) folders.add(join(folder, name));
  }
  const others: Stamps["others"] = missing.map((path) => [path, ABSENT]);
  for (const path of [...stores, ...folders]) {
    if (mustYield()) await yieldNow();
    const time = timeOf(findStat(path));
    others.push([path, time >= since - TICK_MS ? UNKNOWN : time]);
  }
  return { places, adapters: scan.tools.map(({ tool }) => tool), logs, others };
}

/** Whether a log, a folder or a database differs from its stamp. Reads no content; about 5 µs a path, in slices. */
export async function hasChanged(stamps: Stamps): Promise<boolean> {
  for (const [path, size, mtime] of stamps.logs) {
    if (mustYield()) await yieldNow();
    const now = findStat(path);
    if (now?.size !== size || now.mtimeMs !== mtime) return true;
  }
  for (const [path, mtime] of stamps.others) {
    if (mustYield()) await yieldNow();
    if (timeOf(findStat(path)) !== mtime) return true;
  }
  return false;
}

/** The bytes of `stamps` read again; undefined when they are not stamps. */
export function parseStamps(bytes: Uint8Array): Stamps | undefined {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString("utf8")) as Partial<Stamps>;
    const lists = [value.adapters, value.logs, value.others];
    return typeof value.at === "string" && lists.every(Array.isArray) ? (value as Stamps) : undefined;
  } catch {
    return undefined;
  }
}

/** Variables that name a folder, for an assistant or for all programs. */
const PLACE = /^(?:HOME|USERPROFILE|(?:LOCAL)?APPDATA|XDG_\w+|\w+_(?:HOME|DIR|DIRS|PATH|DB|ROOT))$/;

/** Changes with whatever may change where logs are looked for: variables, configuration, added folders, those of them that are away, the version of sessarc. */
export function toPlaces(
  env: AdapterEnv,
  config: Pick<Kernel["config"], "roots" | "sources">,
  away: readonly string[],
): string {
  const variables = Object.entries(env.env)
    .filter(([name]) => PLACE.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const places = JSON.stringify([VERSION, env.home, env.platform, config.roots, config.sources, variables, away]);
  return createHash("sha256").update(places).digest("hex");
}

const timeOf = (stats: Stats | undefined) => stats?.mtimeMs ?? ABSENT;

function findStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // It may not be read: that is as if it were not there, now and at the next check.
    return undefined;
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}
