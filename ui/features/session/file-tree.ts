/** The files of a commit as a tree, and the rows of it that show. A folder's key ends with a slash. */
import type { Tree } from "./transcript/time-travel.ts";

type ChangeStatus = Tree["changed"][number]["status"];

interface Folder {
  key: string;
  name: string;
  folders: Map<string, Folder>;
  files: File[];
  /** Files in it, at any depth, that the commit changed. */
  changed: number;
}
interface File {
  key: string;
  name: string;
  status: ChangeStatus | undefined;
}

export interface TreeRow {
  key: string;
  name: string;
  /** From 1. */
  level: number;
  /** Place among its siblings that show, from 1, and how many these are. */
  place: number;
  siblings: number;
  /** Undefined for a file. */
  open: boolean | undefined;
  status: ChangeStatus | undefined;
  /** Files changed in a folder. */
  changed: number;
}

/** Linear in the files. Includes the files that the commit deleted. */
export function toFileTree(tree: Tree): Folder {
  const root = folder("", "");
  const statuses = new Map(tree.changed.map((one) => [one.path, one.status]));
  for (const { path } of tree.files) add(root, path, statuses.get(path));
  for (const { path, status } of tree.changed) if (status === "deleted") add(root, path, status);
  return root;
}

interface TreeOptions {
  /** Whether the inside of a folder shows. */
  isOpen(key: string): boolean;
  /** Part of a path, any case. */
  filter: string;
  changedOnly: boolean;
}

/** What shows: folders first, each by name. Linear in what is open; in all files with a filter. */
export function toTreeRows(root: Folder, options: TreeOptions): TreeRow[] {
  const rows: TreeRow[] = [];
  const wanted = options.filter.trim().toLowerCase();
  const passes = (file: File) =>
    (!options.changedOnly || file.status !== undefined) && (wanted === "" || file.key.toLowerCase().includes(wanted));
  const holds = (one: Folder): boolean => {
    if (options.changedOnly && one.changed === 0) return false;
    return wanted === "" || one.files.some(passes) || [...one.folders.values()].some(holds);
  };
  const walk = (parent: Folder, level: number) => {
    const folders = [...parent.folders.values()].filter(holds).sort(byName);
    const files = parent.files.filter(passes).sort(byName);
    const siblings = folders.length + files.length;
    let place = 0;
    for (const one of folders) {
      const { key, name, changed } = one;
      const open = options.isOpen(key);
      rows.push({ key, name, level, place: ++place, siblings, open, status: undefined, changed });
      if (open) walk(one, level + 1);
    }
    for (const { key, name, status } of files)
      rows.push({ key, name, level, place: ++place, siblings, open: undefined, status, changed: 0 });
  };
  walk(root, 1);
  return rows;
}

/** Folders around a file or folder, outermost first: `a/b/c.ts` lies in `a/` and `a/b/`. */
export function foldersOf(key: string): string[] {
  const found: string[] = [];
  for (let at = key.indexOf("/"); at >= 0 && at < key.length - 1; at = key.indexOf("/", at + 1))
    found.push(key.slice(0, at + 1));
  return found;
}

const folder = (key: string, name: string): Folder => ({ key, name, folders: new Map(), files: [], changed: 0 });
const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function add(root: Folder, path: string, status: ChangeStatus | undefined): void {
  let parent = root;
  let from = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", from)) {
    const name = path.slice(from, at);
    let next = parent.folders.get(name);
    if (!next) {
      next = folder(path.slice(0, at + 1), name);
      parent.folders.set(name, next);
    }
    if (status !== undefined) next.changed++;
    parent = next;
    from = at + 1;
  }
  parent.files.push({ key: path, name: path.slice(from), status });
}
