/** How much a query finds in all: every chunk that may hold it is checked, in workers where there are many. */
import { EVENT_KINDS, type Kernel, mustYield, type PoolTask, yieldNow } from "sessarc";
import type { Transcripts } from "sessarc/storage";
import type { Known, KnownCounts } from "./count-cache.ts";
import type { Counted, CountJob, CountWork } from "./count-job.ts";
import type { Entry } from "./entry.ts";
import type { Lookup, SearchStats } from "./lookup.ts";
import type { Query } from "./query.ts";

export interface TotalProgress {
  sessions: number;
  messages: number;
  /** Sessions checked, of all that may match. */
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
  /** A session is in each kind that it has matches of. */
  kinds: Count[];
  stats: SearchStats;
  /** Sessions of which something that was checked could not be read: it was left out. */
  damaged: number;
}

/** What matches in one tool or project, or of one kind. */
export interface Count {
  id: string;
  sessions: number;
  messages: number;
}

/** Counts matching messages in workers, one number for each session of the work. */
export interface Counter {
  /** Jobs that run at once. */
  lanes: number;
  /** Chunks of a job: some 30 ms of work. */
  chunks: number;
  count(query: Query, work: readonly CountWork[]): Promise<Counted[]>;
}

export interface CountOptions {
  query: Query;
  known: KnownCounts;
  transcripts: Transcripts;
  /** Undefined: counted on this thread. */
  counter: Counter | undefined;
  onProgress?: ((progress: TotalProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** By `performance.now()`: after it the count stops, once it has found something. */
  until?: number | undefined;
}

export interface Totals {
  total: TotalAnswer;
  /** In no order. */
  found: (Known & { entry: Entry })[];
  /** The last session that was counted, where the count stopped before the end. */
  stoppedAt: Entry | undefined;
}

const COUNT: PoolTask<[CountJob], Counted[]> = {
  specifier: "sessarc/plugins/archive/count-job",
  export: "countSessions",
  inline: async (job) => (await import("./count-job.ts")).countSessions(job),
};
const NONE: Known = { messages: 0, best: 0, kinds: [] };
const PROGRESS_MS = 100;
const HERE = { lanes: 1, chunks: 96 };
/** Jobs a worker is given at once: it need not wait for the others. */
const JOBS_AT_ONCE = 4;

/** Undefined where there are no workers, or where they cannot read the transcripts. */
export function findCounter({ pool, config, storage }: Kernel): Counter | undefined {
  if (!pool.threaded || config.storage.driver !== undefined) return undefined;
  return {
    lanes: pool.size,
    chunks: HERE.chunks,
    count: (query, work) => pool.run(COUNT, { dir: storage.dataDir, query, work }),
  };
}

/** Counts matching messages of each session. `isLittle`: on this thread, which takes less than starting a worker. */
export async function countIn(
  lookup: Lookup,
  entries: readonly Entry[],
  { query, counter, transcripts, signal }: Pick<CountOptions, "query" | "counter" | "transcripts" | "signal">,
  isLittle = false,
): Promise<Counted[]> {
  const { chunks } = counter ?? HERE;
  const jobs: CountWork[][] = [];
  let room = 0;
  for (const entry of entries) {
    if (room <= 0) {
      jobs.push([]);
      room = chunks;
    }
    jobs.at(-1)?.push({ id: entry.id, parts: entry.parts });
    room -= lookup.most(entry);
  }
  const count = async (job: readonly CountWork[]) => {
    if (counter && !isLittle) return counter.count(query, job);
    const { countHere } = await import("./count-job.ts");
    return countHere(transcripts, query, job, signal);
  };
  const counted = (await Promise.all(jobs.map(count))).flat();
  for (const [i, entry] of entries.entries()) if (counted[i]?.damaged) entry.damaged = true;
  return counted;
}

/** Counts to the end; throws when `signal` aborts. About 0.4 ms of a processor a chunk, those of known sessions excepted. */
export async function countAll(lookup: Lookup, wanted: readonly Entry[], options: CountOptions): Promise<Totals> {
  const { lanes, chunks } = options.counter ?? HERE;
  const { known, onProgress, signal, until = Number.POSITIVE_INFINITY } = options;
  const tally = new Tally(wanted.length, onProgress);
  let work: Entry[] = [];
  let size = 0;
  let isFirst = true;
  const count = async () => {
    signal?.throwIfAborted();
    const counted = await countIn(lookup, work, options, isFirst && size < chunks);
    for (const [i, entry] of work.entries()) {
      const one = counted[i];
      if (one) lookup.add(one);
      const { messages, best, kinds } = one ?? NONE;
      // A session that could not be read is counted again next time.
      if (!entry.damaged) known.set(entry.key, { messages, best, kinds });
      tally.add(entry, { messages, best, kinds }, lookup.named(entry));
    }
    work = [];
    size = 0;
    isFirst = false;
  };
  let stoppedAt: Entry | undefined;
  for (const entry of wanted) {
    const counted = known.get(entry.key);
    const most = counted === undefined ? lookup.most(entry) : 0;
    if (most > 0) {
      work.push(entry);
      size += most;
      if (size >= lanes * chunks * JOBS_AT_ONCE) await count();
    } else tally.add(entry, counted ?? NONE, lookup.named(entry));
    if (mustYield()) await yieldNow();
    if (performance.now() <= until) continue;
    await count();
    if (tally.found.length === 0 || entry === wanted.at(-1)) continue;
    stoppedAt = entry;
    break;
  }
  await count();
  return { total: tally.answer(lookup.stats), found: tally.found, stoppedAt };
}

class Tally {
  readonly #of: number;
  readonly #onProgress: CountOptions["onProgress"];
  readonly #tools = new Map<string, Count>();
  readonly #projects = new Map<string, Count>();
  readonly #kinds = new Map<string, Count>();
  readonly found: Totals["found"] = [];
  #messages = 0;
  #damaged = 0;
  #looked = 0;
  #told = performance.now();

  constructor(of: number, onProgress: CountOptions["onProgress"]) {
    this.#of = of;
    this.#onProgress = onProgress;
  }

  /** `named`: its title has the words. */
  add(entry: Entry, counted: Known, named: boolean): void {
    const { messages, kinds } = counted;
    const { tool, projectId, damaged } = entry;
    this.#looked++;
    if (damaged) this.#damaged++;
    if (messages > 0 || named) {
      this.found.push({ ...counted, entry });
      this.#messages += messages;
      add(this.#tools, tool, messages);
      add(this.#projects, projectId, messages);
      for (const [i, n] of kinds.entries()) if (n > 0) add(this.#kinds, EVENT_KINDS[i] ?? "", n);
    }
    const now = performance.now();
    if (now - this.#told < PROGRESS_MS) return;
    this.#told = now;
    this.#onProgress?.({
      sessions: this.found.length,
      messages: this.#messages,
      looked: this.#looked,
      of: this.#of,
    });
  }

  answer(stats: SearchStats): TotalAnswer {
    return {
      sessions: this.found.length,
      messages: this.#messages,
      relation: this.#damaged > 0 && this.found.length > 0 ? "gte" : "eq",
      tools: [...this.#tools.values()].sort(byMost),
      projects: [...this.#projects.values()].sort(byMost),
      kinds: [...this.#kinds.values()].sort(byMost),
      stats,
      damaged: this.#damaged,
    };
  }
}

function add(counts: Map<string, Count>, id: string, messages: number): void {
  const count = counts.get(id) ?? { id, sessions: 0, messages: 0 };
  counts.set(id, count);
  count.sessions++;
  count.messages += messages;
}

const byMost = (a: Count, b: Count) => b.sessions - a.sessions || b.messages - a.messages || (a.id < b.id ? -1 : 1);
