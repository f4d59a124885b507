/**
 * What large totals counted, on disk: texts never change, so a question asked again, also after a restart, counts what came since.
 *
 * A file for each question: "SESSARCN" | sessions (4) | for each its key (8) and its messages (4) | checksum of the name and all that (4). Its
 * name is a digest of the question: the words themselves are not kept, and under another name it says nothing.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { Slices, writeFileAtomic } from "sessarc";
import type { Entry } from "./entry.ts";
import type { ShelfOptions } from "./shelf.ts";
import type { KnownCounts } from "./total.ts";

const MAGIC = Buffer.from("SESSARCN", "latin1");
const HEAD = 12;
const ENTRY = 12;
const NAME = /^[0-9a-f]{32}\.counts$/;
/** Files, and their bytes together: those written longest ago go. */
const MOST = 32;
const MOST_BYTES = 16 << 20;
/** Raised when the same words and filters find something else than before. */
const VERSION = 1;

export class KeptCounts {
  readonly #options: ShelfOptions;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  /** What was counted before of these. A file that is not there or damaged says nothing. */
  async load(question: string, entries: readonly Entry[]): Promise<KnownCounts> {
    const { folder } = this.#options;
    const known: KnownCounts = new WeakMap();
    if (folder === undefined) return known;
    const name = nameOf(question);
    const file = await readFile(join(folder, name)).catch(() => undefined);
    if (!file || !isWhole(name, file)) return known;
    const slices = new Slices();
    const counts = new Map<string, number>();
    for (let at = HEAD; at < file.length - 4; at += ENTRY) {
      counts.set(file.toString("hex", at, at + 8), file.readUInt32LE(at + 8));
      if (slices.due) await slices.turn();
    }
    for (const entry of entries) {
      const messages = counts.get(entry.key);
      if (messages !== undefined) known.set(entry, messages);
      if (slices.due) await slices.turn();
    }
    return known;
  }

  /** Keeps what is known of these, one file after another. */
  save(question: string, entries: readonly Entry[], known: KnownCounts): Promise<void> {
    const { folder, readOnly } = this.#options;
    if (folder === undefined || readOnly) return Promise.resolve();
    const saved = this.#saving.then(() => write(folder, nameOf(question), entries, known));
    this.#saving = saved.catch(() => {});
    return saved;
  }

  /** Resolves when nothing is written any more. */
  get saved(): Promise<void> {
    return this.#saving;
  }
}

/** Letters fold as the engine's tables say, which newer ones add to. */
const nameOf = (question: string) =>
  `${createHash("sha256").update(`${VERSION} ${process.versions.unicode} ${question}`).digest("hex").slice(0, 32)}.counts`;

const sumOf = (name: string, content: Buffer) => crc32(content, crc32(name));

const isWhole = (name: string, file: Buffer) =>
  file.length >= HEAD + 4 &&
  file.subarray(0, 8).equals(MAGIC) &&
  file.length === HEAD + file.readUInt32LE(8) * ENTRY + 4 &&
  sumOf(name, file.subarray(0, -4)) === file.readUInt32LE(file.length - 4);

async function write(folder: string, name: string, entries: readonly Entry[], known: KnownCounts): Promise<void> {
  const file = Buffer.alloc(HEAD + entries.length * ENTRY + 4);
  const slices = new Slices();
  let end = HEAD;
  for (const entry of entries) {
    const messages = known.get(entry);
    if (messages === undefined) continue;
    file.write(entry.key, end, "hex");
    file.writeUInt32LE(messages, end + 8);
    end += ENTRY;
    if (slices.due) await slices.turn();
  }
  MAGIC.copy(file);
  file.writeUInt32LE((end - HEAD) / ENTRY, 8);
  file.writeUInt32LE(sumOf(name, file.subarray(0, end)), end);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(folder, name), file.subarray(0, end + 4));
  await makeRoom(folder);
}

async function makeRoom(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { size, mtimeMs } = await stat(path);
      return { path, size, mtimeMs };
    }),
  );
  files.sort((a, b) => b.mtimeMs - a.mtimeMs);
  let bytes = 0;
  for (const [i, { path, size }] of files.entries()) {
    bytes += size;
    if (i >= MOST || (i > 0 && bytes > MOST_BYTES)) await rm(path, { force: true });
  }
}
