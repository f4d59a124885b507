/** DELETE /sessions/:id/source-file: the one place where a tool's log is removed, with every reason not to. */
import { lstat, realpath, rm } from "node:fs/promises";
import { sep } from "node:path";
import { type Kernel, marks, pages, SessarcError } from "sessarc";
import { narrowRows } from "../catalogue/narrow.ts";

/** A log written less than this ago may still be in use. */
const QUIET_MS = 300_000;
/** Sessions marked in one statement. */
const AT_ONCE = 100;

/** Removes the log of a session and what belongs to it alone. Returns the removed paths; the archive's copy stays. */
export async function removeSource(kernel: Kernel, id: string): Promise<string[]> {
  const archive = kernel.inject("archive");
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
  const paths = [source.ref.path, ...(source.ref.companions ?? [])];
  const roots = await Promise.all(adapter.roots(kernel.env).map((root) => realpath(root).catch(() => root)));
  for (const path of paths) await assertRemovable(id, path, roots);
  for (const path of paths) await rm(path, { recursive: true, force: true });
  const companions = (source.ref.companions ?? []).map((path) => path + sep);
  const gone: string[] = [];
  for await (const rows of narrowRows(kernel.storage.db, ["source_path"]))
    for (const one of rows)
      if (
        one.id === id ||
        one.source_path === source.ref.path ||
        companions.some((path) => one.source_path.startsWith(path))
      )
        gone.push(one.id);
  for (const ids of pages(gone, AT_ONCE))
    await kernel.storage.db.run(`update session set missing = 1 where id in (${marks(ids)})`, ids);
  archive.changed(gone);
  return paths;
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
