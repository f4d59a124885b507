/** How many commits HEADs had, in a file: after a start nothing is counted again that did not move. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { isRecord, toList, writeFileAtomic } from "sessarc";

export interface KeptCount {
  head: string;
  /** Stamp of the shallow marks: with other ones a HEAD has another number of commits. */
  shallow: string;
  count: number;
}

export interface CountFileOptions {
  /** Its folder is made when first written to. */
  path: string;
  onError(error: unknown): void;
}

/** By git folder. */
export class CountFile {
  readonly #options: CountFileOptions | undefined;
  #saving: Promise<void> = Promise.resolve();
  #closed = false;

  /** Undefined: nothing is kept. */
  constructor(options: CountFileOptions | undefined) {
    this.#options = options;
  }

  /** None where the file is not there, or is not one of ours. */
  async load(): Promise<[gitDir: string, kept: KeptCount][]> {
    if (!this.#options) return [];
    const text = await readFile(this.#options.path, "utf8").catch(() => "");
    return toList(parse(text)).flatMap((row) => {
      if (!isRecord(row)) return [];
      const { gitDir, head, shallow, count, sum } = row;
      const isOurs = typeof gitDir === "string" && typeof shallow === "string" && isHash(head) && isCount(count);
      return isOurs && sum === sumOf(gitDir, { head, shallow, count }) ? [[gitDir, { head, shallow, count }]] : [];
    });
  }

  /** Replaces what is kept, one write after another. */
  save(kept: readonly (readonly [gitDir: string, kept: KeptCount])[]): void {
    const { path, onError } = this.#options ?? {};
    if (path === undefined || this.#closed) return;
    this.#saving = this.#saving
      .then(async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const rows = kept.map(([gitDir, one]) => ({ gitDir, ...one, sum: sumOf(gitDir, one) }));
        await writeFileAtomic(path, JSON.stringify(rows));
      })
      .catch(onError);
  }

  /** Resolves when what was saved is written; nothing is from then on. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#saving;
  }
}

/** One wrong figure would stay: later ones are counted from it. */
const sumOf = (gitDir: string, { head, shallow, count }: KeptCount) =>
  crc32(JSON.stringify([gitDir, head, shallow, count]));

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isHash = (value: unknown): value is string =>
  typeof value === "string" && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
