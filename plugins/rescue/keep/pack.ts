/** Compressed pieces of logs: zstd where this Node has it, else brotli. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import * as zlib from "node:zlib";

/** `z`: zstd, `b`: brotli. */
export type Codec = "z" | "b";

interface Packed {
  codec: Codec;
  bytes: Buffer;
  /** First 32 hex digits of the SHA-256 of `bytes`. */
  sum: string;
}

/** Higher ones take two to five times as long for a tenth less. */
const QUALITY = 1;
const ZSTD_LEVEL = 3;
/** Bits of brotli's window: a larger one than the bytes need costs memory for each piece. */
const WINDOW = { least: 16, most: 22 };

type ZstdCall = (bytes: Uint8Array, options: object, done: (error: Error | null, result: Buffer) => void) => void;
type UnzstdCall = (bytes: Uint8Array, done: (error: Error | null, result: Buffer) => void) => void;

const isZstd = (it: unknown): it is ZstdCall => typeof it === "function";
const isUnzstd = (it: unknown): it is UnzstdCall => typeof it === "function";

/** Node 22.15 and later have zstd; the types of Node 20 do not name it. */
const calls: Readonly<Record<string, unknown>> = { ...zlib };
const zstdCompress = isZstd(calls.zstdCompress) ? calls.zstdCompress : undefined;
const zstdDecompress = isUnzstd(calls.zstdDecompress) ? calls.zstdDecompress : undefined;
const { constants } = zlib;
const brotli = promisify(zlib.brotliCompress);
const unbrotli = promisify(zlib.brotliDecompress);

export async function pack(bytes: Uint8Array): Promise<Packed> {
  const packed = zstdCompress ? await zstd(zstdCompress, bytes) : await compress(bytes);
  return { codec: zstdCompress ? "z" : "b", bytes: packed, sum: addUp(packed) };
}

/** Undefined for damaged bytes. */
export async function unpack({ codec, bytes, sum }: Packed): Promise<Buffer | undefined> {
  if (addUp(bytes) !== sum) return undefined;
  if (codec === "b") return unbrotli(bytes);
  if (zstdDecompress) return promisify(zstdDecompress)(bytes);
  // An archive of a newer Node.
  return unzstdSlowly(bytes);
}

async function unzstdSlowly(bytes: Uint8Array): Promise<Buffer> {
  const { decompress } = await import("fzstd");
  return Buffer.from(decompress(bytes));
}

/** First 32 hex digits of the SHA-256. */
export const addUp = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex").slice(0, 32);

const zstd = (call: ZstdCall, bytes: Uint8Array) =>
  new Promise<Buffer>((resolve, reject) => {
    const level = "ZSTD_c_compressionLevel" in constants ? Number(constants.ZSTD_c_compressionLevel) : 100;
    call(bytes, { chunkSize: toChunk(bytes), params: { [level]: ZSTD_LEVEL } }, (error, result) =>
      error ? reject(error) : resolve(result),
    );
  });

/** All of the result at once: each further piece is a round between two threads. */
const toChunk = (bytes: Uint8Array) => Math.max(16_384, bytes.length >> 1);

const compress = (bytes: Uint8Array) =>
  brotli(bytes, {
    chunkSize: toChunk(bytes),
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: Math.min(
        WINDOW.most,
        Math.max(WINDOW.least, Math.ceil(Math.log2(bytes.length + 1))),
      ),
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
