/** Public entry `sessarc/storage`: parts of a storage, for a thread or a server that opens them itself. Loads no kernel. Re-exports only. */
export { createBlobs } from "../storage/blobs.ts";
export { type Bounds, decodeChunk } from "../storage/chunk.ts";
export { copyCatalogue } from "../storage/copy.ts";
export type { DriverConfig } from "../storage/driver.ts";
export { openFiles } from "../storage/files.ts";
export { acquireLock } from "../storage/lock.ts";
export { stepDigest } from "../storage/migrate.ts";
export { hasArchive } from "../storage/present.ts";
export { buildSqlite } from "../storage/sqlite-build.ts";
export type { ChunkEntry, PartIndex, TranscriptPart, Transcripts } from "../storage/transcript-types.ts";
export { createTranscripts, type TranscriptOptions } from "../storage/transcripts.ts";
