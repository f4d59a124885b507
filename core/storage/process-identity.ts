/** Identifies the process that wrote something, so that another process can determine whether it is still running. */
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { isAlive } from "../utils/exec.ts";

export interface Identity {
  pid: number;
  host: string;
  /** Linux: id of this boot, the pid namespace, and when the process started, in clock ticks. A pid alone may be reused. */
  boot?: string | undefined;
  space?: string | undefined;
  ticks?: string | undefined;
}

let own: Promise<Identity> | undefined;

export function ownIdentity(): Promise<Identity> {
  own ??= (async () => ({
    pid: process.pid,
    host: hostname(),
    ...(await readKernel()),
    ticks: await findTicks(process.pid),
  }))();
  return own;
}

/** Whether the process is still there; undefined when that cannot be seen from here (another machine, another container). */
export async function isRunning(other: Identity): Promise<boolean | undefined> {
  const self = await ownIdentity();
  if (other.boot !== self.boot) return other.host === self.host ? false : undefined;
  if (other.space !== self.space) return undefined;
  if (!isAlive(other.pid)) return false;
  return other.ticks === undefined || other.ticks === (await findTicks(other.pid));
}

async function readKernel(): Promise<Pick<Identity, "boot" | "space">> {
  if (process.platform !== "linux") return {};
  const [boot, space] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => undefined),
    readlink("/proc/self/ns/pid").catch(() => undefined),
  ]);
  return { boot: boot?.trim(), space };
}

/**
 * Field 22 of /proc/<pid>/stat; the name in field 2 may hold spaces and brackets. Undefined for a process that ended and was not awaited: in a
 * container whose first process awaits none it is listed for good.
 */
async function findTicks(pid: number): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields && !/[ZX]/.test(fields[0] ?? "") ? fields[19] : undefined;
}
