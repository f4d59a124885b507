/** Where a question about a repository is: its project, its folder, and the file. */
import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { isSessarcError, type Kernel, SessarcError } from "sessarc";

/** Repository, project and path of a file. A repository without sessions has no project. */
export interface Place {
  project: string | undefined;
  /** The project's folder, by which paths of calls are compared. */
  root: string;
  /** Whose HEAD is meant: the work tree that holds the file. */
  tree: string;
  file: string;
}

/** Throws PROJECT_NOT_FOUND, NO_REPOSITORY, and INVALID_INPUT for a path that is neither absolute nor of a named project. */
export async function readPlace(kernel: Kernel, wanted: string | undefined, path: string): Promise<Place> {
  if (isAbsolute(path)) {
    // The folders of this machine are not those of the sessions, and not the caller's.
    if (kernel.find("repositories"))
      throw new SessarcError("INVALID_INPUT", { reason: "Send `project`, and `path` in its repository" });
    const folder = await realpath(dirname(path)).catch(() => dirname(path));
    const identity = await kernel.inject("git").identity(folder, { rootCommits: false });
    if (identity.kind !== "repository") throw new SessarcError("NO_REPOSITORY", { project: dirname(path) });
    const { root } = identity;
    const tree = identity.worktree ?? root;
    const [project] = await kernel
      .inject("archive")
      .projectIds(wanted ?? root)
      .catch(unlessUnknown);
    return {
      project,
      root,
      tree,
      file: relative(tree, join(folder, basename(path)))
        .split(sep)
        .join("/"),
    };
  }
  if (wanted === undefined)
    throw new SessarcError("INVALID_INPUT", { reason: "Without a project, `path` must be absolute" });
  const { project, root } = await readProject(kernel, wanted);
  return { project, root, tree: root, file: path };
}

/** A project by id, name or path, with its folder. Throws PROJECT_NOT_FOUND, and NO_REPOSITORY for a project without a folder. */
export async function readProject(kernel: Kernel, wanted: string): Promise<{ project: string; root: string }> {
  const archive = kernel.inject("archive");
  const [project] = await archive.projectIds(wanted);
  const root = await archive.projectPath(project);
  if (root === null) throw new SessarcError("NO_REPOSITORY", { project: wanted });
  return { project, root };
}

/** An error about the repository names the project, never its folder. */
export const named = (error: unknown, project: string): unknown =>
  error instanceof SessarcError && error.code === "NO_REPOSITORY"
    ? new SessarcError("NO_REPOSITORY", { project }, { cause: error })
    : error;

/** The folder of a repository may be in no project. */
function unlessUnknown(error: unknown): [] {
  if (!isSessarcError(error) || error.code !== "PROJECT_NOT_FOUND") throw error;
  return [];
}
