/**
 * A control group for one command, where the service runs as root: the system's limit on the number of processes does not hold for
 * root, not even in a user name space of its own. Everybody else gets by with that limit.
 */
import { randomBytes } from "node:crypto";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isGone, isReachable } from "sessarc/files";

export interface Group {
  /** Words to put before a command: it enters the group, then becomes the command. */
  enter: string[];
  /** When its processes are gone. */
  remove(): Promise<void>;
}

const ROOT = "/sys/fs/cgroup";
const ENTER =
  'for group; do [ "$group" = -- ] && break; echo $$ > "$group/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';

export const needsGroup = () => process.platform === "linux" && process.getuid?.() === 0;

/** Undefined where groups cannot be made. */
export async function createGroup(limits: { processes: number; memoryBytes: number }): Promise<Group | undefined> {
  const name = `sessarc-${randomBytes(6).toString("hex")}`;
  const made: string[] = [];
  const make = async (folder: string, settings: Readonly<Record<string, number>>) => {
    await mkdir(folder);
    made.push(folder);
    for (const [file, value] of Object.entries(settings)) await writeFile(join(folder, file), String(value));
  };
  // The shell that enters, the isolation's own two processes, and the limiter come on top.
  const processes = limits.processes + 4;
  try {
    if (await isReachable(join(ROOT, "pids"))) {
      await make(join(ROOT, "pids", name), { "pids.max": processes });
      if (await isReachable(join(ROOT, "memory")))
        await make(join(ROOT, "memory", name), { "memory.limit_in_bytes": limits.memoryBytes });
    } else await make(join(ROOT, name), { "pids.max": processes, "memory.max": limits.memoryBytes });
  } catch {
    await remove(made);
    return undefined;
  }
  return { enter: ["/bin/sh", "-c", ENTER, "sh", ...made, "--"], remove: () => remove(made) };
}

/** The last process may take a moment to be gone. */
async function remove(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let tries = 0; tries < 50; tries++) {
      const gone = await rmdir(folder).then(() => true, isGone);
      if (gone) break;
      await delay(20);
    }
  }
}
