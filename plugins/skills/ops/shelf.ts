/** What every operation on skills uses: catalogue, folders, links, and one change at a time. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createQueue, type Kernel, SessarcError } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { inSlices } from "../content/slices.ts";
import type { Tree } from "../content/tree.ts";
import { createLinks, type Links } from "../link/links.ts";
import { createInspector, type Inspected, type Inspector } from "../scan/inspect.ts";
import type { ProjectFolder } from "../scan/roots.ts";
import {
  type Catalog,
  createCatalog,
  findOrigin,
  type SkillRow,
  type SnapshotRow,
  toSnapshot,
} from "../store/catalog.ts";
import { createPlaces, knownSnapshot, type Places } from "../store/place.ts";
import type { Snapshot } from "../types.ts";
import type { Use } from "../usage/use.ts";

export interface SkillEvent {
  id: string;
  what: "imported" | "edited" | "updated" | "restored" | "deleted" | "linked" | "unlinked" | "described";
}

interface Present {
  tree: Tree;
  snapshot: Omit<SnapshotRow, "seq">;
  isNew: boolean;
}

export interface Shelf {
  readonly kernel: Kernel;
  readonly catalog: Catalog;
  readonly places: Places;
  readonly links: Links;
  readonly use: Use;
  /** More hosts to fetch from. */
  readonly hosts: readonly string[];
  /** Loads what reads skills, once. */
  inspector(): Promise<Inspector>;
  /** Runs sequentially, after repairing what a crash or a full disk left. Never nested. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** The same for what changes nothing: it also runs while a full disk keeps that from being put in order. */
  aloneReading<T>(work: () => Promise<T>): Promise<T>;
  /** The row of a skill that is there; throws SKILL_NOT_FOUND. */
  row(id: string): Promise<SkillRow>;
  /** The row, deleted ones too. */
  anyRow(id: string): Promise<SkillRow>;
  /** Where links to it lead: through no other link. */
  realOf(id: string): string;
  look(id: string): Promise<Inspected>;
  /** The present content and the snapshot that has it; of an edit without one, a new one. Throws SKILL_UNREADABLE. */
  present(row: SkillRow, reason?: Snapshot["reason"]): Promise<Present>;
  /** The same; undefined where there is nothing that can be kept. */
  presentIfAny(row: SkillRow, reason: Snapshot["reason"]): Promise<Present | undefined>;
  adapters(): Adapter[];
  projects(): Promise<ProjectFolder[]>;
  tell(event: SkillEvent): Promise<void>;
}

export function createShelf(kernel: Kernel, use: Use, hosts: readonly string[]): Shelf {
  const catalog = createCatalog(kernel.storage.db);
  const places = createPlaces(kernel.storage, catalog);
  const links = createLinks(catalog, places.objects);
  let inspector: Promise<Inspector> | undefined;
  let isInOrder = false;
  let hasStarted = false;
  let real: string | undefined;

  const inOrder = async () => {
    if (isInOrder) return;
    // What may only be read is left as a crash left it.
    if (!kernel.storage.readOnly) {
      await places.recover();
      await links.recover();
    }
    isInOrder = true;
    hasStarted = true;
  };

  const inTurn = createQueue();

  const shelf: Shelf = {
    kernel,
    catalog,
    places,
    links,
    use,
    hosts,
    inspector() {
      inspector ??= createInspector();
      return inspector;
    },
    alone: (work) =>
      inTurn(async () => {
        await inOrder();
        try {
          return await work();
        } catch (error) {
          isInOrder = false; // what failed at its last write is finished before the next operation
          throw error;
        }
      }),
    aloneReading: (work) =>
      inTurn(async () => {
        await inOrder().catch((error) => {
          if (!hasStarted) throw error;
        });
        return work();
      }),
    async row(id) {
      const row = await catalog.skill(id);
      if (!row || row.deleted_at !== null) throw new SessarcError("SKILL_NOT_FOUND", { id });
      return row;
    },
    async anyRow(id) {
      const row = await catalog.skill(id);
      if (!row) throw new SessarcError("SKILL_NOT_FOUND", { id });
      return row;
    },
    realOf(id) {
      // An archive that may only be read may have no store.
      real ??= kernel.storage.readOnly && !existsSync(places.folder) ? places.folder : realpathSync(places.folder);
      return join(real, id);
    },
    async look(id) {
      const at = await shelf.inspector();
      const found = at.resolve(shelf.realOf(id));
      return "fault" in found
        ? { fault: { ...found.fault, message: "Its folder is gone from the store" } }
        : inSlices(at.inspect(found.real, id));
    },
    async present(row, reason = "edit") {
      const present = await shelf.presentIfAny(row, reason);
      if (!present) throw new SessarcError("SKILL_UNREADABLE", { id: row.id, reason: await readFault(shelf, row.id) });
      return present;
    },
    async presentIfAny(row, reason) {
      const tree = await places.capture(places.pathOf(row.id));
      if (!tree) return undefined;
      const known = await knownSnapshot(catalog, row.id, tree);
      return known
        ? { tree, snapshot: known, isNew: false }
        : { tree, snapshot: toSnapshot(row.id, tree, reason, findOrigin(row)), isNew: true };
    },
    adapters: () => [...kernel.registry.adapters.values()].filter((adapter) => adapter.skills),
    async projects() {
      const rows = await kernel.inject("archive").projects();
      return rows.flatMap(({ id, path }) => (path === null ? [] : [{ id, path }]));
    },
    tell: (event) => kernel.notify("skill:changed", event),
  };
  return shelf;
}

async function readFault(shelf: Shelf, id: string): Promise<string> {
  const looked = await shelf.look(id);
  return "fault" in looked ? looked.fault.message : "it changed while it was read";
}
