/** Files of a foreign plugin: only those that are inside of its folder, through every link. */
import { lstat, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, type JsonRecord } from "sessarc";
import { isInside } from "sessarc/files";

/** Something in the plugin that is not taken, and why. */
export interface PluginProblem {
  what: string;
  reason: string;
}

const MOST_BYTES = 2 ** 20;

/** The real path, where it is inside of the plugin. */
export async function inside(folder: string, path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && isInside(folder, real) ? real : undefined;
}

export const ABSENT = "is not there";

/** A JSON object of the plugin; never a file outside of it, and none over 1 MiB. */
export async function readJson(
  folder: string,
  name: string,
): Promise<{ value: JsonRecord; text: string } | { reason: string }> {
  const path = join(folder, name);
  if (!(await lstat(path).catch(() => undefined))) return { reason: ABSENT };
  const real = await inside(folder, path);
  if (real === undefined) return { reason: "is a link that leaves the plugin" };
  const stat = await lstat(real);
  if (!stat.isFile()) return { reason: "is not a file" };
  if (stat.size > MOST_BYTES) return { reason: "is larger than 1 MiB" };
  try {
    const text = await readFile(real, "utf8");
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { value, text } : { reason: "is not a JSON object" };
  } catch {
    return { reason: "is not JSON" };
  }
}
