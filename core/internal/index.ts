/** What the built-in plugins share beyond `sessarc`. `#internal` resolves only inside this package: third parties cannot depend on it. */

export { isLoopback } from "../config/config.ts";
export { importModule } from "../config/module.ts";
export { readSettings, type Settings, writeSettings } from "../config/settings.ts";
export type { Polling } from "../contract/kernel.ts";
export type { AdapterFolders } from "../contract/registry.ts";
export { validate } from "../contract/schema.ts";
export { invalidCursor, toErrorBody } from "../errors/error.ts";
export { readDiscovery } from "../http/access.ts";
export { readBytes, readJson } from "../http/body.ts";
export { eventsResponse, toEvents } from "../http/events.ts";
export { addSecurityHeaders } from "../http/guard.ts";
export { rawParam } from "../http/raw-param.ts";
export { streamJson, textStream } from "../http/text-stream.ts";
export { loadAdapter, loadPlugin } from "../kernel/load.ts";
export type { SettingsAnswer } from "../kernel/settings.ts";
export { applyEdit, editSettings, type SettingsEdit, settingAt } from "../outside/edit.ts";
export {
  digestOf,
  HARD_LINKED,
  makeFolderOf,
  missingFolderOf,
  type OutsideFile,
  outsideBytes,
  outsideText,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  tempBeside,
} from "../outside/file.ts";
export { parseSettings, SettingsProblem, type SettingsSyntax, usable } from "../outside/parse.ts";
export type { PlacedFile, Placement } from "../outside/placement-journal.ts";
export { createPlacements, type PlacementOwner, type Placements, type PlannedFile } from "../outside/placements.ts";
export { textOf as tomlText, tomlStrings } from "../outside/toml-blocks.ts";
export { linger, listenOn } from "../serve/listen.ts";
export { classed, classedUsage, classOfKey, plainModel, plainUsage } from "../session/price-class.ts";
export { answeredCalls } from "../storage/answered-calls.ts";
export { type Blobs, createBlobs } from "../storage/blobs.ts";
export { type Bounds, decodeChunk } from "../storage/chunk.ts";
export { copyCatalogue } from "../storage/copy.ts";
export type { Derived } from "../storage/derived.ts";
export type { DriverConfig } from "../storage/driver.ts";
export { openFiles } from "../storage/files.ts";
export { acquireLock } from "../storage/lock.ts";
export { stepDigest } from "../storage/migrate.ts";
export { hasArchive } from "../storage/present.ts";
export { buildSqlite } from "../storage/sqlite-build.ts";
export { storageFailed } from "../storage/storage-error.ts";
export type { ChunkEntry, PartIndex, TranscriptPart, Transcripts } from "../storage/transcript-types.ts";
export { createTranscripts, type TranscriptOptions } from "../storage/transcripts.ts";
export { type MaybePromise, messageOf } from "../utils/async.ts";
export { isTempName, tempName, writeFileAtomic } from "../utils/atomic.ts";
export { type Cache, createCache } from "../utils/cache.ts";
export { canonicalJson } from "../utils/canonical.ts";
export { debugError } from "../utils/debug.ts";
export { type ExecResult, endProcess, exec, startProcess } from "../utils/exec.ts";
export { type Space, spaceOf } from "../utils/free-space.ts";
export { GIT_LIST_KEYS, GIT_OPTIONS, GIT_VARIABLES, gitEnvironment, gitFiltersOff } from "../utils/git.ts";
export { collectorAt, sendPoints, type ToolTokens, tokenPoints } from "../utils/otlp.ts";
export { isInside, resolveInside } from "../utils/path.ts";
export { createPieces, linesOfPieces, type Piece } from "../utils/pieces.ts";
export { createLimit, createQueue, eachInLanes, type Limit, type Queue } from "../utils/queue.ts";
export { createRing } from "../utils/ring.ts";
export { sortInSlices } from "../utils/sort.ts";
export { ISSUES } from "../utils/version.ts";
export { isNewerVersion, versionNumbers } from "../utils/versions.ts";
export { mustYield, yieldNow } from "../utils/yield.ts";
