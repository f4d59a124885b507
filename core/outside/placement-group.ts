/** Several files of other programs changed together: all of them or none, beside other work of the owner; and put back one by one or together. */
import { isSessarcError, SessarcError } from "../errors/error.ts";
import type { Json } from "../utils/json.ts";
import { createQueue } from "../utils/queue.ts";
import { makeFolderFor, type OutsideFile, readOutside, removeOutside, replaceOutside } from "./file.ts";
import { isAfter, isBefore, putBack, removeMadeFolders, removeTemp, toPlacedFile } from "./placed-file.ts";
import { createJournal, type Notes, type PlacedFile, type Placement } from "./placement-journal.ts";

/** Who writes: where its journal is, and what only it knows. */
export interface GroupOwner<N extends Json, F extends Json> extends Notes<N, F> {
  /** In the data directory; only the user may read it. */
  folder: string;
  /** True: nothing is written, also not what a crash left. */
  readOnly?: boolean;
  /** Whether a file that changed since still has what was placed. */
  has(file: OutsideFile, entry: PlacedFile<F>): Promise<boolean>;
  /** A file that changed since, with what was in its place before. */
  merge(file: OutsideFile, entry: PlacedFile<F>, original: Buffer): Promise<Buffer>;
  /** The error for an original that is not what was stored. */
  damaged(entry: PlacedFile<F>): Error;
  /** Undoes what came before the files of a placement that was not finished. */
  takenBack(placement: Placement<N, F>): Promise<void>;
  /** The files with these ids were put back. */
  putBack(ids: readonly string[]): Promise<void>;
}

/** A file to change. `bytes` equal to what is there: it is recorded and not written. */
export interface GroupFile<F extends Json> {
  file: OutsideFile;
  bytes: Buffer;
  note: F;
}

/** What putting a file back would do. */
export interface UndoStep<N extends Json, F extends Json> {
  placement: Placement<N, F>;
  entry: PlacedFile<F>;
  file: OutsideFile;
  /** Null: the placement made the file, and it is removed. */
  bytes: Buffer | null;
}

/** A file of a placement. */
export type Chosen<N extends Json, F extends Json> = Pick<UndoStep<N, F>, "placement" | "entry">;

/** The placements of several files of one owner. */
export interface PlacementGroups<N extends Json, F extends Json> {
  /** One change at a time, after what a crash left was settled. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Takes back or finishes what a crash left; `alone` does it first. Answers how many placements that were. */
  recover(): Promise<number>;
  /** Newest first, those that were put back too. */
  all(): Promise<Placement<N, F>[]>;
  /**
   * Writes originals and journal, runs `first`, then writes the files. `done`: the note from then on. Throws SETTINGS_CHANGED, SETTINGS_UNUSABLE and what
   * `first` throws: everything is as it was then.
   */
  write(
    placement: { id: string; note: N; files: readonly GroupFile<F>[] },
    first: (placement: Placement<N, F>) => Promise<void>,
    done: N,
  ): Promise<Placement<N, F>>;
  /** Throws SETTINGS_CHANGED for a file that changed since, unless `merge`. Files that are as they were are left out. */
  planUndo(chosen: readonly Chosen<N, F>[], merge: boolean): Promise<UndoStep<N, F>[]>;
  /** All of it or nothing. A crash in between is finished at the next start. */
  undo(chosen: readonly Chosen<N, F>[], steps: readonly UndoStep<N, F>[]): Promise<void>;
  /** Removes the record and the originals; files stay as they are. */
  forget(placement: Placement<N, F>): Promise<void>;
}

