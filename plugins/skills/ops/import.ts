/** Skills into the store: from a tool's folder, from a repository, and the one that comes with sessarc. */
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { eachInLanes, type Kernel, SessarcError } from "sessarc";
import { isInside } from "sessarc/files";
import { loadFrontmatter } from "../content/frontmatter.ts";
import { isNamedAs, normalName, toId } from "../content/names.ts";
import { inSlices } from "../content/slices.ts";
import type { TreeEntry } from "../content/tree.ts";
import { readSkillFile } from "../scan/inspect.ts";
import { putSkill, putSnapshot, type SkillRow, toSnapshot } from "../store/catalog.ts";
import type { Origin, ScanEntry, Skill } from "../types.ts";
import { type AddressRules, checkUpstream } from "../upstream/address.ts";
import { withGit } from "../upstream/git.ts";
import { type Content, fetchTip, findSkills, findTip, readSkill } from "../upstream/repository.ts";
import { entryAt, readFolder, realFolder } from "./folder.ts";
import { oneSkill, scanAll } from "./list.ts";
import type { Shelf } from "./shelf.ts";

/** A skill that an import would take. */
export interface FoundSkill {
  path: string;
  name: string;
  description: string;
  files: number;
  size: number;
  /** What `importFolder` takes as proof that the skill is still the same. */
  contentHash: string;
  warnings: string[];
}

export interface GitImport {
  commit: string;
  imported: Skill[];
  /** With `dryRun`: what would be imported. */
  found: Omit<FoundSkill, "contentHash" | "warnings">[];
  skipped: { path: string; reason: string }[];
}

export const addressRules = ({ kernel, hosts }: Pick<Shelf, "kernel" | "hosts">): AddressRules => ({
  hosts,
  files: kernel.env.env.SESSARC_ALLOW_FILE_REMOTES === "1",
});

export const fetchFolder = ({ storage }: Kernel) => storage.path("skills", "fetch");

/** Copies the scanned skill at `path`. Throws SKILL_NOT_SCANNED, SKILL_NOT_IMPORTABLE, SKILL_EXISTS. */
export async function importPath(shelf: Shelf, path: string): Promise<Skill> {
  const { entries } = await scanAll(shelf);
  const entry = entryAt(entries, path);
  if (!entry) throw new SessarcError("SKILL_NOT_SCANNED", { path });
  if (entry.class !== "importable") throw new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason: whyNot(entry) });
  const inspector = await shelf.inspector();
  const at = inspector.resolve(path);
  const tree = "fault" in at ? undefined : await shelf.places.capture(at.real);
  const file = "fault" in at ? at : readSkillFile(at.real);
  const front = "fault" in file ? undefined : (await loadFrontmatter())(file.text);
  // It was a skill when it was scanned, a moment ago.
  if (!tree || !front || "fault" in front)
    throw new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason: "it changed while it was read" });
  const origin: Origin = { kind: "local", url: null, ref: null, path, commit: null, tree: null };
  return put(shelf, { ...tree, name: entry.name, description: front.description, folder: basename(path) }, origin);
}

/**
 * Copies the skill in any folder of this machine. `contentHash`: what it has to hold. Throws SKILL_NOT_IMPORTABLE, SKILL_EXISTS and
 * SKILL_LOCK_DIFFERS.
 */
export async function importFolder(shelf: Shelf, path: string, contentHash?: string): Promise<Skill> {
  const refuse = (reason: string) => new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason });
  if (!isAbsolute(path)) throw refuse("its path is not absolute");
  const real = await realFolder(shelf, path);
  if (isInside(shelf.realOf(""), real)) throw refuse("it is in the store already");
  const { tree, front } = await readFolder(shelf, path, real);
  if (contentHash !== undefined && tree.hash !== contentHash)
    throw new SessarcError("SKILL_LOCK_DIFFERS", { source: path });
  const origin: Origin = { kind: "local", url: null, ref: null, path: real, commit: null, tree: null };
  const folder = basename(real);
  const { name, description } = front;
  return put(shelf, { ...tree, name: name ?? folder, description, folder }, origin);
}

