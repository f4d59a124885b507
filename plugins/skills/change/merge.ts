/** Three versions of a skill side by side, file by file. */
import { byPath, type TreeEntry } from "../content/tree.ts";
import { findMark } from "../link/copies.ts";

interface ThreeWay {
  path: string;
  /** What the file is in each version, in one word; null: it is not there. */
  base: string | null;
  mine: string | null;
  upstream: string | null;
  state: "same" | "mine" | "upstream" | "both-alike" | "conflict";
}

export type Preference = "mine" | "upstream";

/** Every path of the three, sorted. Changed on both sides to the same is no conflict. */
export function compareThree(
  base: readonly TreeEntry[],
  mine: readonly TreeEntry[],
  upstream: readonly TreeEntry[],
): ThreeWay[] {
  const [b, m, u] = [byName(base), byName(mine), byName(upstream)];
  const paths = [...new Set([...b.keys(), ...m.keys(), ...u.keys()])].sort();
  return paths.map((path) => {
    const marks = { base: mark(b.get(path)), mine: mark(m.get(path)), upstream: mark(u.get(path)) };
    return { path, ...marks, state: toState(marks) };
  });
}

function toState({ base, mine, upstream }: Pick<ThreeWay, "base" | "mine" | "upstream">): ThreeWay["state"] {
  if (mine === base && upstream === base) return "same";
  if (mine === upstream) return "both-alike";
  if (upstream === base) return "mine";
  return mine === base ? "upstream" : "conflict";
}

/**
 * What both sides' changes make together; of a conflict the side that is preferred. Undefined when the result is no tree: a file of one
 * side where the other has a folder.
 */
export function merge(
  files: readonly ThreeWay[],
  mine: readonly TreeEntry[],
  upstream: readonly TreeEntry[],
  prefer: Preference,
): TreeEntry[] | undefined {
  const [m, u] = [byName(mine), byName(upstream)];
  const chosen: TreeEntry[] = [];
  for (const { path, state } of files) {
    const takesUpstream = state === "upstream" || (state === "conflict" && prefer === "upstream");
    const entry = (takesUpstream ? u : m).get(path);
    if (entry) chosen.push(entry);
  }
  const taken = new Set(chosen.map((entry) => entry.path));
  const modes = new Map(
    [...upstream, ...mine].flatMap((e) => (e.kind === "folder" ? [[e.path, e.mode] as const] : [])),
  );
  // Empty folders of one's own stay; the others are those that hold files.
  const folders = new Set(
    mine.flatMap((entry) => (entry.kind === "folder" && isEmpty(entry.path, mine) ? [entry.path] : [])),
  );
  for (const { path } of chosen)
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) folders.add(path.slice(0, at));
  if ([...folders].some((path) => taken.has(path))) return undefined;
  return [
    ...chosen,
    ...[...folders].map((path): TreeEntry => ({ path, kind: "folder", mode: modes.get(path) ?? 0o755 })),
  ].sort(byPath);
}

const isEmpty = (folder: string, entries: readonly TreeEntry[]) =>
  !entries.some((entry) => entry.path.startsWith(`${folder}/`));

const byName = (entries: readonly TreeEntry[]) =>
  new Map(entries.filter((entry) => entry.kind !== "folder").map((entry) => [entry.path, entry]));

const mark = (entry: TreeEntry | undefined): string | null => (entry && findMark(entry)) ?? null;
