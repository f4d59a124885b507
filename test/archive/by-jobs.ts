/** An index whose totals are counted by jobs, as in workers, and whose files are in a folder of its own. */
import type { Kernel } from "sessarc";
import { Changes } from "../../plugins/archive/catalogue/changes.ts";
import { SearchIndex } from "../../plugins/archive/search/search.ts";
import { findCounter } from "../../plugins/archive/search/total.ts";

type Files = NonNullable<ConstructorParameters<typeof SearchIndex>[6]>;

/** As after a start. `chunks`: full ones of a job. Throws what would only be reported. */
export function indexByJobs(kernel: Kernel, chunks: number, files: Omit<Files, "onError">): SearchIndex {
  const pool: Kernel["pool"] = {
    ...kernel.pool,
    threaded: true,
    size: 2,
    run: (task, ...args) => task.inline(...args),
  };
  const { readers } = kernel.inject("archive/open");
  const { db, transcripts } = kernel.storage;
  const counter = findCounter({ ...kernel, pool });
  if (!counter) throw new Error("no workers");
  return new SearchIndex(db, transcripts, readers, new Changes(), { ...counter, chunks }, () => {}, {
    ...files,
    onError(error) {
      throw error;
    },
  });
}
