/** Storage of the kernels on a server: the team's database, and bodies in a folder or in a driver of unstorage. */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Database, type Derived, isRecord, SessarcError, type Storage } from "sessarc";
import { createBlobs, createTranscripts, type DriverConfig, openFiles } from "sessarc/storage";

export interface Bodies {
  /** Where files are, or would be: a node's own folder. */
  folder: string;
  driver: DriverConfig | undefined;
  files: Storage["files"];
  transcripts: Storage["transcripts"];
}

/** `place`: a folder, or a driver as JSON. Throws TEAM_STORE_INVALID. */
export async function openBodies(place: string, folder: string): Promise<Bodies> {
  const driver = place.trimStart().startsWith("{") ? readDriver(place) : undefined;
  const dir = driver ? folder : resolve(place);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = await openFiles(dir, driver, false).catch((cause: unknown) => {
    if (!driver) throw cause;
    throw new SessarcError("TEAM_STORE_INVALID", { reason: `there is no driver ${driver.name}` }, { cause });
  });
  return { folder: dir, driver, files, transcripts: createTranscripts({ dir, driver }) };
}

function readDriver(text: string): DriverConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SessarcError("TEAM_STORE_INVALID", { reason: "it is not JSON" }, { cause });
  }
  if (!isRecord(value) || typeof value.name !== "string" || !/^[a-z0-9-]+$/.test(value.name))
    throw new SessarcError("TEAM_STORE_INVALID", { reason: "it names no driver" });
  return { name: value.name, ...(isRecord(value.options) && { options: value.options }) };
}

/** Nothing that can be computed again is stored: a kernel on a server lives for minutes, and nodes share no disk. */
const nothingDerived = (folder: string): Derived => ({
  folder,
  get: async () => undefined,
  set: async () => {},
});

export function toStorage(db: Database, { folder, files, transcripts }: Bodies, readOnly: boolean): Storage {
  const path = (...names: string[]) => join(folder, ...names);
  return {
    db,
    transcripts,
    files,
    path,
    derived: (name) => nothingDerived(path("index", name)),
    blobs: (...names) => createBlobs(path(...names)),
    dataDir: folder,
    readOnly,
  };
}
