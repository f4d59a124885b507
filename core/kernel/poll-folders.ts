/**
 * Polling, where the system reports no changes. A round checks the files that changed last, the folders (their time changes with names that came or
 * went), and the next of all other files. So a round has a bounded cost, and a file at rest is checked rarely.
 */
import { opendir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileChange } from "../contract/kernel.ts";
import { isGone } from "../utils/gone.ts";
import { mustYield, yieldNow } from "../utils/yield.ts";

/** Looked at in a round: files that changed last, folders, and others. */
const RECENT = 500;
const FOLDERS = 500;
const OTHERS = 1_000;

interface Folder {
  /** Another one when names came or went. */
  mark: string;
  /** Listed because it had changed: more may have come in the same tick of its clock. */
  unsure: boolean;
  /** The values by which a file's change is recognised, by name. */
  files: Map<string, string>;
  folders: Set<string>;
}

export class FolderPoll {
  readonly #root: string;
  readonly #report: (change: FileChange) => void;
  /** Those above come before those in them. */
  readonly #folders = new Map<string, Folder>();
  /** Paths of files, the one that changed last at the end. */
  readonly #recent = new Set<string>();
  #nextFolders: Iterator<string> | undefined;
  #others: AsyncGenerator<void> | undefined;
  #stopped = false;

  constructor(root: string, report: (change: FileChange) => void) {
    this.#root = root;
    this.#report = (change) => this.#stopped || report(change);
  }

