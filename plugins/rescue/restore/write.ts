/** Writes rescued files so that no existing file is replaced, and removes exactly what was written. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessarcError, toMessage } from "sessarc";
import {
  codeOf,
  editSettings,
  exists,
  makeFolderFor,
  outsideText,
  parseSettings,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  type SettingsEdit,
  settingAt,
  tempName,
} from "sessarc/files";

/** A value in a JSON file of an assistant. */
export interface Value {
  path: string;
  keys: readonly string[];
  key: string;
  value: string;
}

/** What one rescue wrote: all that an undo needs. */
export interface Written {
  files: { path: string; sum: string }[];
  /** The topmost folders that were made, each with a file below it. */
  folders: { path: string; first: string }[];
  moved: { path: string; to: string }[];
  values: Value[];
  /** Sessions that the assistant itself imported. */
  imported: { tool: string; key: string }[];
}

export const nothingWritten = (): Written => ({ files: [], folders: [], moved: [], values: [], imported: [] });

export const addUp = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/**
 * Writes a file that must not exist yet: false when it does. The file appears whole, with now as its time. Answers the
 * topmost folder that was made for it.
 */
export async function writeNew(
  path: string,
  bytes: Uint8Array,
  mode: number,
): Promise<{ written: boolean; first: string | undefined }> {
  const first = await makeFolderFor(path);
  const temp = join(dirname(path), tempName());
  const handle = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    try {
      await handle.writeFile(bytes);
      // The user can always read it; what an assistant's file never is, it does not become: executable for others, setuid.
      await handle.chmod((mode & 0o666) | 0o600);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { written: await putInPlace(temp, path), first };
  } finally {
    await rm(temp, { force: true });
  }
}

/** A link fails where the name is taken; so does an exclusive copy, for file systems without links. */
async function putInPlace(temp: string, path: string): Promise<boolean> {
  try {
    await link(temp, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!NO_LINKS.has(codeOf(error))) throw error;
  }
  try {
    await copyFile(temp, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

/** Removes a file when it still is what was written. */
export async function removeWritten({ path, sum }: Written["files"][number]): Promise<"removed" | "changed" | "gone"> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  });
  if (!bytes) return "gone";
  if (addUp(bytes) !== sum) return "changed";
  await rm(path);
  return "removed";
}

export const removeFolders = (folders: Written["folders"]) =>
  Promise.all(folders.map(({ path, first }) => removeFoldersOf(path, first)));

/** Moves a file to a name that is free. */
export async function moveTo(path: string, to: string): Promise<boolean> {
  if ((await exists(to)) || !(await exists(path))) return false;
  await rename(path, to);
  return true;
}

/** Whether the value is there already, with whatever it holds. */
export async function hasValue({ path, keys, key }: Value): Promise<boolean> {
  const { settings } = await readJson(path);
  return settingAt(settings, [...keys, key]) !== undefined;
}

/** Sets a value that is not there; false when it is. */
export async function setValue({ path, keys, key, value }: Value): Promise<boolean> {
  await makeFolderFor(path);
  const { file, text, settings } = await readJson(path);
  if (settingAt(settings, [...keys, key]) !== undefined) return false;
  const edits: SettingsEdit[] = [];
  for (let depth = 1; depth <= keys.length; depth++) {
    const above = keys.slice(0, depth);
    if (settingAt(settings, above) === undefined)
      edits.push({ kind: "set", path: above.slice(0, -1), key: above.at(-1) ?? "", value: {} });
  }
  edits.push({ kind: "set", path: keys, key, value });
  await replace(file, await editJson(path, text === "" ? "{}\n" : text, edits));
  return true;
}

/** Removes a value that still is what was set; a file that holds nothing else goes with it. */
export async function removeValue({ path, keys, key, value }: Value): Promise<boolean> {
  const { file, text, settings } = await readJson(path);
  if (settingAt(settings, [...keys, key]) !== value) return false;
  const edited = await editJson(path, text, [{ kind: "remove", path: [...keys, key] }]);
  const rest = JSON.stringify(await parseSettings(edited, "json"));
  const empty = keys.reduceRight((inner, name) => `{${JSON.stringify(name)}:${inner}}`, "{}");
  if (rest === empty) await removeOutside(file);
  else await replace(file, edited);
  return true;
}

async function readJson(path: string) {
  const file = await readOutside(path);
  const { text } = outsideText(file);
  try {
    return { file, text, settings: await parseSettings(text, "json") };
  } catch (cause) {
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: toMessage(cause) }, { cause });
  }
}

async function editJson(path: string, text: string, edits: readonly SettingsEdit[]): Promise<string> {
  try {
    return await editSettings(text, "json", edits);
  } catch (cause) {
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: toMessage(cause) }, { cause });
  }
}

const replace = (file: Awaited<ReturnType<typeof readOutside>>, text: string) =>
  replaceOutside(file, Buffer.from(text));
