/** Everything the archive keeps as one tar, as it was at one moment, while others go on writing. */
import { lstat, readdir } from "node:fs/promises";
import type { Kernel, Storage } from "sessarc";
import { isGone, isTempName, openRegular } from "sessarc/files";
import { copyCatalogue } from "sessarc/storage";
import { TAR_END, tarHeader, tarPadding } from "./tar.ts";

/** Left out: who has the archive open, tokens of this run, what can be rebuilt or fetched again, and logs as they were before secrets were removed. */
const LEFT_OUT: ReadonlySet<string> = new Set(["lock.json", "access.json", "replay", "guard", "skills/fetch", "scrub"]);
const PIECE = 256 * 1024;

/**
 * Bytes of the tar. The catalogue in it is one file, of the last commit; an empty log beside it replaces one that is in the folder where the
 * backup is unpacked. `begin` keeps every transcript it names until the last byte is out.
 */
export async function* backup(kernel: Kernel, begin: () => () => void): AsyncGenerator<Uint8Array> {
  const { dataDir, db, path, readOnly } = kernel.storage;
  const end = begin();
  let release = () => {};
  try {
    if (!readOnly) release = await db.hold();
    yield* catalogue(dataDir);
    release();
    for (const name of (await readdir(dataDir)).sort()) if (!name.startsWith("catalog.")) yield* below(path, name);
    yield TAR_END;
  } finally {
    release();
    end();
  }
}

async function* catalogue(dataDir: string): AsyncGenerator<Uint8Array> {
  const copy = await copyCatalogue(dataDir);
  if (!copy) return;
  try {
    const mtime = Date.now();
    yield tarHeader({ name: "catalog.db-wal", size: 0, mtime });
    yield tarHeader({ name: "catalog.db", size: copy.size, mtime });
    yield* copy.read();
    yield tarPadding(copy.size);
  } finally {
    await copy.close();
  }
}

/** A file, or all files of a folder. Links and what a write left half done are no part of a backup. */
async function* below(path: Storage["path"], name: string): AsyncGenerator<Uint8Array> {
  if (LEFT_OUT.has(name) || isTempName(name.slice(name.lastIndexOf("/") + 1))) return;
  const info = await lstat(path(name)).catch(none);
  if (info?.isFile()) yield* copy(path, name);
  if (!info?.isDirectory()) return;
  for (const inner of (await readdir(path(name)).catch(none)) ?? []) yield* below(path, `${name}/${inner}`);
}

/** As long as it was when it was opened: what is appended later belongs to the next backup. */
async function* copy(path: Storage["path"], name: string): AsyncGenerator<Uint8Array> {
  const handle = await openRegular(path(name)).catch(none);
  if (!handle) return;
  try {
    const { size, mtimeMs } = await handle.stat();
    yield tarHeader({ name, size, mtime: mtimeMs });
    for (let at = 0; at < size; ) {
      const piece = new Uint8Array(Math.min(PIECE, size - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error(`${name} became shorter while it was copied`);
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
    yield tarPadding(size);
  } finally {
    await handle.close();
  }
}

/** For `.catch`: gone since it was listed. */
function none(error: unknown): undefined {
  if (!isGone(error)) throw error;
}
