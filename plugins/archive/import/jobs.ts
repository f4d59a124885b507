/** What one worker reads in a row, and what goes along of a log that was read before. */
import type { TranscriptPart } from "sessarc/storage";
import { type EarlierRow, lengthOf, type SessionFacts, type SessionRow, toParts } from "../catalogue/types.ts";
import type { FoundLog } from "../places/scan.ts";
import type { StoredSession } from "./types.ts";

/** Logs handed to a worker at once: enough that messages between threads do not count. */
const JOB_BYTES = 1 << 20;
const JOB_SESSIONS = 24;
/** Each job opens its store again, which may copy all of it: so many jobs for one at most. */
const STORE_JOBS = 8;
/** A transcript of this many parts is made of fewer at its next change. */
const MAX_PARTS = 12;
/** Parts up to this many times as large as all after them are folded into one with those. */
const FOLD_RATIO = 4;

/** Groups of sessions one worker reads in a row: one adapter each, a store's sessions together, the largest logs first, or the newest. */
export function toJobs(changed: readonly FoundLog[], newestFirst: boolean): FoundLog[][] {
  const jobs: FoundLog[][] = [];
  const large = (one: FoundLog) => !newestFirst && (one.ref.size ?? 0) >= JOB_BYTES;
  const ordered = [...changed].sort(
    (a, b) =>
      Number(large(b)) - Number(large(a)) ||
      (large(a) ? (b.ref.size ?? 0) - (a.ref.size ?? 0) : (b.ref.mtime ?? 0) - (a.ref.mtime ?? 0)),
  );
  const counts = new Map<string, number>();
  for (const one of changed) counts.set(toGroup(one), (counts.get(toGroup(one)) ?? 0) + 1);
  const open = new Map<string, { list: FoundLog[]; bytes: number }>();
  for (const one of ordered) {
    const name = toGroup(one);
    const group = open.get(name) ?? { list: [], bytes: 0 };
    open.set(name, group);
    group.list.push(one);
    group.bytes += one.ref.size ?? 0;
    const share = isShared(one) ? Math.ceil((counts.get(name) ?? 0) / STORE_JOBS) : 0;
    if (group.list.length < share) continue;
    if (group.bytes >= JOB_BYTES || group.list.length >= JOB_SESSIONS) {
      open.delete(name);
      jobs.push(group.list);
    }
  }
  for (const group of open.values()) jobs.push(group.list);
  return jobs;
}

/** Of a store that holds several sessions. */
const isShared = ({ adapter, ref }: FoundLog) => ref.exclusive !== true && !adapter.appends(ref);
const toGroup = (one: FoundLog) => (isShared(one) ? `${one.adapter.name}\0${one.ref.path}` : one.adapter.name);

/** What a worker gets of a stored session, so that it reads only what was added. `facts`: where the open log has others. */
export const toStored = (
  row: SessionRow,
  facts: SessionFacts | undefined,
  earlier: readonly EarlierRow[],
): StoredSession => ({
  generation: row.generation,
  length: lengthOf(toParts(row)),
  facts,
  fold: partsToFold(toParts(row)),
  earlier: Float64Array.from(earlier.flatMap(({ names }) => [...new Float64Array(Uint8Array.from(names).buffer)])),
});

/**
 * The last parts of a transcript that are written into one: small ones often, a large one only when what came after it is no longer
 * small beside it. So a message costs a few rewrites over the life of a session, however it grows.
 */
function partsToFold(parts: TranscriptPart[]): TranscriptPart[] {
  if (parts.length < MAX_PARTS) return [];
  let from = parts.length - 1;
  let bytes = parts[from]?.bytes ?? 0;
  for (; from > 0; from--) {
    const before = parts[from - 1]?.bytes ?? 0;
    if (before > FOLD_RATIO * bytes && parts.length - from > 1) break;
    bytes += before;
  }
  return parts.slice(from);
}
