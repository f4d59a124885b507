/** The transcript as a flat list of rows: what is folded, filtered and grouped is decided here, from the columns alone. */
import type { Kind } from "../../../components/base/tools.ts";
import { kindAt, type Role, type Transcript, toolAt } from "./model.ts";

export type Row =
  /** One message; a call with its result when that follows in the same block. */
  | { key: number; type: "message"; seq: number; result: number }
  /** A run of reads and searches. */
  | { key: number; type: "fold"; seq: number; end: number; reads: number; searches: number };

interface RowOptions {
  kinds: ReadonlySet<Kind>;
  errorsOnly: boolean;
  /** First seq of runs shown one by one. */
  unfolded: ReadonlySet<number>;
}

/** Calls that only look: they fold when three or more stand together. */
const LOOKS: ReadonlySet<Role> = new Set<Role>(["read", "search"]);
const RUN = 3;

/** Linear in the messages. */
export function toRows(transcript: Transcript, options: RowOptions): Row[] {
  const rows: Row[] = [];
  const { total } = transcript;
  const folds = options.kinds.has("tool_use") && !options.errorsOnly;
  for (let seq = 0; seq < total; seq++) {
    const kind = kindAt(transcript, seq);
    if (folds && kind === "tool_use") {
      const run = runAt(transcript, seq);
      if (run && !options.unfolded.has(seq)) {
        rows.push({ key: seq, type: "fold", seq, ...run });
        seq = run.end;
        continue;
      }
      if (run) {
        // Opened: the rest of this run is no run of its own.
        for (let one = seq; one <= run.end; one++) push(rows, transcript, one, options);
        seq = run.end;
        continue;
      }
    }
    push(rows, transcript, seq, options);
  }
  return rows;
}

/** Replaces new rows by equal previous ones, so that growth at the end redraws only the end. Changes `rows`. */
export function keepRows(rows: Row[], before: readonly Row[] = []): Row[] {
  for (const [index, now] of rows.entries()) {
    const old = before[index];
    if (!old || old.key !== now.key || old.type !== now.type) break;
    const isSame =
      old.type === "message"
        ? now.type === "message" && old.result === now.result
        : now.type === "fold" && old.end === now.end;
    if (isSame) rows[index] = old;
  }
  return rows;
}

/** Adds the row of a message, if it passes. */
function push(rows: Row[], transcript: Transcript, seq: number, options: RowOptions): void {
  const kind = kindAt(transcript, seq);
  const partner = transcript.partner[seq] ?? -1;
  const call = toCall(transcript, seq);
  // Shown with its call.
  if (call >= 0 && options.kinds.has("tool_use")) return;
  if (kind === "tool_use" && partner >= 0 && toCall(transcript, partner) === seq) {
    if (options.errorsOnly && !transcript.errors.has(partner)) return;
    if (options.kinds.has("tool_use"))
      rows.push({ key: seq, type: "message", seq, result: options.kinds.has("tool_result") ? partner : -1 });
    return;
  }
  if (!options.kinds.has(kind)) return;
  if (options.errorsOnly && !transcript.errors.has(seq) && !(partner >= 0 && transcript.errors.has(partner))) return;
  rows.push({ key: seq, type: "message", seq, result: -1 });
}

/** Calls made at once have their results behind the last of them. */
const BLOCK = 60;

/** The call in whose row a result is shown: its own, when nothing but calls and results stands between. -1 otherwise. */
function toCall(transcript: Transcript, result: number): number {
  if (kindAt(transcript, result) !== "tool_result") return -1;
  const call = transcript.partner[result] ?? -1;
  if (call < 0 || result - call > BLOCK) return -1;
  for (let seq = call + 1; seq < result; seq++)
    if (transcript.kinds[seq] !== 3 && transcript.kinds[seq] !== 4) return -1;
  return call;
}

function runAt(transcript: Transcript, from: number): { end: number; reads: number; searches: number } | undefined {
  let reads = 0;
  let searches = 0;
  let end = from - 1;
  for (let seq = from; seq < transcript.total; seq++) {
    const kind = kindAt(transcript, seq);
    if (kind === "tool_use") {
      const role = toolAt(transcript, seq)?.role ?? null;
      if (!LOOKS.has(role)) break;
      if (role === "read") reads++;
      else searches++;
    } else if (kind === "tool_result") {
      const call = transcript.partner[seq] ?? -1;
      if (call < from || transcript.errors.has(seq)) break;
    } else break;
    end = seq;
  }
  return reads + searches >= RUN ? { end, reads, searches } : undefined;
}

/** Index of the row that shows a message, or of the nearest one that is shown. Logarithmic. */
export function rowOf(rows: readonly Row[], of: number, transcript?: Transcript): number {
  const call = transcript ? toCall(transcript, of) : -1;
  const seq = call >= 0 ? call : of;
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle;
    else high = middle - 1;
  }
  return low;
}
