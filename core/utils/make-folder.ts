import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./gone.ts";

/**
 * Makes a folder and those above it. Node's own recursive mkdir never comes back where the system answers ENOENT for a folder
 * whose parent is there (below /proc). Throws the system's error.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  const code = await tryMake(path, mode);
  if (code !== "ENOENT" || dirname(path) === path) return;
  await makeFolder(dirname(path), mode);
  if ((await tryMake(path, mode)) !== "ENOENT") return;
  throw Object.assign(new Error(`EROFS: no folder can be made at ${path}`), { code: "EROFS", path });
}

/** The code of the two failures that are not the end. */
async function tryMake(path: string, mode: number): Promise<"ENOENT" | "EEXIST" | undefined> {
  try {
    await mkdir(path, { mode });
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return code;
    if (code === "ENOENT") return code;
    throw error;
  }
}
