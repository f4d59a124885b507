/** Files by key: unstorage over the durable-fs driver, or over the configured one. */
import { join } from "node:path";
import type { DriverConfig } from "./driver.ts";
import { durableFs } from "./durable-fs.ts";
import type { FileStorage } from "./types.ts";

/** Below `dataDir`, or below the key `files` of `driver`. */
export async function openFiles(
  dataDir: string,
  driver: DriverConfig | undefined,
  readOnly: boolean,
): Promise<FileStorage> {
  const { createStorage: create, prefixStorage } = await import("unstorage");
  if (!driver) {
    return create({ driver: durableFs({ base: join(dataDir, "files"), readOnly }) });
  }
  const { default: factory } = await import(`unstorage/drivers/${driver.name}`);
  // Transcripts lie in the same place under keys of two hex digits.
  return prefixStorage(create({ driver: factory(driver.options) }), "files");
}
