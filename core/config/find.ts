/** Where the configuration file is. */
import { stat } from "node:fs/promises";
import { join } from "node:path";

const NAMES = ["sessarc.config.mjs", "sessarc.config.js", "sessarc.config.ts"];

/** The first configuration file of these folders. */
export async function findConfig(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    for (const name of NAMES) {
      const path = join(folder, name);
      if ((await stat(path).catch(() => undefined))?.isFile()) return path;
    }
  }
  return undefined;
}
