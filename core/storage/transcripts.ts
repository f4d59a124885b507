/**
 * Transcripts: message bodies, compressed, in files of chunks. A session's transcript is a list of parts; each part is one immutable
 * file, written once and whole, and the catalogue says which parts count. An appended log adds a part.
 *
 * File: chunk bodies (brotli, quality 1: as small as deflate at its fastest, in half its time) | sidecars (bytes a plugin keeps per chunk) | directory JSON | footer of 32 bytes.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from "node:zlib";
import type { Cursor } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";
import type { SessionEvent } from "../session/session.ts";
import { type Chunk, decodeChunk } from "./chunk.ts";
import { ChunkBuilder } from "./chunk-builder.ts";

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

export interface PartIndex {
  part: TranscriptPart;
  chunks: ChunkEntry[];
  sidecars: Uint8Array;
}

/** What transcripts need of an unstorage driver. `readRange` is optional: others are read whole. */
export interface TranscriptDriver {
  setItemRaw?(key: string, value: Uint8Array, options: object): unknown;
  getItemRaw?(key: string, options: object): unknown;
  readRange?(key: string, offset: number, length: number): Promise<Uint8Array | null>;
  /** Writes a key nobody reads yet; durable after `settle`. Without it `setItemRaw` is used. */
  create?(key: string, value: Uint8Array): Promise<void>;
  settle?(): Promise<void>;
  removeItem?(key: string, options: object): unknown;
  getKeys(base: string, options: object): string[] | Promise<string[]>;
}

export interface Transcripts {
  /** Starts a part. Nothing is stored before `finish`. */
  writer(sessionId: string, generation: number, options?: WriterOptions): TranscriptWriter;
  /** Directory and sidecars of a part: one read. */
  index(sessionId: string, part: TranscriptPart): Promise<PartIndex>;
  /** One chunk, inflated and checked. */
  chunk(sessionId: string, part: TranscriptPart, entry: ChunkEntry): Promise<Chunk>;
  /** Its bytes, for a look at them before decoding: `decodeChunk` makes the chunk. */
  chunkBytes(sessionId: string, part: TranscriptPart, entry: ChunkEntry): Promise<Buffer>;
  /** Chunks that hold messages from `from` (a seq) on, the first with those before it too; reads only the chunks asked for. */
  chunks(sessionId: string, parts: readonly TranscriptPart[], from?: number): AsyncGenerator<Chunk>;
  /** Messages from `from` on, chunk by chunk. */
  events(sessionId: string, parts: readonly TranscriptPart[], from?: number): AsyncGenerator<SessionEvent[]>;
  /** Keeps where a log's tail stands, beside the part it belongs to. Small, read only when the log grew. */
  writeCursor(sessionId: string, generation: number, cursor: Cursor): Promise<void>;
  /** Undefined when there is none or it is damaged: then the log is read from its start. */
  readCursor(sessionId: string, generation: number): Promise<Cursor | undefined>;
  cursorKeyOf(sessionId: string, generation: number): string;
  /** Resolves when all finished parts are on disk; only then may the catalogue name them. */
  settle(): Promise<void>;
  remove(sessionId: string, generations: readonly number[]): Promise<void>;
  /** Keys of all stored parts, for sweeping orphans. */
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

const MAGIC = "SESSARC1";
const FOOTER = 32;
/** Characters of text after which a chunk is closed. */
const CHUNK_CHARS = 65_536;
/** Messages after which a chunk is closed: a page of short ones must not inflate thousands. */
const CHUNK_MESSAGES = 512;

export interface WriterOptions {
  /** seq of the first event; 0 unless the part continues another one. */
  firstSeq?: number;
  /** Bytes to keep beside each chunk, made from the strings its text is put together from. */
  sidecar?: (parts: readonly string[]) => Uint8Array;
}

/** A driver of unstorage by name (`unstorage/drivers/<name>`) with its options. JSON-plain, so that workers open the same one. */
export interface DriverConfig {
  name: string;
  options?: Record<string, unknown>;
}

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

