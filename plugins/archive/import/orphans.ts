/** Transcript files without a row. */
import { readdir } from "node:fs/promises";
import { type Kernel, mustYield, yieldNow } from "sessarc";
import { type EarlierRow, type SessionRow, toParts } from "../catalogue/types.ts";

/**
 * Removes transcript files that no session points at: what a crash between writing and committing leaves. As long as a damaged catalogue is
 * kept (`sessarc doctor --fix`), what only that may know is kept, too.
 */
export async function sweepOrphans(kernel: Kernel): Promise<number> {
  const { db, transcripts, dataDir } = kernel.storage;
  const keys = await transcripts.keys();
  if (keys.length === 0) return 0;
  if ((await readdir(dataDir)).some((name) => name.includes(".damaged-"))) return 0;
  const wanted = new Set<string>();
  type Row = Pick<SessionRow, "id" | "parts">;
  for (const row of await db.all<Row>("select id, parts from session")) {
    for (const part of toParts(row)) wanted.add(transcripts.keyOf(row.id, part.generation));
    if (mustYield()) await yieldNow();
  }
  for (const { session_id, parts } of await db.all<EarlierRow>("select * from earlier"))
    for (const part of toParts({ parts })) wanted.add(transcripts.keyOf(session_id, part.generation));
  let swept = 0;
  for (const key of keys) {
    if (mustYield()) await yieldNow();
    if (wanted.has(key)) continue;
    await transcripts.removeKey(key);
    swept++;
  }
  return swept;
}
