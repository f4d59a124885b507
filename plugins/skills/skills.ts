/** Skills as other plugins see them: service "skills". Every call waits for the one before it, but for what goes over the network. */
import type { Kernel } from "sessarc";
import type { Preference } from "./change/merge.ts";
import { compareSkills, type Shown, type SkillComparison, takeFolder } from "./ops/compare.ts";
import { type Drift, readDrift } from "./ops/drift.ts";
import { noticeEdit, readSnapshots, restoreSnapshot } from "./ops/history.ts";
import {
  type FoundSkill,
  type GitImport,
  type GitRequest,
  importFolder,
  importGit,
  importPath,
  importSelf,
  previewFolder,
} from "./ops/import.ts";
import { deleteSkill, type LinkRequest, linkSkill, type UnlinkRequest, unlinkSkill } from "./ops/linking.ts";
import { listSkills, oneSkill, readDetail, readUse, scanAll, toolsHere } from "./ops/list.ts";
import { readOverview, type SkillsOverview } from "./ops/overview.ts";
import { type Published, readFolderHash, readPublished, readPublishedFile } from "./ops/publish.ts";
import { createShelf } from "./ops/shelf.ts";
import { applyUpdate, lookUpstream, planUpdate, type UpdatePlan, type UpstreamCheck } from "./ops/update.ts";
import { putSkill } from "./store/catalog.ts";
import type { Scan, Skill, SkillDetail, SkillUse, Snapshot } from "./types.ts";
import { createUse, type Use } from "./usage/use.ts";

export interface Skills {
  list(): Promise<Skill[]>;
  scan(): Promise<Scan>;
  /** Assistants of this machine that read skills: those whose folder of logs is there. */
  tools(): Promise<string[]>;
  /** Throws SKILL_NOT_FOUND, as all that take an id. */
  get(id: string): Promise<SkillDetail>;
  importPath(path: string): Promise<Skill>;
  importSelf(): Promise<Skill>;
  /** From any folder of this machine; `contentHash`: what it has to hold. */
  importFolder(path: string, contentHash?: string): Promise<Skill>;
  /** What an import of a folder would take; without one, of the skill that comes with sessarc. */
  preview(path?: string): Promise<FoundSkill>;
  importGit(from: GitRequest): Promise<GitImport>;
  describe(id: string, what: { tags?: string[] | undefined; rating?: number | undefined }): Promise<Skill>;
  remove(id: string, removeFiles: boolean): ReturnType<typeof deleteSkill>;
  link(id: string, request: LinkRequest): Promise<Skill>;
  unlink(id: string, request: UnlinkRequest): Promise<Skill>;
  /** Each side is the id of a stored skill, or a path of the scan. */
  compare(from: string, to: string): Promise<SkillComparison>;
  /** Sets the skill to what an assistant's folder holds, as a comparison showed it. */
  take(id: string, shown: Shown): Promise<Skill>;
  snapshots(id: string): Promise<Snapshot[]>;
  restore(id: string, snapshot: string): Promise<Skill>;
  checkUpstream(id: string): Promise<UpstreamCheck>;
  /** Without `commit` a plan, and nothing is written; with it the version that a plan has shown. */
  update(id: string, request: { commit?: string | undefined; conflicts?: Preference | undefined }): Promise<UpdatePlan>;
  drift(id: string): Promise<Drift>;
  use(id: string): Promise<SkillUse>;
  /** Its hash as `skills-lock.json` has it. Throws SKILL_UNREADABLE. */
  folderHash(id: string): Promise<string>;
  /** Every skill, or the one with the id `only`, as files with digests, and those that cannot be served to others with the reason. */
  published(only?: string): Promise<Published>;
  /**
   * The bytes of one file of `published()`, with the digest it has there. Undefined where the skill has no such file. Throws SKILL_NOT_FOUND,
   * and SKILL_UNREADABLE where the folder changes while it is read.
   */
  publishedFile(id: string, path: string): Promise<Buffer | undefined>;
  overview(since?: number): Promise<SkillsOverview>;
  readonly uses: Use;
  /** From now on edits in the store become snapshots; those since the last time at once. Then scans. Calling it again changes nothing. */
  watch(): Promise<void>;
}

