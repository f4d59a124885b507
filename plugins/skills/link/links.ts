/** Links from the tools' folders into the store: made where nothing is, removed when they are proven to be ours. */
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Blobs, SessarcError } from "sessarc";
import { codeOf, findMissingFolder } from "sessarc/files";
import { type Catalog, type LinkRow, type MadeFolder, type SnapshotRow, toEntries } from "../store/catalog.ts";
import { materialise, removeOwn } from "../store/materialise.ts";
import type { Scope } from "../types.ts";
import { type CopyState, compareCopy, isAsCompared, removeCopy } from "./copies.ts";
import { identityAt, standingAt } from "./proof.ts";

interface LinkPlace {
  skill: string;
  tool: string;
  scope: Scope;
  project: string | null;
  path: string;
}

export interface Links {
  /** A link to `target`. Returns false when it exists already. Throws SKILL_IN_THE_WAY, SKILL_LINK_DENIED; nothing has changed then. */
  symlink(place: LinkPlace, target: string): Promise<boolean>;
  /** A copy of a snapshot. An older copy of sessarc's that was not edited is replaced; else SKILL_IN_THE_WAY, SKILL_COPY_EDITED. */
  copy(place: LinkPlace, snapshot: Omit<SnapshotRow, "seq">): Promise<boolean>;
  /**
   * A copy of a snapshot in the place of a folder that holds what `present` has. Throws SKILL_IN_THE_WAY for anything but a folder, and
   * SKILL_COPY_EDITED when the folder holds something else.
   */
  replace(place: LinkPlace, snapshot: Omit<SnapshotRow, "seq">, present: Omit<SnapshotRow, "seq">): Promise<boolean>;
  /** Removes what the row says we made. `gone`: it was not there any more. Throws SKILL_NOT_OURS, SKILL_COPY_EDITED. */
  remove(row: LinkRow): Promise<"removed" | "gone">;
  /** How sessarc's copy compares with the snapshot it was made from. */
  copyState(row: LinkRow): Promise<CopyState>;
  /** Takes back or finishes what a crash left. */
  recover(): Promise<void>;
}

