/** Following a log that grows: where it was left, and what was added since. */
import type { SessionEvent, SessionSummary } from "./session.ts";

/** Where a tail stands, in this process alone. */
export interface Cursor {
  /** Byte offset after the last complete line. */
  offset: number;
  /** Hash of the first bytes of the file, to see that it is still the same. */
  head: string;
  /** seq of the next event. */
  seq: number;
  /** What the adapter goes on from: the open parser of a log of lines, the version of a database. It belongs to the last reading. */
  state: unknown;
}

export interface Tail {
  events: SessionEvent[];
  cursor: Cursor;
  /** Of all that was read; to be had before the next reading. */
  summary: SessionSummary;
  /** True when the file was replaced or cut: `events` start at seq 0 again. */
  restarted: boolean;
  /** Bytes read from the log for this call. */
  bytesRead: number;
}

/** The end of a tail whose events were delivered in batches. */
export type TailEnd = Omit<Tail, "events">;
