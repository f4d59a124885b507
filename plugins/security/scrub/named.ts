/** Other files of the data directory with a secret: frozen shares, backups of settings, sandboxes. They are named, and stay. */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Kernel } from "sessarc";
import { ifThere, openRegular } from "sessarc/files";

/** Searched by those who own them, or derived from what is. */
const LEFT_OUT = new Set(["transcripts", "logs", "index", "net"]);
/** Bytes searched at once, and what two neighbours share. */
const BLOCK = 8 * 2 ** 20;
const OVERLAP = 64 * 1024;

export async function findFiles(kernel: Kernel, has: (bytes: Uint8Array) => Promise<boolean>): Promise<string[]> {
  const { storage } = kernel;
  const found: string[] = [];
  const walk = async (path: string): Promise<void> => {
    const info = await ifThere(lstat(path));
    if (info?.isFile() && (await holds(path))) found.push(path);
    if (!info?.isDirectory()) return;
    for (const name of ((await ifThere(readdir(path))) ?? []).sort()) await walk(join(path, name));
  };
  for (const name of (await readdir(storage.dataDir)).sort())
    if (!LEFT_OUT.has(name) && !name.startsWith("catalog.")) await walk(storage.path(name));
  return found;

  async function holds(path: string): Promise<boolean> {
    const file = await ifThere(openRegular(path));
    if (!file) return false;
    try {
      const { size } = await file.stat();
      for (let at = 0; at < size; at += BLOCK - OVERLAP) {
        const bytes = new Uint8Array(Math.min(BLOCK, size - at));
        await file.read(bytes, 0, bytes.length, at);
        if (await has(bytes)) return true;
        if (at + BLOCK >= size) break;
      }
      return false;
    } finally {
      await file.close();
    }
  }
}
