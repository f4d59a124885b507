/** Counting in the worker pool. */
import type { Kernel, PoolTask } from "sessarc";
import type { Counted, CountJob } from "./count-job.ts";
import type { Query } from "./query.ts";
import type { Counter } from "./total.ts";

const COUNT: PoolTask<[CountJob], Counted[]> = {
  specifier: "sessarc/plugins/archive/count-job",
  export: "countSessions",
  inline: async (job) => (await import("./count-job.ts")).countSessions(job),
};

/** Some 30 ms of work. */
const JOB_CHUNKS = 96;

/** Undefined where there are no workers, or transcripts lie where workers cannot read them. */
export function counterOf({ pool, config, storage }: Kernel): ((query: Query) => Counter) | undefined {
  if (!pool.threaded || config.storage.driver !== undefined) return undefined;
  return (query) => ({
    // One more than there are threads, so that none waits for the main thread.
    lanes: pool.size + 1,
    chunks: JOB_CHUNKS,
    count: (work) => pool.run(COUNT, { dir: storage.dataDir, query, work }),
  });
}
