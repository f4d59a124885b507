/** Inflated chunks cached between searches, as strings of Latin-1: a search parses only the lines that it finds something in. */
import type { ChunkEntry, TranscriptPart, Transcripts } from "sessarc/storage";

/** Bytes of chunks that are cached. */
const CACHE_BYTES = 12 << 20;
const CACHE_IDLE_MS = 60_000;

/** Least recently used out first; empty again after a minute without searches. */
export class ChunkCache {
  readonly #transcripts: Transcripts;
  readonly #chunks = new Map<string, string>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(transcripts: Transcripts) {
    this.#transcripts = transcripts;
  }

  /** The bytes of a chunk. Counts in `stats` what it inflates. */
  async get(sessionId: string, part: TranscriptPart, entry: ChunkEntry, stats: { inflated: number }): Promise<string> {
    const key = `${sessionId}\0${part.generation}\0${entry.offset}`;
    const known = this.#chunks.get(key);
    if (known !== undefined) {
      this.#chunks.delete(key);
      this.#chunks.set(key, known);
      return known;
    }
    stats.inflated++;
    const chunk = (await this.#transcripts.chunkBytes(sessionId, part, entry)).toString("latin1");
    // Others may have asked for it meanwhile: it counts once.
    if (this.#chunks.has(key)) return chunk;
    this.#chunks.set(key, chunk);
    this.#bytes += chunk.length;
    for (const [oldest, old] of this.#chunks) {
      if (this.#bytes <= CACHE_BYTES) break;
      this.#chunks.delete(oldest);
      this.#bytes -= old.length;
    }
    this.#timer ??= setTimeout(() => this.clear(), CACHE_IDLE_MS).unref();
    this.#timer.refresh();
    return chunk;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#chunks.clear();
    this.#bytes = 0;
  }
}
