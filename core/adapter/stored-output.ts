/** Outputs of calls that an assistant stores in files of their own: the log has the start of the output and the name of the file. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { SessionEvent } from "../session/session.ts";
import { bytesAt, isUnreadable } from "../utils/log-files.ts";

/** Bytes of an output that are read: as much as the archive stores of one message. */
const MOST = 16 * 1024 * 1024;
const LONGEST_NAME = 250;

/**
 * The text of a result whose output is in the file `named`. `shown`: what the log has of it. Of `named`, which comes from the log, only the last
 * part is used, whichever system's path it is; the file is looked up in `folders`, which the adapter chooses, and the first that has it counts.
 * Links are not followed. If no folder has the file, the text is `shown` and a sentence that names the file. One stat per folder, one read.
 */
export function storedOutput(
  shown: string,
  named: string,
  folders: readonly string[],
): Pick<SessionEvent, "text" | "truncated"> {
  const name = named.split(/[\\/]/).at(-1) ?? "";
  for (const folder of isPlain(name) ? folders : []) {
    const path = join(folder, name);
    const size = sizeOf(path);
    const bytes = size > 0 ? bytesAt(path, 0, Math.min(size, MOST)) : undefined;
    if (bytes && bytes.length > 0) return { text: bytes.toString("utf8"), ...(size > MOST && { truncated: true }) };
  }
  return { text: `${shown}\n[The assistant stored the whole output in ${name || "a file"}, which is gone]` };
}

/** 0 for anything but a regular file. */
function sizeOf(path: string): number {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? found.size : 0;
  } catch (error) {
    if (isUnreadable(error)) return 0;
    throw error;
  }
}

const isPlain = (name: string) => name !== "." && name !== ".." && !name.includes("\0") && name.length <= LONGEST_NAME;
