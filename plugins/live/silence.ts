/** Places whose changes nobody tells: a share from another machine is watched without a complaint, and without an event. */
import { stat } from "node:fs/promises";
import type { Services } from "sessarc";

type Scan = NonNullable<Services["archive"]["importer"]["lastScan"]>;
type Found = Scan["found"] extends Map<string, infer F> ? F : never;

/** Logs looked at: those that were written last are those that are written to next. */
const SAMPLE = 50;

/**
 * Answers a function that compares the newest logs with what is known of them, and tells the paths of those that differed the last time
 * already: their change is as old as that, and no event came. One stat a log.
 */
export function createSilence(): (scan: Scan) => Promise<string[]> {
  let suspects = new Map<string, string>();
  return async (scan) => {
    const seen = new Map<string, string>();
    const unheard: string[] = [];
    for (const { id, ref } of newest(scan)) {
      const now = await stat(ref.path).catch(() => undefined);
      // What is told by a version of its own is no plain file.
      if (!now || ref.version !== undefined || (now.size === ref.size && now.mtimeMs === ref.mtime)) continue;
      const known = `${ref.path} ${ref.size} ${ref.mtime}`;
      seen.set(id, known);
      if (suspects.get(id) === known) unheard.push(ref.path);
    }
    suspects = seen;
    return unheard;
  };
}

function newest({ found }: Scan): Found[] {
  const all = [...found.values()];
  const times = all.map(({ ref }) => ref.mtime ?? 0).sort((a, b) => b - a);
  const least = times[Math.min(SAMPLE, times.length) - 1] ?? 0;
  return all.filter(({ ref }) => (ref.mtime ?? 0) >= least).slice(0, SAMPLE);
}