/** What an import of this folder, or of the skill that comes with sessarc, would take. Nothing is written. Throws SKILL_NOT_IMPORTABLE. */
export async function previewFolder(shelf: Shelf, folder: string | undefined): Promise<FoundSkill> {
  const path = folder ?? ownSkill();
  if (!isAbsolute(path)) throw new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason: "its path is not absolute" });
  const looked = await inSlices((await shelf.inspector()).inspect(await realFolder(shelf, path)));
  if ("fault" in looked) throw new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason: looked.fault.message });
  const { tree, front } = looked;
  return {
    path,
    name: front.name ?? basename(path),
    description: front.description,
    files: tree.entries.filter((entry) => entry.kind === "file").length,
    size: tree.size,
    contentHash: tree.hash,
    warnings: front.warnings,
  };
}

function whyNot({ class: kind, detail, duplicateOf, skill }: ScanEntry): string {
  if (kind === "broken") return detail ?? "it is broken";
  return kind === "managed" ? `it is the stored skill ${skill}` : `it is a duplicate of ${duplicateOf}`;
}

export interface GitRequest {
  url: string;
  ref?: string | undefined;
  /** Folder of the repository. */
  path?: string | undefined;
  dryRun?: boolean | undefined;
  /** The commit to take, in full; `ref` is recorded and asked for updates. */
  revision?: string | undefined;
  /** What the skill has to hold; another one is skipped. */
  contentHash?: string | undefined;
}

/** A fetched skill whose bytes are among the objects. */
interface Fetched extends Content {
  origin: Origin;
}

/** Fetches a repository and copies every skill at or below its path. One that cannot be taken is skipped with a reason. */
export async function importGit(shelf: Shelf, asked: GitRequest): Promise<GitImport> {
  const rules = addressRules(shelf);
  const upstream = checkUpstream(asked, rules);
  const { url } = upstream;
  const skipped: GitImport["skipped"] = [];
  const fetched: Fetched[] = [];
  const commit = await withGit(shelf.kernel, fetchFolder(shelf.kernel), url, async (git) => {
    const { revision } = asked;
    const wanted = revision === undefined ? await findTip(git, upstream) : { commit: revision, name: revision };
    const tip = await fetchTip(git, url, wanted);
    const skills = await findSkills(git, url, tip, upstream.path);
    if (skills.length === 0)
      throw new SessarcError("SKILL_UPSTREAM_GONE", { url, ref: `skill at ${upstream.path || "any path"}` });
    for (const skill of skills) {
      const content = await readSkill(git, url, skill);
      if ("reason" in content) {
        skipped.push({ path: skill.path, reason: content.reason });
        continue;
      }
      if (asked.contentHash !== undefined && content.tree.hash !== asked.contentHash) {
        skipped.push({ path: skill.path, reason: "it holds other files than the lock says" });
        continue;
      }
      if (!asked.dryRun)
        await eachInLanes(
          [...content.bytes.values()],
          8,
          async (bytes) => void (await shelf.places.objects.put(bytes)),
        );
      const origin: Origin = {
        kind: "git",
        url,
        ref: upstream.ref ?? null,
        path: skill.path,
        commit: tip,
        tree: skill.tree,
      };
      fetched.push({ ...content, bytes: new Map(), origin });
    }
    return tip;
  });
  if (asked.dryRun) return { commit, imported: [], found: fetched.map(toFound), skipped };
  const imported: Skill[] = [];
  await shelf.alone(async () => {
    for (const { tree, name, description, origin } of fetched) {
      const folder = origin.path?.split("/").at(-1) ?? "";
      try {
        imported.push(await put(shelf, { ...tree, name, description, folder }, origin));
      } catch (error) {
        if (!(error instanceof SessarcError) || error.code !== "SKILL_EXISTS") throw error;
        skipped.push({ path: origin.path ?? "", reason: error.message });
      }
    }
  });
  return { commit, imported, found: [], skipped };
}

