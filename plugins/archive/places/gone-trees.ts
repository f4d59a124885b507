/** Work trees that are gone, by the records that git keeps of them in their repository until it is pruned. */
import { existsSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { readFolder } from "sessarc/adapter";
import { readRegularSync } from "sessarc/files";

/** Folders beside a work tree that are read. */
const MOST = 500;

export interface TreeRecords {
  /** The repository beside the folder that has a record of it, or of a folder above it, as its work tree. */
  repositoryOf(cwd: string): string | undefined;
  reset(): void;
}

export function createTreeRecords(): TreeRecords {
  /** Repositories by the paths of their work trees, for each folder of repositories. */
  const known = new Map<string, Map<string, string>>();

  return {
    repositoryOf(cwd) {
      let gone = cwd;
      while (!existsSync(dirname(gone))) gone = dirname(gone);
      const folder = dirname(gone);
      let trees = known.get(folder);
      if (!trees) {
        trees = treesBelow(folder);
        known.set(folder, trees);
      }
      for (const [tree, repository] of trees) if (cwd === tree || cwd.startsWith(tree + sep)) return repository;
      return undefined;
    },
    reset: () => known.clear(),
  };
}

function treesBelow(folder: string): Map<string, string> {
  const trees = new Map<string, string>();
  for (const entry of readFolder(folder).slice(0, MOST)) {
    if (!entry.isDirectory()) continue;
    const repository = join(folder, entry.name);
    const records = [".git", "."].map((name) => join(repository, name)).find((git) => existsSync(join(git, "HEAD")));
    for (const record of records ? readFolder(join(records, "worktrees")) : []) {
      const admin = join(records ?? "", "worktrees", record.name);
      const named = findText(join(admin, "gitdir"));
      // Relative ones are of `worktree.useRelativePaths`.
      if (named) trees.set(dirname(resolve(admin, named)), repository);
    }
  }
  return trees;
}

function findText(path: string): string | undefined {
  try {
    return readRegularSync(path).trim();
  } catch {
    return undefined; // no record, or one that may not be read: git would not use it either
  }
}
