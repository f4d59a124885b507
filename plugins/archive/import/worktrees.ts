/** Work trees that are gone, whose repository became known after them. */
import { type Kernel, marks } from "sessarc";
import type { ProjectResolver } from "../places/projects.ts";
import type { OnCommit } from "./types.ts";

/** Sessions in a batch. */
const AT_ONCE = 40;

const FOLDERS = "from project where kind = 'folder' and name is null and path like '%worktree%'";
/** SQL: whether there are folders of work trees. */
export const HAS_WORKTREES = `exists (select 1 ${FOLDERS})`;

/** Attributes the sessions of such folders to the project of their repository. A look-up of the projects' paths where there are none. */
export async function settleWorktrees(kernel: Kernel, resolver: ProjectResolver, onChange: OnCommit): Promise<void> {
  const { db } = kernel.storage;
  const folders = await db.all<{ id: string; path: string }>(`select id, path ${FOLDERS}`);
  for (const { id, path } of folders) {
    const target = await resolver.projectOfWorktree(path);
    if (target === undefined || target === id) continue;
    for (;;) {
      if (kernel.closing.aborted) return;
      const rows = await db.all<{ id: string }>(`select id from session where origin_id = ? limit ${AT_ONCE}`, [id]);
      if (rows.length === 0) break;
      const ids = rows.map((row) => row.id);
      const move = `update session set origin_id = ?, project_id = ? where id in (${marks(ids)})`;
      await db.run(move, [target, target, ...ids]);
      onChange([], ids);
    }
    await db.run("delete from project where id = ?", [id]);
    resolver.reset();
  }
}
