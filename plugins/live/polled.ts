/** What the doctor says of places whose changes the system does not tell. */
import type { DoctorCheck } from "sessarc";
import type { WatchedRoot } from "./roots.ts";

/** What Linux lacks, by the beginning of what it says. */
const LIMITS: Record<string, string> = {
  ENOSPC: "fs.inotify.max_user_watches",
  EMFILE: "fs.inotify.max_user_instances",
};

/** A warning for each polled root; none for roots with events. */
export function checkPolled(roots: readonly WatchedRoot[]): DoctorCheck[] {
  return roots.flatMap(({ path, polling }) => {
    if (!polling) return [];
    const { reason, recentMs, allMs } = polling;
    const limit = LIMITS[reason?.split(":", 1)[0] ?? ""];
    return {
      name: "changes of logs",
      status: "warn",
      detail:
        `The system does not tell of changes in ${path}${reason ? ` (${reason})` : ""}, so it is looked for them: ` +
        `what changed lately is seen within ${seconds(recentMs)}, anything within ${seconds(allMs)}`,
      fix: limit && `Raise ${limit} (sysctl), then start the service again.`,
    };
  });
}

const seconds = (ms: number): string => (ms < 120_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.ceil(ms / 60_000)} min`);
