/** Removes something from stored logs: those that hold it are cut and packed again, and what they named before goes. */
import type { Kernel, Services } from "sessarc";
import { collect } from "./collect.ts";
import { Cutter } from "./cut.ts";
import { type KeptFile, toChunks } from "./files.ts";
import { Packer, type PackFolder } from "./packs.ts";
import type { LogStore } from "./store.ts";

type Rewrite = Parameters<Services["archive"]["rewrite"]>[0];
type Read = (file: KeptFile) => Promise<Buffer | undefined>;

/** Reads every pack, and the logs that name a chunk with it. */
export async function rewriteLogs(
  { storage, closing }: Pick<Kernel, "storage" | "closing">,
  { store, folder, read }: { store: LogStore; folder: PackFolder; read: Read },
  rewrite: Rewrite,
): Promise<void> {
  const held = new Set<string>();
  for (const pack of await store.packs([...(await store.packNames())])) {
    if (closing.aborted) return;
    const bytes = await folder.get(pack);
    if (!bytes || !(await rewrite.has(bytes))) continue;
    for (const { hash, at, bytes: length } of await store.chunksIn(pack.name)) {
      // A secret may go on in the next chunk.
      const from = Math.max(0, at - EDGE);
      if (await rewrite.has(bytes.subarray(from, at + length + EDGE))) held.add(hash);
    }
  }
  const ids = new Set([...(await store.sessionsNaming([...held])), ...rewrite.sessions]);
  for (const id of ids) {
    if (closing.aborted) return;
    if (!rewrite.stays(id)) await rewriteOne(id);
  }
  if (rewrite.write) await collect(storage, store, folder, true);

  async function rewriteOne(id: string): Promise<void> {
    const files = (await store.files(id)) ?? [];
    const packer = new Packer(folder);
    const found = { place: "log" as const, session: id, count: 0, left: 0 };
    const now: KeptFile[] = [];
    for (const file of files) {
      const bytes = await read(file);
      if (!bytes) found.left++;
      const masked = bytes && (await rewrite.mask(bytes));
      found.count += masked?.spans.length ?? 0;
      found.left += masked?.left.length ?? 0;
      if (!masked || masked.spans.length === 0) {
        now.push(file);
        continue;
      }
      if (!rewrite.write) continue;
      const all = Buffer.from(masked.bytes);
      const cutter = new Cutter(0);
      cutter.add(all);
      const cut = cutter.finish();
      const stored = await store.stored(cut.map(({ hash }) => hash));
      for (const { hash, from, to } of cut)
        if (!stored.has(hash)) await packer.add({ hash, bytes: Buffer.from(all.subarray(from, to)) });
      const { chunks, last } = toChunks([], cut);
      now.push({ ...file, chunks, last });
    }
    if (found.count + found.left > 0) rewrite.found(found);
    if (!rewrite.write || found.count === 0) return;
    const packs = await packer.finish();
    await storage.db.batch([...packs.flatMap(store.addPack), ...store.replace(id, now), ...store.weigh([id])]);
  }
}

/** Longer secrets do not cross the end of a chunk: that is the end of a row, or of a string. */
const EDGE = 4_096;
