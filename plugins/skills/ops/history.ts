/** Snapshots of a skill: earlier versions, edits made outside sessarc, and restoring them. */
import { SessarcError } from "sessarc";
import { loadFrontmatter } from "../content/frontmatter.ts";
import { findOrigin, putSkill, putSnapshot, type SkillRow, type SnapshotRow, toEntries } from "../store/catalog.ts";
import type { Skill, Snapshot } from "../types.ts";
import { oneSkill } from "./list.ts";
import type { Shelf } from "./shelf.ts";

/** Newest first; of a deleted skill as well. */
export async function readSnapshots(shelf: Shelf, id: string): Promise<Snapshot[]> {
  await shelf.anyRow(id);
  const [rows, tree] = await Promise.all([shelf.catalog.snapshots(id), shelf.places.capture(shelf.places.pathOf(id))]);
  const manifest = tree && JSON.stringify(tree.entries);
  const current = rows.find((row) => row.manifest === manifest)?.id;
  return rows.map((row) => ({
    id: row.id,
    at: new Date(row.at).toISOString(),
    reason: row.reason,
    contentHash: row.content_hash,
    size: row.size,
    files: toEntries(row).filter((entry) => entry.kind === "file").length,
    commit: findOrigin(row)?.commit ?? null,
    current: row.id === current,
  }));
}

/** Sets the folder to a snapshot, bytes and modes. What was there is a snapshot afterwards. A deleted skill is back. */
export async function restoreSnapshot(shelf: Shelf, id: string, snapshot: string): Promise<Skill> {
  const row = await shelf.anyRow(id);
  const chosen = await shelf.catalog.snapshot(id, snapshot);
  if (!chosen) throw new SessarcError("SKILL_SNAPSHOT_NOT_FOUND", { id, snapshot });
  await shelf.places.set(id, toEntries(chosen), {
    keep: { reason: "restore", origin: findOrigin(row) },
    statements: [putSkill(await rowFrom(shelf, row, chosen))],
  });
  await shelf.tell({ id, what: "restored" });
  return oneSkill(shelf, id);
}

async function rowFrom(shelf: Shelf, row: SkillRow, chosen: SnapshotRow): Promise<SkillRow> {
  const file = toEntries(chosen).find((entry) => entry.path === "SKILL.md");
  const bytes = file?.kind === "file" ? await shelf.places.objects.get(file.hash) : undefined;
  const front = bytes && (await loadFrontmatter())(bytes.toString("utf8"));
  const named = front && !("fault" in front) ? { description: front.description.slice(0, 4_000) } : {};
  return { ...row, ...named, origin: chosen.origin ?? row.origin, base: chosen.id, deleted_at: null };
}

/** Makes a snapshot when the folder holds what no snapshot has. Answers whether it did. */
export async function noticeEdit(shelf: Shelf, id: string): Promise<boolean> {
  const row = await shelf.catalog.skill(id);
  if (!row || row.deleted_at !== null || "fault" in (await shelf.look(id))) return false;
  const { snapshot, isNew } = await shelf.present(row);
  if (!isNew) return false;
  await shelf.catalog.batch([putSnapshot(snapshot)]);
  await shelf.tell({ id, what: "edited" });
  return true;
}
