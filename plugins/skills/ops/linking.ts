/** Links of a skill into tools, and the end of a skill. */
import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessarcError, SessarcError, type Statement, unknownAssistant } from "sessarc";
import { isInside } from "sessarc/files";
import { linkRoot } from "../scan/roots.ts";
import { findOrigin, type LinkRow, putSkill, putSnapshot, type SkillRow } from "../store/catalog.ts";
import type { Scope, Skill } from "../types.ts";
import { keepFolder } from "./compare.ts";
import { oneSkill } from "./list.ts";
import type { Shelf } from "./shelf.ts";

interface LinkTarget {
  tool: string;
  scope?: Scope | undefined;
  /** Id of the project, for scope `project`. */
  project?: string | undefined;
}

export interface LinkRequest extends LinkTarget {
  mode?: "symlink" | "copy" | undefined;
  /** Link though the tool sees the skill already. */
  again?: boolean | undefined;
  /** Content hash of the folder in the way: it becomes a snapshot, and a copy of the skill takes its place. */
  replace?: string | undefined;
}

export interface UnlinkRequest extends LinkTarget {
  /** A snapshot that is put in the place of sessarc's copy, as a folder of the user's: what `replace` took away. */
  back?: string | undefined;
}

/** Links that exist already are fine. Throws what links.ts throws, and SKILL_ALREADY_VISIBLE. */
export async function linkSkill(shelf: Shelf, id: string, request: LinkRequest): Promise<Skill> {
  const row = await shelf.row(id);
  const { scope, path, project } = await readPlace(shelf, id, request);
  const looked = await shelf.look(id);
  if ("fault" in looked) throw new SessarcError("SKILL_UNREADABLE", { id, reason: looked.fault.message });
  if (scope === "user" && !request.again) await refuseSecond(shelf, id, request.tool);
  const place = { skill: id, tool: request.tool, scope, project, path };
  if (request.mode === "copy" || request.replace !== undefined) {
    const { snapshot, isNew } = await shelf.present(row);
    if (isNew) await shelf.catalog.batch([putSnapshot(snapshot)]);
    if (request.replace === undefined) await shelf.links.copy(place, snapshot);
    else
      await shelf.links.replace(place, snapshot, await keepFolder(shelf, id, { path, contentHash: request.replace }));
  } else await shelf.links.symlink(place, shelf.realOf(id));
  await shelf.tell({ id, what: "linked" });
  return oneSkill(shelf, id);
}

/** Throws SKILL_NOT_LINKED, SKILL_NOT_OURS, SKILL_COPY_EDITED; nothing is removed then. */
export async function unlinkSkill(shelf: Shelf, id: string, request: UnlinkRequest): Promise<Skill> {
  await shelf.row(id);
  const { scope, project } = request;
  const row = (await shelf.catalog.links(id)).find(
    (link) =>
      link.tool === request.tool &&
      link.scope === (scope ?? "user") &&
      (project === undefined || link.project_id === project),
  );
  if (!row) throw new SessarcError("SKILL_NOT_LINKED", { id, tool: request.tool });
  if (request.back === undefined) await shelf.links.remove(row);
  else await putBack(shelf, row, request.back);
  await shelf.tell({ id, what: "unlinked" });
  return oneSkill(shelf, id);
}

async function putBack(shelf: Shelf, row: LinkRow, id: string): Promise<void> {
  const snapshot = await shelf.catalog.snapshot(row.skill_id, id);
  if (!snapshot) throw new SessarcError("SKILL_SNAPSHOT_NOT_FOUND", { id: row.skill_id, snapshot: id });
  const { skill_id: skill, tool, scope, project_id: project, path } = row;
  await shelf.links.copy({ skill, tool, scope, project, path }, snapshot);
  await forget(shelf, row);
}

export interface Deleted {
  unlinked: number;
  filesRemoved: boolean;
  /** What was not ours any more. */
  left: { path: string; reason: string }[];
  /** For the way back: what the skill was at that moment; the newest one where its folder is gone or cannot be kept. */
  snapshot: string | null;
}

