/** How much room stored logs may take. */
import type { Kernel } from "sessarc";
import { readSpace } from "sessarc/files";

export interface Budget {
  /** Stored bytes of all logs at most. Infinity where nothing is known of the disk. */
  bytes: number;
  /** `default`: a tenth of the room the disk would have without stored logs, and 20 GB at most. `setting`: so many GB as configured. */
  from: "default" | "setting";
}

const GB = 1e9;
const MOST = 20 * GB;
const SHARE = 10;

/** `stored`: bytes of stored logs. In either case the disk keeps its reserve. One system call. */
export async function readBudget({ config, storage }: Kernel, stored: number): Promise<Budget> {
  const { logs } = config.rescue;
  const { free, reserve } = await readSpace(storage.dataDir);
  const room = free + stored;
  const most = Math.max(0, room - reserve);
  if (typeof logs === "number") return { bytes: Math.min(Math.round(logs * GB), most), from: "setting" };
  return { bytes: Math.min(MOST, room / SHARE, most), from: "default" };
}
