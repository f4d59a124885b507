/** How much there is in all: every chunk that may hold the query is looked at, in workers where there is much to do. */
import type { Candidate } from "./candidate.ts";
import type { Counted, CountWork } from "./count-job.ts";
import type { Entry } from "./entry.ts";
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
  /** Sessions of which something that was looked at could not be read: it was left out. */
  damaged: number;
}

/** What matches in one tool or project. */
export interface Count {
  id: string;
  sessions: number;
  messages: number;
}

/** Messages that match, by session as its text was: what is kept from one total of a query to the next. */
export type KnownCounts = WeakMap<Entry, number>;

/** Counts off the main thread. */
export interface Counter {
  /** Jobs that run beside each other. */
  lanes: number;
  /** Chunks looked at in one job. */
  chunks: number;
  count(work: readonly CountWork[]): Promise<Counted[]>;
}

export interface CountOptions {
  known: KnownCounts;
  /** Undefined: counted here. */
  counter: Counter | undefined;
  onProgress?: ((progress: TotalProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** By `performance.now()`: then it stops, once it has found something. */
  until?: number | undefined;
}

export interface Totals {
  total: TotalAnswer;
  /** In no order. */
  found: CountedSession[];
  /** The last session that was looked at, where it stopped before the end. */
  stoppedAt: Entry | undefined;
}

/** How many messages of a session match. */
export interface CountedSession {
  entry: Entry;
  messages: number;
}

const PROGRESS_MS = 100;
const HERE = { lanes: 1, chunks: 64 };
/** Of a full chunk, about, as it is stored. */
const FULL_BYTES = 16_384;

interface Work {
  entry: Entry;
  candidates: readonly Candidate[];
}

/** Counts to the end; throws when `signal` aborts. About 0.4 ms of a processor a chunk, those of known sessions excepted. */
export async function countAll(
  looker: Looker,
  wanted: readonly Entry[],
  { known, counter, onProgress, signal, until = Number.POSITIVE_INFINITY }: CountOptions,
): Promise<Totals> {
  const tally = new Tally(wanted.length, onProgress);
  const count = async (job: readonly Work[], inWorker: boolean) => {
    signal?.throwIfAborted();
    const counted =
      inWorker && counter ? await inWorkers(looker, job, counter) : await here(looker, job, counter !== undefined);
    for (const [i, { entry }] of job.entries()) {
      const { messages, damaged } = counted[i] as (typeof counted)[number];
      if (damaged) looker.damage(entry);
      // Also where a directory could not be read: that was left out before it was counted.
      if (!entry.damaged) known.set(entry, messages);
      tally.add(entry, messages);
    }
  };
  const { lanes, chunks: most } = counter ?? HERE;
  const jobs: Promise<void>[] = [];
  const running = new Set<Promise<void>>();
  let job: Work[] = [];
  let chunks = 0;
  let stoppedAt: Entry | undefined;
  /** The next lane that is free takes the job; signatures are looked at meanwhile. */
  const hand = async () => {
    const one = count(job, true);
    const ended = one.catch(() => {}).then(() => void running.delete(ended));
    jobs.push(one);
    running.add(ended);
    [job, chunks] = [[], 0];
    if (running.size >= lanes) await Promise.race(running);
  };
  /** Little is counted here: that takes less than starting a worker. */
  const rest = async () => {
    const one = job.length > 0 && count(job, jobs.length > 0);
    [job, chunks] = [[], 0];
    await Promise.all([one, ...running]);
  };
  try {
    for (const [i, entry] of wanted.entries()) {
      signal?.throwIfAborted();
      const messages = known.get(entry);
      if (messages !== undefined) tally.add(entry, messages);
      else if (looker.rulesOut(entry)) tally.add(entry, 0);
      else {
        const candidates = await looker.candidates(wanted.slice(i, i + looker.ahead(entry)));
        if (candidates.length === 0) tally.add(entry, 0);
        else job.push({ entry, candidates });
        // Many small ones are little work.
        for (const { chunk } of candidates) chunks += Math.min(1, chunk.bytes / FULL_BYTES);
      }
      if (looker.slices.due) await looker.slices.turn();
      if (chunks >= most) await hand();
      if (performance.now() <= until) continue;
      await rest();
      if (tally.found.length === 0 || i === wanted.length - 1) continue;
      stoppedAt = entry;
      break;
    }
    await rest();
  } finally {
    await Promise.allSettled(jobs);
  }
  await Promise.all(jobs);
  return { total: tally.answer(looker.stats), found: tally.found, stoppedAt };
}

async function inWorkers(looker: Looker, job: readonly Work[], counter: Counter): Promise<Counted[]> {
  const counted = await counter.count(job.map(({ entry, candidates }) => ({ id: entry.id, candidates })));
  for (const { inflated } of counted) looker.stats.inflated += inflated;
  return counted;
}

/** `keep`: they are few, and likely to be looked at again. */
async function here(
  looker: Looker,
  job: readonly Work[],
  keep: boolean,
): Promise<Pick<Counted, "messages" | "damaged">[]> {
  const counted: Pick<Counted, "messages" | "damaged">[] = [];
  for (const { entry, candidates } of job) {
    let messages = 0;
    for (const one of candidates) {
      const chunk = await looker.chunk(entry, one, keep);
      if (chunk) {
        await looker.match(chunk, one, () => {
          messages++;
          return false;
        });
      }
      if (looker.slices.due) await looker.slices.turn();
    }
    counted.push({ messages, damaged: entry.damaged });
  }
  return counted;
}

class Tally {
  readonly #of: number;
  readonly #onProgress: CountOptions["onProgress"];
  readonly #tools = new Map<string, Count>();
  readonly #projects = new Map<string, Count>();
  readonly found: CountedSession[] = [];
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
