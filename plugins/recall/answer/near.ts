/** The project around a folder. */
import { sep } from "node:path";
import type { Kernel } from "sessarc";

/** Its id; undefined where no session of the archive worked in the folder or above it. */
export async function projectAround({ storage: { db } }: Kernel, folder: string): Promise<string | undefined> {
  const rows = await db.all<{ id: string; path: string }>("select id, path from project where path is not null");
  const around = rows.filter(
    ({ path }) => folder === path || folder.startsWith(path.endsWith(sep) ? path : path + sep),
  );
  return around.sort((a, b) => b.path.length - a.path.length)[0]?.id;
}
