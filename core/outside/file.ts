/** Another program's settings file: read through links as bytes, replaced whole, with its mode and owner. */
import { createHash } from "node:crypto";
import { constants, lstatSync } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { isTempName, syncFolder, tempName } from "../utils/atomic.ts";
import { ifThere, isGone } from "../utils/gone.ts";

/** Another program's file as it was read; what `replaceOutside` and `removeOutside` compare it with. */
export interface OutsideFile {
  /** As the tool knows it. */
  path: string;
  /** The file itself, behind all links. */
  real: string;
  /** Null when the file does not exist. */
  bytes: Buffer | null;
  /** How many names it has; more than one are hard links. */
  links: number;
  mode: number;
  uid: number;
  gid: number;
}

const LIMIT = 8 * 2 ** 20;

/** SHA-256 of the bytes, 64 hex digits. */
export const toDigest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Throws SETTINGS_UNUSABLE for anything but a plain file: a folder, a link that leads nowhere, something huge. */
export async function readOutside(path: string): Promise<OutsideFile> {
  const link = await lstat(path).catch(() => undefined);
  if (!link) return { path, real: path, bytes: null, links: 1, mode: 0o600, uid: -1, gid: -1 };
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined)
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it is a link that leads nowhere" });
  const file = await stat(real);
  if (!file.isFile()) throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it is no file" });
  if (file.size > LIMIT) throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it is larger than 8 MiB" });
  const bytes = await readFile(real).catch((cause) => {
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it cannot be read" }, { cause });
  });
  return { path, real, bytes, links: file.nlink, mode: file.mode & 0o7777, uid: file.uid, gid: file.gid };
}

/** Its text, and whether it begins with a byte order mark. Throws SETTINGS_UNUSABLE when it is not UTF-8. */
export function outsideText(file: OutsideFile): { text: string; bom: boolean } {
  const bytes = file.bytes ?? Buffer.alloc(0);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    return {
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bom ? bytes.subarray(3) : bytes),
      bom,
    };
  } catch (cause) {
    throw new SessarcError("SETTINGS_UNUSABLE", { path: file.path, reason: "it is not UTF-8" }, { cause });
  }
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** The bytes of a text, as `outsideText` reads them. */
export const outsideBytes = (text: string, bom: boolean): Buffer =>
  Buffer.concat([...(bom ? [BOM] : []), Buffer.from(text)]);

/** A path beside the file, for what is to take its place. A caller that must find it after a crash records the path first. */
export const tempBeside = (file: OutsideFile) => join(dirname(file.real), tempName());

/**
 * Puts `bytes` in the place of what was read: temp file beside it, same mode and owner, fsync, rename. Throws SETTINGS_CHANGED, with
 * nothing done, when the file is not any more what was read; SETTINGS_UNUSABLE when it has a second name (a hard link), which would
 * are left unchanged: their owner wants both names to be one file, and that cannot be written so that a crash leaves it whole.
 * What earlier writes left beside it that were killed goes.
 */
export async function replaceOutside(file: OutsideFile, bytes: Uint8Array, temp = tempBeside(file)): Promise<void> {
  if (file.links > 1) throw new SessarcError("SETTINGS_UNUSABLE", { path: file.path, reason: HARD_LINKED });
  const handle = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600).catch((cause) => {
    throw new SessarcError("SETTINGS_UNUSABLE", { path: file.path, reason: "its folder cannot be written" }, { cause });
  });
  try {
    try {
      await handle.writeFile(bytes);
      await keepOwner(handle, file);
      await handle.chmod(file.mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await ensureSame(file);
    await rename(temp, file.real);
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
  await syncFolder(dirname(file.real));
  await clearBeside(file);
}

/** A file in the making that is older was left by a kill: writing one takes milliseconds. */
const LEFT_MS = 60_000;

/** Removes what writes that were killed left in a folder that is not ours. What cannot be removed is tried again with the next write. */
async function clearBeside({ real }: OutsideFile): Promise<void> {
  for (const name of (await ifThere(readdir(dirname(real)))) ?? []) {
    if (!isTempName(name)) continue;
    const path = join(dirname(real), name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() && Date.now() - found.mtimeMs > LEFT_MS) await rm(path, { force: true }).catch(() => {});
  }
}

/** Why a file with several names is not replaced; ends a sentence of a plan or an error. */
export const HARD_LINKED =
  "it is hard linked, and a safe write would part it from its other name; a symbolic link stays one";

/** Removes the file, when it still is what was read. */
export async function removeOutside(file: OutsideFile): Promise<void> {
  await ensureSame(file);
  await rm(file.real);
  await syncFolder(dirname(file.real));
}

async function ensureSame(file: OutsideFile): Promise<void> {
  const now = (await ifThere(readFile(file.real))) ?? null;
  const same = now === null || file.bytes === null ? now === file.bytes : now.equals(file.bytes);
  if (!same) throw new SessarcError("SETTINGS_CHANGED", { path: file.path });
}

async function keepOwner(handle: Awaited<ReturnType<typeof open>>, file: OutsideFile): Promise<void> {
  if (file.bytes === null || process.platform === "win32") return;
  const made = await handle.stat();
  if (made.uid === file.uid && made.gid === file.gid) return;
  await handle.chown(file.uid, file.gid).catch((cause) => {
    throw new SessarcError("SETTINGS_UNUSABLE", { path: file.path, reason: "it belongs to another user" }, { cause });
  });
}

/** Makes the folders above a file; answers the topmost one that was not there. */
export async function makeFolderFor(path: string): Promise<string | undefined> {
  return mkdir(dirname(path), { recursive: true, mode: 0o700 });
}

/** Topmost folder that is missing on the way to `folder`, itself included; undefined if there is none. Links are not followed. */
export function findMissingFolder(folder: string): string | undefined {
  let missing: string | undefined;
  for (let at = folder; !isThere(at); at = dirname(at)) {
    missing = at;
    if (dirname(at) === at) break;
  }
  return missing;
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Removes folders we made, from the file's upwards to `first`, as long as they are empty. */
export async function removeFoldersOf(path: string, first: string): Promise<void> {
  for (let folder = dirname(path); folder.length >= first.length; folder = dirname(folder)) {
    // One that a killed run has removed already is no obstacle.
    const gone = await rmdir(folder).then(() => true, isGone);
    if (!gone) return;
  }
}
