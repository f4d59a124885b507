/** Old sandboxes go: those used longest ago first, until the rest are few and small enough. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createQueue } from "sessarc";
import type { ReplayOptions } from "../options.ts";
import type { ReplayStore } from "../store.ts";
import { ASIDE, readSize, removeAll, STAGE } from "./sandbox.ts";

const MAX_BYTES = 2 * 2 ** 30;
const MAX_SANDBOXES = 20;
/** A sandbox that is still being filled is left alone for so long. */
const STAGE_MS = 3_600_000;

/** One sweep at a time. `keep`: the session whose sandbox is retained whatever its size. `failed` gets the reason of one that ended early; the next one retries. */
export function createSweeper(
  home: string,
  store: ReplayStore,
  options: ReplayOptions,
  failed: (error: unknown) => Promise<void>,
): (keep?: string) => Promise<void> {
  const queue = createQueue();
  return (keep) => queue(() => sweep(home, store, options, keep).catch(failed));
}

async function sweep(
  home: string,
  store: ReplayStore,
  options: ReplayOptions,
  keep: string | undefined,
): Promise<void> {
  const rows = await store.sandboxes();
  const known = new Set(rows.map((row) => row.folder));
  for (const name of await readdir(home).catch(() => []))
    if (ASIDE.test(name) || (!known.has(name) && /^[0-9a-f]{24}$/.test(name)) || (await isLeft(home, name)))
      await removeAll(join(home, name));
  let bytes = 0;
  let count = 0;
  for (const row of rows) {
    bytes += await readSize(join(home, row.folder));
    count++;
    const over = bytes > (options.maxBytes ?? MAX_BYTES) || count > (options.maxSandboxes ?? MAX_SANDBOXES);
    if (!over || row.session_id === keep) continue;
    await store.forget(row.session_id);
    await removeAll(join(home, row.folder));
  }
}

/** A sandbox whose filling the end of the service cut off. */
async function isLeft(home: string, name: string): Promise<boolean> {
  if (!STAGE.test(name)) return false;
  const info = await stat(join(home, name)).catch(() => undefined);
  return info !== undefined && Date.now() - info.mtimeMs > STAGE_MS;
}
