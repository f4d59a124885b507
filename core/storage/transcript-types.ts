/** Transcripts as others see them: parts, their directory, and who reads and writes them. */
import type { SessionEvent } from "../session/session.ts";
import type { Bounds } from "./chunk.ts";

/** One part as the catalogue records it. */
export interface TranscriptPart {
  generation: number;
  bytes: number;
  /** Bytes of sidecars, directory and footer: one read from the end fetches them all. */
  tail: number;
  firstSeq: number;
  count: number;
}

/** Directory entry of a chunk. Offsets count from the start of the file. */
export interface ChunkEntry {
  offset: number;
  bytes: number;
  crc: number;
  firstSeq: number;
  count: number;
  firstAt: number | null;
  lastAt: number | null;
  /** Start and length of this chunk's sidecar inside `PartIndex.sidecars`. */
  sidecar: [start: number, length: number];
}

/** The directory of a part. */
export interface PartIndex {
  part: TranscriptPart;
  chunks: ChunkEntry[];
  /** Inflated when first asked for. */
  readonly sidecars: Uint8Array;
}

/** Reads and writes transcripts: a session is parts, a part is chunks of messages. */
export interface Transcripts {
  /** Starts a part. Nothing is stored before `finish`. */
  writer(sessionId: string, generation: number, options?: WriterOptions): TranscriptWriter;
  /** Directory and sidecars of a part: one read. */
  index(sessionId: string, part: TranscriptPart): Promise<PartIndex>;
  /** Reads all of a part and checks it, inflating nothing. Throws TRANSCRIPT_DAMAGED. */
  check(sessionId: string, part: TranscriptPart): Promise<void>;
  /** JSON of one chunk, inflated and checked: `decodeChunk` makes messages of it. */
  chunkBytes(sessionId: string, part: TranscriptPart, entry: ChunkEntry): Promise<Buffer>;
  /** Messages from `from` (a seq) on, chunk by chunk; reads only the chunks asked for, in slices. */
  events(sessionId: string, parts: readonly TranscriptPart[], from?: number): AsyncGenerator<SessionEvent[]>;
  /** Resolves when all finished parts are on disk; only then may the catalogue name them. */
  settle(): Promise<void>;
  remove(sessionId: string, generations: readonly number[]): Promise<void>;
  /** Keys of all stored parts, and of nothing else that lies there, for sweeping orphans. */
  keys(): Promise<string[]>;
  removeKey(key: string): Promise<void>;
  keyOf(sessionId: string, generation: number): string;
  /** Counters for tests and status: how many chunks were inflated since the start. */
  readonly stats: { inflated: number; bytesRead: number };
}

export interface TranscriptWriter {
  add(event: SessionEvent): void;
  readonly count: number;
  /** Stores the part; `settle` makes it durable. Undefined when nothing was added. */
  finish(): Promise<TranscriptPart | undefined>;
}

export interface WriterOptions {
  /** seq of the first event; 0 unless the part continues another one. */
  firstSeq?: number;
  /** Bytes to store beside each chunk, made of its JSON; `bounds` are of its texts and tool inputs, which have `units` UTF-16 units. */
  sidecar?: (json: Uint8Array, units: number, bounds: Bounds) => Uint8Array;
}