export interface SkillOptions {
  /** Hosts to fetch from beside the known ones. */
  hosts?: readonly string[];
}

export function createSkills(kernel: Kernel, options: SkillOptions = {}): Skills {
  const use = createUse(kernel);
  const shelf = createShelf(kernel, use, options.hosts ?? []);
  const { alone, aloneReading } = shelf;
  let watching: Promise<void> | undefined;

  const notice = (ids: Iterable<string>) => Promise.all([...ids].map((id) => alone(() => noticeEdit(shelf, id))));

  async function watch(): Promise<void> {
    const ids = await aloneReading(async () => (await shelf.catalog.skills()).map((row) => row.id));
    if (kernel.closing.aborted) return;
    await kernel.watch(shelf.realOf(""), async (changes) => {
      const root = shelf.realOf("");
      await notice(new Set(changes.map(({ path }) => path.slice(root.length).split(/[/\\]/).find(Boolean) ?? "")));
    });
    await notice(ids);
    // The first scan reads everything: better before a request waits for it.
    await aloneReading(() => scanAll(shelf));
  }

  return {
    uses: use,
    list: () => aloneReading(() => listSkills(shelf)),
    scan: () => aloneReading(() => scanAll(shelf)),
    tools: () => toolsHere(shelf),
    get: (id) => aloneReading(() => readDetail(shelf, id)),
    importPath: (path) => alone(() => importPath(shelf, path)),
    importSelf: () => alone(() => importSelf(shelf)),
    importFolder: (path, contentHash) => alone(() => importFolder(shelf, path, contentHash)),
    preview: (path) => previewFolder(shelf, path),
    importGit: (from) => importGit(shelf, from),
    describe: (id, { tags, rating }) =>
      alone(async () => {
        const row = await shelf.row(id);
        const next = {
          ...row,
          tags: tags ? JSON.stringify([...new Set(tags)]) : row.tags,
          rating: rating ?? row.rating,
        };
        await shelf.catalog.batch([putSkill(next)]);
        await shelf.tell({ id, what: "described" });
        return oneSkill(shelf, id);
      }),
    remove: (id, removeFiles) => alone(() => deleteSkill(shelf, id, removeFiles)),
    link: (id, request) => alone(() => linkSkill(shelf, id, request)),
    unlink: (id, request) => alone(() => unlinkSkill(shelf, id, request)),
    compare: (from, to) => aloneReading(() => compareSkills(shelf, from, to)),
    take: (id, shown) => alone(() => takeFolder(shelf, id, shown)),
    snapshots: (id) => aloneReading(() => readSnapshots(shelf, id)),
    restore: (id, snapshot) => alone(() => restoreSnapshot(shelf, id, snapshot)),
    checkUpstream: (id) => lookUpstream(shelf, id),
    update: (id, { commit, conflicts }) =>
      commit === undefined ? planUpdate(shelf, id) : alone(() => applyUpdate(shelf, id, commit, conflicts)),
    drift: (id) => aloneReading(() => readDrift(shelf, id)),
    use: (id) => readUse(shelf, id),
    published: (only) => aloneReading(() => readPublished(shelf, only)),
    folderHash: (id) => alone(() => readFolderHash(shelf, id)),
    publishedFile: (id, path) => aloneReading(() => readPublishedFile(shelf, id, path)),
    overview: (since) => aloneReading(() => readOverview(shelf, since)),
    watch() {
      watching ??= watch().catch((error) => {
        watching = undefined;
        // A service that is stopped right after its start closes the catalogue during the scan; no request waits for the result.
        if (!kernel.closing.aborted) throw error;
      });
      return watching;
    },
  };
}
