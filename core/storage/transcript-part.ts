/** One part of a transcript as a file: chunk bodies | sidecars | directory JSON | footer of 32 bytes. */
import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from "node:zlib";
import { ChunkBuilder } from "./chunk.ts";
import type { TranscriptDriver } from "./driver.ts";
import type { ChunkEntry, PartIndex, TranscriptPart, TranscriptWriter, WriterOptions } from "./transcript-types.ts";

const MAGIC = "SESSARC2";
const FOOTER = 32;
/** UTF-16 units of texts and tool inputs after which a chunk is closed. */
const CHUNK_CHARS = 65_536;
/** Messages after which a chunk is closed: a page of short ones must not inflate thousands. */
const CHUNK_MESSAGES = 512;

export function compress(bytes: Uint8Array): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 1,
      [constants.BROTLI_PARAM_LGWIN]: 17,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

export function createWriter(
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
    const { bytes, units, bounds } = builder.take();
    const body = compress(bytes);
    const side = sidecar?.(bytes, units, bounds) ?? new Uint8Array(0);
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
      const at = builder.add(event);
      count++;
      if (!Number.isNaN(at)) {
        firstAt = firstAt === null ? at : Math.min(firstAt, at);
        lastAt = lastAt === null ? at : Math.max(lastAt, at);
      }
      if (builder.size >= CHUNK_CHARS || builder.count >= CHUNK_MESSAGES) close();
    },
    async finish() {
      close();
      builder.end();
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

export function parseTail(tail: Buffer, part: TranscriptPart, damaged: (reason: string) => Error): PartIndex {
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
  let inflated: Uint8Array | undefined;
  return {
    part,
    // Who reads messages has no use for them.
    get sidecars() {
      // Copied: a buffer of zlib has at least 16 KB, and thousands of signatures of small parts are cached.
      inflated ??= new Uint8Array(brotliDecompressSync(sidecars));
      return inflated;
    },
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
