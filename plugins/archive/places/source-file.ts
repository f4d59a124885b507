/** DELETE /sessions/:id/source-file: the one place where a tool's log is removed, with every reason not to. */
import { lstat, realpath, rm } from "node:fs/promises";
import { sep } from "node:path";
import { type Kernel, marks, pages, SessarcError } from "sessarc";
import { isReachable } from "sessarc/files";

/** A log written less than this ago may still be in use. */
const QUIET_MS = 300_000;
/** Sessions marked in one statement. */
const AT_ONCE = 100;

/**
 * Removes the log of a session and what belongs to it alone. Returns the removed paths; the archive's copy stays. The archive notes it first:
 * where it cannot (full disk, data directory gone, taken over or read only) that is the error, and nothing is removed. Throws SOURCE_LEFT
 * when the system does not let a path go.
 */
export async function removeSource(kernel: Kernel, id: string): Promise<string[]> {
  const archive = kernel.inject("archive/open");
  const row = await archive.row(id);
  const adapter = archive.adapter(row.tool);
  if (!adapter) throw new SessarcError("ADAPTER_MISSING", { tool: row.tool });
  const { found } = await archive.importer.scan();
  const source = found.get(id);
  if (!source) throw new SessarcError("SOURCE_MISSING", { id });
  if (!source.ref.exclusive)
    throw new SessarcError("SOURCE_SHARED", { id, reason: "its file holds more than this session" });
  const other = found.at(source.ref.path).find((one) => one.id !== id);
  if (other) throw new SessarcError("SOURCE_SHARED", { id, reason: `its file also holds ${other.id}` });
  const companions = source.ref.companions ?? [];
  const paths = [source.ref.path, ...companions];
  const roots = await Promise.all(adapter.roots(kernel.env).map((root) => realpath(root).catch(() => root)));
  for (const path of paths) await assertRemovable(id, path, roots);
  const gone = await heldBy(kernel, id, source.ref.path, companions);
  await note(kernel, 1, [...gone.keys()]);
  // The log last: as long as it is there, all of it can be deleted again.
  for (const path of paths.toReversed())
    await rm(path, { recursive: true, force: true }).catch(async (error: Error) => {
      const left: string[] = [];
      for (const [one, at] of gone) if (await isReachable(at)) left.push(one);
      await note(kernel, 0, left);
      throw new SessarcError("SOURCE_LEFT", { id, path, reason: error.message }, { cause: error });
    });
  return paths;
}

/** Sessions whose logs go with it, and where those are. */
async function heldBy(kernel: Kernel, id: string, path: string, companions: readonly string[]) {
  const held = new Map<string, string>();
  const rows = await kernel.storage.db.all<{ id: string; source_path: string }>("select id, source_path from session");
  for (const { id: one, source_path: at } of rows)
    if (one === id || at === path || companions.some((folder) => at.startsWith(folder + sep))) held.set(one, at);
  return held;
}

async function note(kernel: Kernel, missing: 0 | 1, sessions: readonly string[]): Promise<void> {
  for (const ids of pages(sessions, AT_ONCE))
    await kernel.storage.db.run(`update session set missing = ? where id in (${marks(ids)})`, [missing, ...ids]);
  kernel.inject("archive/open").changed(sessions);
}

async function assertRemovable(id: string, path: string, roots: readonly string[]): Promise<void> {
  const refuse = (reason: string) => new SessarcError("SOURCE_CHANGED", { id, reason });
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) throw refuse(`${path} is no longer there`);
  if (stat.isSymbolicLink()) throw refuse(`${path} is a symbolic link`);
  if (Date.now() - stat.mtimeMs < QUIET_MS) throw refuse("it changed in the last five minutes");
  const real = await realpath(path);
  if (!roots.some((root) => real.startsWith(root + sep))) throw refuse(`${path} is outside the tool's folders`);
}
