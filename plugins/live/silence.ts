/** Finds roots without events: watching a share of another machine succeeds, but reports no change. */
import { stat } from "node:fs/promises";
import { mustYield, type Services, yieldNow } from "sessarc";

type Scan = NonNullable<Services["importer"]["lastScan"]>;
type Found = NonNullable<ReturnType<Scan["found"]["get"]>>;

/** Logs checked: the ones written last are the likeliest to be written next. */
const SAMPLE = 50;
/** Paths remembered from one check to the next. */
const HEARD = 1_000;

interface Silence {
  /** Roots that changed without an event. */
  readonly roots: ReadonlySet<string>;
  /** Events came of these paths. */
  hear(paths: readonly string[]): void;
  /**
   * Compares the newest logs with what is known of them; one stat a log. A root is silent when a log of it differed the last time already:
   * its change is as old as that, and no event came. It stops being silent when events arrive and everything that changed since the last check is
   * known or was reported. `isLeftOut`: logs that are not read for this.
   */
  look(scan: Scan, isLeftOut: (path: string) => boolean): Promise<void>;
}

export function createSilence(): Silence {
  let suspects = new Map<string, string>();
  const silent = new Set<string>();
  const heard = new Set<string>();

  return {
    roots: silent,
    hear(paths) {
      if (silent.size === 0) return;
      for (const path of paths) if (heard.size < HEARD) heard.add(path);
    },
    async look(scan, isLeftOut) {
      const seen = new Map<string, string>();
      const changed: Found[] = [];
      for (const one of await newest(scan)) {
        const { id, ref, root } = one;
        if (isLeftOut(ref.path)) continue;
        const now = await stat(ref.path).catch(() => undefined);
        // A log with its own version is not a plain file.
        if (!now || ref.version !== undefined || (now.size === ref.size && now.mtimeMs === ref.mtime)) continue;
        changed.push(one);
        const known = `${ref.path} ${ref.size} ${ref.mtime}`;
        seen.set(id, known);
        if (suspects.get(id) === known) silent.add(root);
      }
      suspects = seen;
      const told = [...heard];
      heard.clear();
      for (const root of silent) {
        const ofRoot = told.filter((path) => path.startsWith(root));
        const open = changed.filter((one) => one.root === root);
        if (open.length === 0 && ofRoot.length > 0) silent.delete(root);
        // What was reported and is not imported yet is judged the next time.
        else if (open.every(({ ref }) => ofRoot.includes(ref.path))) for (const path of ofRoot) heard.add(path);
      }
    },
  };
}

async function newest({ found }: Scan): Promise<Found[]> {
  let best: Found[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const one of found.values()) {
    if (mustYield()) await yieldNow();
    if ((one.ref.mtime ?? 0) <= least || best.push(one) < 2 * SAMPLE) continue;
    best = best.sort(latestFirst).slice(0, SAMPLE);
    least = best.at(-1)?.ref.mtime ?? 0;
  }
  return best.sort(latestFirst).slice(0, SAMPLE);
}

const latestFirst = (a: Found, b: Found) => (b.ref.mtime ?? 0) - (a.ref.mtime ?? 0);
