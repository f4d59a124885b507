/** Files that were put back, with what was there before: a receipt each time, and the way back. */
import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, realpath, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isRecord, type Kernel, SessarcError } from "sessarc";
import { findMissingFolder, isInside, removeFoldersOf, writeFileAtomic } from "sessarc/files";

export interface PutFile {
  /** Where it was written. */
  path: string;
  /** SHA-256 of what was written: an undo leaves a file that changed since. */
  hash: string;
  /** SHA-256 of the stored copy of what was there; null where there was nothing. */
  before: string | null;
  mode: number | null;
}

export interface Receipt {
  id: string;
  /** ISO 8601. */
  at: string;
  files: PutFile[];
  /** The topmost folder that was made. */
  folder: string | null;
}

/** What is to be written. */
export interface Wanted {
  path: string;
  bytes: Buffer;
  mode: number | null;
}

const MOST_BYTES = 64 * 2 ** 20;

export interface Receipts {
  /** Writes into a folder that is not there, or is empty. */
  into(folder: string, files: readonly { name: string; bytes: Buffer; mode: number | null }[]): Promise<Receipt>;
  /** Writes each file to its own place, which no link may lead out of `root`. Throws UNDELETE_EXISTS unless `force`, which stores a copy first. */
  inPlace(root: string, files: readonly Wanted[], force: boolean): Promise<Receipt>;
  /** Takes back what a receipt wrote; a file that changed since is left alone and listed in `kept`. Throws RECEIPT_NOT_FOUND. */
  undo(id: string): Promise<{ id: string; restored: string[]; removed: string[]; kept: string[] }>;
  list(): Promise<Receipt[]>;
}

export function createReceipts({ storage }: Kernel): Receipts {
  const folder = storage.path("undelete");
  const blobs = storage.blobs("undelete", "before");
  const toPath = (id: string) => join(folder, `${id}.json`);

  async function save(receipt: Receipt): Promise<Receipt> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFileAtomic(toPath(receipt.id), JSON.stringify(receipt));
    return receipt;
  }
  async function load(id: string): Promise<Receipt> {
    const text = /^[\w-]{1,64}$/.test(id) ? await readFile(toPath(id), "utf8").catch(() => undefined) : undefined;
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    if (!isRecord(value)) throw new SessarcError("RECEIPT_NOT_FOUND", { id });
    return value as unknown as Receipt;
  }
  /** The receipt is on disk before the first file changes, so that a crash leaves the way back. */
  async function write(files: readonly Wanted[], root: string | null): Promise<Receipt> {
    const at = new Date();
    const id = `${at.toISOString().replace(/\D/g, "").slice(0, 14)}-${randomBytes(3).toString("hex")}`;
    const entries: PutFile[] = [];
    for (const { path, bytes } of files) {
      const there = await readThere(path);
      if (there) await blobs.put(there.bytes);
      const before = there ? toHash(there.bytes) : null;
      entries.push({ path, hash: toHash(bytes), before, mode: there?.mode ?? null });
    }
    const receipt = await save({ id, at: at.toISOString(), files: entries, folder: root });
    for (const { path, bytes, mode } of files) {
      await mkdir(dirname(path), { recursive: true });
      const was = entries.find((one) => one.path === path);
      await writeFileAtomic(path, bytes, { mode: mode ?? was?.mode ?? 0o644 });
    }
    return receipt;
  }

  return {
    async into(target, files) {
      const there = await readdir(target).catch(() => undefined);
      if (there && there.length > 0) throw new SessarcError("UNDELETE_EXISTS", { path: target });
      const made = (await findMissingFolder(target)) ?? null;
      const wanted = files.map(({ name, bytes, mode }) => ({ path: join(target, name), bytes, mode }));
      for (const { path } of wanted) if (!isInside(target, path)) throw new SessarcError("PATH_OUTSIDE", { path });
      return write(wanted, made ?? target);
    },
    async inPlace(root, files, force) {
      for (const { path } of files) {
        await checkPlace(root, path);
        const there = await lstat(path).catch(() => undefined);
        if (there && !there.isFile()) throw new SessarcError("UNDELETE_NOT_A_FILE", { path });
        if (there && !force) throw new SessarcError("UNDELETE_EXISTS", { path });
      }
      return write(files, null);
    },
    async undo(id) {
      const receipt = await load(id);
      const done = { id, restored: [] as string[], removed: [] as string[], kept: [] as string[] };
      for (const { path, hash, before, mode } of receipt.files) {
        const now = await readThere(path).catch(() => null);
        if (now === undefined && before === null) continue;
        if (!now || toHash(now.bytes) !== hash) done.kept.push(path);
        else if (before === null) {
          await rm(path);
          done.removed.push(path);
          if (receipt.folder !== null) await removeFoldersOf(path, receipt.folder);
        } else {
          const bytes = await blobs.get(before);
          if (!bytes) done.kept.push(path);
          else {
            await writeFileAtomic(path, bytes, { mode: mode ?? 0o644 });
            done.restored.push(path);
          }
        }
      }
      if (done.kept.length === 0) await rm(toPath(id));
      return done;
    },
    async list() {
      const names = await readdir(folder).catch(() => []);
      const ids = names.flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []));
      return Promise.all(ids.sort().reverse().map(load));
    },
  };
}

/** No link on the way, and nothing that leads out of the folder. */
async function checkPlace(root: string, path: string): Promise<void> {
  const outside = new SessarcError("PATH_OUTSIDE", { path });
  if (!isInside(root, path) || /(?:^|[\\/])\.git(?:[\\/]|$)/i.test(relative(root, path))) throw outside;
  let folder = dirname(path);
  for (;;) {
    const real = await realpath(folder).catch(() => undefined);
    if (real !== undefined) {
      const realRoot = await realpath(root).catch(() => root);
      if (!isInside(realRoot, real) || relative(realRoot, real) !== relative(root, folder)) throw outside;
      return;
    }
    if (folder === root || folder === dirname(folder)) return;
    folder = dirname(folder);
  }
}

async function readThere(path: string): Promise<{ bytes: Buffer; mode: number } | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (!info) return undefined;
  if (!info.isFile() || info.size > MOST_BYTES) throw new SessarcError("UNDELETE_NOT_A_FILE", { path });
  const file = await open(path);
  try {
    return { bytes: await file.readFile(), mode: info.mode & 0o777 };
  } finally {
    await file.close();
  }
}

const toHash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
