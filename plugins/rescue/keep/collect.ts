/** Gives back the room of chunks that no session names. */
import type { Storage } from "sessarc";
import { PACK, Packer, type PackFolder } from "./packs.ts";
import type { LogStore } from "./store.ts";

/** Packs below a quarter of the usual size, from a session that goes on: so many become one. */
const SMALL = PACK / 4;
const MOST_SMALL = 16;

/**
 * Removes packs of which nothing is named any more, and writes those again of which a part is: of `all`, so that nothing of a deleted session
 * stays; else of those that are half free. A kill leaves files that no row names; `sweep` removes them. Returns whether there were any.
 */
export async function collect(
  { db }: Pick<Storage, "db">,
  store: LogStore,
  folder: PackFolder,
  all: boolean,
): Promise<boolean> {
  await store.forgetLost();
  const wasted = (await store.wasted()).filter(({ bytes, free }) => all || free * 2 >= bytes);
  for (const { name } of wasted) await rewrite([name]);
  const small = await store.smallPacks(SMALL);
  const isSmall = small.length >= MOST_SMALL;
  if (isSmall) await rewrite(small);
  return isSmall || wasted.length > 0;

  async function rewrite(names: readonly string[]): Promise<void> {
    const packer = new Packer(folder);
    const done: string[] = [];
    for (const pack of await store.packs(names)) {
      const chunks = await store.chunksIn(pack.name);
      const named = chunks.filter(({ refs }) => refs > 0);
      const bytes = named.length > 0 ? await folder.get(pack) : undefined;
      // A damaged pack stays: reading one of its sessions reports it.
      if (named.length > 0 && !bytes) continue;
      for (const { hash, at, bytes: length } of named)
        if (bytes) await packer.add({ hash, bytes: Buffer.from(bytes.subarray(at, at + length)) });
      done.push(pack.name);
    }
    const packs = await packer.finish();
    const written = new Set(packs.map(({ name }) => name));
    const stale = done.filter((name) => !written.has(name));
    await db.batch([...packs.flatMap(store.addPack), ...store.removePacks(stale)]);
    await folder.remove(stale);
  }
}

/** Removes files that no row names. */
export async function sweep(store: LogStore, folder: PackFolder): Promise<void> {
  const named = await store.packNames();
  for await (const name of folder.names()) if (!named.has(name)) await folder.remove([name]);
}
