/** Watching one file and those beside it that a database writes to. Its folder may hold much else, which is ignored. */
import { watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileChange } from "../contract/kernel.ts";

/** What is written to a database goes to one of these. */
const BESIDE = ["", "-wal", "-journal"];

/** Reports `update`, with the path of the file itself or of the one beside it, whatever happened to it. `onLost` as of `watchTree`. */
export async function watchFile(
  path: string,
  report: (change: FileChange) => void,
  onLost: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const [folder, name] = [dirname(path), basename(path)];
  const watcher = watch(folder, { persistent: false }, (_, file) => {
    if (file === null || file === name || file.startsWith(`${name}-`))
      report({ type: "update", path: join(folder, file ?? name) });
  });
  watcher.on("error", (error) => {
    watcher.close();
    onLost(error);
  });
  return async () => watcher.close();
}

/** The same by polling. */
export class FilePoll {
  readonly #path: string;
  readonly #report: (change: FileChange) => void;
  #versions: string[] = [];
  #stopped = false;
  /** Each round checks all. */
  readonly rounds = 1;

  constructor(path: string, report: (change: FileChange) => void) {
    this.#path = path;
    this.#report = report;
  }

  async begin(): Promise<void> {
    this.#versions = await Promise.all(BESIDE.map((end) => readVersion(this.#path + end)));
  }

  async round(): Promise<void> {
    const before = this.#versions;
    await this.begin();
    if (!this.#stopped && this.#versions.some((version, i) => version !== before[i]))
      this.#report({ type: "update", path: this.#path });
  }

  stop(): void {
    this.#stopped = true;
  }
}

/** Empty when it cannot be read: the next successful read decides. */
const readVersion = (path: string): Promise<string> =>
  stat(path).then(
    ({ size, mtimeMs, ino }) => `${size} ${mtimeMs} ${ino}`,
    () => "",
  );
