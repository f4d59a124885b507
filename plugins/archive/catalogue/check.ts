/** What the doctor says about transcripts: each part is there and its directory can be read. */
import type { DoctorCheck, Kernel } from "sessarc";
import { isDamage } from "./damage.ts";
import { partsOf } from "./types.ts";

/** Sessions looked at together. */
const GROUP = 64;

/** One small read a part; what is inside is checked when it is read. */
export async function checkTranscripts(kernel: Kernel): Promise<DoctorCheck> {
  const { db, transcripts } = kernel.storage;
  const rows = await db.all<{ id: string; parts: string }>(
    "select id, parts from session union all select session_id, parts from earlier",
  );
  const damaged = new Set<string>();
  for (let i = 0; i < rows.length; i += GROUP) {
    await Promise.all(
      rows.slice(i, i + GROUP).map(async (row) => {
        try {
          for (const part of partsOf(row)) await transcripts.index(row.id, part);
        } catch (error) {
          if (!isDamage(error)) throw error;
          damaged.add(row.id);
        }
      }),
    );
  }
  for (const id of kernel.inject("archive").damage.ids) damaged.add(id);
  const name = "transcripts";
  if (damaged.size === 0) return { name, status: "ok", detail: `all of ${rows.length} can be read` };
  for (const id of damaged) kernel.inject("archive").damage.found(id);
  const [first] = damaged;
  return {
    name,
    status: "fail",
    detail: `${damaged.size} of ${rows.length} are missing or damaged, as that of ${first}`,
    fix: "Import them again: `sessarc import`. What no log has any more cannot be mended.",
  };
}
