/** Where the net stores files: contents by their SHA-256, and a record of each call. */
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, type Kernel, type Services } from "sessarc";
import { codeOf, writeFileAtomic } from "sessarc/files";

export interface NetFile {
  path: string;
  /** SHA-256 of its bytes. */
  hash: string;
  size: number;
  mode: number;
  /** The name in git that held it, if it is no longer a file: `stash@{0}`. */
  from: string | null;
}

/** What was stored before one call. */
export interface NetCatch {
  id: string;
  /** ISO 8601. */
  at: string;
  client: string;
  sessionId: string | null;
  tool: string;
  /** The shell line, secrets hidden; null for another tool. */
  command: string | null;
  /** What of the call destroys: `rm`, `git clean`. */
  how: string[];
  files: NetFile[];
  /** Names of commits that the call may remove or move, as they were. */
  names: { name: string; commit: string; folder: string }[];
  /** Files that are not stored, each with the reason. */
  left: { path: string; reason: string }[];
  /** Some files are not stored, or not all were found in time. */
  isPartial: boolean;
}

export interface NetStore {
  /** Throws the system's error. Bytes that are there already are not written again. */
  put(bytes: Uint8Array): Promise<string>;
  get(hash: string): Promise<Buffer | undefined>;
  add(one: Omit<NetCatch, "id">): Promise<NetCatch>;
  /** Newest first. */
  list(): Promise<NetCatch[]>;
  find(id: string): Promise<NetCatch | undefined>;
  /** Removes calls older than `days`, then the oldest until at most `bytes` are stored. */
  prune(limits: { days: number; bytes: number }, now: number): Promise<void>;
  /** Removes something from what is stored: contents get another name, and records name that one. */
  rewrite(rewrite: Rewrite): Promise<void>;
  /** Puts what was written since on the disk for good. */
  sync(): Promise<void>;
}

type Rewrite = Parameters<Services["archive"]["rewrite"]>[0];

const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

export function createNetStore({ storage }: Pick<Kernel, "storage">): NetStore {
  const folder = storage.path("net");
  const blobs = storage.path("net", "blobs");
  const toBlob = (hash: string) => join(blobs, hash);
  const written = new Set<string>();
  /** Contents that calls in progress have and no record names yet, each as often as they have it. */
  const pending = new Map<string, number>();
  /** Of each running `prune` what it must leave: its list of records may be older. */
  const guards = new Set<Set<string>>();
  let hasFolder = false;

  async function load(id: string): Promise<NetCatch | undefined> {
    const text = await readFile(join(folder, `${id}.json`), "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as unknown as NetCatch) : undefined;
  }
  const idsThere = async () =>
    (await readdir(folder).catch(() => []))
      .flatMap((name) => (/^[\w-]{1,64}\.json$/.test(name) ? [name.slice(0, -".json".length)] : []))
      .sort()
      .reverse();
  async function list(): Promise<NetCatch[]> {
    const all = await Promise.all((await idsThere()).map(load));
    return all.filter((one) => one !== undefined);
  }

  return {
    // No fsync here, which would take longer than the call may wait; `sync` follows. A part that a crash left has another hash.
    async put(bytes) {
      const hash = toHash(bytes);
      const path = toBlob(hash);
      pending.set(hash, (pending.get(hash) ?? 0) + 1);
      for (const guard of guards) guard.add(hash);
      if ((await stat(path).catch(() => undefined))?.size === bytes.length) return hash;
      if (!hasFolder) await mkdir(blobs, { recursive: true, mode: 0o700 });
      hasFolder = true;
      try {
        const file = await open(path, WRITE, 0o600);
        try {
          await file.writeFile(bytes);
        } finally {
          await file.close();
        }
      } catch (error) {
        hasFolder = false;
        await rm(path, { force: true });
        throw error;
      }
      written.add(path);
      return hash;
    },
    async get(hash) {
      const bytes = await readFile(toBlob(hash)).catch(() => undefined);
      return bytes && toHash(bytes) === hash ? bytes : undefined;
    },
    async add(one) {
      const id = `${one.at.replace(/\D/g, "").slice(0, 17)}-${randomBytes(3).toString("hex")}`;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(join(folder, `${id}.json`), JSON.stringify({ id, ...one }));
      for (const { hash } of one.files) {
        const count = pending.get(hash) ?? 0;
        if (count > 1) pending.set(hash, count - 1);
        else pending.delete(hash);
      }
      return { id, ...one };
    },
    list,
    find: async (id) => (/^[\w-]{1,64}$/.test(id) ? load(id) : undefined),
    async prune({ days, bytes }, now) {
      const inUse = new Set(pending.keys());
      guards.add(inUse);
      try {
        const kept = new Map<string, number>();
        let total = 0;
        let isFull = false;
        for (const one of await list()) {
          const fresh = new Map(one.files.flatMap(({ hash, size }) => (kept.has(hash) ? [] : [[hash, size]])));
          const size = [...fresh.values()].reduce((sum, one) => sum + one, 0);
          isFull ||= total + size > bytes;
          if (isFull || now - Date.parse(one.at) > days * 86_400_000) {
            await rm(join(folder, `${one.id}.json`), { force: true });
            continue;
          }
          for (const [hash, size] of fresh) kept.set(hash, size);
          total += size;
        }
        for (const name of await readdir(blobs).catch(() => [])) {
          if (kept.has(name) || inUse.has(name)) continue;
          await rm(toBlob(name), { force: true });
        }
      } finally {
        guards.delete(inUse);
      }
    },
    async rewrite(rewrite) {
      const names = new Map<string, string>();
      const found = { place: "net" as const, session: null, count: 0, left: 0 };
      const all = await list();
      for (const hash of new Set(all.flatMap(({ files }) => files.map((file) => file.hash)))) {
        const bytes = await readFile(toBlob(hash)).catch(() => undefined);
        const masked = bytes && (await rewrite.has(bytes)) ? await rewrite.mask(bytes) : undefined;
        found.count += masked?.spans.length ?? 0;
        found.left += masked?.left.length ?? 0;
        if (!masked || !rewrite.write) continue;
        const name = toHash(masked.bytes);
        await writeFileAtomic(toBlob(name), masked.bytes);
        names.set(hash, name);
      }
      for (const one of all) {
        const files = one.files.map((file) => ({ ...file, hash: names.get(file.hash) ?? file.hash }));
        const text = JSON.stringify({ ...one, files });
        const masked = await rewrite.mask(Buffer.from(text));
        found.count += masked?.spans.length ?? 0;
        if (!rewrite.write || (text === JSON.stringify(one) && !masked)) continue;
        await writeFileAtomic(join(folder, `${one.id}.json`), masked ? Buffer.from(masked.bytes).toString() : text);
      }
      for (const hash of names.keys()) await rm(toBlob(hash), { force: true });
      if (found.count + found.left > 0) rewrite.found(found);
    },
    async sync() {
      for (const path of written) {
        try {
          const file = await open(path, "r+");
          await file.sync().finally(() => file.close());
        } catch (error) {
          if (codeOf(error) !== "ENOENT") throw error;
        }
        written.delete(path);
      }
    },
  };
}

const toHash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
