/** SQL of skills, one function per question. */
import { randomBytes } from "node:crypto";
import { type Database, marks, type Statement } from "sessarc";
import type { Tree, TreeEntry } from "../content/tree.ts";
import type { Origin, Scope, Snapshot } from "../types.ts";

export interface SkillRow {
  id: string;
  name: string;
  description: string;
  /** JSON. */
  tags: string;
  rating: number;
  /** JSON of Origin. */
  origin: string | null;
  /** Snapshot the skill was last set to: local edits are differences from it. */
  base: string;
  /** JSON of the last upstream check. */
  upstream: string | null;
  imported_at: number;
  deleted_at: number | null;
}

export interface SnapshotRow {
  seq: number;
  id: string;
  skill_id: string;
  at: number;
  reason: Snapshot["reason"];
  content_hash: string;
  size: number;
  /** JSON of TreeEntry[]. */
  manifest: string;
  origin: string | null;
}

export interface LinkRow {
  path: string;
  skill_id: string;
  tool: string;
  scope: Scope;
  project_id: string | null;
  kind: "symlink" | "copy";
  /** What the link says; of a copy the snapshot it was made from. */
  target: string;
  /** Where a copy is put together. */
  stage: string | null;
  /** Device, inode and birth of what we made; null until it is known. */
  identity: string | null;
  /** JSON: what was there before. */
  before: string;
  /** JSON of MadeFolder[]: folders made for it. */
  made: string;
  state: "making" | "made" | "removing";
  created_at: number;
}

export interface MadeFolder {
  path: string;
  identity: string;
}

const SKILL = [
  "id",
  "name",
  "description",
  "tags",
  "rating",
  "origin",
  "base",
  "upstream",
  "imported_at",
  "deleted_at",
] as const satisfies readonly (keyof SkillRow)[];
const SNAPSHOT = [
  "id",
  "skill_id",
  "at",
  "reason",
  "content_hash",
  "size",
  "manifest",
  "origin",
] as const satisfies readonly (keyof SnapshotRow)[];
const LINK = [
  "path",
  "skill_id",
  "tool",
  "scope",
  "project_id",
  "kind",
  "target",
  "stage",
  "identity",
  "before",
  "made",
  "state",
  "created_at",
] as const satisfies readonly (keyof LinkRow)[];

const insert = <T, K extends keyof T & string>(table: string, columns: readonly K[], row: Pick<T, K>): Statement => [
  `insert or replace into ${table} (${columns.join(", ")}) values (${marks(columns)})`,
  columns.map((name) => row[name] as string | number | null),
];

export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(db: Database) {
  return {
    skills: () => db.all<SkillRow>("select * from skill where deleted_at is null order by id"),
    /** Deleted ones too. */
    skill: (id: string) => db.get<SkillRow>("select * from skill where id = ?", [id]),
    snapshots: (skill: string) =>
      db.all<SnapshotRow>("select * from skill_snapshot where skill_id = ? order by seq desc", [skill]),
    snapshot: (skill: string, id: string) =>
      db.get<SnapshotRow>("select * from skill_snapshot where skill_id = ? and id = ?", [skill, id]),
    /** Content hash of the snapshot every skill was last set to. */
    bases: () =>
      db.all<{ id: string; content_hash: string }>(
        "select skill.id, s.content_hash from skill join skill_snapshot s on s.id = skill.base where deleted_at is null",
      ),
    links: (skill?: string) =>
      skill === undefined
        ? db.all<LinkRow>("select * from skill_link order by created_at, path")
        : db.all<LinkRow>("select * from skill_link where skill_id = ? order by created_at, path", [skill]),
    link: (path: string) => db.get<LinkRow>("select * from skill_link where path = ?", [path]),
    putLink: (row: LinkRow) => db.batch([insert<LinkRow, keyof LinkRow>("skill_link", LINK, row)]),
    dropLink: (path: string) => db.run("delete from skill_link where path = ?", [path]),
    intents: () => db.all<{ id: string; skill_id: string; work: string }>("select * from skill_intent order by at"),
    batch: (statements: readonly Statement[]) => db.batch(statements),
  };
}

export const putSkill = (row: SkillRow): Statement => insert<SkillRow, keyof SkillRow>("skill", SKILL, row);

export const putSnapshot = (row: Omit<SnapshotRow, "seq">): Statement =>
  insert<SnapshotRow, (typeof SNAPSHOT)[number]>("skill_snapshot", SNAPSHOT, row);

export function toSnapshot(
  skill: string,
  tree: Pick<Tree, "entries" | "hash" | "size">,
  reason: Snapshot["reason"],
  origin: Origin | null,
): Omit<SnapshotRow, "seq"> {
  return {
    id: randomBytes(6).toString("hex"),
    skill_id: skill,
    at: Date.now(),
    reason,
    content_hash: tree.hash,
    size: tree.size,
    manifest: JSON.stringify(tree.entries),
    origin: origin && JSON.stringify(origin),
  };
}

export const toEntries = (row: Pick<SnapshotRow, "manifest">): TreeEntry[] => JSON.parse(row.manifest) as TreeEntry[];
export const findOrigin = (row: { origin: string | null }): Origin | null =>
  row.origin === null ? null : (JSON.parse(row.origin) as Origin);
