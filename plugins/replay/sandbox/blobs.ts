/** Contents that steps replaced or made, by their hash: what taking a step back restores. */
import { createHash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "sessarc";

export interface Blobs {
  /** Answers the hash. A content that is there already is not written again. */
  put(data: Uint8Array): Promise<string>;
  /** Undefined when it is not there, or is not what its name says. */
  get(hash: string): Promise<Buffer | undefined>;
}

export function createBlobs(folder: string): Blobs {
  const placeOf = (hash: string) => join(folder, hash.slice(0, 2), hash);
  return {
    async put(data) {
      const hash = createHash("sha256").update(data).digest("hex");
      const place = placeOf(hash);
      if (await stat(place).catch(() => undefined)) return hash;
      await mkdir(join(folder, hash.slice(0, 2)), { recursive: true, mode: 0o700 });
      await writeFileAtomic(place, data);
      return hash;
    },
    async get(hash) {
      const data = await readFile(placeOf(hash)).catch(() => undefined);
      return data && createHash("sha256").update(data).digest("hex") === hash ? data : undefined;
    },
  };
}
