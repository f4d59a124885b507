/** What the doctor says about transcripts: each part is there and its directory can be read. */
import { type DoctorCheck, type Kernel, Slices } from "sessarc";
import { isDamage } from "./damage.ts";
import { partsOf } from "./types.ts";

/** Rows read at once. */
const PAGE = 500;

/** One small read a part; what is inside is checked when it is read. */
export async function checkTranscripts(kernel: Kernel): Promise<DoctorCheck> {
  const { db, transcripts } = kernel.storage;
  const damaged = new Set<string>();
  const slices = new Slices();
  let texts = 0;
  for (const table of ["id, parts from session", "session_id as id, parts from earlier"]) {
    for (let after = 0; ; ) {
      const rows = await db.all<{ rowid: number; id: string; parts: string }>(
        `select rowid, ${table} where rowid > ? order by rowid limit ${PAGE}`,
        [after],
      );
      for (const { id, parts } of rows) {
        try {
          for (const part of partsOf({ parts })) await transcripts.index(id, part);
        } catch (error) {
          if (!isDamage(error)) throw error;
          damaged.add(id);
        }
        if (slices.due) await slices.turn();
      }
      texts += rows.length;
      const last = rows.at(-1);
      if (!last) break;
      after = last.rowid;
    }
  }
  for (const id of kernel.inject("archive").damage.ids) damaged.add(id);
  const name = "transcripts";
  if (damaged.size === 0) return { name, status: "ok", detail: `all of ${texts} can be read` };
  for (const id of damaged) kernel.inject("archive").damage.found(id);
  const [first] = damaged;
  return {
    name,
    status: "fail",
    detail: `${damaged.size} of ${texts} are missing or damaged, as that of ${first}`,
    fix: "Import them again: `sessarc import`. What no log has any more cannot be mended.",
  };
}
