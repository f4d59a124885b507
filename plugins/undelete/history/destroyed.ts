/** How many files the sessions of some time destroyed: for a line, so that it is cheap when it is asked for again. */
import { createCache, type Kernel } from "sessarc";
import type { LostFile } from "./lost.ts";

export interface DestroyedFiles {
  files: number;
  /** Newest first. */
  sessions: { id: string; files: number }[];
}

/** Sessions that are read, the newest, one after another. */
const MOST = 20;
/** Files may come back at any time, so a count expires. */
const FRESH_MS = 300_000;

export function createDestroyed(kernel: Kernel, lost: (session: string) => Promise<LostFile[]>) {
  const counts = createCache<number>(10 * MOST);
  return async (since: number): Promise<DestroyedFiles> => {
    const sessions = await kernel.inject("archive").list({ since, limit: MOST });
    const found: DestroyedFiles["sessions"] = [];
    for (const { id, importedAt, messageCount } of sessions) {
      const stamp = `${importedAt} ${messageCount} ${Math.floor(Date.now() / FRESH_MS)}`;
      const files = await counts.get(id, async () => (await lost(id)).length, stamp);
      if (files > 0) found.push({ id, files });
    }
    return { files: found.reduce((sum, { files }) => sum + files, 0), sessions: found };
  };
}
