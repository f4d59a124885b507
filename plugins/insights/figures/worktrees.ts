/** The work tree that a session's folder is in, by the names of folders alone: most work trees of assistants are gone. */
import type { Database } from "sessarc";

/** A work tree inside its repository, as Claude Code and others make it: `app/.claude/worktrees/x`. */
const INSIDE = /^.+?[\\/]\.(?:claude[\\/])?worktrees[\\/][^\\/]+/;

interface Folder {
  cwd: string;
  project: string;
  path: string | null;
}

/** By folder: a work tree of the form above, else the project's folder, else the topmost folder of the project's sessions around it. */
export async function readWorktrees(db: Database): Promise<Map<string, string>> {
  const rows = await db.all<Folder>(
    `select distinct s.cwd, p.id as project, p.path from session s join project p on p.id = s.project_id
     where s.cwd is not null and s.cwd != '' order by s.cwd`,
  );
  const tops = new Map<string, string[]>();
  const trees = new Map<string, string>();
  for (const { cwd, project, path } of rows) {
    const known = tops.get(project) ?? (path === null ? [] : [path]);
    const tree = INSIDE.exec(cwd)?.[0] ?? known.find((top) => isIn(cwd, top)) ?? cwd;
    tops.set(project, known.includes(tree) ? known : [...known, tree]);
    trees.set(cwd, tree);
  }
  return trees;
}

/** `C:\app` and `/app` are folders around `C:\app\src` and `/app/src`. */
const isIn = (path: string, folder: string) =>
  path === folder || (path.startsWith(folder) && /[\\/]/.test(path.charAt(folder.length)));
