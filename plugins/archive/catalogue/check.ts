/** What the doctor says about transcripts: each part is there and is as it was written. */

import { type DoctorCheck, type Kernel, mustYield, yieldNow } from "sessarc";
import { isDamage } from "./damage.ts";
import { toParts } from "./types.ts";

/** Rows read at once. */
const PAGE = 500;

/** Reads every part. With `fix`, the logs of what is damaged are read again first. */
export async function checkTranscripts(kernel: Kernel, fix: boolean, signal?: AbortSignal): Promise<DoctorCheck> {
  const { damage } = kernel.inject("archive/open");
  const found = await findDamage(kernel, signal);
  for (const id of found.damaged) damage.found(id);
  if (found.damaged.size > 0 && fix) {
    await damage.settled();
    const left = await findDamage(kernel, signal);
    const repaired = found.damaged.size - left.damaged.size;
    return toCheck(left, repaired > 0 ? `${repaired} re-imported from their logs; ` : "");
  }
  return toCheck(found, "");
}

interface Finding {
  damaged: Set<string>;
  count: number;
}

function toCheck({ damaged, count }: Finding, before: string): DoctorCheck {
  const name = "transcripts";
  if (damaged.size === 0) return { name, status: "ok", detail: `${before}all of ${count} can be read` };
  const [first] = damaged;
  return {
    name,
    status: "fail",
    detail: `${before}${damaged.size} of ${count} are missing or damaged, as that of ${first}`,
    fix: "`sessarc doctor --fix` or `sessarc import` reads their logs again. Sessions whose log is gone cannot be repaired.",
  };
}

async function findDamage(kernel: Kernel, signal: AbortSignal | undefined): Promise<Finding> {
  const { db, transcripts } = kernel.storage;
  const damaged = new Set<string>();
  let texts = 0;
  for (const table of ["id, parts from session", "session_id as id, parts from earlier"]) {
    for (let after = 0; ; ) {
      const rows = await db.all<{ rowid: number; id: string; parts: string }>(
        `select rowid, ${table} where rowid > ? order by rowid limit ${PAGE}`,
        [after],
      );
      for (const { id, parts } of rows) {
        signal?.throwIfAborted();
        try {
          for (const part of toParts({ parts })) await transcripts.check(id, part);
        } catch (error) {
          if (!isDamage(error)) throw error;
          damaged.add(id);
        }
        if (mustYield()) await yieldNow();
      }
      texts += rows.length;
      const last = rows.at(-1);
      if (!last) break;
      after = last.rowid;
    }
  }
  return { damaged, count: texts };
}
