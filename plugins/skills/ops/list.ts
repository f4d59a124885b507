/** Skills as the API returns them: the row, the folder as it is, links, drift and use. */

import { stat } from "node:fs/promises";
import { normalName } from "../content/names.ts";
import { inSlices } from "../content/slices.ts";
import { standingAt } from "../link/proof.ts";
import { readTools, type Tools } from "../link/states.ts";
import type { Inspected } from "../scan/inspect.ts";
import { linkRoot, skillRoots } from "../scan/roots.ts";
import { type Stored, scanSkills } from "../scan/scan.ts";
import { findOrigin, type LinkRow, type SkillRow } from "../store/catalog.ts";
import type { Origin, Scan, Skill, SkillDetail, SkillUse } from "../types.ts";
import { byPlainName, type UsedName } from "../usage/use.ts";
import { readLook } from "./look.ts";
import type { Shelf } from "./shelf.ts";

export async function listSkills(shelf: Shelf): Promise<Skill[]> {
  const rows = await shelf.catalog.skills();
  return rows.length === 0 ? [] : toSkills(shelf, rows);
}

export async function oneSkill(shelf: Shelf, id: string): Promise<Skill> {
  const [skill] = await toSkills(shelf, [await shelf.row(id)]);
  return skill as Skill;
}

export async function readDetail(shelf: Shelf, id: string): Promise<SkillDetail> {
  const skill = await oneSkill(shelf, id);
  const looked = await shelf.look(id);
  const valid = "fault" in looked ? undefined : looked;
  const tree = valid?.tree ?? (await shelf.places.capture(shelf.places.pathOf(id)));
  return {
    ...skill,
    content: valid?.text ?? (await readText(shelf, id)),
    files: (tree?.entries ?? []).flatMap((entry) =>
      entry.kind === "file" ? [{ path: entry.path, size: entry.size }] : [],
    ),
    metadata: valid?.front.metadata ?? null,
    frontmatter: JSON.parse(JSON.stringify(valid?.front.fields ?? {})) as Record<string, unknown>,
    warnings: valid?.front.warnings ?? [],
    use: await readUse(shelf, id),
  };
}

/** How sessions used a skill, by its id and its name. */
export async function readUse(shelf: Shelf, id: string): Promise<SkillUse> {
  return shelf.use.of(ownNames(await shelf.row(id), await shelf.catalog.skills()));
}

async function readText(shelf: Shelf, id: string): Promise<string | null> {
  const { readSkillFile } = await import("../scan/inspect.ts");
  const file = readSkillFile(shelf.realOf(id));
  return "fault" in file ? null : file.text;
}

export async function scanAll(shelf: Shelf): Promise<Scan> {
  const roots = skillRoots(shelf.adapters(), shelf.kernel.env, await shelf.projects());
  return scanSkills(roots, await readStored(shelf), await shelf.inspector());
}

export async function toolsHere(shelf: Shelf): Promise<string[]> {
  const { env } = shelf.kernel;
  const asked = shelf.adapters().filter((adapter) => linkRoot(adapter, env, "user") !== undefined);
  const here = await Promise.all(
    asked.map(async (adapter) => {
      const found = await Promise.all(adapter.roots(env).map((root) => stat(root).catch(() => undefined)));
      return found.some((root) => root !== undefined) ? [adapter.name] : [];
    }),
  );
  return here.flat();
}

async function readStored({ catalog, realOf, look }: Shelf): Promise<Stored> {
  const [rows, links] = await Promise.all([catalog.skills(), catalog.links()]);
  const bases = new Map((await catalog.bases()).map((row) => [row.id, row.content_hash]));
  const skills = new Map<string, { name: string; contentHash: string }>();
  for (const { id, name } of rows) {
    const looked = await look(id);
    skills.set(id, { name, contentHash: "fault" in looked ? (bases.get(id) ?? "") : looked.tree.hash });
  }
  const copies = new Map<string, { skill: string; contentHash: string }>();
  for (const link of links.filter((one) => one.kind === "copy")) {
    const snapshot = await catalog.snapshot(link.skill_id, link.target);
    if (snapshot) copies.set(link.path, { skill: link.skill_id, contentHash: snapshot.content_hash });
  }
  const ours = new Map(links.filter((one) => one.kind === "symlink").map((link) => [link.path, link.skill_id]));
  return { folder: realOf(""), skills, copies, links: ours };
}

