/** What the sessions of some time destroyed: cheap when it is asked for again. */
import { createCache, type Kernel } from "sessarc";
import type { LostFile } from "./lost.ts";

export interface DestroyedFiles {
  files: number;
  /** Newest first. */
  sessions: { id: string; files: number }[];
}

/** A session with the files that it destroyed. */
export interface Destroyer {
  id: string;
  files: LostFile[];
}

/** In ms since the epoch. */
export interface DestroyedSpan {
  since: number;
  until?: number | undefined;
}

/** Sessions that are read, the newest, one after another. */
const MOST = 20;
/** Files may come back at any time, so what was found expires. */
const FRESH_MS = 300_000;

export function createDestroyed(kernel: Kernel, lost: (session: string) => Promise<LostFile[]>) {
  const known = createCache<LostFile[]>(10 * MOST);
  return async ({ since, until }: DestroyedSpan): Promise<Destroyer[]> => {
    const sessions = await kernel.inject("archive").list({ since, ...(until !== undefined && { until }), limit: MOST });
    const found: Destroyer[] = [];
    for (const { id, importedAt, messageCount } of sessions) {
      const stamp = `${importedAt} ${messageCount} ${Math.floor(Date.now() / FRESH_MS)}`;
      const files = await known.get(id, () => lost(id), stamp);
      if (files.length > 0) found.push({ id, files });
    }
    return found;
  };
}

export const countDestroyed = (all: readonly Destroyer[]): DestroyedFiles => ({
  files: all.reduce((sum, { files }) => sum + files.length, 0),
  sessions: all.map(({ id, files }) => ({ id, files: files.length })),
});
