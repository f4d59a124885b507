/** A skill and where it came from: has it changed there, what would change here, and the change itself. */
import { eachInLanes, SessarcError } from "sessarc";
import { compareThree, merge, type Preference } from "../change/merge.ts";
import type { Risk } from "../change/risks.ts";
import { describeChange, type FileDiff } from "../change/sides.ts";
import { type TreeEntry, toDigest, toHash } from "../content/tree.ts";
import { findOrigin, putSkill, putSnapshot, type SkillRow, toEntries, toSnapshot } from "../store/catalog.ts";
import type { Origin, Skill } from "../types.ts";
import { checkUpstream } from "../upstream/address.ts";
import { withGit } from "../upstream/git.ts";
import { fetchTip, findSkills, findTip, readSkill } from "../upstream/repository.ts";
import { addressRules, fetchFolder } from "./import.ts";
import { oneSkill } from "./list.ts";
import { readLook, type SkillLook } from "./look.ts";
import type { Shelf } from "./shelf.ts";

export interface UpstreamCheck {
  recorded: string;
  tip: string;
  /** The repository has another commit. */
  changed: boolean;
  /** The skill's own folder is another one there. */
  skillChanged: boolean | null;
  /** Why the new version cannot be taken. */
  problem: string | null;
  checkedAt: string;
}

export interface UpdatePlan {
  /** Send it back to have this very version. */
  commit: string;
  recorded: string;
  changed: boolean;
  files: FileDiff[];
  /** Files changed here and there, each in its own way. */
  conflicts: string[];
  risks: Risk[];
  /** Why it cannot be done. */
  problem: string | null;
  applied: boolean;
  /** After it was applied. */
  skill: Skill | null;
}

type GitOrigin = Origin & { url: string; commit: string; path: string };

function gitOrigin(row: SkillRow): GitOrigin {
  const origin = findOrigin(row);
  if (origin?.kind !== "git" || origin.url === null || origin.commit === null)
    throw new SessarcError("SKILL_UPSTREAM_NONE", { id: row.id });
  return { ...origin, url: origin.url, commit: origin.commit, path: origin.path ?? "" };
}

/** Asks the repository for its tip, and fetches it when it is another commit. Only what was learned is written. */
export async function lookUpstream(shelf: Shelf, id: string): Promise<UpstreamCheck> {
  const origin = gitOrigin(await shelf.row(id));
  const rules = addressRules(shelf);
  // The address comes from the catalogue: it is checked again before git gets it.
  const upstream = checkUpstream({ url: origin.url, ref: origin.ref ?? undefined }, rules);
  const look = await withGit(shelf.kernel, fetchFolder(shelf.kernel), upstream.url, async (git): Promise<SkillLook> => {
    const tip = await findTip(git, upstream);
    const none = { at: Date.now(), tree: origin.tree, skillChanged: false, manifest: null, problem: null };
    if (tip.commit === origin.commit) return { ...none, commit: tip.commit };
    const commit = await fetchTip(git, upstream.url, tip);
    const skill = (await findSkills(git, upstream.url, commit, origin.path)).find((one) => one.path === origin.path);
    if (!skill)
      return { ...none, commit, tree: null, skillChanged: true, problem: "the skill is gone from the repository" };
    if (skill.tree === origin.tree) return { ...none, commit };
    const content = await readSkill(git, upstream.url, skill);
    if ("reason" in content) return { ...none, commit, tree: skill.tree, skillChanged: true, problem: content.reason };
    await eachInLanes([...content.bytes.values()], 8, async (bytes) => void (await shelf.places.objects.put(bytes)));
    const manifest = Buffer.from(JSON.stringify(content.tree.entries));
    const hash = toDigest(manifest);
    await shelf.places.objects.put(manifest);
    return { ...none, commit, tree: skill.tree, skillChanged: true, manifest: hash };
  });
  return shelf.alone(async () => {
    const row = await shelf.row(id);
    await shelf.catalog.batch([putSkill({ ...row, upstream: JSON.stringify(look) })]);
    return {
      recorded: origin.commit,
      tip: look.commit,
      changed: look.commit !== origin.commit,
      skillChanged: look.skillChanged,
      problem: look.problem,
      checkedAt: new Date(look.at).toISOString(),
    };
  });
}

