/** Bytes in real files, named by their SHA-256: written once, whole or not at all, and checked whenever they are read. */
import { createHash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../utils/atomic.ts";
import { storageFailed } from "./storage-error.ts";

/** Bytes stored by their SHA-256, each once (`Storage.blobs`). `put` throws STORAGE_FULL and STORAGE_READ_ONLY. */
export interface Blobs {
  /** Answers the hash (64 hex digits) when the bytes are on disk. Bytes that are there already are not written again. */
  put(bytes: Uint8Array): Promise<string>;
  /** Undefined when there are none, or when they are not what their name says. */
  get(hash: string): Promise<Buffer | undefined>;
}

/** `folder` is made with the first blob. */
export function createBlobs(folder: string): Blobs {
  const toPath = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2));
  return {
    async put(bytes) {
      const hash = toHash(bytes);
      const path = toPath(hash);
      const known = await stat(path).catch(() => undefined);
      // A damaged one is written again.
      if (known?.size === bytes.length && (await readFile(path)).equals(bytes)) return hash;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, bytes).catch(storageFailed(path));
      return hash;
    },
    async get(hash) {
      const bytes = await readFile(toPath(hash)).catch(() => undefined);
      return bytes && toHash(bytes) === hash ? bytes : undefined;
    },
  };
}

const toHash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
