/** Answers as JSON, cached while a session is unchanged. */
import { createCache, type Kernel, type Services } from "sessarc";
import type { Change } from "./analyze.ts";
import { readCausality } from "./read.ts";
import { createWaste, type SessionWaste } from "./waste.ts";

/** Answers cached. */
const CACHED = 16;

type Row = Awaited<ReturnType<Services["archive"]["get"]>>;

export interface Answers {
  /** The answer as JSON, sent as it is each time. */
  get(row: Row): Promise<Uint8Array<ArrayBuffer>>;
  /** Sessions with wasted reads, the most tokens first. */
  wasted(ids: readonly string[]): Promise<SessionWaste[]>;
}

export function createAnswers(kernel: Kernel): Answers {
  const cached = createCache<Uint8Array<ArrayBuffer>>(CACHED);
  return {
    wasted: createWaste(kernel),
    get(row) {
      // Only the session's own content counts: other sessions may change as they like.
      return cached.get(row.id, () => analyze(kernel, row), `${row.revision} ${row.messageCount}`);
    },
  };
}

/** The answer; its changes are written as they are found: together they are the largest part of it. */
async function analyze(kernel: Kernel, row: Row): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  const write = (changes: readonly Change[]) => {
    if (changes.length === 0) return;
    const text = changes.map((change) => JSON.stringify(change)).join(",");
    pieces.push(Buffer.from(pieces.length > 0 ? `,${text}` : text));
  };
  const { changes, ...rest } = await readCausality(kernel, row, write);
  write(changes);
  return Buffer.concat([Buffer.from('{"changes":['), ...pieces, Buffer.from(`],${JSON.stringify(rest).slice(1)}`)]);
}
