/** Builds that test files share: the first one that needs it makes it, the others wait; a killed run leaves nothing that blocks. */
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isSessarcError } from "../core/errors/error.ts";
import { acquireLock } from "../core/storage/lock.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Where tests keep what they make once. Below node_modules, so that what is there finds this checkout's packages. */
export const CACHE = join(ROOT, "node_modules/.cache/sessarc-test");

export interface Build {
  /** Of the lock. */
  name: string;
  /** Files that a whole build has, below the project; the last one written first. */
  outputs: readonly string[];
  /** Files and folders below the project. */
  sources: readonly string[];
  /** Which files of those folders count; default: code, not prose. */
  counts?: RegExp;
  make(): Promise<unknown>;
}

/** Makes it unless it is newer than all its sources. Processes that ask at the same time wait for one of them. */
export async function buildOnce(build: Build): Promise<void> {
  // Not by the lock, whose folder no other user may read: some tests run what is here as another user.
  await mkdir(CACHE, { recursive: true });
  while (!(await isFresh(build))) {
    const lock = await acquireLock(join(CACHE, `${build.name}.lock`)).catch((error: unknown) => {
      if (isSessarcError(error) && error.code === "ARCHIVE_LOCKED") return undefined;
      throw error;
    });
    if (!lock) {
      await delay(200);
      continue;
    }
    try {
      if (!(await isFresh(build))) await build.make();
      return;
    } finally {
      await lock.release();
    }
  }
}

const CODE = /\.(ts|vue|css|html|json|js|svg)$/;

/** True when all outputs are there, newer than all sources. */
export async function isFresh({
  outputs,
  sources,
  counts = CODE,
}: Pick<Build, "outputs" | "sources" | "counts">): Promise<boolean> {
  const made = await Promise.all(outputs.map((path) => stat(join(ROOT, path)).catch(() => undefined)));
  if (!made[0] || made.includes(undefined)) return false;
  const times = await Promise.all(sources.map((path) => newest(join(ROOT, path), counts)));
  return Math.max(...times) <= made[0].mtimeMs;
}

async function newest(path: string, counts: RegExp): Promise<number> {
  const info = await stat(path);
  if (!info.isDirectory()) return info.mtimeMs;
  const names = await readdir(path, { recursive: true });
  const sources = names.filter((name) => counts.test(name));
  const times = await Promise.all(sources.map(async (name) => (await stat(join(path, name))).mtimeMs));
  return Math.max(0, ...times);
}
