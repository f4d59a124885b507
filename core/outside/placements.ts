/**
 * What we write into other programs' files, and the way back. Originals and a journal are on disk before the first file changes, so that a
 * crash at any moment leaves something to go back to. Each owner (a plugin) has a folder of its own.
 */
import { isSessarcError } from "../errors/error.ts";
import type { Json } from "../utils/json.ts";
import { createQueue } from "../utils/queue.ts";
import {
  makeFolderFor,
  type OutsideFile,
  outsideBytes,
  outsideText,
  readOutside,
  removeOutside,
  replaceOutside,
  tempBeside,
  toDigest,
} from "./file.ts";
import { isAfter, isBefore, putBack, removeMadeFolders, removeTemp, toPlacedFile } from "./placed-file.ts";
import {
  createJournal,
  type Journal,
  type Notes,
  newPlacementId,
  type PlacedFile,
  type Placement,
} from "./placement-journal.ts";

/** Who writes: where its journal is, and what only it knows about its files. */
export interface PlacementOwner<N extends Json, F extends Json> extends Notes<N, F> {
  /** In the data directory; only the user may read it. */
  folder: string;
  /** True: nothing is written, also not what a crash left. */
  readOnly?: boolean;
  /**
   * A file that changed since, without what was placed in it: null where the file is removed, undefined where nothing that sessarc wrote is in it any more.
   * `entry` is undefined for a file that no journal names.
   */
  withdraw(file: OutsideFile, entry: PlacedFile<F> | undefined, name: string): Promise<Buffer | null | undefined>;
}

/** A file as it is, and as it will be. */
export interface PlannedFile<F extends Json> {
  name: string;
  file: OutsideFile;
  bytes: Buffer;
  before: string;
  after: string;
  note: F;
  /** Ours is in the file already: it is no original. */
  ours: boolean;
}

/** `text`: the file's text with ours in it. `ours`: it was in there already. */
export type PlacementEdit<F extends Json> = (
  text: string,
  known: PlacedFile<F> | undefined,
) => Promise<{ text: string; ours: boolean; note: F }>;

/** What a plugin has written into other programs' files: plan, write, undo. Reading settles what a crash left first. */
export interface Placements<N extends Json, F extends Json> {
  /** One change at a time, after what a crash left was settled. Tried again where another program changes the file meanwhile. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** What is placed under each name now. */
  all(): Promise<ReadonlyMap<string, Placement<N, F>>>;
  find(name: string): Promise<Placement<N, F> | undefined>;
  /** What `write` would do; nothing is written. Throws SETTINGS_UNUSABLE. */
  plan(name: string, path: string, edit: PlacementEdit<F>): Promise<PlannedFile<F>>;
  /** Throws SETTINGS_CHANGED, SETTINGS_UNUSABLE: the file is unchanged then. */
  write(plan: PlannedFile<F>, note: N): Promise<Placement<N, F>>;
  /** Changes the note alone. */
  save(placement: Placement<N, F>, note: N): Promise<Placement<N, F>>;
  /**
   * Takes ours out of the file: the original byte for byte where nothing else changed it (`restored`), else only ours. `path`: the file where
   * nothing is known under this name.
   */
  undo(name: string, path: string): Promise<{ removed: boolean; restored: boolean }>;
  /** The byte-exact copy of a file as it was; null where there was none. */
  backupPath(placement: Placement<N, F>): string | null;
}

const TRIES = 3;

