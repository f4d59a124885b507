/** One skill in all its places: the store, the tools' folders, and upstream, with the files that differ. */
import { compareThree } from "../change/merge.ts";
import type { TreeEntry } from "../content/tree.ts";
import { toHash } from "../content/tree.ts";
import { toMarks } from "../link/copies.ts";
import { findOrigin, toEntries } from "../store/catalog.ts";
import type { Scope, SkillLink } from "../types.ts";
import { oneSkill } from "./list.ts";
import { readLook } from "./look.ts";
import type { Shelf } from "./shelf.ts";
import { readManifest } from "./update.ts";

interface DriftPlace {
  tool: string;
  scope: Scope;
  path: string;
  /** `copy` was made by sessarc, `folder` was not. */
  kind: "copy" | "folder";
  contentHash: string | null;
  /** Why it cannot be compared. */
  problem: string | null;
}

interface DriftFile {
  path: string;
  /** What the file is there, in one word; null: it is not there. */
  base: string | null;
  store: string | null;
  /** Null as well when no look was taken, or the last one found nothing new. */
  upstream: string | null;
  /** By path of the place. */
  places: Record<string, string | null>;
  state: "same" | "mine" | "upstream" | "both-alike" | "conflict";
}

export interface Drift {
  id: string;
  /** The version the skill was last set to. */
  base: { snapshot: string; contentHash: string | null };
  store: { contentHash: string };
  upstream: { commit: string; checkedAt: string; contentHash: string | null; problem: string | null } | null;
  places: DriftPlace[];
  /** Only files that differ somewhere. */
  files: DriftFile[];
}

/** Without asking the network: upstream is what the last check found. */
export async function readDrift(shelf: Shelf, id: string): Promise<Drift> {
  const row = await shelf.row(id);
  const { tree } = await shelf.present(row);
  const snapshot = await shelf.catalog.snapshot(id, row.base);
  const base = snapshot ? toEntries(snapshot) : [];
  const look = readLook(row);
  const unchanged = look !== undefined && !look.skillChanged && findOrigin(row) !== null;
  const theirs = look?.manifest ? await readManifest(shelf, id, look.manifest) : unchanged ? base : undefined;
  const found = await readPlaces(shelf, (await oneSkill(shelf, id)).links);
  const marks = found.map(({ place, entries }) => ({ path: place.path, marks: toMarks(entries) }));
  const three = new Map(compareThree(base, tree.entries, theirs ?? base).map((file) => [file.path, file]));
  const paths = new Set([...three.keys(), ...marks.flatMap((one) => [...one.marks.keys()])]);
  const files = [...paths].sort().map((path): DriftFile => {
    const file = three.get(path);
    const { base: was = null, mine: store = null, state = "same" } = file ?? {};
    const upstream = theirs ? (file?.upstream ?? null) : null;
    const places = Object.fromEntries(marks.map((one) => [one.path, one.marks.get(path) ?? null]));
    return { path, base: was, store, upstream, places, state };
  });
  return {
    id,
    base: { snapshot: row.base, contentHash: snapshot?.content_hash ?? null },
    store: { contentHash: tree.hash },
    upstream: look
      ? {
          commit: look.commit,
          checkedAt: new Date(look.at).toISOString(),
          contentHash: theirs ? toHash(theirs) : null,
          problem: look.problem,
        }
      : null,
    places: found.map(({ place }) => place),
    files: files.filter(
      (file) => file.state !== "same" || Object.values(file.places).some((mark) => mark !== file.store),
    ),
  };
}

/** sessarc's copies, and folders of the same name in the place of a link. */
async function readPlaces(shelf: Shelf, links: readonly SkillLink[]) {
  const inspector = await shelf.inspector();
  const places: { place: DriftPlace; entries: readonly TreeEntry[] }[] = [];
  for (const { tool, scope, path, state, mode } of links) {
    if (state !== "directory" && mode !== "copy") continue;
    const at = inspector.resolve(path);
    const tree = "fault" in at ? undefined : await shelf.places.capture(at.real);
    const kind = mode === "copy" ? "copy" : "folder";
    const problem = tree ? null : "it cannot be read as a skill";
    places.push({
      place: { tool, scope, path, kind, contentHash: tree?.hash ?? null, problem },
      entries: tree?.entries ?? [],
    });
  }
  return places;
}
