/** Processes below one, and their memory: from /proc, where there is one. */
import { readFile } from "node:fs/promises";

export interface Load {
  processes: number;
  /** Resident bytes together. */
  bytes: number;
}

const PAGE = 4096;

/** Stops counting past `most`: what bombs is not followed to its end. Zero where the system has no /proc. */
export async function readLoad(pid: number, most: number): Promise<Load> {
  const load: Load = { processes: 0, bytes: 0 };
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined && load.processes <= most; next = waiting.pop()) {
    const [children, memory] = await Promise.all([
      read(`/proc/${next}/task/${next}/children`),
      read(`/proc/${next}/statm`),
    ]);
    if (memory === undefined) continue;
    load.processes++;
    load.bytes += Number(memory.split(" ")[1] ?? 0) * PAGE;
    waiting.push(
      ...(children ?? "")
        .split(" ")
        .filter((text) => text !== "")
        .map(Number),
    );
  }
  return load;
}

/** A process may be gone by the time it is asked. */
const read = (file: string) => readFile(file, "utf8").catch(() => undefined);
