/**
 * Writes the files of a commit into an empty folder, straight from the object store: no checkout, so no filter, hook, attribute or
 * submodule of the repository takes part. Runs in a pool worker.
 */
import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { SessarcError } from "sessarc";
import { at, createExec, type GitExec } from "../process/exec.ts";
import { toText } from "./objects.ts";

export interface ExportJob {
  binary: string;
  env: Record<string, string | undefined>;
  repo: { gitDir: string; worktree: string | null };
  /** Full hash. */
  commit: string;
  /** Absolute; made when it is missing. */
  folder: string;
  /** Files at most, and bytes of one file; what is beyond is left out and said. */
  limits: { files: number; fileBytes: number };
}

interface ExportedFile {
  path: string;
  /** Permission bits; of a link 0o777. */
  mode: number;
  hash: string;
  /** Of a link, where it points. */
  link?: string;
  /** `inode:size:mtime:ctime:mode` of what was written, times in ns. */
  sign: string;
}

type LeftOut = "submodule" | "link-outside" | "unsafe-name" | "too-large" | "too-many" | "duplicate" | "missing";

export interface ExportedTree {
  files: ExportedFile[];
  /** Files whose name is no UTF-8: written, but not listed. */
  unlisted: number;
  leftOut: { path: string; why: LeftOut }[];
  /** Files that stand for large ones kept elsewhere (Git LFS): their text is all there is. */
  pointers: number;
}

interface Entry {
  /** Bytes as latin1. */
  path: string;
  mode: string;
  hash: string;
  /** Bytes; 0 for anything but a file. */
  size: number;
}

const SUBMODULE = "160000";
const LINK = "120000";
const POINTER = Buffer.from("version https://git-lfs.github.com/spec/");

/** 10,000 files of 4 KB take about a second, most of it the file system's. */
export async function exportTree(job: ExportJob): Promise<ExportedTree> {
  const exec = createExec(job);
  const tree: ExportedTree = { files: [], unlisted: 0, leftOut: [], pointers: 0 };
  try {
    mkdirSync(job.folder, { recursive: true, mode: 0o700 });
    const entries = (await list(exec, job)).filter((entry, index) => accept(entry, index, job, tree));
    // Links come last: no file is ever written through one.
    const links: [Entry, string][] = [];
    const folders = new Set<string>();
    await contents(exec, job, entries, (entry, data) => {
      if (data === undefined) tree.leftOut.push({ path: toText(entry.path), why: "missing" });
      else if (entry.mode === LINK) links.push([entry, data.toString("utf8")]);
      else write(entry, data, job.folder, folders, tree);
    });
    for (const [entry, target] of links) link(entry, target, job.folder, folders, tree);
    return tree;
  } finally {
    await exec.close();
  }
}

async function list(exec: GitExec, job: ExportJob): Promise<Entry[]> {
  const args = [...at(job.repo), "ls-tree", "-r", "-l", "-z", "--full-tree", job.commit];
  const result = await exec.run(args, { timeoutMs: 30_000, maxBytes: 256 * 1024 * 1024 });
  if (result.code !== 0 || result.truncated) throw new SessarcError("GIT_FAILED", { command: "ls-tree" });
  return result.stdout
    .toString("latin1")
    .split("\0")
    .flatMap((row) => {
      const match = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t([\s\S]+)$/.exec(row);
      const [, mode = "", hash = "", size = "", path = ""] = match ?? [];
      return match ? [{ mode, hash, size: Number(size) || 0, path }] : [];
    });
}

function accept(entry: Entry, index: number, job: ExportJob, tree: ExportedTree): boolean {
  const why = findRefusal(entry, index, job.limits);
  if (why !== undefined) tree.leftOut.push({ path: toText(entry.path), why });
  return why === undefined;
}

function findRefusal(entry: Entry, index: number, limits: ExportJob["limits"]): LeftOut | undefined {
  if (entry.mode === SUBMODULE) return "submodule";
  if (unsafe(entry.path)) return "unsafe-name";
  if (index >= limits.files) return "too-many";
  return entry.size > limits.fileBytes ? "too-large" : undefined;
}

