/** What is stored of a session beside its row, by the archive and by other plugins, in the batch that stores or deletes it. */
import { type Kernel, marks, type Statement } from "sessarc";
import type { SessionFigures, SessionRow } from "../catalogue/types.ts";
import { eraseFigures, writeFigures } from "../figures/write.ts";

/** Statements to commit after the one that stores the session's row. */
export async function writtenWith(kernel: Kernel, session: SessionFigures): Promise<Statement[]> {
  const write = writeFigures(session);
  await kernel.hooks.callHook("session:write", { id: session.id, write });
  return write;
}

/** Statements to commit with those that delete the sessions. */
export async function erasedWith(kernel: Kernel, ids: readonly string[]): Promise<Statement[]> {
  const write = kernel.registry.indexers.flatMap(({ name, tables }): Statement[] => [
    ...tables.map((table): Statement => [`delete from ${table} where session in (${marks(ids)})`, ids]),
    // Those of plugins that are not there remain, and with their rows: `tidyIndexed`.
    [`delete from indexed where indexer = ? and session in (${marks(ids)})`, [name, ...ids]],
  ]);
  write.push(...eraseFigures(ids));
  await kernel.hooks.callHook("session:erase", { ids, write });
  return write;
}

type Stored = Pick<SessionRow, "id" | "usage" | "evidence" | "message_count" | "error_count" | "sort_at">;
/** Columns of the table `session` that `toFigures` needs beside the facts. */
export const FIGURES = "id, usage, evidence, message_count, error_count, sort_at";

export const toFigures = (row: Stored, facts: SessionFigures["facts"]): SessionFigures => ({
  id: row.id,
  usage: JSON.parse(row.usage) as SessionFigures["usage"],
  evidence: row.evidence === null ? null : (JSON.parse(row.evidence) as SessionFigures["evidence"]),
  facts,
  messages: row.message_count,
  errors: row.error_count,
  sortAt: row.sort_at,
});