/** Unlinks ours, then forgets the skill; its snapshots stay and can be restored. What is not ours any more stays where it is. */
export async function deleteSkill(shelf: Shelf, id: string, removeFiles: boolean): Promise<Deleted> {
  const row = await shelf.row(id);
  const left: { path: string; reason: string }[] = [];
  let unlinked = 0;
  for (const link of await shelf.catalog.links(id)) {
    try {
      if ((await shelf.links.remove(link)) === "removed") unlinked++;
    } catch (error) {
      if (!isSessarcError(error)) throw error;
      left.push({ path: link.path, reason: error.message });
      await forget(shelf, link);
    }
  }
  const gone = putSkill({ ...row, deleted_at: Date.now() });
  const snapshot = removeFiles
    ? await shelf.places.set(id, null, { keep: { reason: "delete", origin: findOrigin(row) }, statements: [gone] })
    : await keepPresent(shelf, row, gone);
  await shelf.tell({ id, what: "deleted" });
  const newest = snapshot ?? (await shelf.catalog.snapshots(id))[0]?.id;
  return { unlinked, filesRemoved: removeFiles, left, snapshot: newest ?? null };
}

/** Writes `statement`, and what the folder holds as a snapshot if none has it: it may change once the skill is forgotten. */
async function keepPresent(shelf: Shelf, row: SkillRow, statement: Statement): Promise<string | undefined> {
  const present = await shelf.presentIfAny(row, "delete");
  await shelf.catalog.batch(present?.isNew ? [putSnapshot(present.snapshot), statement] : [statement]);
  return present?.snapshot.id;
}

/** An edited copy, or a folder of another program: the ledger no longer lists it. */
const forget = ({ catalog }: Shelf, { path }: LinkRow) => catalog.dropLink(path);

async function readPlace(shelf: Shelf, id: string, { tool, scope = "user", project }: LinkTarget) {
  const adapters = shelf.adapters();
  const adapter = adapters.find((one) => one.name === tool);
  const known = adapters.map((one) => one.name);
  if (!adapter && !shelf.kernel.registry.adapters.has(tool)) throw unknownAssistant(tool, known);
  if (!adapter) throw new SessarcError("SKILL_TOOL_UNKNOWN", { tool, known });
  if (scope === "project" && project === undefined)
    throw new SessarcError("INVALID_INPUT", { reason: "A link of scope project needs `project`, the id of one" });
  const folder = scope === "project" ? await readProject(shelf, project ?? "") : undefined;
  const root = linkRoot(adapter, shelf.kernel.env, scope, folder);
  if (root === undefined) throw new SessarcError("SKILL_SCOPE_MISSING", { tool, scope });
  if (folder) stayInside(root, folder.path);
  return { scope, path: join(root, id), project: folder?.id ?? null };
}

async function readProject({ kernel }: Shelf, id: string) {
  const { path } = await kernel.inject("archive").project(id);
  if (path === null)
    throw new SessarcError("SKILL_SCOPE_MISSING", { tool: "A project without a folder", scope: "project" });
  // A folder that was deleted is not made again for a link.
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new SessarcError("SKILL_PROJECT_GONE", { path });
  return { id, path };
}

/** `root`, or what there is of it, lies in the project without a link on the way that leads out of it. */
function stayInside(root: string, project: string): void {
  let there = root;
  while (!existsSync(there) && lstatSync(there, { throwIfNoEntry: false }) === undefined) there = dirname(there);
  // A link that leads nowhere is followed by what makes folders.
  const real = existsSync(there) ? realpathSync(there) : undefined;
  if (real === undefined || !isInside(realpathSync(project), real))
    throw new SessarcError("SKILL_LEAVES_PROJECT", { path: there, project });
}

async function refuseSecond(shelf: Shelf, id: string, tool: string): Promise<void> {
  const { links } = await oneSkill(shelf, id);
  const own = links.find((link) => link.tool === tool && link.scope === "user");
  const [through] = own?.visibleThrough ?? [];
  if (!own || through === undefined || own.state !== "none") return;
  const path = links.find((link) => link.tool === through && link.scope === "user")?.path ?? own.path;
  throw new SessarcError("SKILL_ALREADY_VISIBLE", { id, tool, path, through });
}