const unsafe = (path: string) =>
  path
    .split("/")
    .some((part) => part === "" || part === "." || part === ".." || /^(?:\.git|git~\d+)[. ]*$/i.test(part)) ||
  (process.platform === "win32" && /[\\:]/.test(path));

/** Hands over the objects in order. One process; git is never more than its own buffer ahead. */
async function contents(
  exec: GitExec,
  job: ExportJob,
  entries: readonly Entry[],
  take: (entry: Entry, data: Buffer | undefined) => void,
): Promise<void> {
  if (entries.length === 0) return;
  const child = exec.start([...at(job.repo), "cat-file", "--batch", "--buffer"]);
  child.stderr.resume();
  child.stdin.end(entries.map(({ hash }) => `${hash}\n`).join(""));
  let next = 0;
  let rest: Buffer[] = [];
  let held = 0;
  let wanted = 0;
  for await (const chunk of child.stdout) {
    rest.push(chunk as Buffer);
    held += (chunk as Buffer).length;
    if (held < wanted) continue;
    let data = rest.length === 1 ? (rest[0] ?? Buffer.alloc(0)) : Buffer.concat(rest);
    for (let entry = entries[next]; entry; entry = entries[next]) {
      const end = data.indexOf(10);
      if (end < 0) break;
      const head = data.toString("latin1", 0, end).split(" ");
      if (head[1] === "missing" || head[1] === "ambiguous") {
        take(entry, undefined);
        data = data.subarray(end + 1);
        next++;
        continue;
      }
      const size = Number(head[2]);
      wanted = end + 1 + size + 1;
      if (data.length < wanted) break;
      take(entry, data.subarray(end + 1, end + 1 + size));
      data = data.subarray(wanted);
      wanted = 0;
      next++;
    }
    rest = [data];
    held = data.length;
  }
  if (next < entries.length) throw new SessarcError("GIT_FAILED", { command: "cat-file" });
}

function write(entry: Entry, data: Buffer, folder: string, folders: Set<string>, tree: ExportedTree): void {
  const mode = entry.mode === "100755" ? 0o755 : 0o644;
  const place = makePlace(entry.path, folder, folders);
  try {
    writeFileSync(place, data, { flag: "wx", mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    tree.leftOut.push({ path: toText(entry.path), why: "duplicate" });
    return;
  }
  if (data.length < 1024 && data.subarray(0, POINTER.length).equals(POINTER)) tree.pointers++;
  listed(entry, place, { mode }, tree);
}

function link(entry: Entry, target: string, folder: string, folders: Set<string>, tree: ExportedTree): void {
  const path = toText(entry.path);
  const reached = posix.normalize(posix.join(posix.dirname(path), target));
  if (/^([/\\]|[A-Za-z]:)/.test(target) || target.includes("\0") || reached === ".." || reached.startsWith("../")) {
    tree.leftOut.push({ path, why: "link-outside" });
    return;
  }
  const place = makePlace(entry.path, folder, folders);
  try {
    symlinkSync(target, place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    tree.leftOut.push({ path, why: "duplicate" });
    return;
  }
  listed(entry, place, { mode: 0o777, link: target }, tree);
}

function makePlace(path: string, folder: string, folders: Set<string>): string | Buffer {
  const parent = dirname(path);
  const place = toPlace(folder, path);
  if (!folders.has(parent)) {
    mkdirSync(toPlace(folder, parent), { recursive: true, mode: 0o755 });
    folders.add(parent);
  }
  return place;
}

/** Names that are no UTF-8 keep their bytes. */
const toPlace = (folder: string, path: string): string | Buffer =>
  isListed(path) ? join(folder, toText(path)) : Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, "latin1")]);

const isListed = (path: string) => Buffer.from(toText(path), "utf8").toString("latin1") === path;

function listed(entry: Entry, place: string | Buffer, more: { mode: number; link?: string }, tree: ExportedTree): void {
  if (!isListed(entry.path)) {
    tree.unlisted++;
    return;
  }
  const info = lstatSync(place, { bigint: true });
  const sign = `${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}:${info.mode}`;
  tree.files.push({ path: toText(entry.path), hash: entry.hash, sign, ...more });
}
