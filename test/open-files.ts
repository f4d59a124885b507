/** Which files this process has open, where the system tells. */
import { readdirSync, readlinkSync } from "node:fs";

/** How many descriptors of this process lead to `path` or into it. */
export function openFiles(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
    } catch {
      return false; // the one the list itself was read with
    }
  }).length;
}