async function toSkills(shelf: Shelf, rows: readonly SkillRow[]): Promise<Skill[]> {
  const { catalog, use } = shelf;
  const [links, bases, used, tools] = await Promise.all([
    catalog.links(),
    catalog.bases(),
    use.names(),
    readTools(shelf.adapters(), shelf.kernel.env),
  ]);
  const baseOf = new Map(bases.map((row) => [row.id, row.content_hash]));
  const byName = await byPlainName(used);
  const edited = await editedCopies(shelf, links);
  const all = await catalog.skills();
  const skills: Skill[] = [];
  for (const row of rows) {
    const looked = await shelf.look(row.id);
    skills.push(
      toSkill(shelf, row, looked, {
        links,
        tools,
        edited,
        names: ownNames(row, all),
        base: baseOf.get(row.id) ?? "",
        used: byName,
      }),
    );
  }
  return skills;
}

interface Around {
  links: readonly LinkRow[];
  tools: Tools;
  edited: ReadonlySet<string>;
  /** Names that sessions use it by. */
  names: readonly string[];
  base: string;
  used: ReadonlyMap<string, UsedName[]>;
}

function toSkill(shelf: Shelf, row: SkillRow, looked: Inspected, around: Around): Skill {
  const { links, tools, edited, names, base, used } = around;
  const valid = "fault" in looked ? undefined : looked;
  const contentHash = valid?.tree.hash ?? base;
  const own = links.filter((link) => link.skill_id === row.id);
  return {
    id: row.id,
    name: valid?.front.name ?? row.name,
    description: valid?.front.description ?? row.description,
    tags: JSON.parse(row.tags) as string[],
    rating: row.rating,
    origin: findOrigin(row),
    contentHash,
    drift: toDrift(valid === undefined || contentHash !== base, row, findOrigin(row)),
    links: tools.linksOf(row.id, shelf.realOf(row.id), own, edited),
    usage: addUp(names.flatMap((name) => used.get(name) ?? [])),
    importedAt: new Date(row.imported_at).toISOString(),
    problem: "fault" in looked ? looked.fault.message : null,
  };
}

/** Paths of sessarc's copies that differ from their snapshot. Files are reread only if they changed. */
async function editedCopies(shelf: Shelf, links: readonly LinkRow[]): Promise<Set<string>> {
  const edited = new Set<string>();
  const copies = links.filter((link) => link.kind === "copy" && standingAt(link.path, link).is === "ours");
  for (const { path, skill_id: id, target } of copies) {
    const looked = await inSlices((await shelf.inspector()).inspect(path));
    const made = await shelf.catalog.snapshot(id, target);
    const same = !("fault" in looked) && looked.tree.hash === made?.content_hash && looked.tree.skipped.length === 0;
    if (!same) edited.add(path);
  }
  return edited;
}

/** Its id and its name, without a name that is the id of another skill: uses by that name are that one's. */
function ownNames(row: SkillRow, all: readonly SkillRow[]): string[] {
  const name = normalName(row.name);
  const taken = all.some((other) => other.id !== row.id && normalName(other.id) === name);
  return [...new Set([normalName(row.id), ...(taken ? [] : [name])])];
}

function toDrift(local: boolean, row: SkillRow, origin: Origin | null): Skill["drift"] {
  const look = readLook(row);
  const upstream = look?.skillChanged === true && look.tree !== origin?.tree;
  return local ? (upstream ? "both" : "local") : upstream ? "upstream" : "none";
}

function addUp(used: readonly UsedName[]): Skill["usage"] {
  let last: string | null = null;
  for (const { lastUsedAt } of used) if (lastUsedAt !== null && (last === null || lastUsedAt > last)) last = lastUsedAt;
  return {
    invocations: used.reduce((sum, one) => sum + one.invocations, 0),
    // A session that asked by two spellings counts twice here; GET /skills/:id counts it once.
    sessions: used.reduce((sum, one) => sum + one.sessions, 0),
    lastUsedAt: last,
  };
}