/** Groups of one owner. Nothing is read or written before a member is called. */
export function createPlacementGroups<N extends Json, F extends Json>(owner: GroupOwner<N, F>): PlacementGroups<N, F> {
  const journal = createJournal(owner.folder, owner);
  const queue = createQueue();
  let recovered: Promise<number> | undefined;

  async function recoverOnce(): Promise<number> {
    // It is for the next process that may write.
    if (owner.readOnly) return 0;
    await journal.sweep();
    const open = (await journal.all()).filter(({ state }) => state !== "placed");
    for (const one of open) await (one.state === "writing" ? takeBack(one) : finishUndo(one));
    return open.length;
  }
  const recover = () => {
    recovered ??= recoverOnce().catch((error) => {
      recovered = undefined;
      throw error;
    });
    return recovered;
  };

  async function originalOf(placement: Placement<N, F>, entry: PlacedFile<F>): Promise<Buffer> {
    const original = await journal.original(placement, entry);
    if (original) return original;
    throw owner.damaged(entry);
  }

  /**
   * Files get their originals. A file that another program changed meanwhile keeps its changes and gets its earlier entries back; where that is
   * impossible, too, the placement counts as done.
   */
  async function takeBack(placement: Placement<N, F>): Promise<void> {
    let isBack = true;
    for (const entry of placement.files) {
      await removeTemp(entry);
      if (entry.after !== entry.before) isBack = (await takeBackFile(placement, entry)) && isBack;
    }
    if (!isBack) return journal.save({ ...placement, state: "placed" });
    await owner.takenBack(placement);
    await journal.remove(placement);
  }

  /** False when what was in the file is still gone. */
  async function takeBackFile(placement: Placement<N, F>, entry: PlacedFile<F>): Promise<boolean> {
    try {
      const file = await readOutside(entry.path);
      if (file.bytes === null) await removeMadeFolders(entry);
      else if (isBefore(file, entry)) return true;
      else if (isAfter(file, entry))
        await putBack(file, entry.created ? null : await originalOf(placement, entry), entry);
      else if (await owner.has(file, entry))
        await replaceOutside(file, await owner.merge(file, entry, await originalOf(placement, entry)), entry.temp);
      return true;
    } catch (error) {
      if (isSessarcError(error)) return false;
      throw error;
    }
  }

  /** After a crash: what was put back until then is; the rest is still placed and can be put back again. */
  async function finishUndo(placement: Placement<N, F>): Promise<void> {
    const undoneAt = new Date().toISOString();
    const files: PlacedFile<F>[] = [];
    for (const entry of placement.files) {
      await removeTemp(entry);
      const file = await readOutside(entry.path).catch(() => undefined);
      const isBack = file !== undefined && entry.before !== entry.after && isBefore(file, entry);
      if (isBack) await removeMadeFolders(entry);
      files.push(isBack ? { ...entry, undoneAt: entry.undoneAt ?? undoneAt } : entry);
    }
    await owner.putBack(files.flatMap((entry) => (entry.undoneAt === null ? [] : [entry.id])));
    await journal.save({ ...placement, files, state: "placed" });
  }

  return {
    recover: () => queue(recover),
    alone: (work) =>
      queue(async () => {
        await recover();
        try {
          return await work();
        } catch (error) {
          // It may have left something half done: the next one checks.
          recovered = undefined;
          throw error;
        }
      }),
    all: journal.all,
    forget: journal.remove,
    async write({ id, note, files }, first, done) {
      const placement: Placement<N, F> = {
        id,
        name: id,
        at: new Date().toISOString(),
        state: "writing",
        note,
        files: files.map((one, i) => ({ ...toPlacedFile(one.file, one.bytes, one.note), id: `${id}-${i}` })),
        was: null,
      };
      await journal.begin(
        placement,
        files.map(({ file }) => file.bytes ?? Buffer.alloc(0)),
      );
      try {
        await first(placement);
        for (const [i, { file, bytes }] of files.entries()) {
          const entry = placement.files[i];
          if (!entry || entry.before === entry.after) continue;
          if (entry.folder !== null) await makeFolderFor(entry.real);
          await replaceOutside(file, bytes, entry.temp);
        }
      } catch (error) {
        await takeBack(placement);
        throw error;
      }
      const written: Placement<N, F> = { ...placement, state: "placed", note: done };
      await journal.save(written);
      return written;
    },
    async planUndo(chosen, merge) {
      const steps: UndoStep<N, F>[] = [];
      for (const { placement, entry } of chosen) {
        const file = await readOutside(entry.path);
        const original = await originalOf(placement, entry);
        if (isBefore(file, entry)) continue;
        const step = { placement, entry, file };
        if (entry.created && isAfter(file, entry)) steps.push({ ...step, bytes: null });
        // One that is gone is put back with the mode it had.
        else if (file.bytes === null) steps.push({ ...step, file: { ...file, mode: entry.mode }, bytes: original });
        else if (isAfter(file, entry)) steps.push({ ...step, bytes: original });
        else if (merge) steps.push({ ...step, bytes: await owner.merge(file, entry, original) });
        else throw new SessarcError("SETTINGS_CHANGED", { path: entry.path });
      }
      return steps;
    },
    async undo(chosen, steps) {
      const touched = [...new Set(chosen.map(({ placement }) => placement))];
      for (const one of touched) await journal.save({ ...one, state: "undoing" });
      const written: UndoStep<N, F>[] = [];
      try {
        for (const step of steps) {
          await putBack(step.file, step.bytes, step.entry);
          written.push(step);
        }
      } catch (error) {
        for (const step of written) await takeUndoBack(step);
        for (const one of touched) await journal.save(one);
        throw error;
      }
      await owner.putBack(chosen.map(({ entry }) => entry.id));
      const undoneAt = new Date().toISOString();
      for (const one of touched) {
        const files = one.files.map((file) =>
          chosen.some(({ entry }) => entry === file) ? { ...file, undoneAt } : file,
        );
        await journal.save({ ...one, files, state: "placed" });
      }
    },
  };
}

async function takeUndoBack({ file, bytes, entry }: UndoStep<Json, Json>): Promise<void> {
  const now = { ...file, bytes };
  if (file.bytes === null) return removeOutside(now);
  if (bytes === null) await makeFolderFor(entry.real);
  await replaceOutside(now, file.bytes, entry.temp);
}