  async function read(key: string, offset: number, length: number): Promise<Buffer> {
    let bytes: Uint8Array | null;
    const driver = await open();
    if (driver.readRange) bytes = await driver.readRange(key, offset, length);
    else {
      const whole = (await driver.getItemRaw?.(key, {})) as Uint8Array | null | undefined;
      bytes = whole ? whole.subarray(offset, offset + length) : null;
    }
    if (!bytes) throw damaged(key, "the file is missing");
    if (bytes.length !== length)
      throw damaged(key, `the file ends early: ${bytes.length} of ${length} bytes at ${offset}`);
    stats.bytesRead += length;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  function inflate(key: string, entry: ChunkEntry, packed: Buffer): Chunk {
    if (crc32(packed) !== entry.crc) throw damaged(key, `checksum of the chunk at ${entry.offset} is wrong`);
    stats.inflated++;
    return decodeChunk(brotliDecompressSync(packed));
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

    async chunk(sessionId, part, entry) {
      return decodeChunk(await self.chunkBytes(sessionId, part, entry));
    },

    async chunkBytes(sessionId, part, entry) {
      const key = partKey(sessionId, part.generation);
      const packed = await read(key, entry.offset, entry.bytes);
      if (crc32(packed) !== entry.crc) throw damaged(key, `checksum of the chunk at ${entry.offset} is wrong`);
      stats.inflated++;
      return brotliDecompressSync(packed);
    },

    async *chunks(sessionId, parts, from = 0) {
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
            yield inflate(key, entry, bytes.subarray(at, at + entry.bytes));
          }
        }
      }
    },

    async *events(sessionId, parts, from = 0) {
      for await (const chunk of self.chunks(sessionId, parts, from)) {
        const events: SessionEvent[] = [];
        for (let i = Math.max(0, from - chunk.firstSeq); i < chunk.count; i++) events.push(chunk.event(i));
        yield events;
      }
    },

    cursorKeyOf: cursorKey,
    async writeCursor(sessionId, generation, cursor) {
      const driver = await open();
      const packed = compress(Buffer.from(JSON.stringify(cursor)));
      const sealed = Buffer.concat([Buffer.alloc(4), packed]);
      sealed.writeUInt32LE(crc32(packed), 0);
      const key = cursorKey(sessionId, generation);
      if (driver.create) await driver.create(key, sealed);
      else await driver.setItemRaw?.(key, sealed, {});
    },
    async readCursor(sessionId, generation) {
      const driver = await open();
      const sealed = (await driver.getItemRaw?.(cursorKey(sessionId, generation), {})) as Buffer | null | undefined;
      if (!sealed || sealed.length < 5 || crc32(sealed.subarray(4)) !== sealed.readUInt32LE(0)) return undefined;
      return JSON.parse(brotliDecompressSync(sealed.subarray(4)).toString("utf8")) as Cursor;
    },

    async remove(sessionId, generations) {
      const driver = await open();
      for (const generation of generations) {
        await driver.removeItem?.(partKey(sessionId, generation), {});
        await driver.removeItem?.(cursorKey(sessionId, generation), {});
      }
    },
    settle: async () => (await open()).settle?.(),
    keys: async () => (await open()).getKeys("", {}),
    removeKey: async (key) => void (await (await open()).removeItem?.(key, {})),
  };
  return self;
}

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
export function partKey(sessionId: string, generation: number): string {
  const digest = createHash("sha256").update(sessionId).digest("hex");
  return `${digest.slice(0, 2)}:${digest.slice(0, 32)}.${generation}`;
}

const cursorKey = (sessionId: string, generation: number) => `${partKey(sessionId, generation)}.cursor`;

function compress(bytes: Uint8Array): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 1,
      [constants.BROTLI_PARAM_LGWIN]: 17,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

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

