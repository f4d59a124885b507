/** The journal of placements: a folder for each with the originals, byte for byte, and a file that names what was done. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { isTempName, writeFileAtomic } from "../utils/atomic.ts";
import { ifThere } from "../utils/gone.ts";
import type { Json } from "../utils/json.ts";
import { toDigest } from "./file.ts";

const fileShape = v.object({
  id: v.string(),
  /** As the program knows it, and the file itself. */
  path: v.string(),
  real: v.string(),
  mode: v.number(),
  /** The placement made the file, and from this folder on the folders above it. */
  created: v.boolean(),
  folder: v.nullable(v.string()),
  /** SHA-256 of what was there, and of what was written. */
  before: v.string(),
  after: v.string(),
  /** False where the original has ours in it already. */
  exact: v.boolean(),
  /** Beside the file, while it is written. */
  temp: v.string(),
  note: v.unknown(),
  undoneAt: v.nullable(v.string()),
});
const shape = v.object({
  id: v.string(),
  name: v.string(),
  at: v.string(),
  /** `writing` and `undoing` are left by a crash alone. */
  state: v.picklist(["writing", "placed", "undoing"]),
  files: v.array(fileShape),
  note: v.unknown(),
  /** The record of the write before, while the same file is written again. */
  was: v.unknown(),
});

/** A file of a placement as the journal has it: what it held before, and what was written. */
export interface PlacedFile<F extends Json> extends Omit<v.InferOutput<typeof fileShape>, "note"> {
  /** What the owner has to know of it. */
  note: F;
}
/** What was written under one name; `note` is what its owner has to know. */
export interface Placement<N extends Json, F extends Json>
  extends Omit<v.InferOutput<typeof shape>, "note" | "files" | "was"> {
  files: PlacedFile<F>[];
  note: N;
  was: Placement<N, F> | null;
}

/** Reads the owner's notes; what they throw makes a record unreadable. */
export interface Notes<N extends Json, F extends Json> {
  note(value: unknown): N;
  fileNote(value: unknown): F;
}

export interface Journal<N extends Json, F extends Json> {
  /** Newest first. A folder that cannot be read is left out. */
  all(): Promise<Placement<N, F>[]>;
  /** Removes what a crash left before anything had begun. */
  sweep(): Promise<void>;
  /** Writes originals where there are none yet, then the record. */
  begin(placement: Placement<N, F>, originals: readonly Uint8Array[]): Promise<void>;
  save(placement: Placement<N, F>): Promise<void>;
  remove(placement: Pick<Placement<N, F>, "id">): Promise<void>;
  /** Undefined when it differs from what was stored. */
  original(placement: Placement<N, F>, entry: PlacedFile<F>): Promise<Buffer | undefined>;
  originalPath(placement: Placement<N, F>, entry: PlacedFile<F>): string;
}

/** An id that sorts by time. */
export const newPlacementId = (at: Date): string =>
  `${at.toISOString().replace(/[-:.]/g, "").slice(0, 18)}-${randomBytes(3).toString("hex")}`;

const RECORD = "run.json";

/** Whether a crash left something in the journal below `root`. Costs a look into one folder where nothing was ever placed. */
export async function hasUnsettled(root: string): Promise<boolean> {
  for (const id of (await ifThere(readdir(root))) ?? []) {
    const text = await ifThere(readFile(join(root, id, RECORD), "utf8"));
    if (text !== undefined && !/^ {2}"state": "placed",$/m.test(text)) return true;
  }
  return false;
}

export function createJournal<N extends Json, F extends Json>(root: string, notes: Notes<N, F>): Journal<N, F> {
  const folder = (placement: Pick<Placement<N, F>, "id">) => join(root, placement.id);
  const save = (placement: Placement<N, F>) =>
    writeFileAtomic(join(folder(placement), RECORD), `${JSON.stringify(placement, null, 2)}\n`);
  const originalPath = (placement: Placement<N, F>, { id }: PlacedFile<F>) =>
    join(folder(placement), `${placement.files.findIndex((one) => one.id === id)}.original`);
  const names = async () => (await ifThere(readdir(root))) ?? [];

  function toPlacement(value: unknown): Placement<N, F> {
    const { files, note, was, ...rest } = v.parse(shape, value);
    return {
      ...rest,
      note: notes.note(note),
      files: files.map(({ note: fileNote, ...file }) => ({ ...file, note: notes.fileNote(fileNote) })),
      was: was === null ? null : toPlacement(was),
    };
  }

  async function read(id: string): Promise<Placement<N, F> | undefined> {
    try {
      return toPlacement(JSON.parse(await readFile(join(root, id, RECORD), "utf8")));
    } catch {
      // A crash before it was written: nothing had begun.
      return undefined;
    }
  }

  return {
    save,
    originalPath,
    async all() {
      const found = await Promise.all((await names()).map(read));
      return found.flatMap((one) => one ?? []).sort((a, b) => (a.id < b.id ? 1 : -1));
    },
    async sweep() {
      for (const id of await names()) {
        const files = await readdir(join(root, id)).catch(() => [RECORD]);
        if (!files.includes(RECORD)) await rm(join(root, id), { recursive: true, force: true });
        else for (const name of files) if (isTempName(name)) await rm(join(root, id, name), { force: true });
      }
    },
    async begin(placement, originals) {
      await mkdir(folder(placement), { recursive: true, mode: 0o700 });
      const present = await readdir(folder(placement));
      for (const [i, bytes] of originals.entries()) {
        const name = `${i}.original`;
        if (!present.includes(name)) await writeFileAtomic(join(folder(placement), name), bytes);
      }
      await save(placement);
    },
    remove: (placement) => rm(folder(placement), { recursive: true, force: true }),
    async original(placement, entry) {
      const bytes = await readFile(originalPath(placement, entry)).catch(() => undefined);
      return bytes && toDigest(bytes) === entry.before ? bytes : undefined;
    },
  };
}
