/**
 * The folders of the store: `store/<id>` changes from one whole state to the next. Each change is written down before it begins, so that
 * a start after a crash either takes it back or finishes it.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Blobs, eachInLanes, type Statement, type Storage } from "sessarc";
import { exists } from "sessarc/files";
import { inSlices } from "../content/slices.ts";
import { readTree, type Tree, type TreeEntry, TreeError } from "../content/tree.ts";
import type { Origin, Snapshot } from "../types.ts";
import { type Catalog, putSnapshot, type SnapshotRow, toSnapshot } from "./catalog.ts";
import { materialise, removeOwn } from "./materialise.ts";

/** A change of a folder, as the catalogue stores it until it is done. */
interface Intent {
  id: string;
  /** Name in `stage/` of the new content; null: the folder goes. */
  stage: string | null;
  /** Name in `stage/` that the present content is moved to. */
  old: string;
  /** There was no folder before. */
  fresh: boolean;
  /** What the present content is kept as when no snapshot holds it. */
  keep: { reason: Snapshot["reason"]; origin: Origin | null };
  /** Written when the folder has changed. */
  statements: Statement[];
}

export interface Places {
  readonly objects: Blobs;
  /** Real path of the folder that holds one folder for each skill. */
  readonly folder: string;
  pathOf(id: string): string;
  /** The folder of a skill, with its bytes put among the objects; undefined without a folder, or when it cannot be stored. */
  capture(path: string): Promise<Tree | undefined>;
  /**
   * Sets the folder of `id` to `entries` (null: removes it) and writes `statements` with it. The content before is a snapshot
   * afterwards; answers that one, undefined when there was none. Throws SKILL_SNAPSHOT_DAMAGED; then nothing has changed.
   */
  set(
    id: string,
    entries: readonly TreeEntry[] | null,
    change: Pick<Intent, "keep" | "statements">,
  ): Promise<SnapshotRow["id"] | undefined>;
  /** Takes back or finishes what a crash left. Call before anything else. */
  recover(): Promise<void>;
}

export function createPlaces(storage: Storage, catalog: Catalog): Places {
  const root = storage.path("skills");
  const folder = join(root, "store");
  const stageFolder = join(root, "stage");
  const objects = storage.blobs("skills", "objects");
  const toPath = (id: string) => join(folder, id);
  const staged = (name: string) => join(stageFolder, name);

  async function capture(path: string): Promise<Tree | undefined> {
    const bytes = new Map<string, Buffer>();
    try {
      const tree = await inSlices(readTree(path, bytes));
      await eachInLanes([...bytes.values()], 8, async (content) => void (await objects.put(content)));
      return tree;
    } catch (error) {
      // Over the limits or with links that lead outside: nothing that a snapshot could hold.
      if (error instanceof TreeError) return undefined;
      throw error;
    }
  }

  const aside = (key: string, { id }: Intent) => join(root, `${id}.kept-${key}`);

  /**
   * From here on the folder has its new state: what was moved away becomes a snapshot, unless one has it. What a snapshot cannot hold
   * (over the limits, `.git`, special files) stays beside the store, named, for the user to look at.
   */
  async function finish(key: string, intent: Intent): Promise<string | undefined> {
    const old = staged(intent.old);
    const kept: Statement[] = [];
    let snapshot: string | undefined;
    if (await exists(old)) {
      const tree = await capture(old);
      const known = tree && (await knownSnapshot(catalog, intent.id, tree));
      const row = tree && !known ? toSnapshot(intent.id, tree, intent.keep.reason, intent.keep.origin) : undefined;
      if (row) kept.push(putSnapshot(row));
      snapshot = known?.id ?? row?.id;
      if (!tree || tree.skipped.length > 0) await rename(old, aside(key, intent));
    }
    await catalog.batch([...kept, ...intent.statements, ["delete from skill_intent where id = ?", [key]]]);
    await removeOwn(old);
    return snapshot;
  }

  /** Whether the change of the folder itself was made before the crash. */
  async function arrived(key: string, intent: Intent): Promise<boolean> {
    const there = await exists(toPath(intent.id));
    const moved = (await exists(staged(intent.old))) || (await exists(aside(key, intent)));
    if (intent.stage === null) return moved && !there;
    return there && (moved || intent.fresh) && !(await exists(staged(intent.stage)));
  }

  async function undo(key: string, intent: Intent): Promise<void> {
    if (intent.stage !== null) await removeOwn(staged(intent.stage));
    await catalog.batch([["delete from skill_intent where id = ?", [key]]]);
  }

  return {
    objects,
    folder,
    pathOf: toPath,
    capture,
    async set(id, entries, { keep, statements }) {
      const key = randomBytes(8).toString("hex");
      const stage = entries && `${key}.new`;
      const fresh = !(await exists(toPath(id)));
      const intent: Intent = { id, stage, old: `${key}.old`, fresh, keep, statements };
      await catalog.batch([
        ["insert into skill_intent values (?, ?, ?, ?)", [key, id, JSON.stringify(intent), Date.now()]],
      ]);
      try {
        if (entries && stage) await materialise(staged(stage), entries, objects, id);
        if (await exists(toPath(id))) await rename(toPath(id), staged(intent.old));
        if (stage) await rename(staged(stage), toPath(id));
      } catch (error) {
        if (await exists(staged(intent.old))) await rename(staged(intent.old), toPath(id));
        await undo(key, intent);
        throw error;
      }
      return finish(key, intent);
    },
    async recover() {
      for (const path of [folder, stageFolder]) await mkdir(path, { recursive: true, mode: 0o700 });
      for (const { id: key, work } of await catalog.intents()) {
        const intent = JSON.parse(work) as Intent;
        if (await arrived(key, intent)) await finish(key, intent);
        else {
          const old = staged(intent.old);
          if ((await exists(old)) && !(await exists(toPath(intent.id)))) await rename(old, toPath(intent.id));
          await undo(key, intent);
        }
      }
      // Nothing is under way now: what is left is unused.
      for (const name of await readdir(stageFolder)) await removeOwn(staged(name));
    },
  };
}

/** A snapshot with these very entries, modes and empty folders included. */
export async function knownSnapshot(catalog: Catalog, skill: string, tree: Tree): Promise<SnapshotRow | undefined> {
  const manifest = JSON.stringify(tree.entries);
  return (await catalog.snapshots(skill)).find((row) => row.manifest === manifest);
}
