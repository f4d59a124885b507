/** Bytes of skills by their SHA-256. Written once, whole or not at all. */
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "sessarc";
import { digestOf } from "../content/tree.ts";

export interface Objects {
  /** Resolves when the bytes are on disk. */
  put(hash: string, bytes: Uint8Array): Promise<void>;
  /** Undefined when the object is gone or its bytes are not those of its name. */
  get(hash: string): Promise<Buffer | undefined>;
}

export function createObjects(folder: string): Objects {
  const pathOf = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2));
  return {
    async put(hash, bytes) {
      const path = pathOf(hash);
      // One that was damaged is written anew.
      const known = await stat(path).catch(() => undefined);
      if (known?.size === bytes.length && (await readFile(path)).equals(bytes)) return;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, bytes);
    },
    async get(hash) {
      const bytes = await readFile(pathOf(hash)).catch(() => undefined);
      return bytes && digestOf(bytes) === hash ? bytes : undefined;
    },
  };
}

/** A new file with exactly this mode, on disk when it resolves. */
export async function writeSynced(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    // The umask has no say in it.
    if (mode !== 0o600) await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
