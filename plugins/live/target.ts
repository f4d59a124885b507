/** What an id means: a session of the archive, or a log that was found and is not imported yet. */
import { type Kernel, type Services, SessarcError, type SessionRef } from "sessarc";

type ArchiveRow = Awaited<ReturnType<Services["archive"]["get"]>>;

/** What a feed needs to know of a session's row in the archive. */
export type SessionRow = Pick<ArchiveRow, "id" | "tool" | "length" | "parts"> & {
  source: Pick<ArchiveRow["source"], "path" | "bytes" | "mtime">;
};

export interface Target {
  row: SessionRow;
  ref: SessionRef;
}

/** Throws SESSION_NOT_FOUND for an id that neither the archive nor the last listing has, and for sessions the user deleted. */
export async function findTarget(kernel: Kernel, id: string): Promise<Target> {
  const archive = kernel.inject("archive");
  const row = await archive.find(id);
  if (row) return { row, ref: archive.ref(row) };
  const found = kernel.inject("importer").lastScan?.found.get(id);
  if (!found || (await archive.isDeleted(id))) throw new SessarcError("SESSION_NOT_FOUND", { id });
  const { tool, path } = found.ref;
  return { row: { id, tool, length: 0, parts: [], source: { path, bytes: 0, mtime: 0 } }, ref: found.ref };
}
