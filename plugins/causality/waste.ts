/** Wasted reads of many sessions. Each session is analysed once and its sum stored; a session that grew is analysed again. */
import { createCache, isSessarcError, type Kernel } from "sessarc";
import type { Causality } from "./analyze.ts";
import { readCausality } from "./read.ts";

/** Wasted reads of one session, as `GET /sessions/:id/causality` lists them; what a fork copied counts where it came from. */
export interface SessionWaste {
  session: string;
  reads: number;
  tokens: number;
  /** The read with the most tokens. */
  seq: number;
}

interface Sum {
  reads: number;
  tokens: number;
  /** Null: no read was wasted. */
  seq: number | null;
}

/** What a sum was made of; another number after a change of the analysis. */
const STAMP = "'2 ' || s.generation || ' ' || s.message_count";
/** Sums in memory. */
const CACHED = 2_000;
const NOTHING: Sum = { reads: 0, tokens: 0, seq: null };

export function createWaste(kernel: Kernel): (ids: readonly string[]) => Promise<SessionWaste[]> {
  const { db, readOnly } = kernel.storage;
  /** Two requests share one analysis; where nothing may be stored, later requests, too. */
  const sums = createCache<Sum>(CACHED);

  async function sumUp(id: string, stamp: string): Promise<Sum> {
    const row = await kernel.inject("archive").find(id);
    if (!row) return NOTHING;
    const sum = addUp(
      (await readCausality(kernel, row, () => {})).wastedReads.filter(({ seq }) => seq >= row.copiedMessages),
    );
    if (!readOnly)
      await db.run(
        "insert into causality_waste (session, stamp, reads, tokens, seq) values (?, ?, ?, ?, ?) on conflict (session) do update set stamp = excluded.stamp, reads = excluded.reads, tokens = excluded.tokens, seq = excluded.seq",
        [id, stamp, sum.reads, sum.tokens, sum.seq],
      );
    return sum;
  }

  const once = (id: string, stamp: string): Promise<Sum> =>
    sums
      .get(id, () => sumUp(id, stamp), stamp)
      .catch((error: unknown) => {
        // The archive reports and repairs a damaged transcript.
        if (isSessarcError(error) && error.code === "TRANSCRIPT_DAMAGED") return NOTHING;
        throw error;
      });

  return async (ids) => {
    const rows = await db.all<Sum & { id: string; stamp: string; known: string | null }>(
      `select s.id, ${STAMP} as stamp, w.stamp as known, w.reads, w.tokens, w.seq
       from session s left join causality_waste w on w.session = s.id
       where s.id in (select value from json_each(?))`,
      [JSON.stringify(ids)],
    );
    const found: SessionWaste[] = [];
    for (const { id, stamp, known, ...stored } of rows) {
      const { reads, tokens, seq } = known === stamp ? stored : await once(id, stamp);
      if (seq !== null) found.push({ session: id, reads, tokens, seq });
    }
    return found.sort((a, b) => b.tokens - a.tokens || (a.session < b.session ? -1 : 1));
  };
}

function addUp(wasted: Causality["wastedReads"]): Sum {
  const largest = wasted.reduce<Causality["wastedReads"][number] | undefined>(
    (most, read) => (most === undefined || read.tokens > most.tokens ? read : most),
    undefined,
  );
  return {
    reads: wasted.length,
    tokens: wasted.reduce((sum, { tokens }) => sum + tokens, 0),
    seq: largest?.seq ?? null,
  };
}