  /** Records the current state without reporting it. One listing per folder, one stat per file. */
  async begin(): Promise<void> {
    const newest: [number, string][] = [];
    const keepNewest = () => newest.sort(([a], [b]) => b - a).splice(RECENT);
    await this.#enter(this.#root, (path, mtimeMs) => {
      if (newest.push([mtimeMs, path]) > 2 * RECENT) keepNewest();
    });
    keepNewest();
    for (const [, path] of newest.reverse()) this.#recent.add(path);
  }

  /** Tells what it finds changed. */
  async round(): Promise<void> {
    // A network share that was absent at the first check.
    if (!this.#folders.has(this.#root)) await this.#enter(this.#root);
    for (const path of [...this.#recent]) await this.#lookAtFile(path);
    for (let n = Math.min(FOLDERS, this.#folders.size); n > 0 && !this.#stopped; n--) {
      this.#nextFolders ??= this.#folders.keys();
      const { value, done } = this.#nextFolders.next();
      if (done) this.#nextFolders = undefined;
      else await this.#lookAtFolder(value);
    }
    this.#others ??= this.#lookAtOthers();
    for (let n = 0; n < OTHERS; n++) {
      if (!(await this.#others.next()).done) continue;
      this.#others = undefined;
      return;
    }
  }

  /** Number of rounds after which everything was checked. */
  get rounds(): number {
    let files = 0;
    for (const folder of this.#folders.values()) files += folder.files.size;
    return Math.ceil(Math.max(1, files - this.#recent.size + this.#folders.size) / OTHERS);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Every folder's names, whatever its time is, and every file that is not checked in each round. */
  async *#lookAtOthers(): AsyncGenerator<void> {
    for (const [path, folder] of this.#folders) {
      await this.#list(path, folder);
      yield;
      for (const name of folder.files.keys()) {
        const file = join(path, name);
        if (this.#stopped) return;
        if (this.#recent.has(file)) continue;
        await this.#lookAtFile(file);
        yield;
      }
    }
  }

  async #lookAtFile(path: string): Promise<void> {
    const [files, name] = [this.#folders.get(dirname(path))?.files, basename(path)];
    const before = files?.get(name);
    if (this.#stopped || !files || before === undefined) return void this.#recent.delete(path);
    const found = await look(path);
    if (found === "unknown") return;
    if (!found?.isFile()) {
      files.delete(name);
      this.#recent.delete(path);
      return this.#report({ type: "delete", path });
    }
    const now = toVersion(found);
    if (now === before) return;
    files.set(name, now);
    this.#changed({ type: "update", path });
  }

  #changed(change: FileChange): void {
    this.#recent.delete(change.path);
    this.#recent.add(change.path);
    for (const path of this.#recent) {
      if (this.#recent.size <= RECENT) break;
      this.#recent.delete(path);
    }
    this.#report(change);
  }

  async #lookAtFolder(path: string): Promise<void> {
    const folder = this.#folders.get(path);
    if (!folder || this.#stopped) return;
    const found = await look(path);
    if (found === "unknown") return;
    if (!found?.isDirectory()) return this.#leave(path);
    const mark = toMark(found);
    if (mark === folder.mark && !folder.unsure) return;
    folder.unsure = mark !== folder.mark;
    folder.mark = mark;
    await this.#list(path, folder);
  }

  /** Compares names; `learn`: of a folder that is listed for the first time, whose files are not reported. */
  async #list(path: string, folder: Folder, learn?: Learn): Promise<void> {
    const names = new Set<string>();
    const entered: string[] = [];
    try {
      for await (const entry of await opendir(path, { bufferSize: 512 })) {
        if (this.#stopped) return;
        const { name } = entry;
        names.add(name);
        if (entry.isDirectory() && !folder.folders.has(name)) entered.push(name);
        else if (entry.isFile() && !folder.files.has(name)) await this.#learn(join(path, name), folder, learn);
      }
    } catch (error) {
      // Closed to us, or a share that is away: nothing is known to have gone.
      if (isGone(error)) await this.#leave(path);
      else folder.unsure = true;
      return;
    }
    await this.#forget(path, folder, names);
    for (const name of folder.folders) if (!names.has(name)) await this.#leave(join(path, name));
    for (const name of entered) await this.#enter(join(path, name), learn);
  }

  async #learn(path: string, folder: Folder, learn: Learn | undefined): Promise<void> {
    const found = await look(path);
    if (found === undefined || found === "unknown" || !found.isFile()) return;
    folder.files.set(basename(path), toVersion(found));
    if (learn) learn(path, found.mtimeMs);
    else this.#changed({ type: "create", path });
  }

  async #enter(path: string, learn?: Learn): Promise<void> {
    const found = await look(path);
    if (this.#stopped || found === undefined || found === "unknown" || !found.isDirectory()) return;
    const folder: Folder = { mark: toMark(found), unsure: true, files: new Map(), folders: new Set() };
    this.#folders.set(path, folder);
    this.#folders.get(dirname(path))?.folders.add(basename(path));
    await this.#list(path, folder, learn);
  }

  /** Tells that files went: those whose names are not there any more. */
  async #forget(path: string, folder: Folder, names: ReadonlySet<string>): Promise<void> {
    for (const name of folder.files.keys()) {
      if (mustYield()) await yieldNow();
      if (this.#stopped) return;
      if (names.has(name)) continue;
      const file = join(path, name);
      folder.files.delete(name);
      this.#recent.delete(file);
      this.#report({ type: "delete", path: file });
    }
  }

  async #leave(path: string): Promise<void> {
    const folder = this.#folders.get(path);
    this.#folders.get(dirname(path))?.folders.delete(basename(path));
    if (!folder) return;
    await this.#forget(path, folder, new Set());
    for (const name of folder.folders) await this.#leave(join(path, name));
    folder.mark = ""; // the root may come again
    if (path !== this.#root) this.#folders.delete(path);
  }
}

type Learn = (path: string, mtimeMs: number) => void;

/** Undefined when it is not there; `unknown` when that could not be found out. */
const look = (path: string) => stat(path).catch((error: unknown) => (isGone(error) ? undefined : ("unknown" as const)));

const toVersion = (found: { size: number; mtimeMs: number; ino: number }) =>
  `${found.size} ${found.mtimeMs} ${found.ino}`;
const toMark = (found: { ino: number; mtimeMs: number }) => `${found.ino} ${found.mtimeMs}`;