/** Placements of one owner. Nothing is read or written before a member is called. */
export function createPlacements<N extends Json, F extends Json>(owner: PlacementOwner<N, F>): Placements<N, F> {
  const journal = createJournal(owner.folder, owner);
  const queue = createQueue();
  let settled: Promise<void> | undefined;
  let placed: Promise<ReadonlyMap<string, Placement<N, F>>> | undefined;

  const settle = (): Promise<void> => {
    settled ??= settleAll().catch((error) => {
      settled = undefined;
      throw error;
    });
    return settled;
  };
  async function settleAll(): Promise<void> {
    // It is for the next process that may write.
    if (owner.readOnly) return;
    await journal.sweep();
    for (const one of await journal.all()) if (one.state !== "placed") await settleOne(journal, one);
  }

  const all = () => {
    placed ??= settle().then(async () => {
      // The newest of a name is the one that counts.
      const known = (await journal.all()).filter(isPlaced);
      return new Map(known.reverse().map((one) => [one.name, one]));
    });
    placed.catch(() => {
      placed = undefined;
    });
    return placed;
  };
  const find = async (name: string) => (await all()).get(name);

  /** Of this name nothing is placed any more, but `id`. Originals are retained: the user may want them. */
  async function retire(name: string, id?: string): Promise<void> {
    for (const one of await journal.all())
      if (one.name === name && one.id !== id && isPlaced(one)) await journal.save(undone(one));
  }

  async function changing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // It may be half done: the next change settles it.
      settled = undefined;
      throw error;
    } finally {
      placed = undefined;
    }
  }

  return {
    all,
    find,
    alone: (work) =>
      queue(async () => {
        for (let left = TRIES; ; left--) {
          try {
            await settle();
            return await work();
          } catch (error) {
            if (left <= 1 || !isSessarcError(error) || error.code !== "SETTINGS_CHANGED") throw error;
          }
        }
      }),
    async plan(name, path, edit) {
      const file = await readOutside(path);
      const { text, bom } = outsideText(file);
      const [known] = (await find(name))?.files ?? [];
      const { text: after, ours, note } = await edit(text, known?.path === path ? known : undefined);
      return { name, file, bytes: outsideBytes(after, bom), before: text, after, note, ours };
    },
    write: (plan, note) =>
      changing(async () => {
        const known = await find(plan.name);
        const placement = toPlacement(known, plan, note);
        const [entry] = placement.files;
        if (!entry) throw new TypeError("A placement has a file");
        await journal.begin(placement, [plan.file.bytes ?? Buffer.alloc(0)]);
        if (!plan.file.bytes?.equals(plan.bytes)) {
          try {
            if (entry.folder !== null) await makeFolderFor(entry.real);
            await replaceOutside(plan.file, plan.bytes, entry.temp);
          } catch (error) {
            await removeMadeFolders(entry);
            await (known?.id === placement.id ? journal.save(known) : journal.remove(placement));
            throw error;
          }
        }
        const done: Placement<N, F> = { ...placement, state: "placed", was: null };
        await journal.save(done);
        await retire(plan.name, done.id);
        return done;
      }),
    save: (placement, note) =>
      changing(async () => {
        const changed = { ...placement, note };
        await journal.save(changed);
        return changed;
      }),
    undo: (name, path) =>
      changing(async () => {
        const known = await find(name);
        const [entry] = known?.files ?? [];
        const file = await readOutside(entry?.path ?? path);
        if (known && entry?.exact && isAfter(file, entry)) {
          const original = entry.created ? null : await journal.original(known, entry);
          if (original !== undefined) {
            await journal.save({ ...known, state: "undoing" });
            await putBack(file, original, entry);
            await journal.remove(known);
            await retire(name);
            return { removed: true, restored: true };
          }
        }
        const rest = file.bytes === null ? undefined : await owner.withdraw(file, entry, name);
        if (rest === null) await removeOutside(file);
        else if (rest !== undefined) await replaceOutside(file, rest, entry?.temp);
        await retire(name);
        return { removed: rest !== undefined, restored: false };
      }),
    backupPath(placement) {
      const [entry] = placement.files;
      return entry && !entry.created ? journal.originalPath(placement, entry) : null;
    },
  };
}

/** A placement of one file: the one of this name where only we changed the file since, else a new one with a new original. */
function toPlacement<N extends Json, F extends Json>(
  known: Placement<N, F> | undefined,
  { name, file, bytes, note: fileNote, ours }: PlannedFile<F>,
  note: N,
): Placement<N, F> {
  const after = toDigest(bytes);
  const [entry] = known?.files ?? [];
  if (known && entry && ours && isAfter(file, entry)) {
    const files = [{ ...entry, after, note: fileNote, temp: tempBeside(file) }];
    return { ...known, state: "writing", note, files, was: known };
  }
  const now = new Date();
  const id = newPlacementId(now);
  return {
    id,
    name,
    at: now.toISOString(),
    state: "writing",
    note,
    files: [{ ...toPlacedFile(file, bytes, fileNote), id: `${id}-0`, exact: !ours }],
    was: null,
  };
}

/** After a crash: a file that was written is placed, one that was not is as it was before. */
async function settleOne<N extends Json, F extends Json>(
  journal: Journal<N, F>,
  placement: Placement<N, F>,
): Promise<void> {
  const { was } = placement;
  const files: PlacedFile<F>[] = [];
  for (const entry of placement.files) {
    await removeTemp(entry);
    const file = await readOutside(entry.path).catch(() => undefined);
    const before = was?.files.find(({ id }) => id === entry.id);
    if (was && file && before && isAfter(file, before)) return journal.save(was);
    if (!was && file && entry.exact && isBefore(file, entry)) {
      await removeMadeFolders(entry);
      files.push({ ...entry, undoneAt: new Date().toISOString() });
    } else files.push(entry);
  }
  const settled: Placement<N, F> = { ...placement, state: "placed", files, was: null };
  if (files.every(({ undoneAt }) => undoneAt !== null)) await journal.remove(settled);
  else await journal.save(settled);
}

const isPlaced = ({ files }: Placement<Json, Json>) => files.some(({ undoneAt }) => undoneAt === null);

function undone<N extends Json, F extends Json>(placement: Placement<N, F>): Placement<N, F> {
  const undoneAt = new Date().toISOString();
  return { ...placement, files: placement.files.map((entry) => ({ ...entry, undoneAt })) };
}
