/** How much there is in all: every chunk that may hold the query is looked at. */
import type { Entry } from "./entries.ts";
import type { Looker, SearchStats } from "./looker.ts";

export interface TotalProgress {
  sessions: number;
  messages: number;
  /** Sessions looked at, of all that may match. */
  looked: number;
  of: number;
}

export interface TotalAnswer {
  sessions: number;
  messages: number;
  /** `gte` where something was found and something could not be read. */
  relation: "eq" | "gte";
  tools: Count[];
  projects: Count[];
  stats: SearchStats;
  damaged: number;
}

/** What matches in one tool or project. */
export interface Count {
  id: string;
  sessions: number;
  messages: number;
}

const PROGRESS_MS = 100;

/** Counts to the end, in slices; throws when `signal` aborts. About 0.3 ms a chunk. */
export async function countAll(
  looker: Looker,
  wanted: readonly Entry[],
  {
    onProgress,
    signal,
  }: { onProgress?: ((progress: TotalProgress) => void) | undefined; signal?: AbortSignal | undefined },
): Promise<TotalAnswer> {
  const { slices } = looker;
  const tools = new Map<string, Count>();
  const projects = new Map<string, Count>();
  let [sessions, messages, damaged] = [0, 0, 0];
  let told = performance.now();
  for (let i = 0; i < wanted.length; i++) {
    const entry = wanted[i] as Entry;
    let found = 0;
    for (const one of await looker.candidates(wanted, i)) {
      const chunk = await looker.chunk(entry, one, false);
      if (chunk) {
        looker.match(chunk, one, () => {
          found++;
          return false;
        });
      }
      if (slices.due) await slices.turn();
    }
    if (slices.due) await slices.turn();
    signal?.throwIfAborted();
    if (entry.damaged) damaged++;
    if (found > 0) {
      sessions++;
      messages += found;
      add(tools, entry.tool, found);
      add(projects, entry.projectId, found);
    }
    const now = performance.now();
    if (now - told < PROGRESS_MS) continue;
    told = now;
    onProgress?.({ sessions, messages, looked: i + 1, of: wanted.length });
  }
  return {
    sessions,
    messages,
    relation: damaged > 0 && sessions > 0 ? "gte" : "eq",
    tools: [...tools.values()].sort(most),
    projects: [...projects.values()].sort(most),
    stats: looker.stats,
    damaged,
  };
}

function add(counts: Map<string, Count>, id: string, messages: number): void {
  const count = counts.get(id) ?? { id, sessions: 0, messages: 0 };
  counts.set(id, count);
  count.sessions++;
  count.messages += messages;
}

const most = (a: Count, b: Count) => b.sessions - a.sessions || b.messages - a.messages || (a.id < b.id ? -1 : 1);
