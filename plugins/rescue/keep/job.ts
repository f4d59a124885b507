/** The parts of storing logs that run in the pool: logs are cut into chunks, and the chunks that are not stored yet are packed. */
import { importModule, type SessionRef, toMessage } from "sessarc";
import { type Adapter, type AdapterEnv, type AdapterFolders, loadAdapter, withFolders } from "sessarc/adapter";
import { openRegular } from "sessarc/files";
import type { Hidden, RescueDatabase } from "../contract.ts";
import { type Piece, toChunkHash } from "./cut.ts";
import { type CutFile, cutFiles, cutRows, type KeptFile, type MaskBytes, readMasked, readRange } from "./files.ts";
import { Packer, PackFolder, type WrittenPack } from "./packs.ts";

interface OfAdapter {
  adapter: { specifier: string; options?: unknown; folders?: AdapterFolders | undefined } | null;
  env: AdapterEnv;
}

export interface CutJob extends OfAdapter {
  /** Sessions of one adapter. */
  sessions: CutSession[];
}

export interface CutSession {
  id: string;
  ref: SessionRef;
  known: KeptFile[];
  /** Files that are logs of other sessions. */
  except: string[];
  /** False: only whether the session is hidden is worked out. */
  keep: boolean;
  /** What was removed from the session. */
  mask: SessionMask | undefined;
}

/** As the archive names it: a module whose function `createMask` takes the keys. */
export interface SessionMask {
  module: string;
  keys: readonly unknown[];
}

export interface CutResult {
  id: string;
  hidden: Hidden | null;
  files: CutFile[] | null;
  /** Why nothing is stored, where that is an error. */
  error: string | null;
}

export interface PackJob extends OfAdapter {
  /** Where packs are stored. */
  folder: string;
  /** What is to be packed of a file; of the rows of a database where `path` is empty. */
  files: { ref: SessionRef; path: string; pieces: Piece[]; mask: SessionMask | undefined }[];
}

export interface PackResult {
  packs: WrittenPack[];
  /** Chunks that are not there any more: their file changed meanwhile, or is gone. */
  missed: string[];
}

/** Entry of the pool task. */
export async function cutLogs(job: CutJob): Promise<CutResult[]> {
  return runCut(job, await adapterOf(job));
}

/** Entry of the pool task. */
export async function packLogs(job: PackJob): Promise<PackResult> {
  return runPack(job, await adapterOf(job));
}

async function adapterOf({ adapter }: OfAdapter): Promise<Adapter> {
  if (!adapter) throw new TypeError("a job in the pool needs its adapter's module");
  const { specifier, options, folders } = adapter;
  const own = await loadAdapter({ specifier, options });
  return folders ? withFolders(own, folders) : own;
}

/** The same with the adapter at hand. One session that cannot be read fails alone. */
export function runCut(job: CutJob, adapter: Adapter): Promise<CutResult[]> {
  return withDatabases(adapter, job.env, async (databaseAt) => {
    const results: CutResult[] = [];
    for (const session of job.sessions)
      results.push(
        await cutOne(job, adapter, session, databaseAt).catch((error: unknown) => ({
          id: session.id,
          hidden: null,
          files: null,
          error: toMessage(error),
        })),
      );
    return results;
  });
}

type DatabaseAt = (path: string) => Promise<RescueDatabase | undefined>;

/** Each database is opened once and closed at the end. */
async function withDatabases<T>(
  adapter: Adapter,
  env: AdapterEnv,
  work: (databaseAt: DatabaseAt) => Promise<T>,
): Promise<T> {
  const databases = new Map<string, Promise<RescueDatabase | undefined>>();
  try {
    return await work((path) => {
      const open = databases.get(path) ?? adapter.rescue?.database?.(path, env) ?? Promise.resolve(undefined);
      databases.set(path, open);
      return open;
    });
  } finally {
    for (const open of databases.values()) (await open.catch(() => undefined))?.close();
  }
}

async function cutOne(
  { env }: CutJob,
  adapter: Adapter,
  { id, ref, known, except, keep, mask: wanted }: CutSession,
  databaseAt: DatabaseAt,
): Promise<CutResult> {
  const database = await databaseAt(ref.path);
  const mask = await loadMask(wanted);
  if (database) {
    const all = keep ? database.rows(ref.key) : undefined;
    const rows = all && (mask?.(all)?.bytes ?? all);
    return {
      id,
      hidden: database.hidden(ref.key) ?? null,
      files: rows ? cutRows(rows) : null,
      error: null,
    };
  }
  const hidden = (await adapter.rescue?.hidden?.(ref, env)) ?? null;
  const grows = adapter.appends(ref);
  // A file with other sessions in it is not this session's to store.
  const files =
    keep && (ref.exclusive || grows) ? await cutFiles(ref, { known, grows, except: new Set(except), mask }) : null;
  return { id, hidden, files, error: null };
}

/** The same with the adapter at hand. Holds the chunks of one pack. */
export function runPack(job: PackJob, adapter: Adapter): Promise<PackResult> {
  return withDatabases(adapter, job.env, async (databaseAt) => {
    const packer = new Packer(new PackFolder(job.folder));
    const missed: string[] = [];
    for (const { ref, path, pieces, mask: wanted } of job.files) {
      const mask = await loadMask(wanted);
      const reader = await openBytes(ref, path, databaseAt, mask).catch(() => undefined);
      try {
        for (const { hash, from, to } of pieces) {
          const bytes = await reader?.read(from, to).catch(() => undefined);
          if (bytes && toChunkHash(bytes) === hash) await packer.add({ hash, bytes });
          else missed.push(hash);
        }
      } finally {
        await reader?.close();
      }
    }
    return { packs: await packer.finish(), missed };
  });
}

async function openBytes(
  { key, path: logPath }: SessionRef,
  path: string,
  databaseAt: DatabaseAt,
  mask: MaskBytes | undefined,
): Promise<OpenBytes | undefined> {
  if (path !== "") {
    const handle = await openRegular(path);
    if (!mask) return { read: (from, to) => readRange(handle, from, to), close: () => handle.close() };
    return readMasked(handle, mask)
      .then(held)
      .finally(() => handle.close());
  }
  const rows = (await databaseAt(logPath))?.rows(key);
  return rows && held(mask?.(rows)?.bytes ?? rows);
}

interface OpenBytes {
  read(from: number, to: number): Promise<Buffer>;
  close(): Promise<void>;
}

const held = (bytes: Uint8Array): OpenBytes => ({
  read: async (from, to) => Buffer.from(bytes.subarray(from, to)),
  close: async () => {},
});

/** Throws TypeError for a module without a mask: nothing is then stored. */
async function loadMask(mask: SessionMask | undefined): Promise<MaskBytes | undefined> {
  if (!mask) return undefined;
  const { createMask } = await importModule(mask.module);
  if (typeof createMask !== "function") throw new TypeError(`${mask.module} has no function \`createMask\``);
  const { bytes } = createMask(mask.keys) as { bytes: MaskBytes };
  return bytes;
}