const toFound = ({ origin, name, description, tree }: Fetched): GitImport["found"][number] => ({
  path: origin.path ?? "",
  name,
  description,
  files: tree.entries.filter((entry) => entry.kind === "file").length,
  size: tree.size,
});

/** The skill that comes with sessarc; a newer version of it when the stored one was not edited. */
export async function importSelf(shelf: Shelf): Promise<Skill> {
  const folder = ownSkill();
  const tree = await shelf.places.capture(folder);
  const file = readSkillFile(folder);
  const front = "fault" in file ? undefined : (await loadFrontmatter())(file.text);
  if (!tree || !front || "fault" in front) throw new TypeError(`${folder} is not a skill`);
  const { description } = front;
  const origin: Origin = { kind: "local", url: null, ref: null, path: folder, commit: null, tree: null };
  const id = "sessarc";
  const row = await shelf.catalog.skill(id);
  if (!row || row.deleted_at !== null) return put(shelf, { ...tree, name: id, description, folder: id }, origin);
  const present = await shelf.look(id);
  const hash = "fault" in present ? undefined : present.tree.hash;
  if (hash === tree.hash) return oneSkill(shelf, id);
  const base = await shelf.catalog.snapshot(id, row.base);
  if (base?.content_hash !== hash) throw new SessarcError("SKILL_EXISTS", { id });
  const snapshot = toSnapshot(id, tree, "update", origin);
  const next = { ...row, description, base: snapshot.id, origin: JSON.stringify(origin) };
  await shelf.places.set(id, tree.entries, {
    keep: { reason: "edit", origin },
    statements: [putSnapshot(snapshot), putSkill(next)],
  });
  await shelf.tell({ id, what: "updated" });
  return oneSkill(shelf, id);
}

/** Beside this file in a checkout, in `dist/skill` of the package. */
function ownSkill(): string {
  if (import.meta.url.endsWith(".ts")) return fileURLToPath(new URL("../own/sessarc", import.meta.url));
  return join(dirname(createRequire(import.meta.url).resolve("sessarc/package.json")), "dist", "skill", "sessarc");
}

async function put(
  shelf: Shelf,
  content: { entries: TreeEntry[]; hash: string; size: number; name: string; description: string; folder: string },
  origin: Origin,
): Promise<Skill> {
  const { name, description, folder } = content;
  const { id, past } = await idFor(shelf, name, folder);
  const snapshot = toSnapshot(id, content, "import", origin);
  const row = {
    id,
    name: name.slice(0, 500),
    description: description.slice(0, 4_000),
    tags: past?.tags ?? "[]",
    rating: past?.rating ?? 0,
    origin: JSON.stringify(origin),
    base: snapshot.id,
    upstream: null,
    imported_at: Date.now(),
    deleted_at: null,
  };
  await shelf.places.set(id, content.entries, {
    keep: { reason: "edit", origin: null },
    statements: [putSnapshot(snapshot), putSkill(row)],
  });
  await shelf.tell({ id, what: "imported" });
  return oneSkill(shelf, id);
}

/**
 * The id of a skill that is imported, and the deleted one that it brings back. A skill whose name differs from its folder goes by its
 * folder: the name may be that of another skill. Throws SKILL_EXISTS.
 */
async function idFor(shelf: Shelf, name: string, folder: string): Promise<{ id: string; past: SkillRow | undefined }> {
  const rows = await shelf.catalog.skills();
  const agrees = folder === "" || toId(name) === toId(folder);
  const wanted = agrees ? name : folder;
  const same = rows.find(
    (row) =>
      normalName(row.id) === normalName(wanted) ||
      (sameName(row.name, name) && (!agrees || isNamedAs(row.id, row.name))),
  );
  if (same) throw new SessarcError("SKILL_EXISTS", { id: same.id });
  for (let i = 1; ; i++) {
    const id = i === 1 ? toId(wanted) : `${toId(wanted)}-${i}`;
    const past = await shelf.catalog.skill(id);
    if (!past || (past.deleted_at !== null && sameName(past.name, name))) return { id, past };
  }
}

const sameName = (a: string, b: string) => normalName(a) === normalName(b);
