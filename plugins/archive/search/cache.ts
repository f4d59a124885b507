/** Decoded chunks kept between searches. */
import { type ChunkEntry, decodeChunk, type TranscriptPart, type Transcripts } from "sessarc/storage";
import { type Searched, toSearched } from "./searched.ts";

/** UTF-16 units of decoded text kept between searches. */
const CACHE_CHARS = 8 << 20;
const CACHE_IDLE_MS = 60_000;

const toChars = (chunk: readonly Searched[]) =>
  chunk.reduce((sum, { event, input }) => sum + event.text.length + input.length, 0);

/** Least recently used out first; empty again after a minute without searches. */
export class ChunkCache {
  readonly #transcripts: Transcripts;
  readonly #chunks = new Map<string, readonly Searched[]>();
  #chars = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(transcripts: Transcripts) {
    this.#transcripts = transcripts;
  }

  /** Null when the chunk's bytes hold nothing that `bytes` finds: then it is not decoded. Counts in `stats` what it inflates. */
  async get(
    sessionId: string,
    part: TranscriptPart,
    entry: ChunkEntry,
    bytes: RegExp | null,
    stats: { inflated: number },
  ): Promise<readonly Searched[] | null> {
    const key = `${sessionId}\0${part.generation}\0${entry.offset}`;
    const known = this.#chunks.get(key);
    if (known) {
      this.#chunks.delete(key);
      this.#chunks.set(key, known);
      return known;
    }
    stats.inflated++;
    const raw = await this.#transcripts.chunkBytes(sessionId, part, entry);
    if (bytes && !bytes.test(raw.toString("latin1"))) return null;
    const chunk = toSearched(decodeChunk(raw));
    // Others may have asked for it meanwhile: it counts once.
    if (this.#chunks.has(key)) return chunk;
    this.#chunks.set(key, chunk);
    this.#chars += toChars(chunk);
    for (const [oldest, old] of this.#chunks) {
      if (this.#chars <= CACHE_CHARS) break;
      this.#chunks.delete(oldest);
      this.#chars -= toChars(old);
    }
    this.#timer ??= setTimeout(() => this.clear(), CACHE_IDLE_MS).unref();
    this.#timer.refresh();
    return chunk;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#chunks.clear();
    this.#chars = 0;
  }
}