/** What the update would do; nothing in the store changes. */
export async function planUpdate(shelf: Shelf, id: string): Promise<UpdatePlan> {
  await lookUpstream(shelf, id);
  return shelf.alone(async () => {
    const { row, look, origin } = await lookedAt(shelf, id);
    const plan: UpdatePlan = {
      commit: look.commit,
      recorded: origin.commit,
      changed: look.skillChanged,
      files: [],
      conflicts: [],
      risks: [],
      problem: look.problem,
      applied: false,
      skill: null,
    };
    if (!look.manifest) return plan;
    const { mine, merged, conflicts } = await readThree(shelf, row, look.manifest, "upstream");
    const problem = merged ? null : "a file there has the name of a folder here";
    return { ...plan, conflicts, problem, ...(await describeChange(mine, merged ?? [], shelf.places.objects)) };
  });
}

/**
 * Writes the version that was shown. Throws SKILL_UPSTREAM_MOVED when it was another, SKILL_CONFLICT when both sides changed a file and
 * nothing says which to take.
 */
export async function applyUpdate(
  shelf: Shelf,
  id: string,
  commit: string,
  prefer: Preference | undefined,
): Promise<UpdatePlan> {
  const { row, look, origin } = await lookedAt(shelf, id);
  if (look.commit !== commit) throw new SessarcError("SKILL_UPSTREAM_MOVED", { id });
  if (look.problem !== null) throw new SessarcError("SKILL_UPSTREAM_UNUSABLE", { id, reason: look.problem });
  const next: Origin = { ...origin, commit, tree: look.tree };
  const plan = { commit, recorded: origin.commit, problem: null, applied: true };
  if (!look.manifest) {
    await shelf.catalog.batch([putSkill({ ...row, origin: JSON.stringify(next) })]);
    return { ...plan, changed: false, files: [], conflicts: [], risks: [], skill: await oneSkill(shelf, id) };
  }
  const { mine, theirs, merged, conflicts } = await readThree(shelf, row, look.manifest, prefer ?? "upstream");
  if (conflicts.length > 0 && prefer === undefined)
    throw new SessarcError("SKILL_CONFLICT", { id, files: conflicts.join(", ") });
  if (!merged)
    throw new SessarcError("SKILL_UPSTREAM_UNUSABLE", { id, reason: "a file there has the name of a folder here" });
  const change = await describeChange(mine, merged, shelf.places.objects);
  const base = toSnapshot(id, toTree(theirs), "update", next);
  const statements = [putSnapshot(base)];
  // With edits of one's own kept, what is there is neither version.
  if (toHash(merged) !== base.content_hash)
    statements.push(putSnapshot(toSnapshot(id, toTree(merged), "update", next)));
  const described = await readDescription(shelf, merged);
  statements.push(putSkill({ ...row, ...described, base: base.id, origin: JSON.stringify(next), upstream: null }));
  await shelf.places.set(id, merged, { keep: { reason: "edit", origin }, statements });
  await shelf.tell({ id, what: "updated" });
  return { ...plan, changed: true, conflicts, ...change, skill: await oneSkill(shelf, id) };
}

async function lookedAt(shelf: Shelf, id: string) {
  const row = await shelf.row(id);
  const origin = gitOrigin(row);
  const look = readLook(row);
  if (!look) throw new SessarcError("SKILL_UPSTREAM_MOVED", { id });
  return { row, origin, look };
}

/** Base, mine and theirs, and what they make together. */
async function readThree(shelf: Shelf, row: SkillRow, manifest: string, prefer: Preference) {
  const theirs = await readManifest(shelf, row.id, manifest);
  const base = await shelf.catalog.snapshot(row.id, row.base);
  const { tree } = await shelf.present(row);
  const files = compareThree(base ? toEntries(base) : [], tree.entries, theirs);
  const conflicts = files.filter((file) => file.state === "conflict").map((file) => file.path);
  return { mine: tree.entries, theirs, files, conflicts, merged: merge(files, tree.entries, theirs, prefer) };
}

export async function readManifest(shelf: Shelf, id: string, hash: string): Promise<TreeEntry[]> {
  const bytes = await shelf.places.objects.get(hash);
  if (!bytes) throw new SessarcError("SKILL_UPSTREAM_MOVED", { id });
  return JSON.parse(bytes.toString()) as TreeEntry[];
}

const toTree = (entries: TreeEntry[]) => ({
  entries,
  hash: toHash(entries),
  size: entries.reduce((sum, entry) => sum + (entry.kind === "file" ? entry.size : 0), 0),
});

async function readDescription(shelf: Shelf, entries: readonly TreeEntry[]): Promise<{ description?: string }> {
  const { loadFrontmatter } = await import("../content/frontmatter.ts");
  const file = entries.find((entry) => entry.path === "SKILL.md");
  const bytes = file?.kind === "file" ? await shelf.places.objects.get(file.hash) : undefined;
  const front = bytes && (await loadFrontmatter())(bytes.toString("utf8"));
  return front && !("fault" in front) ? { description: front.description.slice(0, 4_000) } : {};
}
