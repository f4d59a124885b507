/** Files of packs: chunks of logs, compressed together. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gone } from "./files.ts";
import { addUp, type Codec, pack, unpack } from "./pack.ts";

export interface Chunk {
  /** SHA-256, base64url. */
  hash: string;
  bytes: Buffer;
}

export interface Pack {
  /** Name of its file: the sum of what is in it, so no pack is ever replaced by another. */
  name: string;
  codec: Codec;
  /** Bytes of its chunks, and as stored. */
  bytes: number;
  stored: number;
}

/** A pack that was written, with the chunks in it. */
export interface WrittenPack extends Pack {
  chunks: { hash: string; at: number; bytes: number }[];
}

/** Bytes that are compressed together: more finds little more that is alike, and costs more when one of its sessions is deleted. */
export const PACK = 4 * 2 ** 20;

/** Packs stored below `folder`. */
export class PackFolder {
  readonly #folder: string;
  constructor(folder: string) {
    this.#folder = folder;
  }

  #pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), name);
  }

  async put(chunks: readonly Chunk[]): Promise<WrittenPack> {
    const { codec, bytes: packed, sum: name } = await pack(Buffer.concat(chunks.map(({ bytes }) => bytes)));
    const path = this.#pathOf(name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // No row names it yet, and its name comes from its content: one that a kill cut off is written again.
    await writeFile(path, packed, { mode: 0o600, flush: true });
    let bytes = 0;
    const places = chunks.map((chunk) => {
      const place = { hash: chunk.hash, at: bytes, bytes: chunk.bytes.length };
      bytes += chunk.bytes.length;
      return place;
    });
    return { name, codec, bytes, stored: packed.length, chunks: places };
  }

  /** Its bytes; undefined when it is missing or damaged. */
  async get({ name, codec }: Pick<Pack, "name" | "codec">): Promise<Buffer | undefined> {
    const bytes = await readFile(this.#pathOf(name)).catch(gone);
    return bytes && (await unpack({ codec, bytes, sum: name }).catch(() => undefined));
  }

  /** Whether its file is there as it was written. */
  async isWhole(name: string): Promise<boolean> {
    const bytes = await readFile(this.#pathOf(name)).catch(gone);
    return bytes !== undefined && addUp(bytes) === name;
  }

  async remove(names: Iterable<string>): Promise<void> {
    for (const name of names) await rm(this.#pathOf(name), { force: true });
  }

  /** Names of all files. */
  async *names(): AsyncGenerator<string> {
    for (const dir of (await readdir(this.#folder).catch(gone)) ?? [])
      yield* (await readdir(join(this.#folder, dir)).catch(gone)) ?? [];
  }
}

/** Gathers chunks into packs. */
export class Packer {
  readonly packs: WrittenPack[] = [];
  readonly #folder: PackFolder;
  #chunks: Chunk[] = [];
  #bytes = 0;
  constructor(folder: PackFolder) {
    this.#folder = folder;
  }

  async add(chunk: Chunk): Promise<void> {
    if (this.#bytes > 0 && this.#bytes + chunk.bytes.length > PACK) await this.finish();
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes.length;
  }

  async finish(): Promise<WrittenPack[]> {
    if (this.#chunks.length > 0) this.packs.push(await this.#folder.put(this.#chunks));
    this.#chunks = [];
    this.#bytes = 0;
    return this.packs;
  }
}
