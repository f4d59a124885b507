/** Storage as plugins see it. Types only; the functions are beside. */
import type { Blobs } from "./blobs.ts";
import type { Derived } from "./derived.ts";
import type { Lock } from "./lock.ts";
import type { Transcripts } from "./transcript-types.ts";

/** A value of a column. */
export type SqlValue = string | number | null | Uint8Array;
/** A statement of `Database.batch` and its parameters. */
export type Statement = readonly [sql: string, params?: readonly SqlValue[]];

/** Bytes of the catalogue's file. */
export interface Compacted {
  before: number;
  after: number;
}

/**
 * The catalogue: SQLite over the pages of a file and its log. Asynchronous on purpose, it may move to a worker.
 * A `batch` or `run` resolves when its effect is on disk (log, fsync); concurrent ones share one fsync. A read resolves when all that it saw is on disk.
 */
export interface Database {
  /** Resolves when the catalogue is open; rejects, as every call does, when it cannot be opened. */
  readonly ready: Promise<void>;
  all<T>(sql: string, params?: readonly SqlValue[]): Promise<T[]>;
  get<T>(sql: string, params?: readonly SqlValue[]): Promise<T | undefined>;
  run(sql: string, params?: readonly SqlValue[]): Promise<{ changes: number }>;
  /** All or nothing. */
  batch(statements: readonly Statement[]): Promise<void>;
  /** Counts committed batches; equal numbers mean equal answers. */
  readonly generation: number;
  /**
   * Resolves when nothing is written into `catalog.db`, and nothing will be until the function it returns is called: for copies. Batches go on, into
   * the log.
   */
  hold(): Promise<() => void>;
  /**
   * Gives the room of deleted rows back. Other calls wait for some seconds. Takes memory for another catalogue meanwhile, and room on the disk for two.
   * Throws STORAGE_FULL without that room, STORAGE_READ_ONLY, SHUTTING_DOWN when it is closed meanwhile: then nothing has changed.
   */
  compact(): Promise<Compacted>;
  /**
   * Has SQLite check it, as it is now, off the main thread. Answers what is wrong first; undefined when all is right. Throws CATALOG_DAMAGED for
   * what cannot be read, the signal's reason once that aborts.
   */
  check(signal?: AbortSignal): Promise<string | undefined>;
  /** `withinMs`: what updating `catalog.db` may take; if it takes longer it is given up, since the log has everything. Default: what it takes. */
  close(withinMs?: number): Promise<void>;
  /** Bytes of the database, and of its log. */
  readonly stats: { fileBytes: number; logBytes: number };
}

/** Files by key, `a:b` for b in the folder a; unstorage behind it. Values are JSON, raw ones bytes. */
export interface FileStorage {
  getItem<T>(key: string): Promise<T | null>;
  setItem(key: string, value: string | number | boolean | null | object): Promise<void>;
  getItemRaw<T = Uint8Array>(key: string): Promise<T | null>;
  setItemRaw(key: string, value: Uint8Array): Promise<void>;
  removeItem(key: string): Promise<void>;
  getKeys(base?: string): Promise<string[]>;
}

/** A kernel's storage: the catalogue, transcripts, files by key, folders. */
export interface Storage {
  db: Database;
  /** Message bodies. */
  transcripts: Transcripts;
  /** Backups, frozen shares, feedback log: unstorage over the durable-fs driver (or the configured one). */
  files: FileStorage;
  /**
   * A real path in the data directory, for what other programs use as it is: sandboxes, the skills store, the guard's script. Not made.
   * Everything else goes into `files`.
   */
  path(...names: string[]): string;
  /** What `name` keeps from start to start and can make again. */
  derived(name: string): Derived;
  /** Bytes by their SHA-256, below `path(...names)`. */
  blobs(...names: string[]): Blobs;
  dataDir: string;
  /** Nothing can be written: the data directory may not be, or is only read beside its owner. */
  readOnly: boolean;
  /** Held until the catalogue is closed; absent when reading only. */
  lock?: Lock | undefined;
}

/** What an engine offers; both are wrapped the same way. */
export interface SqliteEngine {
  iterate(sql: string, params: readonly SqlValue[]): IterableIterator<Record<string, SqlValue>>;
  close(): void;
}
