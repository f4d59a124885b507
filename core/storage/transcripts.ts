/**
 * Transcripts: message bodies, compressed, in files of chunks. A session's transcript is a list of parts; each part is one immutable
 * file, written once and whole, and the catalogue says which parts count. An appended log adds a part.
 *
 * File: chunk bodies (brotli, quality 1: as small as deflate at its fastest, in half its time) | sidecars (bytes a plugin keeps per chunk) | directory JSON | footer of 32 bytes.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { brotliDecompressSync, crc32 } from "node:zlib";
import { SessarcError } from "../errors/error.ts";
import { systemReason } from "../errors/system.ts";
import { toMessage } from "../utils/async.ts";
import { codeOf } from "../utils/gone.ts";
import { mustYield, yieldNow } from "../utils/yield.ts";
import { decodeChunk } from "./chunk.ts";
import type { DriverConfig, TranscriptDriver } from "./driver.ts";
import { createWriter, parseTail } from "./transcript-part.ts";
import type { ChunkEntry, Transcripts } from "./transcript-types.ts";

/** Where transcripts lie. Plain data: it may be sent to a thread. */
export interface TranscriptOptions {
  /** The data directory. */
  dir: string;
  /** Default: the durable-fs driver below `dir`. */
  driver?: DriverConfig | undefined;
}

/** Transcripts below `dir`. The driver is loaded on first use. */
export function createTranscripts(options: TranscriptOptions): Transcripts {
  let opening: Promise<TranscriptDriver> | undefined;
  const open = () => (opening ??= openDriver(options));
  const stats = { inflated: 0, bytesRead: 0 };
  const damaged = (key: string, reason: string) => new SessarcError("TRANSCRIPT_DAMAGED", { key, reason });

  async function ask(key: string, offset: number, length: number): Promise<Uint8Array | null> {
    const driver = await open();
    if (driver.readRange) return driver.readRange(key, offset, length);
    const whole = (await driver.getItemRaw?.(key, {})) as Uint8Array | null | undefined;
    return whole ? whole.subarray(offset, offset + length) : null;
  }

  async function read(key: string, offset: number, length: number): Promise<Buffer> {
    const bytes = await ask(key, offset, length).catch((error: unknown) => {
      throw UNREADABLE.has(codeOf(error)) ? damaged(key, systemReason(error) ?? toMessage(error)) : error;
    });
    if (!bytes) throw damaged(key, "the file is missing");
    if (bytes.length !== length)
      throw damaged(key, `the file ends early: ${bytes.length} of ${length} bytes at ${offset}`);
    stats.bytesRead += length;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  function inflate(key: string, entry: ChunkEntry, packed: Buffer): Buffer {
    if (crc32(packed) !== entry.crc) throw damaged(key, `checksum of the chunk at ${entry.offset} is wrong`);
    stats.inflated++;
    return brotliDecompressSync(packed, { chunkSize: INFLATED_BYTES });
  }

  const self: Transcripts = {
    stats,
    keyOf: partKey,
    writer: (sessionId, generation, options = {}) =>
      createWriter(open, partKey(sessionId, generation), generation, options),

    async index(sessionId, part) {
      const key = partKey(sessionId, part.generation);
      const tail = await read(key, part.bytes - part.tail, part.tail);
      return parseTail(tail, part, (reason) => damaged(key, reason));
    },

    async check(sessionId, part) {
      const key = partKey(sessionId, part.generation);
      for (const entry of (await self.index(sessionId, part)).chunks) {
        if (crc32(await read(key, entry.offset, entry.bytes)) !== entry.crc)
          throw damaged(key, `checksum of the chunk at ${entry.offset} is wrong`);
      }
    },

    async chunkBytes(sessionId, part, entry) {
      const key = partKey(sessionId, part.generation);
      return inflate(key, entry, await read(key, entry.offset, entry.bytes));
    },

    async *events(sessionId, parts, from = 0) {
      for (const part of parts) {
        if (part.firstSeq + part.count <= from) continue;
        const { chunks } = await self.index(sessionId, part);
        const key = partKey(sessionId, part.generation);
        for (const group of readAhead(chunks.filter((entry) => entry.firstSeq + entry.count > from))) {
          const { offset: start } = group[0] as ChunkEntry;
          const bytes = await read(
            key,
            start,
            group.reduce((sum, entry) => sum + entry.bytes, 0),
          );
          for (const entry of group) {
            const at = entry.offset - start;
            const events = decodeChunk(inflate(key, entry, bytes.subarray(at, at + entry.bytes)));
            yield entry.firstSeq < from ? events.slice(from - entry.firstSeq) : events;
            // Small reads are done at once: without this a long session would be read in one go.
            if (mustYield()) await yieldNow();
          }
        }
      }
    },

    async remove(sessionId, generations) {
      const driver = await open();
      const remove = (key: string) => (driver.drop ? driver.drop(key) : driver.removeItem?.(key, {}));
      for (const generation of generations) await remove(partKey(sessionId, generation));
    },
    settle: async () => (await open()).settle?.(),
    async keys() {
      const own: string[] = [];
      for (const name of await (await open()).getKeys("", {})) {
        // Drivers answer paths or keys, and everything they hold: shares, or what another program put there.
        const key = name.replaceAll(/[/\\]/g, ":");
        if (OWN.test(key)) own.push(key);
        if (mustYield()) await yieldNow();
      }
      return own;
    },
    removeKey: async (key) => void (await (await open()).removeItem?.(key, {})),
  };
  return self;
}

/** Codes that say something of this one part: others (no descriptors left) are not its fault. */
const UNREADABLE = new Set(["EISDIR", "ENOTDIR", "ELOOP", "ENXIO", "ESPIPE", "EIO", "EACCES", "EPERM", "PATH_OUTSIDE"]);
/** Most chunks are smaller when inflated: zlib then fills one buffer instead of joining several. */
const INFLATED_BYTES = 128 * 1024;
/** Chunks read at once, and their bytes at most. */
const AHEAD = 16;
const AHEAD_BYTES = 128 * 1024;

/** Neighbours in the file: one chunk, then two, then four …, so that a page reads little and a whole session is read in few strokes. */
function* readAhead(entries: readonly ChunkEntry[]): Generator<ChunkEntry[]> {
  let group: ChunkEntry[] = [];
  let bytes = 0;
  let most = 1;
  for (const entry of entries) {
    if (group.length > 0 && (group.length === most || bytes + entry.bytes > AHEAD_BYTES)) {
      yield group;
      group = [];
      bytes = 0;
      most = Math.min(most * 2, AHEAD);
    }
    group.push(entry);
    bytes += entry.bytes;
  }
  if (group.length > 0) yield group;
}

/** `<2 hex>:<digest>.<generation>`: unstorage's separator is `:`, which the durable-fs driver maps to a folder. */
function partKey(sessionId: string, generation: number): string {
  const digest = createHash("sha256").update(sessionId).digest("hex");
  return `${digest.slice(0, 2)}:${digest.slice(0, 32)}.${generation}`;
}

const OWN = /^[0-9a-f]{2}:[0-9a-f]{32}\.\d+$/;

async function openDriver({ dir, driver }: TranscriptOptions): Promise<TranscriptDriver> {
  if (!driver) {
    const { durableFs } = await import("./durable-fs.ts");
    return durableFs({ base: join(dir, "transcripts") });
  }
  const { default: factory } = (await import(`unstorage/drivers/${driver.name}`)) as {
    default: (options?: Record<string, unknown>) => TranscriptDriver;
  };
  return factory(driver.options);
}
