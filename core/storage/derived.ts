/**
 * Data that can be made again from the rest, so that a start need not: one folder a plugin below `index/`. Removed when the catalogue is
 * salvaged, since it may know rows that are gone.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../utils/atomic.ts";
import { storageFailed } from "./storage-error.ts";

/** The folder of all derived data. */
export const DERIVED = "index";

/** What a plugin stores from start to start and can compute again (`Storage.derived`). */
export interface Derived {
  /** For files that a plugin writes and reads in parts, and checks itself. `set` creates it; other writers create it first. */
  readonly folder: string;
  /** The value as it was set; undefined when there is none, or when its bytes are not those that were written. */
  get(key: string): Promise<Buffer | undefined>;
  /** Replaces the value. Throws STORAGE_FULL, STORAGE_READ_ONLY. */
  set(key: string, value: Uint8Array | string): Promise<void>;
}

/** A value's file: 32 bytes SHA-256 of what follows, then the value. `key` is a file name. */
export function createDerived(folder: string): Derived {
  return {
    folder,
    async get(key) {
      const bytes = await readFile(join(folder, key)).catch(() => undefined);
      const value = bytes?.subarray(32);
      return value && bytes?.subarray(0, 32).equals(sum(value)) ? value : undefined;
    },
    async set(key, value) {
      const bytes = Buffer.from(value);
      const path = join(folder, key);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, Buffer.concat([sum(bytes), bytes])).catch(storageFailed(path));
    },
  };
}

const sum = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
