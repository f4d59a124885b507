/** How much a query finds in all: every chunk that may hold it is checked, in workers where there are many. */
import type { Kernel, PoolTask } from "sessarc";
import type { Transcripts } from "#internal";
import type { Counted, CountJob, CountWork } from "./count-job.ts";
import type { Entry } from "./entry.ts";
import type { Lookup, MayHold, SearchStats } from "./lookup.ts";
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
  stats: SearchStats;
  /** Sessions of which something that was checked could not be read: it was left out. */
  damaged: number;
}

/** What matches in one tool or project. */
export interface Count {
  id: string;
  sessions: number;
  messages: number;
}

/** Messages that match, by session: cached from one total of a query to the next. A session that changed is another entry. */
export type KnownCounts = WeakMap<Entry, number>;

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
  found: { entry: Entry; messages: number }[];
  /** The last session that was counted, where the count stopped before the end. */
  stoppedAt: Entry | undefined;
}

const COUNT: PoolTask<[CountJob], Counted[]> = {
  specifier: "sessarc/plugins/archive/count-job",
  export: "countSessions",
  inline: async (job) => (await import("./count-job.ts")).countSessions(job),
};
const PROGRESS_MS = 100;
const HERE = { lanes: 1, chunks: 96 };
/** Bytes of a full chunk as it is stored, about. */
const FULL_BYTES = 16_384;

/** Undefined where there are no workers, or where they cannot read the transcripts. */
export function counterOf({ pool, config, storage }: Kernel): Counter | undefined {
  if (!pool.threaded || config.storage.driver !== undefined) return undefined;
  return {
    lanes: pool.size,
    chunks: HERE.chunks,
    count: (query, work) => pool.run(COUNT, { dir: storage.dataDir, query, work }),
  };
}

/** Work in full chunks: many small ones are little work. */
export const sizeOf = ({ candidates }: MayHold): number =>
  candidates.reduce((sum, { chunk }) => sum + Math.min(1, chunk.bytes / FULL_BYTES), 0);

/** Counts matching messages of each session. `isLittle`: on this thread, which takes less than starting a worker. */
export async function countIn(
  lookup: Lookup,
  work: readonly MayHold[],
  { query, counter, transcripts, signal }: Pick<CountOptions, "query" | "counter" | "transcripts" | "signal">,
  isLittle = false,
): Promise<number[]> {
  const { chunks } = counter ?? HERE;
  const jobs: CountWork[][] = [];
  let room = 0;
  for (const one of work) {
    if (room <= 0) {
      jobs.push([]);
      room = chunks;
    }
    jobs.at(-1)?.push({ id: one.entry.id, candidates: one.candidates });
    room -= sizeOf(one);
  }
  const count = async (job: readonly CountWork[]) => {
    if (counter && !isLittle) return counter.count(query, job);
    const { countHere } = await import("./count-job.ts");
    return countHere(transcripts, query, job, signal);
  };
  const counted = (await Promise.all(jobs.map(count))).flat();
  for (const [i, { entry }] of work.entries()) if (counted[i]?.damaged) entry.damaged = true;
  for (const { inflated } of counted) lookup.stats.inflated += inflated;
  return counted.map(({ messages }) => messages);
}

/** Counts to the end; throws when `signal` aborts. About 0.4 ms of a processor a chunk, those of known sessions excepted. */
export async function countAll(lookup: Lookup, wanted: readonly Entry[], options: CountOptions): Promise<Totals> {
  const { lanes, chunks } = options.counter ?? HERE;
  const { known, onProgress, signal, until = Number.POSITIVE_INFINITY } = options;
  const tally = new Tally(wanted.length, onProgress);
  const count = async (work: readonly MayHold[], isLittle: boolean) => {
    signal?.throwIfAborted();
    const counted = await countIn(lookup, work, options, isLittle);
    for (const [i, { entry }] of work.entries()) {
      const messages = counted[i] ?? 0;
      // A session that could not be read is counted again next time.
      if (!entry.damaged) known.set(entry, messages);
      tally.add(entry, messages);
    }
  };
  let work: MayHold[] = [];
  let size = 0;
  /** Workers count while this thread reads the next signatures. */
  let counting: Promise<void> | undefined;
  const hand = async () => {
    await counting;
    counting = count(work, counting === undefined && size < chunks);
    counting.catch(() => {});
    work = [];
    size = 0;
  };
  const asked = wanted.filter((entry) => !known.has(entry));
  let next = 0;
  /** Adds the sessions before this one: they are known. */
  const addKnown = (end: Entry | undefined) => {
    for (; next < wanted.length && wanted[next] !== end; next++) {
      const entry = wanted[next];
      if (entry) tally.add(entry, known.get(entry) ?? 0);
    }
    next++;
  };
  let stoppedAt: Entry | undefined;
  try {
    for await (const one of lookup.mayHold(asked)) {
      signal?.throwIfAborted();
      addKnown(one.entry);
      if (one.candidates.length === 0) tally.add(one.entry, 0);
      else {
        work.push(one);
        size += sizeOf(one);
        if (size >= lanes * chunks) await hand();
      }
      if (performance.now() <= until) continue;
      await hand();
      await counting;
      if (tally.found.length === 0 || one.entry === wanted.at(-1)) continue;
      stoppedAt = one.entry;
      break;
    }
    await hand();
    if (!stoppedAt) addKnown(undefined);
  } finally {
    await counting;
  }
  return { total: tally.answer(lookup.stats), found: tally.found, stoppedAt };
}

class Tally {
  readonly #of: number;
  readonly #onProgress: CountOptions["onProgress"];
  readonly #tools = new Map<string, Count>();
  readonly #projects = new Map<string, Count>();
  readonly found: Totals["found"] = [];
  #messages = 0;
  #damaged = 0;
  #looked = 0;
  #told = performance.now();

  constructor(of: number, onProgress: CountOptions["onProgress"]) {
    this.#of = of;
    this.#onProgress = onProgress;
  }

  add(entry: Entry, messages: number): void {
    const { tool, projectId, damaged } = entry;
    this.#looked++;
    if (damaged) this.#damaged++;
    if (messages > 0) {
      this.found.push({ entry, messages });
      this.#messages += messages;
      add(this.#tools, tool, messages);
      add(this.#projects, projectId, messages);
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
