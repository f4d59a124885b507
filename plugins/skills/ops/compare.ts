/** A skill in two places side by side, and the ways to make one of them what the other is. */
import { SessarcError, type Statement } from "sessarc";
import { describeChange, type FileDiff } from "../change/sides.ts";
import type { Tree } from "../content/tree.ts";
import { findOrigin, putSnapshot, type SnapshotRow, toSnapshot } from "../store/catalog.ts";
import { knownSnapshot } from "../store/place.ts";
import type { ScanEntry, Skill } from "../types.ts";
import { entryAt, readFolder, realFolder } from "./folder.ts";
import { oneSkill, scanAll } from "./list.ts";
import type { Shelf } from "./shelf.ts";

interface ComparedSide {
  /** Id of the stored skill; null for a folder of an assistant. */
  skill: string | null;
  path: string;
  /** Assistants that read the folder. */
  tools: string[];
  contentHash: string;
  /** What neither a copy nor a snapshot holds: `.git`, special files. */
  skipped: string[];
}

export interface SkillComparison {
  from: ComparedSide;
  to: ComparedSide;
  /** Files that differ, with a diff from `from` to `to`. */
  files: FileDiff[];
}

/** Each side is the id of a stored skill, or a path of the scan. Throws SKILL_NOT_SCANNED, SKILL_UNREADABLE, SKILL_NOT_IMPORTABLE. */
export async function compareSkills(shelf: Shelf, from: string, to: string): Promise<SkillComparison> {
  const entries = await entriesOfScan(shelf);
  const [before, after] = [await readSide(shelf, entries, from), await readSide(shelf, entries, to)];
  const { files } = await describeChange(before.tree.entries, after.tree.entries, shelf.places.objects);
  return { from: before.side, to: after.side, files };
}

/** A folder as a comparison showed it. */
export interface Shown {
  path: string;
  contentHash: string;
}

/**
 * Sets the stored skill to what an assistant's folder holds. The version before is a snapshot afterwards, the folder stays as it is: an edited
 * copy of sessarc's is the user's own from then on. Throws SKILL_CHANGED when the folder holds other files than were shown.
 */
export async function takeFolder(shelf: Shelf, id: string, shown: Shown): Promise<Skill> {
  const row = await shelf.row(id);
  const entry = entryAt(await entriesOfScan(shelf), shown.path);
  if (!entry) throw new SessarcError("SKILL_NOT_SCANNED", { path: shown.path });
  if (entry.duplicateOf !== id && entry.skill !== id)
    throw new SessarcError("SKILL_NOT_IMPORTABLE", { path: shown.path, reason: `it is not a version of ${id}` });
  const tree = await readTree(shelf, shown.path);
  refuseOther(shown, tree);
  const { snapshot, statements } = await snapshotFor(shelf, id, tree);
  await shelf.places.set(id, tree.entries, { keep: { reason: "edit", origin: findOrigin(row) }, statements });
  const link = await shelf.catalog.link(shown.path);
  if (link?.kind === "copy" && link.target !== snapshot.id) await shelf.catalog.dropLink(shown.path);
  await shelf.tell({ id, what: "edited" });
  return oneSkill(shelf, id);
}

/** The folder at a place as a snapshot of the skill, so that something else can be put there. */
export async function keepFolder(shelf: Shelf, id: string, shown: Shown): Promise<Omit<SnapshotRow, "seq">> {
  const tree = await readTree(shelf, shown.path);
  refuseOther(shown, tree);
  if (tree.skipped.length > 0)
    throw new SessarcError("SKILL_NOT_IMPORTABLE", {
      path: shown.path,
      reason: `no version can hold ${tree.skipped.join(", ")}`,
    });
  const { snapshot, statements } = await snapshotFor(shelf, id, tree);
  await shelf.catalog.batch(statements);
  return snapshot;
}

async function snapshotFor(shelf: Shelf, id: string, tree: Tree) {
  const known = await knownSnapshot(shelf.catalog, id, tree);
  const snapshot = known ?? toSnapshot(id, tree, "edit", null);
  const statements: Statement[] = known ? [] : [putSnapshot(snapshot)];
  return { snapshot, statements };
}

function refuseOther({ path, contentHash }: Shown, { hash }: Tree): void {
  if (hash !== contentHash) throw new SessarcError("SKILL_CHANGED", { path });
}

const entriesOfScan = async (shelf: Shelf) => (await scanAll(shelf)).entries;

async function readSide(shelf: Shelf, entries: readonly ScanEntry[], name: string) {
  const row = await shelf.catalog.skill(name);
  if (row && row.deleted_at === null) {
    const { tree } = await shelf.present(row);
    return { tree, side: toSide(tree, { skill: name, path: shelf.realOf(name), tools: [] }) };
  }
  const entry = entryAt(entries, name);
  if (!entry) throw new SessarcError("SKILL_NOT_SCANNED", { path: name });
  const tree = await readTree(shelf, name);
  return { tree, side: toSide(tree, { skill: null, path: name, tools: entry.tools }) };
}

const toSide = ({ hash, skipped }: Tree, of: Pick<ComparedSide, "skill" | "path" | "tools">): ComparedSide => ({
  ...of,
  contentHash: hash,
  skipped,
});

const readTree = async (shelf: Shelf, path: string): Promise<Tree> =>
  (await readFolder(shelf, path, await realFolder(shelf, path))).tree;