export function createLinks(catalog: Catalog, objects: Blobs): Links {
  /** `stood`: sessarc's copy that it replaces. */
  const toRow = (
    place: LinkPlace,
    kind: LinkRow["kind"],
    target: string,
    stage: string | null,
    stood?: LinkRow,
  ): LinkRow => ({
    path: place.path,
    skill_id: place.skill,
    tool: place.tool,
    scope: place.scope,
    project_id: place.project,
    kind,
    target,
    stage,
    identity: null,
    before: JSON.stringify({ stood: stood ?? "nothing", folder: findMissingFolder(dirname(place.path)) ?? null }),
    made: stood?.made ?? "[]",
    state: "making",
    created_at: Date.now(),
  });

  function inTheWay(path: string): SessarcError {
    const found = standingAt(path, undefined);
    return new SessarcError("SKILL_IN_THE_WAY", { path, what: found.is === "other" ? found.what : "Something" });
  }

  /** Nothing came of it: the folders that were made go, and so does the row. */
  async function takeBack(row: LinkRow): Promise<void> {
    removeFolders(JSON.parse(row.made) as MadeFolder[]);
    await catalog.dropLink(row.path);
  }

  /** The folders above the link; an error that says what keeps them from being made. */
  function makeParents(row: LinkRow): void {
    try {
      row.made = JSON.stringify(makeFolders(dirname(row.path)));
    } catch (error) {
      throw toDenied(row.path, error);
    }
  }

  async function copyState(row: LinkRow, path = row.path): Promise<CopyState> {
    const snapshot = await catalog.snapshot(row.skill_id, row.target);
    return compareCopy(path, snapshot ? toEntries(snapshot) : []);
  }

  /** Removes sessarc's copy; files the user wrote into it are retained. */
  async function clear(row: LinkRow, path: string): Promise<void> {
    while (!removeCopy(path, await copyState(row, path)));
  }

  function refuseEdited({ path }: LinkRow, state: CopyState): void {
    if (state.same) return;
    throw new SessarcError("SKILL_COPY_EDITED", { path, files: state.files.map((file) => file.path).join(", ") });
  }

  /** Moves the old copy aside and the new one in its place, in one event-loop turn. */
  function swap(row: LinkRow, stage: string, old: LinkRow): void {
    if (standingAt(row.path, old).is !== "ours") throw inTheWay(row.path);
    renameSync(row.path, toAside(stage));
    try {
      renameSync(stage, row.path);
    } catch (error) {
      renameSync(toAside(stage), row.path);
      throw error;
    }
  }

  const self: Links = {
    async symlink(place, target) {
      const known = await catalog.link(place.path);
      const found = standingAt(place.path, known);
      if (found.is === "ours" && known?.kind === "symlink" && known.target === target) return false;
      if (found.is !== "nothing") throw inTheWay(place.path);
      const row = toRow(place, "symlink", target, null);
      await catalog.putLink(row);
      try {
        makeParents(row);
        // Fails when something is there by now: nothing is ever replaced.
        symlinkSync(target, row.path, process.platform === "win32" ? "junction" : "dir");
      } catch (error) {
        await takeBack(row);
        if (codeOf(error) === "EEXIST") throw inTheWay(place.path);
        throw toDenied(row.path, error);
      }
      await catalog.putLink({ ...row, identity: identityAt(row.path) ?? null, state: "made" });
      return true;
    },

    async copy(place, snapshot) {
      const known = await catalog.link(place.path);
      const found = standingAt(place.path, known);
      let old: { row: LinkRow; state: CopyState } | undefined;
      if (found.is === "ours" && known) {
        if (known.kind !== "copy") throw inTheWay(place.path);
        const state = await copyState(known);
        refuseEdited(known, state);
        if (known.target === snapshot.id) return false;
        old = { row: known, state };
      } else if (found.is !== "nothing") throw inTheWay(place.path);
      // Beside its place, so that one rename puts it there whole.
      const stage = join(dirname(place.path), `.sessarc-${randomBytes(8).toString("hex")}`);
      const row = toRow(place, "copy", snapshot.id, stage, old?.row);
      await catalog.putLink(row);
      try {
        if (!old) makeParents(row);
        await materialise(stage, toEntries(snapshot), objects, snapshot.id);
        row.identity = identityAt(stage) ?? null;
        await catalog.putLink(row);
        // In one turn: what comes in between would be an empty folder at most, which a rename replaces.
        if (old && !isAsCompared(row.path, old.state)) {
          // It was changed after it was compared.
          await removeOwn(stage);
          await catalog.putLink(old.row);
          return self.copy(place, snapshot);
        }
        if (old) swap(row, stage, old.row);
        else if (standingAt(row.path, undefined).is !== "nothing") throw inTheWay(row.path);
        else renameSync(stage, row.path);
      } catch (error) {
        await removeOwn(stage);
        if (old) await catalog.putLink(old.row);
        else await takeBack(row);
        throw toDenied(row.path, error);
      }
      if (old) await clear(old.row, toAside(stage));
      await catalog.putLink({ ...row, before: old?.row.before ?? row.before, stage: null, state: "made" });
      return true;
    },

    async replace(place, snapshot, present) {
      const { path } = place;
      const known = await catalog.link(path);
      const found = standingAt(path, known);
      const isCopy = found.is === "ours" && known?.kind === "copy";
      if (!isCopy && !(found.is === "other" && found.kind === "folder")) throw inTheWay(path);
      // From here on the folder counts as a copy of `present`, so that it is replaced only while it is one.
      const row: LinkRow = {
        ...toRow(place, "copy", present.id, null),
        identity: identityAt(path) ?? null,
        state: "made",
      };
      await catalog.putLink(isCopy && known ? { ...known, target: present.id } : row);
      try {
        return await self.copy(place, snapshot);
      } catch (error) {
        if (known) await catalog.putLink(known);
        else await catalog.dropLink(path);
        throw error;
      }
    },

    async remove(row) {
      const { path } = row;
      const refuse = () => {
        const found = standingAt(path, row);
        if (found.is === "other") throw new SessarcError("SKILL_NOT_OURS", { path, what: found.what });
        return found.is;
      };
      if (refuse() === "nothing") {
        await takeBack(row);
        return "gone";
      }
      const state = row.kind === "copy" ? await copyState(row) : undefined;
      if (state) refuseEdited(row, state);
      await catalog.putLink({ ...row, state: "removing" });
      const still = refuse();
      if (still === "ours" && row.kind === "symlink") unlinkSync(path);
      else if (still === "ours" && state && !removeCopy(path, state)) {
        // It was changed after it was compared.
        await catalog.putLink(row);
        return self.remove(row);
      }
      await takeBack(row);
      return still === "ours" ? "removed" : "gone";
    },

    copyState,

    async recover() {
      for (const row of await catalog.links()) {
        if (row.state === "removing") {
          const found = standingAt(row.path, row);
          if (found.is === "ours") {
            if (row.kind === "symlink") unlinkSync(row.path);
            else await clear(row, row.path);
          }
          await takeBack(row);
        } else if (row.state === "making") await settle(row);
      }
    },
  };

  /** A row whose link may have been made: known by its target, since no other program makes one like it. */
  async function settle(row: LinkRow): Promise<void> {
    if (row.stage !== null) await removeOwn(row.stage);
    const old = replacedBy(row);
    const aside = row.stage === null ? undefined : toAside(row.stage);
    if (old && aside && identityAt(aside) === old.identity) {
      if (identityAt(row.path) === undefined) renameSync(aside, row.path);
      else await clear(old, aside);
    }
    if (old && standingAt(row.path, old).is === "ours") return catalog.putLink(old);
    const identity = identityAt(row.path);
    const asMade: LinkRow = {
      ...row,
      before: old?.before ?? row.before,
      identity: identity ?? null,
      stage: null,
      state: "made",
    };
    // A copy has the inode of its stage; a link is known by the target alone.
    const ours =
      identity !== undefined &&
      (row.kind === "copy" ? identity === row.identity : standingAt(row.path, asMade).is === "ours");
    if (ours) await catalog.putLink(asMade);
    else await takeBack(row);
  }

  return self;
}

/** Where the old copy waits until the new one is in its place. */
const toAside = (stage: string) => `${stage}.old`;

/** The row of the copy that a new one was to replace. */
function replacedBy(row: LinkRow): LinkRow | undefined {
  const { stood } = JSON.parse(row.before) as { stood: "nothing" | LinkRow };
  return stood === "nothing" ? undefined : stood;
}

function makeFolders(folder: string): MadeFolder[] {
  const first = mkdirSync(folder, { recursive: true });
  if (!first) return [];
  const made: MadeFolder[] = [];
  for (let at = folder; at.length >= first.length; at = dirname(at)) {
    const identity = identityAt(at);
    if (identity) made.push({ path: at, identity });
  }
  return made;
}

/** Deepest first, as far as they are ours and empty. */
function removeFolders(made: readonly MadeFolder[]): void {
  for (const { path, identity } of made) {
    if (identityAt(path) !== identity) return;
    try {
      rmdirSync(path);
    } catch {
      return; // it is in use
    }
  }
}

function toDenied(path: string, error: unknown): unknown {
  if (error instanceof SessarcError) return error;
  const code = codeOf(error);
  return code ? new SessarcError("SKILL_LINK_DENIED", { path, reason: code }, { cause: error }) : error;
}
