/** What a node does to sessions: imports pushed ones, removes withdrawn ones, and stores those that were parsed again. One at a time over all nodes. */
import { createErase } from "./erase.ts";
import { createImport } from "./import.ts";
import { createJobs } from "./jobs.ts";
import { createImportKernel, type ImportParts } from "./kernel.ts";
import { storedReader } from "./sessions.ts";
import { createStoreReread } from "./store-reread.ts";
import { besideReader } from "./text.ts";
import { weigher } from "./weigh.ts";
import { createWithdraw } from "./withdraw.ts";

export type Ingest = ReturnType<typeof createIngest>;

export function createIngest(parts: ImportParts) {
  const { owner } = parts.database;
  const { tenant } = parts;
  const importing = createImportKernel(parts);
  const jobs = createJobs(importing.locked);
  const stored = storedReader(owner, tenant);
  const weigh = weigher(parts.blobs);
  const readBeside = besideReader(parts, importing, stored);
  const erasing = createErase(parts, { importing, jobs, stored, weigh, readBeside });

  return {
    ...createImport(parts, { importing, jobs, stored, weigh, readBeside, erasing }),
    ...createWithdraw(parts, { importing, jobs, stored, erase: erasing.erase }),
    ...createStoreReread(parts, { importing, jobs, stored, erasing }),

    /** Finishes the counting that a kill interrupted. */
    async settle(): Promise<void> {
      const open = await owner.get("select 1 from team_session where tenant = ? and recount = 1 limit 1", [tenant]);
      if (open)
        await new Promise<void>((done, fail) =>
          jobs.add({ person: "", fail, run: () => erasing.recount().then(done) }),
        );
    },

    get waiting(): number {
      return jobs.waiting;
    },

    async close(): Promise<void> {
      await jobs.idle();
      await importing.end();
    },
  };
}
