/**
 * Repositories of projects: mirrors that the operator keeps in `<folder>/<space>/<name>.git`. Only people in the space may read them: what a
 * pushed session claims about its project only chooses among the repositories that its reader may read anyway.
 */
import { lstat, readdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BoundedMap, isSessarcError, type Kernel, type Services, SessarcError } from "sessarc";
import type { Space } from "../accounts/caller.ts";

/** Of a project whose machines know the repository's first commit. */
const KEY = /^shared:commit:([0-9a-f]{40}|[0-9a-f]{64})$/;
/** ms for which a repository counts as one without the commit. */
const ABSENT_MS = 60_000;
const KNOWN = 2_000;

/** Throws TEAM_REPOSITORIES_MISSING for a folder that is not there. */
export async function openRepositories(folder: string): Promise<string> {
  const real = await realpath(resolve(folder)).catch(() => undefined);
  if (real === undefined || !(await isFolder(real))) throw new SessarcError("TEAM_REPOSITORIES_MISSING", { folder });
  return real;
}

/** `folder`: undefined where the server has no repositories. `spaces`: those of the person. */
export function toRepositories(
  kernel: Kernel,
  folder: string | undefined,
  spaces: readonly Space[],
): Services["repositories"] {
  /** By path and commit: true, or until when it is not asked again. */
  const known = new BoundedMap<string, true | number>(KNOWN);

  async function has(path: string, commit: string): Promise<boolean> {
    const key = `${path} ${commit}`;
    const before = known.get(key);
    if (before === true || (before ?? 0) > Date.now()) return before === true;
    const found = await startsWith(kernel, path, commit);
    known.set(key, found || Date.now() + ABSENT_MS);
    return found;
  }

  return {
    async of({ key, name }) {
      const commit = KEY.exec(key)?.[1];
      if (commit === undefined || folder === undefined) return null;
      for (const path of await mirrors(folder, spaces, name)) if (await has(path, commit)) return path;
      return null;
    },

    async places(project) {
      const rows = await kernel.storage.db.all<{ session: string; root: string; cwd: string | null }>(
        `select t.session, t.root, t.cwd from team_session t join session s on s.id = t.session
         where s.project_id = ? and t.root is not null`,
        [project],
      );
      return new Map(rows.map(({ session, ...place }) => [session, place]));
    },
  };
}

/** Folders that may be repositories of these spaces, those named as the project first. Names come from the disk, so none leads elsewhere. */
async function mirrors(folder: string, spaces: readonly Space[], project: string): Promise<string[]> {
  const names = new Set(spaces.flatMap(({ id, name, kind }) => (kind === "private" ? [] : [name, String(id)])));
  const found: { name: string; path: string }[] = [];
  for (const space of await foldersIn(folder))
    if (names.has(space))
      for (const name of await foldersIn(join(folder, space))) found.push({ name, path: join(folder, space, name) });
  const isNamed = ({ name }: { name: string }) => name.replace(/\.git$/, "") === project;
  return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))].map(({ path }) => path);
}

/** Without links, in the order of their names. */
async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}

/** Links are not followed: they lead out of the folder of mirrors. */
const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stat) => stat.isDirectory(),
    () => false,
  );

/** Whether the folder itself is a bare repository whose history begins with this commit. One that is damaged has no history. */
async function startsWith(kernel: Kernel, path: string, commit: string): Promise<boolean> {
  const git = kernel.inject("git");
  const found = await git.identity(path, { rootCommits: false });
  // A folder without a repository would be taken for a part of the one around it.
  if (found.kind !== "repository" || !found.bare || found.gitDir !== path || found.commonDir !== path) return false;
  for (const name of ["objects", "refs"]) if (!(await isFolder(join(path, name)))) return false;
  try {
    return (await git.resolve(path, commit)) === commit && (await git.reachable(path, commit)).length === 1;
  } catch (error) {
    if (!isSessarcError(error) || error.code === "GIT_MISSING") throw error;
    return false;
  }
}