function createWriter(
  open: () => Promise<TranscriptDriver>,
  key: string,
  generation: number,
  { firstSeq = 0, sidecar }: WriterOptions,
): TranscriptWriter {
  const builder = new ChunkBuilder();
  const bodies: Uint8Array[] = [];
  const sides: Uint8Array[] = [];
  const entries: ChunkEntry[] = [];
  let offset = 0;
  let sideOffset = 0;
  let count = 0;
  let firstAt: number | null = null;
  let lastAt: number | null = null;

  function close(): void {
    const messages = builder.count;
    if (messages === 0) return;
    const { bytes, parts } = builder.take();
    const body = compress(bytes);
    const side = sidecar?.(parts) ?? new Uint8Array(0);
    entries.push({
      offset,
      bytes: body.length,
      crc: crc32(body),
      firstSeq: firstSeq + count - messages,
      count: messages,
      firstAt,
      lastAt,
      sidecar: [sideOffset, side.length],
    });
    bodies.push(body);
    sides.push(side);
    offset += body.length;
    sideOffset += side.length;
    firstAt = lastAt = null;
  }

  return {
    get count() {
      return count;
    },
    add(event) {
      builder.add(event);
      count++;
      const at = event.at === undefined ? Number.NaN : Date.parse(event.at);
      if (!Number.isNaN(at)) {
        firstAt = firstAt === null ? at : Math.min(firstAt, at);
        lastAt = lastAt === null ? at : Math.max(lastAt, at);
      }
      if (builder.size >= CHUNK_CHARS || builder.count >= CHUNK_MESSAGES) close();
    },
    async finish() {
      close();
      if (count === 0) return undefined;
      const directory = Buffer.from(JSON.stringify({ v: 1, chunks: entries.map(packEntry) }));
      const sidecars = compress(Buffer.concat(sides));
      const footer = Buffer.alloc(FOOTER);
      footer.writeUInt32LE(directory.length, 0);
      footer.writeUInt32LE(sidecars.length, 4);
      footer.writeUInt32LE(crc32(directory, crc32(sidecars)), 8);
      footer.write(MAGIC, FOOTER - 8, "latin1");
      const file = Buffer.concat([...bodies, sidecars, directory, footer]);
      const driver = await open();
      if (driver.create) await driver.create(key, file);
      else await driver.setItemRaw?.(key, file, {});
      return { generation, bytes: file.length, tail: file.length - offset, firstSeq, count };
    },
  };
}

type PackedEntry = [number, number, number, number, number, number | null, number | null, number, number];

const packEntry = (e: ChunkEntry): PackedEntry => [
  e.offset,
  e.bytes,
  e.crc,
  e.firstSeq,
  e.count,
  e.firstAt,
  e.lastAt,
  e.sidecar[0],
  e.sidecar[1],
];

function parseTail(tail: Buffer, part: TranscriptPart, damaged: (reason: string) => Error): PartIndex {
  const footer = tail.subarray(tail.length - FOOTER);
  if (footer.length < FOOTER || footer.toString("latin1", FOOTER - 8) !== MAGIC)
    throw damaged("the file has no footer");
  const directoryBytes = footer.readUInt32LE(0);
  const sidecarBytes = footer.readUInt32LE(4);
  if (directoryBytes + sidecarBytes + FOOTER !== tail.length) throw damaged("the footer does not fit the file");
  const sidecars = tail.subarray(0, sidecarBytes);
  const directory = tail.subarray(sidecarBytes, sidecarBytes + directoryBytes);
  if (crc32(directory, crc32(sidecars)) !== footer.readUInt32LE(8)) throw damaged("checksum of the directory is wrong");
  const { chunks } = JSON.parse(directory.toString("utf8")) as { chunks: PackedEntry[] };
  return {
    part,
    sidecars: brotliDecompressSync(sidecars),
    chunks: chunks.map((c) => ({
      offset: c[0],
      bytes: c[1],
      crc: c[2],
      firstSeq: c[3],
      count: c[4],
      firstAt: c[5],
      lastAt: c[6],
      sidecar: [c[7], c[8]],
    })),
  };
}
