/** Following a log that grows: where it was left, and what was added since. */
import type { Json } from "../utils/json.ts";
import type { SessionEvent, SessionSummary } from "./session.ts";

/** Where a tail stands. JSON, so that it can be stored. */
export interface Cursor {
  /** Byte offset after the last complete line. */
  offset: number;
  /** Hash of the first bytes of the file, to see that it is still the same. */
  head: string;
  /** seq of the next event. */
  seq: number;
  /** The parser's own state. */
  state: Json;
}

export interface Tail {
  events: SessionEvent[];
  cursor: Cursor;
  summary: SessionSummary;
  /** True when the file was replaced or cut: `events` start at seq 0 again. */
  restarted: boolean;
  /** Bytes read from the log for this call. */
  bytesRead: number;
}

/** The end of a tail whose events were delivered in batches. */
export type TailEnd = Omit<Tail, "events">;
