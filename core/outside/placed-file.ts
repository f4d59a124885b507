/** A file of a placement: its row in the journal, what it is now, and the way back. */
import { rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isTempName } from "../utils/atomic.ts";
import type { Json } from "../utils/json.ts";
import {
  findMissingFolder,
  type OutsideFile,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  tempBeside,
  toDigest,
} from "./file.ts";
import type { PlacedFile } from "./placement-journal.ts";

/** A file's row in the journal. */
export function toPlacedFile<F extends Json>(file: OutsideFile, bytes: Buffer, note: F): Omit<PlacedFile<F>, "id"> {
  const created = file.bytes === null;
  return {
    path: file.path,
    real: file.real,
    mode: file.mode,
    created,
    folder: created ? (findMissingFolder(dirname(file.real)) ?? null) : null,
    before: toDigest(file.bytes ?? Buffer.alloc(0)),
    after: toDigest(bytes),
    exact: true,
    temp: tempBeside(file),
    note,
    undoneAt: null,
  };
}

/** The original in the place of a file; null removes a file that a placement made, with the folders made for it. */
export async function putBack(file: OutsideFile, original: Buffer | null, entry: PlacedFile<Json>): Promise<void> {
  if (original !== null) return replaceOutside(file, original, entry.temp);
  await removeOutside(file);
  await removeMadeFolders(entry);
}

export async function removeMadeFolders({ real, folder }: Pick<PlacedFile<Json>, "real" | "folder">): Promise<void> {
  if (folder !== null) await removeFoldersOf(real, folder);
}

/** What a crash left beside a file. */
export async function removeTemp({ temp }: Pick<PlacedFile<Json>, "temp">): Promise<void> {
  if (isTempName(basename(temp))) await rm(temp, { force: true });
}

/** Whether a file is still what was placed. */
export const isAfter = (file: OutsideFile, { after }: Pick<PlacedFile<Json>, "after">): boolean =>
  file.bytes !== null && toDigest(file.bytes) === after;

/** Whether a file is what it was before. */
export const isBefore = (file: OutsideFile, { created, before }: Pick<PlacedFile<Json>, "created" | "before">) =>
  created ? file.bytes === null : file.bytes !== null && toDigest(file.bytes) === before;
