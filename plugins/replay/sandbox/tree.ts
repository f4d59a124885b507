/**
 * The files of a sandbox. Every path is walked part by part from the root, links are followed by hand and only while they stay inside,
 * the last part is opened without following, and a file is replaced whole: a hard link never carries a change to another place.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readlink, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessarcError } from "sessarc";
import { codeOf, isGone } from "sessarc/files";
import { refused } from "../plan/paths.ts";

/** Larger files are not edited. */
export const FILE_LIMIT = 64 * 1024 * 1024;
const LINKS = 40;

interface TreeFile {
  data: Buffer;
  /** Permission bits. */
  mode: number;
}

export interface Tree {
  readonly root: string;
  /** Undefined when there is no file. Throws PATH_OUTSIDE for what leaves the tree, REPLAY_NOT_A_FILE for folders and devices. */
  read(path: string): Promise<TreeFile | undefined>;
  /** Makes the folders above. Keeps the mode of what is replaced unless `mode` says another. */
  write(path: string, data: Uint8Array, mode?: number): Promise<void>;
  /** Puts a link back; what it points to is not touched. */
  link(path: string, target: string): Promise<void>;
  /** Removes a file or link, and folders above it that are empty then. */
  remove(path: string): Promise<void>;
}

const outside = (path: string) => new SessarcError("PATH_OUTSIDE", { path });

/** Bytes of a name, and of a path: what file systems take. */
const NAME_BYTES = 255;
const PATH_BYTES = 3_000;

function refuseLong(path: string): void {
  const reason =
    Buffer.byteLength(path) > PATH_BYTES
      ? `it is longer than ${PATH_BYTES} bytes`
      : path.split("/").some((part) => Buffer.byteLength(part) > NAME_BYTES)
        ? `a name in it is longer than ${NAME_BYTES} bytes`
        : undefined;
  if (reason !== undefined) throw new SessarcError("REPLAY_PATH_IMPOSSIBLE", { path: `${path.slice(0, 60)}…`, reason });
}

/** `git`: paths below `.git` are allowed, for putting back what a command changed there. */
export function createTree(root: string, { git = false } = {}): Tree {
  const refusedHere = (path: string) =>
    refused(git ? path.replace(/(?<=^|\/)\.git(?=\/|$)/g, "git") : path) !== undefined;

  /** The place that `path` means in the tree, without links in it. `follow`: whether a link at its end is followed, too. */
  async function locate(path: string, follow = true): Promise<string> {
    if (refusedHere(path)) throw outside(path);
    refuseLong(path);
    const waiting = path.split("/");
    const done: string[] = [];
    let links = 0;
    while (waiting.length > 0) {
      const part = waiting.shift() ?? "";
      if (part === "" || part === ".") continue;
      if (part === "..") {
        if (done.pop() === undefined) throw outside(path);
        continue;
      }
      const here = join(root, ...done, part);
      const info = await lstat(here).catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      });
      if (info?.isSymbolicLink() && (follow || waiting.length > 0)) {
        const target = await readlink(here);
        if (++links > LINKS || target.startsWith("/") || /^[A-Za-z]:|^\\/.test(target)) throw outside(path);
        waiting.unshift(...target.split("/"));
        continue;
      }
      if (info && !info.isDirectory() && waiting.length > 0)
        throw new SessarcError("REPLAY_PATH_IMPOSSIBLE", { path, reason: `${[...done, part].join("/")} is a file` });
      done.push(part);
    }
    const real = done.join("/");
    if (refusedHere(real)) throw outside(path);
    return join(root, ...done);
  }

  async function read(path: string): Promise<TreeFile | undefined> {
    const place = await locate(path);
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const file = await open(place, flags).catch((error: unknown) => {
      if (isGone(error)) return undefined;
      if (codeOf(error) === "ENXIO" || codeOf(error) === "EISDIR")
        throw new SessarcError("REPLAY_NOT_A_FILE", { path });
      throw error;
    });
    if (!file) return undefined;
    try {
      const info = await file.stat();
      if (!info.isFile()) throw new SessarcError("REPLAY_NOT_A_FILE", { path });
      if (info.size > FILE_LIMIT)
        throw new SessarcError("REPLAY_FILE_TOO_LARGE", { path, bytes: info.size, limit: FILE_LIMIT });
      return { data: await file.readFile(), mode: info.mode & 0o777 };
    } finally {
      await file.close();
    }
  }

  async function place(path: string, follow: boolean, make: (temp: string) => Promise<void>): Promise<void> {
    const target = await locate(path, follow);
    const temp = join(dirname(target), `.sessarc-${randomBytes(6).toString("hex")}`);
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o755 });
      await make(temp);
      await rename(temp, target);
    } catch (error) {
      await rm(temp, { force: true });
      if (["EISDIR", "ENOTDIR", "EEXIST", "ENOTEMPTY"].includes(codeOf(error) ?? ""))
        throw new SessarcError("REPLAY_NOT_A_FILE", { path });
      throw error;
    }
  }

  return {
    root,
    read,
    async write(path, data, mode) {
      const bits = mode ?? (await lstat(await locate(path)).catch(() => undefined))?.mode ?? 0o644;
      await place(path, true, async (temp) => {
        const file = await open(
          temp,
          constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0),
          0o600,
        );
        try {
          await file.writeFile(data);
          await file.chmod(bits & 0o777);
        } finally {
          await file.close();
        }
      });
    },
    link: (path, target) => place(path, false, (temp) => symlink(target, temp)),
    async remove(path) {
      const target = await locate(path, false);
      const info = await lstat(target).catch(() => undefined);
      if (!info) return;
      if (info.isDirectory()) throw new SessarcError("REPLAY_NOT_A_FILE", { path });
      await rm(target);
      for (let folder = dirname(target); folder !== root && folder.startsWith(root); folder = dirname(folder)) {
        const gone = await rmdir(folder).then(
          () => true,
          () => false, // not empty: it stays
        );
        if (!gone) break;
      }
    },
  };
}
