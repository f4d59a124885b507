/** Logs at assistants without a secret: the same length and time, a copy of what they were, and the way back until the assistant has written on. */
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Kernel } from "sessarc";
import { codeOf, ifThere } from "sessarc/files";
import type { Masked } from "./mask.ts";
import type { ScrubFileRow, ScrubStore } from "./store.ts";

/** Why a log stays as it is. */
export class Stays extends Error {}

const DEPTH = 6;
const sumOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
/** The log is what a scrub made of it. */
const isChanged = ({ after, was }: ScrubFileRow, sum: string) => sum === after || sum === was;
/** One name for each log, so that the next scrub finds what a kill left. */
const tempFor = (path: string) => join(dirname(path), `.~${sumOf(Buffer.from(path)).slice(0, 16)}.tmp`);

export interface Originals {
  /** The plain files of a session's log: the log, and what is below its companions. */
  files(session: { path: string; companions: readonly string[] }): Promise<string[]>;
  /** Answers the copy; undefined where the file holds no secret. Throws `Stays`. */
  scrub(
    session: string,
    path: string,
    imported: { size: number; mtime: number } | undefined,
    mask: (bytes: Uint8Array) => Promise<Masked | undefined>,
  ): Promise<{ backup: string; count: number } | undefined>;
  /** What it would replace. */
  look(
    path: string,
    mask: (bytes: Uint8Array) => Promise<Masked | undefined>,
  ): Promise<{ backup: null; count: number } | undefined>;
  /** Puts a file back. Throws `Stays`. */
  undo(file: ScrubFileRow): Promise<void>;
  /** Removes the copies of files that are no longer what was written: their assistant has opened them. */
  settle(session?: string): Promise<void>;
  /** Removes all copies; answers how many. */
  drop(): Promise<number>;
}

export function createOriginals(kernel: Kernel, store: ScrubStore): Originals {
  const folder = () => kernel.storage.path("scrub");

  async function forget({ path, backup }: ScrubFileRow): Promise<void> {
    await rm(tempFor(path), { force: true });
    await rm(backup, { force: true });
    await store.forgetFile(path);
  }

  return {
    async files({ path, companions }) {
      const found = [path];
      const walk = async (place: string, depth: number): Promise<void> => {
        const info = await ifThere(lstat(place));
        if (info?.isFile() && place !== path) found.push(place);
        if (!info?.isDirectory() || depth === 0) return;
        for (const name of ((await ifThere(readdir(place))) ?? []).sort()) await walk(join(place, name), depth - 1);
      };
      for (const place of companions) await walk(place, DEPTH);
      return found;
    },

    async scrub(session, path, imported, mask) {
      const info = await ifThere(lstat(path));
      if (!info) throw new Stays("it is not there any more");
      if (!info.isFile() || info.nlink > 1) throw new Stays("it is a link, or has a second name");
      if (imported && (imported.size !== info.size || imported.mtime !== Math.round(info.mtimeMs)))
        throw new Stays("it changed since it was imported; import it first");
      // A kill left it before the rename.
      await rm(tempFor(path), { force: true });
      const bytes = await readFile(path);
      const masked = await mask(bytes);
      if (!masked || masked.spans.length === 0) return undefined;
      const sum = sumOf(bytes);
      const known = await store.file(path);
      const earlier = known && isChanged(known, sum) ? known : undefined;
      if (known && !earlier) {
        if (sum !== known.before) throw new Stays("it changed since it was scrubbed before");
        // A kill came before the log was replaced: the scrub begins again.
        await forget(known);
      }
      // The way back leads to the first state.
      const row: ScrubFileRow = {
        ...{ path, session, after: sumOf(masked.bytes), at: new Date().toISOString() },
        backup: earlier?.backup ?? join(folder(), `${randomBytes(12).toString("hex")}.original`),
        before: earlier?.before ?? sum,
        was: earlier ? sum : null,
      };
      await store.putFile(row);
      try {
        if (!earlier) {
          await mkdir(folder(), { recursive: true, mode: 0o700 });
          await writeNew(row.backup, bytes, 0o600, undefined);
        }
        await replace(path, Buffer.from(masked.bytes), sum);
      } catch (error) {
        // The log is what it was.
        await (earlier ? store.putFile(earlier) : forget(row));
        throw error;
      }
      return { backup: row.backup, count: masked.spans.length };
    },

    async look(path, mask) {
      const bytes = await ifThere(readFile(path));
      const masked = bytes && (await mask(bytes));
      return masked && masked.spans.length > 0 ? { backup: null, count: masked.spans.length } : undefined;
    },

    async undo(file) {
      const now = await ifThere(readFile(file.path));
      if (!now) throw new Stays(`it is gone; its copy is ${file.backup}`);
      const sum = sumOf(now);
      if (!isChanged(file, sum) && sum !== file.before) {
        await forget(file);
        throw new Stays("its assistant has written to it since; its copy was removed");
      }
      if (sum !== file.before) {
        const bytes = await ifThere(readFile(file.backup));
        if (!bytes || sumOf(bytes) !== file.before) throw new Stays(`its copy ${file.backup} is missing or damaged`);
        await replace(file.path, bytes, sum);
      }
      await forget(file);
    },

    async settle(session) {
      for (const file of await store.files(session)) {
        const now = await ifThere(readFile(file.path));
        const sum = now && sumOf(now);
        if (sum !== undefined && !isChanged(file, sum) && sum !== file.before) await forget(file);
      }
    },

    async drop() {
      const files = await store.files();
      for (const file of files) await forget(file);
      return files.length;
    },
  };
}

/** Replaces a file by one of the same length, mode and time, while it still is what it was. */
async function replace(path: string, bytes: Buffer, before: string): Promise<void> {
  const { mode, atimeMs, mtimeMs, size, ino } = await lstat(path);
  const temp = tempFor(path);
  try {
    await rm(temp, { force: true });
    await writeNew(temp, bytes, mode & 0o7777, { atimeMs, mtimeMs });
    const now = await lstat(path);
    const isSame = now.mtimeMs === mtimeMs && now.size === size && now.ino === ino && now.isFile();
    if (!isSame || sumOf(await readFile(path)) !== before) throw new Stays("it was written while it was read");
    await rename(temp, path);
  } catch (error) {
    await rm(temp, { force: true });
    if (codeOf(error) === "EACCES" || codeOf(error) === "EPERM" || codeOf(error) === "EROFS")
      throw new Stays("it may not be written");
    throw error;
  }
}

async function writeNew(
  path: string,
  bytes: Buffer,
  mode: number,
  times: { atimeMs: number; mtimeMs: number } | undefined,
): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (times) await utimes(path, times.atimeMs / 1000, times.mtimeMs / 1000);
}
