/** Which folder on disk a chat belongs to. The tool names its own folders by slug or by sha256 of the path. */

import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { isRecord, toRecord } from "sessarc";
import { readRegular } from "sessarc/files";

const HASH = /^[0-9a-f]{64}$/;

/** Paths this installation knows, by slug and by hash. */
export interface Projects {
  /** `folder` is the folder above `chats`; `hash` the one its chats carry, when known. */
  pathOf(folder: string, hash?: string | undefined): Promise<string | undefined>;
}

/**
 * Reads `projects.json` and `trustedFolders.json` of the tool's home; unreadable ones count as empty.
 * `folders` are the tool's project folders; their markers are read so that a moved chat still finds its path by hash.
 */
export async function readProjects(home: string, folders: readonly string[]): Promise<Projects> {
  const slugs = new Map<string, string>();
  const hashes = new Map<string, string>();
  const markers = new Map<string, string>();
  const know = (path: string) => hashes.set(toHash(path), path);
  for (const [path, slug] of Object.entries(toRecord((await readObject(join(home, "projects.json"))).projects))) {
    know(path);
    if (typeof slug === "string") slugs.set(slug, path);
  }
  for (const path of Object.keys(await readObject(join(home, "trustedFolders.json")))) know(path);
  for (const folder of folders) {
    const path = await findMarker(folder);
    if (path === undefined) continue;
    markers.set(folder, path);
    know(path);
  }
  return {
    async pathOf(folder, hash) {
      const name = basename(folder);
      return markers.get(folder) ?? slugs.get(name) ?? hashes.get(name) ?? (hash ? hashes.get(hash) : undefined);
    },
  };
}

/** The group of chats whose path is only known as a hash: `{ key: "abababab", name: "Gemini CLI abababab" }`. */
export function toVirtualProject(file: string, hash: string | undefined): { key: string; name: string } {
  const parts = file.split(/[\\/]/);
  const chats = parts.lastIndexOf("chats");
  const folder = chats > 0 ? parts[chats - 1] : undefined;
  const whole = folder !== undefined && HASH.test(folder) ? folder : (hash ?? folder ?? basename(dirname(file)));
  const key = whole.slice(0, HASH.test(whole) ? 8 : 64);
  return { key, name: `Gemini CLI ${key}` };
}

function toHash(path: string): string {
  return createHash("sha256").update(path).digest("hex");
}

async function findMarker(folder: string): Promise<string | undefined> {
  const text = await readRegular(join(folder, ".project_root")).catch(() => ""); // older folders have none
  const path = text.slice(0, 4096).trim();
  return path === "" ? undefined : path;
}

async function readObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(await readRegular(path));
    return isRecord(value) ? value : {};
  } catch {
    return {}; // absent or half written: the next way of finding the path is tried
  }
}
